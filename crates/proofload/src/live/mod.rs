//! What the operator sees while a study runs: a live view on a terminal, lines elsewhere. Lists and re-exports.

mod lines;
mod pace;
mod silent;
mod sparkline;
mod terminal;
mod view;

pub(crate) use view::{Phase, Program, View, show};
