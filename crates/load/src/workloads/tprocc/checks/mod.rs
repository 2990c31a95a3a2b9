//! Checks after a run. Lists and re-exports.

mod agreement;
mod audit;
mod chance;
pub(super) mod conditions;
mod conservation;
mod excuses;
mod orders;
mod pacing;
mod statistics;
pub(super) mod totals;
mod verify;

pub(super) use excuses::excused;
pub(super) use verify::{Evidence, all, found, without_data};
