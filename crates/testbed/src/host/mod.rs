//! The host role of an agent: carries out what the conductor asks of a machine. Lists and re-exports.

mod cluster;
mod copy;
mod held;
mod managed;
mod remains;
mod replay;
mod replication;
mod role;
mod sweep;
mod switch_order;
mod used;

pub(crate) use remains::InstanceRemains;
pub use role::HostRole;
pub(crate) use sweep::{is_server_of, kill_managed, served_by};
