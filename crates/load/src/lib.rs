//! Load generation: schedules, virtual users, histograms, and one folder per workload.
//!
//! This crate may not know how a host is prepared, and may not render or compute statistics beyond histograms.

mod division;
pub mod drive;
pub mod intervals;
mod role;
pub mod workload;
pub mod workloads;

pub use role::LoadRole;
pub use workload::{Calibration, Job, Opened, Rating, Work, Workload, workload};
pub use workloads::WORKLOADS;
