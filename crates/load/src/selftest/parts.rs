//! The parts in their order: the contract, then what each workload adds.

use super::contract::CONTRACT;
use super::part::SelftestPart;
use crate::workloads::WORKLOADS;

/// Every part of the self-test.
pub fn parts() -> Vec<&'static SelftestPart> {
    std::iter::once(&CONTRACT).chain(WORKLOADS.iter().flat_map(|workload| workload.selftest())).collect()
}
