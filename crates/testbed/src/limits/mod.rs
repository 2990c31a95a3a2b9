//! Limits on what is tested: one file and one line in [`LIMITS`] each. Lists and re-exports.

mod cores;
mod enclosure;
mod group;
mod hierarchy;
mod limit;
mod memory;
mod sweep;
mod usage;

pub(crate) use enclosure::{Enclosure, try_memory};
pub(crate) use group::Group;
pub(crate) use sweep::orphans;
pub(crate) use usage::{kills, of_machine};

/// Every limit.
const LIMITS: &[&dyn limit::Limit] = &[&memory::Memory, &cores::Cores];
