//! Studies with a planted cause, and how well it is named. Lists and re-exports.

mod plants;
mod run;
mod score;

pub(crate) use run::run;
