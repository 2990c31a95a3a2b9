//! Hosts, agents, instances, limits, snapshots, preconditioning, probes: everything that touches the machines of a study.
//!
//! This crate may not know workloads or statistics.

pub mod agents;
pub mod facts;
pub mod probes;

mod limits;
mod sys;
