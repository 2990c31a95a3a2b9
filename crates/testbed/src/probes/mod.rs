//! Watching a machine while load runs: one file per probe, one line each in [`PROBES`]. Lists and re-exports.

mod cores;
mod device;
mod engine;
mod foreign;
mod group;
mod host;
mod memory;
mod miniatures;
mod power;
mod pressure;
mod probe;
mod rates;
mod relay;
mod replication;
mod runner;
mod scheduled;
mod scrape;
mod sessions;
mod spin;
mod threads;
mod tier;
mod tier_latency;
#[cfg(test)]
mod toy;
mod visible;

use proofload_model::series;

pub(crate) use device::{DeviceCounters, device_counters};
pub(crate) use host::host_probes;
use probe::ProbeScope::{Host, Instance};
pub(crate) use probe::read_file;
pub use probe::{OpenedProbe, Probe, ProbeScope, ProbeSpec, Subject};
pub use runner::Probes;
pub(crate) use spin::{SPIN, SpinPiece, piece, ratio_of};
pub use tier::WatchedTier;

/// Every probe of the host.
pub const PROBES: &[ProbeSpec] = &[
    ProbeSpec { name: series::cores::PROBE, of: Host, open: cores::open },
    ProbeSpec { name: series::threads::PROBE, of: Instance, open: threads::open },
    ProbeSpec { name: series::group::PROBE, of: Instance, open: group::open },
    ProbeSpec { name: series::foreign::PROBE, of: Host, open: foreign::open },
    ProbeSpec { name: series::device::PROBE, of: Instance, open: device::open },
    ProbeSpec { name: series::memory::PROBE, of: Instance, open: memory::open },
    ProbeSpec { name: series::pressure::PROBE, of: Host, open: pressure::open },
    ProbeSpec { name: series::power::PROBE, of: Host, open: power::open },
    ProbeSpec { name: series::replication::PROBE, of: Instance, open: replication::open },
    ProbeSpec { name: series::relay::PROBE, of: Instance, open: relay::open },
    ProbeSpec { name: series::spin::PROBE, of: Host, open: spin::open },
    ProbeSpec { name: series::sessions::PROBE, of: Instance, open: sessions::open },
    ProbeSpec { name: series::tier::PROBE, of: Instance, open: tier::open },
    #[cfg(test)]
    ProbeSpec { name: "toy", of: Instance, open: toy::open },
];
