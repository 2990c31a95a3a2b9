//! Finds a workload by its name.

use super::WORKLOADS;
use crate::workload::Workload;

/// The workload of this name; `None` when it is not built in.
pub fn workload(name: &str) -> Option<&'static dyn Workload> {
    WORKLOADS.iter().copied().find(|workload| workload.facts().name == name)
}
