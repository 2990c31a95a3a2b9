//! The contract of a probe. A probe reads; it may not keep samples, fill gaps or judge.

use super::tier::WatchedTier;
use crate::limits::Cgroup;
use crate::relay::RelayMeter;
use crate::storages::Devices;
use crate::sys::ThreadRoles;
use proofload_engine::{Observer, ReplicationWatch, SessionSampler};
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::time::Clock;
use proofload_model::wire::ScrapeSpec;
use std::sync::Arc;
use std::time::Duration;

/// What is watched.
#[derive(Default)]
pub struct Subject {
    /// Block devices under the data.
    pub(crate) devices: Devices,
    /// Root of the process tree of the instance, or the process of an embedded engine.
    pub pid: Option<u32>,
    /// The control group of the instance; empty where there is none.
    pub(crate) group: Cgroup,
    /// Cores that the instance may run on; `None` when it may use all.
    pub cores: Option<Vec<usize>>,
    /// The engine's own statistics; taken by the probe that reads them.
    pub observer: Option<Box<dyn Observer>>,
    /// Roles of the instance's threads, as the observer tells them.
    pub(crate) thread_roles: ThreadRoles,
    /// Looks at the standbys of a primary; taken by the probe that reads it.
    pub replication: Option<Box<dyn ReplicationWatch>>,
    /// Counters of the relay of its link; taken by the probe that reads them.
    pub(crate) relay: Option<RelayMeter>,
    /// Whether users come by that relay, and not a standby.
    pub(crate) users_are_relayed: bool,
    /// Looks at the sessions of the load, and how often a second; taken by the probe that has it look.
    pub sessions: Option<(Box<dyn SessionSampler>, u32)>,
    /// The cache tier under the data.
    pub tier: Option<WatchedTier>,
    /// Time for probes that look more often than once a second.
    pub clock: Option<Arc<dyn Clock>>,
    /// Whether the host is watched already, beside another instance.
    pub host_is_watched: bool,
    /// Roots of the processes of other instances of ours on this host.
    pub beside: Vec<u32>,
    /// Exporters that observe the host; with any, the host is not the one that we run on, and no probe of ours looks at it.
    pub scraped: ScrapeSpec,
}

/// Readings with the name of the probe that they belong to.
pub(super) type ProbeReadings = (&'static str, Vec<Reading>);

/// Reads one part of a machine.
pub trait Probe: Send {
    /// Reads once. `span` is the time since the reading before; `None` at the first, which only sets the base of rates.
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error>;

    /// What the last reading found that belongs to another probe, which has nothing to watch itself.
    fn beside(&mut self) -> Option<ProbeReadings> {
        None
    }
}

/// A probe; `None` when there is nothing for it to watch.
pub type OpenedProbe = Result<Option<Box<dyn Probe>>, Error>;

/// Scope of a probe: what it watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeScope {
    /// The host, whichever of its instances the subject is.
    Host,
    /// The instance, its processes, its group, its devices.
    Instance,
}

/// A probe that is built in.
pub struct ProbeSpec {
    /// Name in the record.
    pub name: &'static str,
    /// What it watches.
    pub of: ProbeScope,
    /// Opens it for a subject; `None` when there is nothing for it to watch.
    pub open: fn(&mut Subject) -> OpenedProbe,
}

/// A reading.
pub(super) fn reading(name: &str, component: impl Into<String>, unit: &str, value: f64) -> Reading {
    Reading { name: name.to_owned(), component: component.into(), unit: unit.to_owned(), value }
}

/// Reads a file of the kernel.
pub(crate) fn read_file(path: impl AsRef<std::path::Path>) -> Result<String, Error> {
    let path = path.as_ref();
    std::fs::read_to_string(path).map_err(|error| Error::new(format!("failed to read {}: {error}", path.display())))
}
