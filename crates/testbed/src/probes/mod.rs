//! Watching a machine while load runs: one file per probe, one line each in [`PROBES`]. Lists and re-exports.

mod cores;
mod device;
mod engine;
mod group;
mod memory;
mod power;
mod pressure;
mod probe;
mod rates;
mod runner;
mod scrape;
mod threads;

pub(crate) use device::device_counters;
pub(crate) use probe::read_file;
pub use probe::{OpenedProbe, Probe, ProbeSpec, Subject};
pub use runner::Probes;

/// Every probe of the host.
pub const PROBES: &[ProbeSpec] = &[
    ProbeSpec { name: "cores", open: cores::open },
    ProbeSpec { name: "threads", open: threads::open },
    ProbeSpec { name: "group", open: group::open },
    ProbeSpec { name: "device", open: device::open },
    ProbeSpec { name: "memory", open: memory::open },
    ProbeSpec { name: "pressure", open: pressure::open },
    ProbeSpec { name: "power", open: power::open },
];
