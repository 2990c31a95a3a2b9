//! One instance as a host holds it: what it has of storage, limits, server and probes, and what is read back of them. Facts and events
//! of it are stamped with its name here and nowhere else. May not know of other instances; each of its parts is changed in a file of its own.

mod admission;
mod discarded;
mod engine_settings;
mod failover;
mod faulty;
mod flushes;
mod fork;
mod limits;
mod live;
mod serving;
mod standby;
mod storage;
mod watched;

use super::remains::InstanceRemains;
use super::replication::InstanceReplication;
use super::used::used;
use crate::agents::EventSink;
use crate::instances::Server;
use crate::limits::AppliedLimits;
use crate::probes::Probes;
use crate::relay::Relay;
use crate::storages::AttachedStorage;
use admission::Admission;
use engine_settings::UntouchedSettings;
use faulty::InstanceFault;
use flushes::FlushDelay;
use proofload_engine::{Engine, Target};
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::facts::engine as names;
use proofload_model::samples::Fact;
use proofload_model::time::Clock;
use proofload_model::wire::{DataLocation, Event, ResourceUse};
use std::sync::Arc;

/// Resources of an instance.
pub(super) struct InstanceResources {
    name: InstanceName,
    clock: Arc<dyn Clock>,
    events: EventSink,
    remains: Arc<InstanceRemains>,
    /// What its storage runs.
    storage_remains: Arc<InstanceRemains>,
    /// Fault that was made and is not undone.
    fault: Option<InstanceFault>,
    /// Port of a server that a fault has ended: clients look for it there.
    port: Option<u16>,
    /// Whether a fault has ended the server: nothing runs under the limits.
    ended_by_fault: bool,
    /// Whether a failover manager may have changed the instance's part since a fault: its settings are another part's.
    part_may_have_changed: bool,
    /// Values that its server had before an experiment changed them.
    untouched: Option<UntouchedSettings>,
    /// Address and password by which other hosts reach it, if they do.
    admission: Option<Admission>,
    // In this order they are dropped: nobody watches what is gone, the limits outlive who is under them, and the storage all of them.
    probes: Option<Probes>,
    replication: Option<InstanceReplication>,
    server: Option<RunningServer>,
    link: Option<Relay>,
    limits: Option<AppliedLimits>,
    storage: Option<Box<dyn AttachedStorage>>,
    /// The delay of flushes of its storage, where the study asks for one.
    flush_delay: Option<FlushDelay>,
}

/// Other instances of ours on the same host.
pub(super) struct Beside {
    /// Roots of their processes.
    pub(super) processes: Vec<u32>,
    /// Whether the host is watched beside one of them.
    pub(super) host_is_watched: bool,
    /// What their servers are reached by.
    pub(super) targets: Vec<(InstanceName, Target)>,
}

/// A server that we started, and from what.
#[derive(Debug)]
struct RunningServer {
    server: Server,
    target: Target,
}

impl std::fmt::Debug for InstanceResources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("InstanceResources");
        shown.field("server", &self.server).field("limits", &self.limits).field("storage", &self.storage);
        shown.finish_non_exhaustive()
    }
}

impl InstanceResources {
    /// An instance without resources.
    pub(super) fn new(
        name: InstanceName,
        clock: Arc<dyn Clock>,
        events: &EventSink,
        (remains, storage_remains): (Arc<InstanceRemains>, Arc<InstanceRemains>),
    ) -> Self {
        let events = stamping(&name, events);
        Self {
            name,
            clock,
            events,
            remains,
            storage_remains,
            fault: None,
            port: None,
            ended_by_fault: false,
            part_may_have_changed: false,
            untouched: None,
            admission: None,
            probes: None,
            replication: None,
            server: None,
            link: None,
            limits: None,
            storage: None,
            flush_delay: None,
        }
    }

    /// What its server is reached by.
    pub(super) fn target(&self) -> Option<&Target> {
        self.server.as_ref().map(|running| &running.target)
    }

