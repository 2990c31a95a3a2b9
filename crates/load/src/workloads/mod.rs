//! One folder per workload, one line each in [`WORKLOADS`]. Lists them.

pub(crate) mod blocking_session;
mod dialect;
#[cfg(feature = "fixtures")]
pub mod example_rows;
mod lookup;
mod manifest;
mod side_by_side;
pub mod suite;
/// The conformance suite's places: a folder, or a started server.
#[cfg(test)]
#[path = "../../../engine/tests/support/mod.rs"]
mod support;
pub mod tprocc;
pub mod warehouse;
pub mod ycsb;

pub use lookup::workload;

use crate::workload::Workload;

/// Every workload that is built in.
pub const WORKLOADS: &[&dyn Workload] = &[
    &tprocc::Tprocc,
    &ycsb::Ycsb,
    &warehouse::Warehouse,
    #[cfg(feature = "fixtures")]
    &example_rows::ExampleRows,
];
