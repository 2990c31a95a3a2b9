//! One folder per workload, one line each in [`WORKLOADS`]. Lists them.

use crate::workload::Workload;

/// Every workload that is built in.
pub const WORKLOADS: &[&dyn Workload] = &[];
