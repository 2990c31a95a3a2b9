//! Probes of one instance: what they are told to watch, their start and their end. May not know how a probe reads.

use super::super::replication::InstanceReplication;
use super::{Beside, InstanceResources, engine};
use crate::limits::AppliedLimits;
use crate::probes::{Probes, Subject, WatchedTier};
use crate::relay::Relay;
use proofload_engine::Target;
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_model::wire::Event;
use proofload_model::wire::host::StartProbes;
use std::sync::Arc;

impl InstanceResources {
    /// Whether its probes run.
    pub(in crate::host) fn is_watched(&self) -> bool {
        self.probes.is_some()
    }

    /// Starts the probes, in the place of earlier ones.
    pub(in crate::host) fn start_probes(&mut self, ask: StartProbes, beside: Beside) -> Result<(), Error> {
        let StartProbes { origin, place, pid, scraped, session_looks, .. } = ask;
        self.probes = None;
        let address = self.server.as_ref().map(|running| running.server.address().to_owned());
        let target = Target::new(place, address);
        let observer = engine(&target.place)?.observer(&target).unwrap_or_else(|error| {
            let text = format!("the engine's statistics are not observed: {error}");
            (self.events)(Event::Log { level: LogLevel::Warning, text });
            None
        });
        let sampler = if session_looks > 0 { engine(&target.place)?.session_sampler(&target)? } else { None };
        let subject = Subject {
            sessions: sampler.map(|sampler| (sampler, session_looks)),
            clock: Some(Arc::clone(&self.clock)),
            tier: WatchedTier::of(&target.place, self.storage.as_ref().and_then(|storage| storage.control())),
            devices: self.devices(),
            pid: self.process().or(pid),
            group: self.limits.as_ref().map(AppliedLimits::group).cloned().unwrap_or_default(),
            cores: self.limits.as_ref().and_then(AppliedLimits::cores).cloned(),
            observer,
            thread_roles: self.limits.as_ref().map(AppliedLimits::thread_roles).unwrap_or_default(),
            replication: self.replication.as_ref().map_or(Ok(None), |part| part.open_watch(&beside.targets))?,
            relay: self.link.as_ref().map(Relay::meter),
            users_are_relayed: self.replication.as_ref().is_none_or(InstanceReplication::is_of_primary),
            beside: beside.processes.into_iter().chain(self.storage_processes()).collect(),
            host_is_watched: beside.host_is_watched,
            scraped,
        };
        self.probes = Some(Probes::start(&self.clock, &self.events, origin, subject));
        Ok(())
    }

    pub(in crate::host) fn stop_probes(&mut self) {
        self.probes = None;
    }
}
