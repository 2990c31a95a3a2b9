//! Limits on what is tested: one file and one line in [`LIMITS`] each. Lists and re-exports.

mod branch;
mod cores;
mod counters;
mod cpu;
mod enclosure;
mod group;
mod hierarchy;
mod limit;
mod memory;
mod read_bandwidth;
mod read_iops;
mod sweep;
mod throttle;
mod usage;
mod write_bandwidth;
mod write_iops;

pub(crate) use branch::Branch;
pub(crate) use counters::{cpu_time, transfers};
pub(crate) use enclosure::{Enclosure, loosen, try_out};
pub(crate) use group::Group;
pub(crate) use hierarchy::Controller;
pub(crate) use sweep::orphans;
pub(crate) use usage::{group_use, kills, of_machine};

#[cfg(test)]
pub(crate) use enclosure::tests::{cold_file, enclose};

/// Every limit.
const LIMITS: &[&dyn limit::Limit] = &[
    &memory::Memory,
    &cores::Cores,
    &cpu::Cpu,
    &read_bandwidth::LIMIT,
    &write_bandwidth::LIMIT,
    &read_iops::LIMIT,
    &write_iops::LIMIT,
];
