//! Limits on what is tested: one file and one line in [`LIMITS`] each. Lists and re-exports.

mod applied;
mod cgroup;
mod cgroup_dir;
mod core_spin;
mod cores;
mod counters;
mod cpu;
mod freezer;
mod hierarchy;
mod limit;
mod live;
mod members;
mod memory;
#[cfg(test)]
mod own_value_tests;
mod precedence;
mod read_bandwidth;
mod read_iops;
mod role_group;
mod slow_writes;
mod sweep;
mod thread_cpu;
mod throttle;
#[cfg(test)]
mod toy;
mod usage;
mod ways;
mod write_bandwidth;
mod write_iops;

pub(crate) use applied::{AppliedLimits, lift_stalls, try_out};
pub(crate) use cgroup::Cgroup;
pub(crate) use cgroup_dir::CgroupDir;
pub(crate) use cores::chosen as chosen_cores;
pub(crate) use counters::{cpu_time, throttling, transfers};
pub(crate) use freezer::{freeze, is_frozen, kill};
pub(crate) use hierarchy::Controller;
pub(crate) use slow_writes::WriteRate;
pub(crate) use sweep::orphans;
pub(crate) use usage::{group_use, kills, of_machine};
pub use ways::{Way, ways};

#[cfg(test)]
pub(crate) use applied::tests::{cold_file, enclose};

/// Every limit.
const LIMITS: &[&dyn limit::Limit] = &[
    &memory::Memory,
    &cores::Cores,
    &cpu::Cpu,
    &thread_cpu::ThreadCpu,
    &precedence::Precedence,
    &read_bandwidth::LIMIT,
    &write_bandwidth::LIMIT,
    &read_iops::LIMIT,
    &write_iops::LIMIT,
    #[cfg(test)]
    &toy::Toy,
];
