//! Checks after the load and after each run. Lists and re-exports.

mod acknowledged;
mod audit;
mod conservation;
pub(super) mod read_back;
mod run;

pub(super) use run::{CheckEvidence, all, without_data};
