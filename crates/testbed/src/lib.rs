//! Hosts, agents, instances, storage, limits, snapshots, preconditioning, probes: everything that touches the machines of a study.
//!
//! This crate may not know workloads or statistics.

pub mod agents;
pub mod caches;
pub mod doctor;
pub mod facts;
pub mod network;
pub mod preconditioning;
pub mod probes;
pub mod quiet_check;

mod faults;
mod guard;
mod host;
mod instances;
mod limits;
mod managers;
mod password;
mod relay;
mod snapshots;
mod storages;
mod sys;
#[cfg(test)]
mod test_clock;

pub use host::HostRole;
pub use password::random_password;
pub use relay::BareRelay;
