//! Load generation: schedules, virtual users, histograms, and one folder per workload.
//!
//! This crate may not know how a host is prepared, and may not render or compute statistics beyond histograms.

mod ceiling;
mod division;
pub mod drive;
mod events;
pub mod intervals;
mod open_files;
mod operation;
mod prober;
#[cfg(test)]
#[path = "real_clock_tests.rs"]
mod real_clock;
mod role;
pub mod selftest;
pub mod workload;
pub mod workloads;

pub use events::LoadEvents;
pub use operation::{Completion, OperationTimes};
pub use role::LoadRole;
pub use workload::{Calibration, Rating, RunRequest, SessionSpan, Work, Workload, WorkloadRun};
pub use workloads::{WORKLOADS, workload};
