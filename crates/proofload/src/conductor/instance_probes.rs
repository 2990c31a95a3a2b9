//! Probes of the instances of a deployment, and what was used of their limits. May not know what readings mean.

use super::testbed::{Testbed, of};
use proofload_model::deployment::{InstancePlan, Role};
use proofload_model::error::Error;
use proofload_model::facts::engine::INSTANCE_PROCESS;
use proofload_model::samples::Fact;
use proofload_model::time::Moment;
use proofload_model::units::Bytes;
use proofload_model::wire::{ResourceUse, ScrapeSpec, host};
use std::time::Duration;

impl Testbed<'_, '_> {
    /// Has each agent know the processes of instances that others hold on the same machine.
    pub(super) fn know_beside(&mut self, facts: &[Fact]) -> Result<(), Error> {
        let process_of = |instance: &InstancePlan| {
            let own = facts.iter().find(|fact| INSTANCE_PROCESS.is_of(fact) && fact.instance == instance.name);
            own?.number.map(|process| process as u32)
        };
        for instance in self.ours() {
            let others = self.deployment.instances.iter().filter(|other| other.host != instance.host);
            let processes = others.filter_map(process_of).collect();
            self.ask(instance, host::KnowBeside { processes })?;
        }
        Ok(())
    }

    /// Starts the probes of every instance; `pid`: the process of an embedded engine, `session_looks`: times a second that the sessions of
    /// the primary are looked at.
    pub(super) fn start_probes(
        &mut self,
        origin: Moment,
        pid: Option<u32>,
        scraped: &ScrapeSpec,
        session_looks: u32,
    ) -> Result<(), Error> {
        for instance in &self.deployment.instances {
            let origin = self.agents.host(&instance.host).map_or(origin, |agent| agent.in_its_time(origin));
            let InstancePlan { name, place, .. } = instance.clone();
            let session_looks = if instance.role == Role::Primary { session_looks } else { 0 };
            let ask = host::StartProbes { instance: name, origin, place, pid, scraped: scraped.clone(), session_looks };
            self.ask(instance, ask)?;
        }
        Ok(())
    }

    /// Stops the probes; gives what was used.
    pub(super) fn stop_probes(&mut self) -> Result<Vec<Fact>, Error> {
        let mut facts = Vec::new();
        for instance in &self.deployment.instances {
            self.ask(instance, host::StopProbes { instance: instance.name.clone() })?;
            let used = self.ask(instance, host::ReadUsage { instance: instance.name.clone() })?;
            let is_elsewhere = instance.host != self.primary().host;
            facts.extend(used.into_iter().map(|fact| if is_elsewhere { of(&instance.name, fact) } else { fact }));
        }
        Ok(facts)
    }

    /// Reads what the primary used of its limits.
    pub(super) fn usage(&mut self) -> Result<Vec<Fact>, Error> {
        self.ask(self.primary(), host::ReadUsage { instance: self.primary().name.clone() })
    }

    /// Reads what the processes of the primary used; `pid`: the process of an embedded engine.
    pub(super) fn used(&mut self, pid: Option<u32>) -> Result<ResourceUse, Error> {
        self.ask(self.primary(), host::ReadUsed { instance: self.primary().name.clone(), pid })
    }

    /// Measures how fast the storage of the primary reads in order.
    pub(super) fn measure_reads(&mut self, size: Bytes, time: Duration) -> Result<host::ReadsMeasured, Error> {
        let InstancePlan { name, place, .. } = self.primary().clone();
        self.ask(self.primary(), host::MeasureReads { instance: name, place, size, time })
    }
}
