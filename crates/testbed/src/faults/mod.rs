//! Faults of an instance or of its link, one file each: made, found in force, undone. May not know why. Lists and re-exports.

mod crash;
mod fault;
mod freeze;
mod kill;
mod partition;
mod registry;
mod stop;

pub(crate) use fault::{FaultSite, Process};
pub(crate) use registry::make;
