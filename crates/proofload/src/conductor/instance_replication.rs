//! Replication of a deployment: how it stands, whom an instance follows, promotion and the way back, commits that wait, links. May not know
//! which instance should lead.

use super::testbed::Testbed;
use proofload_model::commit_levels::CommitLevel;
use proofload_model::deployment::{InstanceName, InstancePlan};
use proofload_model::error::Error;
use proofload_model::replication::{
    HeldPart, LinkAsked, LinkMeasured, ReplicationAsked, ReplicationPart, ReplicationReading,
};
use proofload_model::time::Moment;
use proofload_model::units::Bytes;
use proofload_model::wire::host;
use std::time::Duration;

impl Testbed<'_, '_> {
    /// Watches the standbys of an existing server from now on.
    pub(super) fn watch_existing(&mut self, asked: ReplicationAsked) -> Result<(), Error> {
        let InstancePlan { name, place, .. } = self.primary().clone();
        self.ask(self.primary(), host::WatchExisting { instance: name, place, asked })
    }

    /// Reads how the replication of the primary stands.
    pub(super) fn read_replication(&mut self) -> Result<ReplicationReading, Error> {
        self.ask(self.primary(), host::ReadReplication { instance: self.primary().name.clone() })
    }

    /// Reads how the replication of an instance stands that others follow.
    pub(super) fn read_replication_of(&mut self, instance: &InstancePlan) -> Result<ReplicationReading, Error> {
        self.ask(instance, host::ReadReplication { instance: instance.name.clone() })
    }

    /// Reads how much log a standby has received.
    pub(super) fn received(&mut self, standby: &InstancePlan) -> Result<Bytes, Error> {
        self.ask(standby, host::ReadReceived { instance: standby.name.clone() })
    }

    /// Tells whether each standby has applied all log that it has received.
    pub(super) fn have_applied_all(&mut self) -> Result<bool, Error> {
        for standby in self.deployment.standbys() {
            if !self.ask(standby, host::HasAppliedAll { instance: standby.name.clone() })? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts a mode in force at a standby that will be the primary.
    pub(super) fn protect(&mut self, standby: &InstancePlan, asked: ReplicationAsked) -> Result<(), Error> {
        self.ask(standby, host::Protect { instance: standby.name.clone(), asked })
    }

    /// Lets a standby follow the instance at an address; the address that it was told.
    pub(super) fn follow(
        &mut self,
        standby: &InstancePlan,
        upstream: String,
        link: Option<LinkAsked>,
    ) -> Result<String, Error> {
        let InstancePlan { name, place, .. } = standby.clone();
        self.ask(standby, host::Follow { instance: name, place, upstream, link })
    }

    /// Makes a standby a primary.
    pub(super) fn promote(&mut self, standby: &InstancePlan) -> Result<Moment, Error> {
        self.ask(standby, host::Promote { instance: standby.name.clone() })
    }

    /// Prepares a promoted instance to be what another is rewound by.
    pub(super) fn before_rewind(&mut self, leader: &InstancePlan) -> Result<(), Error> {
        self.ask(leader, host::BeforeRewind { instance: leader.name.clone() })
    }

    /// Puts an instance that has ended back behind the one at an address, and lets it follow that, through a relay where there is a link.
    pub(super) fn rewind(
        &mut self,
        instance: &InstancePlan,
        upstream: String,
        link: Option<LinkAsked>,
    ) -> Result<(), Error> {
        let InstancePlan { name, place, .. } = instance.clone();
        self.ask(instance, host::Rewind { instance: name.clone(), place: place.clone(), upstream: upstream.clone() })?;
        let upstream = match link {
            Some(link) => {
                let ask = host::StartLink { instance: name, place: place.clone(), upstream, link };
                self.ask(instance, ask)?
            }
            None => upstream,
        };
        self.start_again(instance, place, ReplicationPart::Standby { upstream })
    }

    /// Begins a commit at the primary; true if it ended within a time.
    pub(super) fn begin_commit(&mut self, within: Duration) -> Result<bool, Error> {
        self.ask(self.primary(), host::BeginCommit { instance: self.primary().name.clone(), within })
    }

    /// Waits for the end of a commit that goes on; true if it ended within a time.
    pub(super) fn end_commit(&mut self, within: Duration) -> Result<bool, Error> {
        self.ask(self.primary(), host::EndCommit { instance: self.primary().name.clone(), within })
    }

    /// Times commits at the primary, each at its level, until the time is up.
    pub(super) fn time_commits(&mut self, levels: Vec<CommitLevel>, within: Duration) -> Result<Vec<Duration>, Error> {
        self.ask(self.primary(), host::TimeCommits { instance: self.primary().name.clone(), levels, within })
    }

    /// Holds a part of what some standbys do, or lets them go on.
    pub(super) fn hold_standbys(&mut self, names: &[InstanceName], part: HeldPart, held: bool) -> Result<(), Error> {
        let mut outcome = Ok(());
        for standby in self.deployment.standbys().filter(|standby| names.contains(&standby.name)) {
            let ask = host::HoldStandby { instance: standby.name.clone(), part, held };
            outcome = outcome.and(self.ask(standby, ask));
        }
        outcome
    }

    /// Measures the relay of every standby, one after the other.
    pub(super) fn measure_links(&mut self, count: u32) -> Result<Vec<(InstanceName, LinkMeasured)>, Error> {
        let mut measured = Vec::new();
        for standby in self.deployment.standbys() {
            let name = standby.name.clone();
            measured.push((name.clone(), self.ask(standby, host::MeasureLink { instance: name, count })?));
        }
        Ok(measured)
    }
}
