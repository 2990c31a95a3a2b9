//! Failover managers, driven and never imitated: one file each says what is configured and started, who leads, and how to switch over. May not
//! decide who shall lead. Lists and re-exports.

mod cluster_plan;
mod manager;
mod patroni;
mod pg_auto_failover;
mod programs;
mod registry;
mod tool;

pub(crate) use cluster_plan::{ArbiterPlan, ClusterPlan, NodePlan, folder};
pub(crate) use manager::{Begin, Manager, ProcessPlan};
pub(crate) use registry::{manager, ready};
pub(crate) use tool::Tools;
