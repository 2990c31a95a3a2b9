//! What a fault does to one instance: made, undone, ended, and what it has left forgotten. May not know how a kind of fault is made.

use super::super::replay::ReplayOf;
use super::super::replication::InstanceReplication;
use super::InstanceResources;
use crate::faults::{self, FaultSite, Process, Replay};
use crate::limits::{self, CgroupDir, Controller};
use proofload_model::drill::{FaultInForce, FaultKind, FaultUndone};
use proofload_model::error::Error;
use proofload_model::fault_strength::FaultStrength;
use std::time::Duration;

/// How often is looked whether killed processes are gone, and with which pauses.
const LOOKS_AT_DYING: u32 = 1_000;
const GLANCE: Duration = Duration::from_millis(10);

/// A fault that was made.
#[derive(Debug, Clone)]
pub(super) struct InstanceFault {
    kind: FaultKind,
    strength: FaultStrength,
    /// Processes of the instance before it.
    first: Process,
    processes: Vec<Process>,
}

impl InstanceResources {
    /// Makes it fail, or its disk or link; answers once that is found.
    pub(in crate::host) fn make_fault(
        &mut self,
        kind: FaultKind,
        strength: FaultStrength,
        switch_over: Option<&dyn Fn() -> Result<(), Error>>,
    ) -> Result<FaultInForce, Error> {
        if let Some(fault) = &self.fault {
            return Err(Error::refused(format!("failed to inject the fault: {:?} is already in force", fault.kind)));
        }
        let running = self
            .server
            .as_ref()
            .ok_or_else(|| Error::refused("failed to inject the fault: the instance is not running"))?;
        let (first, processes) = (Process::of(running.server.process()), Process::of_server(&running.server));
        let stays = kind == FaultKind::Switchover || kind == FaultKind::Kill && running.server.is_managed();
        let fault = InstanceFault { kind, strength, first, processes };
        // Known before it is made: whatever happens, it is cleared.
        let fault = self.fault.insert(fault).clone();
        let made = self.at_fault(&fault, |site| faults::make(kind, &FaultSite { switch_over, ..*site }));
        // A manager that has lost its server, or changed its part, is well.
        if made.is_err() || stays {
            self.fault = None;
        }
        self.forget_ended();
        made
    }

    /// Undoes the fault, unless that needs a start; answers once that is found.
    pub(in crate::host) fn undo_fault(&mut self) -> Result<FaultUndone, Error> {
        let mut at = self.clock.now();
        if let Some(fault) = self.fault.clone() {
            self.forget_ended();
            at = self.at_fault(&fault, |site| faults::undo(fault.kind, site))?;
            self.fault = None;
            self.forget_ended();
        }
        Ok(FaultUndone { at, runs: self.server.is_some() })
    }

    /// Ends what a fault has left: what is frozen must not go on.
    pub(in crate::host) fn end_faulty(&mut self) {
        let Some(fault) = self.fault.take() else { return };
        let is_parted = fault.kind == FaultKind::Partition && self.leads();
        if !fault.kind.ends_the_server() && fault.kind != FaultKind::Freeze && !is_parted {
            let _as_far_as_it_goes = self.at_fault(&fault, |site| {
                faults::clear(fault.kind, site);
                Ok(())
            });
            return self.forget_ended();
        }
        if let Some(running) = &self.server {
            running.server.expect_end();
        }
        let mut left = LOOKS_AT_DYING;
        while left > 0 && fault.processes.iter().any(|process| process.is_running()) {
            if let Some(group) = self.freezer() {
                let _halted_in_none = limits::kill(group);
            }
            fault.processes.iter().for_each(|process| process.kill());
            self.clock.sleep(GLANCE);
            left -= 1;
        }
        if is_parted {
            // What it holds would reach a server that is started again.
            self.link = None;
        }
        self.forget_ended();
    }

    /// Tells whether it takes writes as far as we have told it.
    fn leads(&self) -> bool {
        self.replication.as_ref().is_some_and(InstanceReplication::is_of_primary)
    }

    /// Control group that halts its processes; `None` where there is none.
    fn freezer(&self) -> Option<&CgroupDir> {
        self.limits.as_ref()?.group().dir(Controller::Freezer).ok()
    }

    /// Does something at the place of a fault.
    fn at_fault<T>(
        &self,
        fault: &InstanceFault,
        work: impl FnOnce(&FaultSite<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let running = self.server.as_ref();
        let standby = running.and_then(|running| ReplayOf::standby(&running.target));
        let group = self.freezer().filter(|group| {
            let members = group.members();
            running.is_none_or(|running| members.contains(&running.server.process()))
        });
        let (data, cable) = (self.folder()?, self.cable());
        work(&FaultSite {
            clock: &*self.clock,
            strength: fault.strength,
            server: running.map(|running| &running.server),
            first: Some(fault.first),
            processes: &fault.processes,
            group,
            limits: self.limits.as_ref(),
            data: &data,
            relay: self.link.as_ref(),
            cable: cable.as_ref(),
            replay: standby.as_ref().map(|replay| replay as &dyn Replay),
            switch_over: None,
        })
    }

    /// Forgets a server that has ended by our own doing.
    fn forget_ended(&mut self) {
        if self.server.as_ref().is_some_and(|running| running.server.has_ended()) {
            self.replication = None;
            self.port = self.server.take().map(|running| running.server.port());
            self.ended_by_fault = true;
        }
    }

    /// Whether no process of it can take a write any more after a fault, or nobody reaches it.
    pub(in crate::host) fn is_fenced(&self) -> bool {
        let frozen = |fault: &InstanceFault| fault.kind == FaultKind::Freeze;
        let parted = |fault: &InstanceFault| fault.kind == FaultKind::Partition && self.leads();
        let gone = |fault: &InstanceFault| !fault.processes.iter().any(|process| process.is_running());
        match &self.fault {
            // What is noted was found in force, and lasts until it is undone.
            Some(fault) => frozen(fault) || parted(fault) || gone(fault),
            None => self.server.is_none(),
        }
    }
}
