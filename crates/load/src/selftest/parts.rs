//! The parts in their order: the contract, what each workload adds, then what may change the server.

use super::contract::CONTRACT;
use super::part::SelftestPart;
use super::upkeep::UPKEEP;
use crate::workloads::WORKLOADS;

/// Every part of the self-test.
pub fn parts() -> Vec<&'static SelftestPart> {
    let of_workloads = WORKLOADS.iter().flat_map(|workload| workload.selftest());
    std::iter::once(&CONTRACT).chain(of_workloads).chain(std::iter::once(&UPKEEP)).collect()
}
