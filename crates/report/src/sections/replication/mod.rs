//! What protection costs: the section on replication in parts, one file each. Lists and re-exports.

mod answer;
mod forecast;
mod links;
mod modes;
mod nodes;
mod proof;
mod published;
mod section;
mod slopes;
mod split;
mod two_ratios;

pub(super) use answer::{answer, reasons};
pub(super) use links::link_of_users;
pub(super) use published::is_drawn as draws_published;
pub(super) use section::SECTION;
pub(super) use two_ratios::answer as both_ratios;
