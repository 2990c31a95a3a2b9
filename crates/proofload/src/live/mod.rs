//! What the operator sees while a study runs: a live view on a terminal, nothing otherwise. Lists and re-exports.

mod pace;
mod quiet;
mod sparkline;
mod terminal;
mod view;

pub(crate) use view::{Phase, Program, View, for_this_terminal};
