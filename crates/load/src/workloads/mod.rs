//! One folder per workload, one line each in [`WORKLOADS`]. Lists them.

pub mod suite;
pub mod tprocc;
pub mod ycsb;

use crate::workload::Workload;

/// Every workload that is built in.
pub const WORKLOADS: &[&dyn Workload] = &[&tprocc::Tprocc, &ycsb::Ycsb];
