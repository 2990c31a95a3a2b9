//! Studies with a planted cause, and how well it is named. Lists and re-exports.

mod decoy;
mod plants;
mod run;
mod score;
mod table;

pub(crate) use run::run;