    /// Reads back storage, limits and settings; nothing of an instance that a fault has ended.
    pub(super) fn verify(&self) -> Result<Vec<Fact>, Error> {
        if self.ended_by_fault {
            return Ok(Vec::new());
        }
        let limits =
            self.limits.as_ref().ok_or_else(|| Error::new("failed to verify limits: no limits were prepared"))?;
        let mut facts = limits.verify();
        facts.extend(self.storage.iter().flat_map(|storage| storage.verify()));
        if let Some(running) = self.server.as_ref().filter(|_| !self.part_may_have_changed) {
            facts.extend(settings_in_force(&running.target)?);
        }
        Ok(self.stamped(facts))
    }

    /// Reads what of its limits and its storage was used.
    pub(super) fn usage(&self) -> Vec<Fact> {
        let mut facts = self.limits.as_ref().map(AppliedLimits::usage).unwrap_or_default();
        facts.extend(self.storage.iter().flat_map(|storage| storage.counters()));
        self.stamped(facts)
    }

    /// Reads what its processes used; `pid`: the process of an embedded engine.
    pub(super) fn used(&self, pid: Option<u32>) -> ResourceUse {
        used(self.limits.as_ref().map(AppliedLimits::group), self.process().or(pid), &self.devices())
    }

    /// Root of the processes of its server.
    pub(super) fn process(&self) -> Option<u32> {
        self.server.as_ref().map(|running| running.server.process())
    }

    /// Tells whether its server, or the manager's program that runs it, exited by itself or was never started.
    pub(super) fn has_exited(&self) -> bool {
        self.server.as_ref().is_none_or(|running| running.server.has_exited())
    }

    /// The last lines of its server's log.
    pub(super) fn log_tail(&self) -> String {
        self.server.as_ref().map_or_else(|| "it does not run".to_owned(), |running| running.server.log_tail())
    }

    /// Refuses what must not happen under a server.
    pub(super) fn refuse_while_running(&self, what: &str) -> Result<(), Error> {
        self.server.as_ref().map(|running| running.server.process()).map_or(Ok(()), |process| {
            Err(Error::refused(format!("{what}: process {process} still serves the data; stop it first")))
        })
    }

    /// Ends a fault, lifts the limits and frees the storage of what makes it slow.
    pub(super) fn release(&mut self) -> Result<(), Error> {
        self.end_faulty();
        self.limits.as_mut().map_or(Ok(()), AppliedLimits::lift)?;
        self.storage.as_ref().map_or(Ok(()), |storage| storage.release())
    }

    /// Facts as facts of this instance.
    fn stamped(&self, mut facts: Vec<Fact>) -> Vec<Fact> {
        facts.iter_mut().for_each(|fact| fact.instance = self.name.clone());
        facts
    }
}

impl Drop for InstanceResources {
    /// Ends the server while its data are still there.
    fn drop(&mut self) {
        (self.probes, self.replication, self.server) = (None, None, None);
        self.free_after_kill();
    }
}

/// A sink that says of telemetry whose it is.
fn stamping(name: &InstanceName, events: &EventSink) -> EventSink {
    let (name, events) = (name.clone(), Arc::clone(events));
    Arc::new(move |event| {
        events(match event {
            Event::Telemetry(telemetry) => {
                Event::Telemetry(proofload_model::samples::Telemetry { instance: name.clone(), ..telemetry })
            }
            other => other,
        });
    })
}

/// The engine of a place.
pub(super) fn engine(place: &DataLocation) -> Result<&'static dyn Engine, Error> {
    proofload_engine::engine(&place.engine).ok_or_else(|| Error::refused(format!("unknown engine {:?}", place.engine)))
}

/// Asks the engine for its own view of its settings. What cannot be read back is a fact that does not hold.
fn settings_in_force(target: &Target) -> Result<Vec<Fact>, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(format!("failed to start the async runtime: {error}")))?;
    let engine = engine(&target.place)?;
    Ok(runtime
        .block_on(engine.verify_settings(target))
        .unwrap_or_else(|error| vec![names::SETTINGS.compared("readable", None::<String>, false, error.to_string())]))
}
