//! Faults of the instances of a deployment and of the arbiter beside them: made, undone, ended; and failovers of existing servers. May not
//! know when a drill makes one.

use super::testbed::Testbed;
use proofload_model::deployment::{InstanceName, InstancePlan};
use proofload_model::drill::{FaultInForce, FaultKind, FaultUndone};
use proofload_model::error::Error;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::group_failover::{FailoverKind, FailoverReport, SeedingReading};
use proofload_model::manager::ClusterReading;
use proofload_model::wire::host;

impl Testbed<'_, '_> {
    /// Asks the failover manager how its cluster stands.
    pub(super) fn read_cluster(&mut self) -> Result<ClusterReading, Error> {
        self.ask(self.primary(), host::ReadCluster {})
    }

    /// Makes an instance fail, or its link.
    pub(super) fn make_fault(
        &mut self,
        instance: &InstancePlan,
        kind: FaultKind,
        strength: FaultStrength,
    ) -> Result<FaultInForce, Error> {
        self.ask(instance, host::MakeFault { instance: instance.name.clone(), kind, strength })
    }

    /// Has existing servers fail over by their own command.
    pub(super) fn fail_over(&mut self, kind: FailoverKind) -> Result<FailoverReport, Error> {
        self.ask(self.primary(), host::FailOver { instance: self.primary().name.clone(), kind })
    }

    /// Lets existing servers follow again that a forced failover has suspended; tells whether none is.
    pub(super) fn resume_group(&mut self) -> Result<bool, Error> {
        self.ask(self.primary(), host::ResumeGroup { instance: self.primary().name.clone() })
    }

    /// Reads how standbys of existing servers are filled.
    pub(super) fn read_seeding(&mut self) -> Result<Vec<SeedingReading>, Error> {
        self.ask(self.primary(), host::ReadSeeding { instance: self.primary().name.clone() })
    }

    /// Makes a fault of the arbiter of the failover manager.
    pub(super) fn make_fault_of_arbiter(&mut self, kind: FaultKind) -> Result<FaultInForce, Error> {
        self.ask(
            self.primary(),
            host::MakeFault { instance: InstanceName::arbiter(), kind, strength: FaultStrength::Whole },
        )
    }

    /// Undoes the fault of an instance as far as that needs no start.
    pub(super) fn undo_fault(&mut self, instance: &InstancePlan) -> Result<FaultUndone, Error> {
        self.ask(instance, host::UndoFault { instance: instance.name.clone() })
    }

    /// Ends what a fault has left of an instance.
    pub(super) fn end_faulty(&mut self, name: &InstanceName) -> Result<(), Error> {
        for instance in self.deployment.instances.iter().filter(|instance| instance.name == *name) {
            self.ask(instance, host::EndFaulty { instance: name.clone() })?;
        }
        Ok(())
    }

    /// Tells whether a failed instance can take no write any more.
    pub(super) fn is_fenced(&mut self, instance: &InstancePlan) -> Result<bool, Error> {
        self.ask(instance, host::IsFenced { instance: instance.name.clone() })
    }

    /// Starts the arbiter of the failover manager again.
    pub(super) fn start_arbiter(&mut self) -> Result<(), Error> {
        self.ask(self.primary(), host::StartArbiter {})
    }
}
