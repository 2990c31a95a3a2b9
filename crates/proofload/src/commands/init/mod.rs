//! `init`: a commented study from three answers. Lists and re-exports.

mod answers;
mod choice;
mod command;
mod questions;
mod template;

pub(super) use command::{run, tell_next};
