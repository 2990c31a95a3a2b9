//! Faults of an instance, its disk or its link, one file each: made, found in force, undone, found undone. May not know why. Lists and re-exports.

mod congestion;
mod crash;
mod disk;
mod fault;
mod freeze;
mod full_disk;
mod kill;
mod partition;
mod process;
mod registry;
mod replay_pause;
mod reset;
mod stop;
mod switchover;
mod synced_writes;

pub(crate) use fault::{FaultSite, Replay};
pub(crate) use process::Process;
pub(crate) use registry::{clear, left_files, make, undo};
