//! The hosts under test as phases see them: a deployment is prepared, started, verified, released. Instances of an existing server are
//! neither started nor limited by us. May not know the load.

use super::agents::Agents;
use super::heard::Heard;
use crate::live::Phase;
use proofload_model::commit_levels::CommitLevel;
use proofload_model::deployment::{Deployment, InstanceName, InstancePlan, Role, StoragePlan};
use proofload_model::drill::{FaultInForce, FaultKind, FaultUndone};
use proofload_model::error::Error;
use proofload_model::events::{DataCopy, RunEvent};
use proofload_model::facts::engine::INSTANCE_PROCESS;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::manager::{ClusterReading, ManagedNode, ManagerAsked};
use proofload_model::replication::{
    HeldPart, LinkAsked, LinkMeasured, ReplicationAsked, ReplicationPart, ReplicationReading,
};
use proofload_model::samples::Fact;
use proofload_model::secret::Secret;
use proofload_model::study::confirmation_of;
use proofload_model::time::Moment;
use proofload_model::units::Bytes;
use proofload_model::wire::host::DataEnd;
use proofload_model::wire::{Ask, DataLocation, LimitsAsked, Preconditioning, ResourceUse, ScrapeSpec, host};
use std::collections::BTreeMap;
use std::time::Duration;

/// Instances of one point on their hosts.
pub(crate) struct Testbed<'t, 'a> {
    pub(super) agents: &'t mut Agents,
    pub(super) heard: &'t mut Heard<'a>,
    pub(super) deployment: &'t Deployment,
    /// Password by which instances with an address are reached.
    pub(super) password: Option<Secret>,
}

/// Instances that were started.
#[derive(Default)]
pub(super) struct StartedDeployment {
    /// Addresses, the primary's first.
    pub(super) addresses: Vec<String>,
    /// Instances of these addresses.
    pub(super) names: Vec<InstanceName>,
    /// Address that each standby follows.
    pub(super) upstreams: BTreeMap<InstanceName, String>,
    /// Facts about the starts.
    pub(super) facts: Vec<Fact>,
}

impl StartedDeployment {
    /// Addresses that the load goes to: of all instances where another may take the primary's place, else the primary's.
    pub(super) fn endpoints(&self, of_all: bool) -> Vec<String> {
        self.addresses.iter().take(if of_all { usize::MAX } else { 1 }).cloned().collect()
    }
}

impl<'t> Testbed<'t, '_> {
    pub(super) fn ask<A: Ask>(&mut self, instance: &InstancePlan, ask: A) -> Result<A::Answer, Error> {
        self.agents.ask_host(&instance.host, ask, self.heard)
    }

    /// Has an instance reached by other hosts, where it has an address.
    fn admit(&mut self, instance: &InstancePlan) -> Result<(), Error> {
        let Some((at, password)) = instance.address.zip(self.password.clone()) else { return Ok(()) };
        let (name, device) = (instance.name.clone(), instance.device.clone());
        self.ask(instance, host::Admit { instance: name, at, device, password })
    }

    /// Instances that are ours.
    fn ours(&self) -> impl Iterator<Item = &'t InstancePlan> + use<'t> {
        self.deployment.instances.iter().filter(|instance| instance.place.url.is_none())
    }

    /// The primary as the plan has it.
    pub(super) fn primary(&self) -> &'t InstancePlan {
        self.deployment.primary()
    }

    /// Mounts the primary's volume, where the study asks for one.
    pub(super) fn mount_volume(&mut self, size: Option<Bytes>) -> Result<(), Error> {
        let Some(size) = size else { return Ok(()) };
        let InstancePlan { name, place, .. } = self.primary().clone();
        let facts = self.ask(self.primary(), host::MountVolume { instance: name, place, size })?;
        self.heard.journal.facts(&facts)
    }

    /// Purges the device of each instance; `confirmed`: what `--yes` names.
    pub(super) fn purge(&mut self, devices: &[String], confirmed: Option<&str>) -> Result<(), Error> {
        for (instance, device) in self.ours().zip(devices) {
            self.heard.view.phase(Phase::Preconditioning);
            let InstancePlan { name, place, .. } = instance.clone();
            let confirmed = confirmation_of(device, confirmed);
            let facts = self.ask(instance, host::Purge { instance: name, place, device: device.clone(), confirmed })?;
            self.heard.journal.facts(&facts)?;
        }
        Ok(())
    }

    /// Preconditions the storage of the primary.
    pub(super) fn precondition(&mut self, how: Preconditioning) -> Result<(), Error> {
        let InstancePlan { name, place, .. } = self.primary().clone();
        let done = self.ask(self.primary(), host::Precondition { instance: name, place, how })?;
        for (name, body) in done.documents {
            self.heard.journal.document(&name, &body)?;
        }
        self.heard.journal.facts(&done.facts)?;
        self.heard.journal.event(RunEvent::Preconditioned)
    }

    /// Tells whether every instance has a snapshot of this label.
    pub(super) fn has_snapshots(&mut self, label: &str) -> Result<bool, Error> {
        for instance in self.ours() {
            let place = instance.place.clone();
            if !self.ask(instance, host::FindSnapshot { place, label: label.to_owned() })? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Where the log of each instance ends, or that of its snapshot.
    pub(super) fn data_ends(&mut self, of_snapshot: bool) -> Result<Vec<(InstanceName, DataEnd)>, Error> {
        let mut ends = Vec::new();
        for instance in self.ours() {
            let ask = host::ReadDataEnd { place: instance.place.clone(), of_snapshot };
            ends.push((instance.name.clone(), self.ask(instance, ask)?));
        }
        Ok(ends)
    }

    /// Makes the data of each standby a copy of the running primary's at an address.
    pub(super) fn copy_to_standbys(&mut self, from: &str) -> Result<(), Error> {
        for standby in self.deployment.standbys() {
            self.admit(standby)?;
            let InstancePlan { name, place, .. } = standby.clone();
            self.ask(standby, host::CopyInstance { instance: name, place, from: from.to_owned() })?;
        }
        Ok(())
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

    /// Attaches the storage of every standby and puts limits in place.
    pub(super) fn prepare_standbys(&mut self, limits: LimitsAsked) -> Result<(), Error> {
        for standby in self.deployment.standbys() {
            let InstancePlan { name, place, storage, .. } = standby.clone();
            self.ask(standby, host::Attach { instance: name.clone(), place, storage })?;
            self.ask(standby, host::PrepareLimits { instance: name, limits: limits.clone() })?;
        }
        Ok(())
    }

    /// Starts every standby from the place that is given for it, to follow a primary that runs.
    pub(super) fn start_standbys(
        &mut self,
        upstream: &str,
        place: impl Fn(&InstancePlan) -> DataLocation,
    ) -> Result<(), Error> {
        for standby in self.deployment.standbys() {
            let part = ReplicationPart::Standby { upstream: upstream.to_owned() };
            self.start_again(standby, place(standby), part)?;
        }
        Ok(())
    }

    /// Stops every standby.
    pub(super) fn stop_standbys(&mut self) -> Result<(), Error> {
        self.deployment.standbys().try_for_each(|standby| self.stop_one(standby))
    }

    /// Stops the primary and detaches its storage, before its standbys.
    pub(super) fn stop_primary(&mut self) -> Result<(), Error> {
        self.stop_one(self.primary())
    }

    fn stop_one(&mut self, instance: &InstancePlan) -> Result<(), Error> {
        self.ask(instance, host::Stop { instance: instance.name.clone() })?;
        self.ask(instance, host::Detach { instance: instance.name.clone() })
    }

    /// Makes the primary empty.
    pub(super) fn create(&mut self) -> Result<(), Error> {
        let InstancePlan { name, place, .. } = self.primary().clone();
        self.ask(self.primary(), host::Create { instance: name, place })
    }

    /// Keeps the data of each stopped instance as its snapshot of this label.
    pub(super) fn save(&mut self, label: &str) -> Result<(), Error> {
        for instance in self.ours() {
            let InstancePlan { name, place, .. } = instance.clone();
            let copied = self.ask(instance, host::SaveSnapshot { instance: name, place: place.clone() })?;
            self.ask(instance, host::LabelSnapshot { place, label: label.to_owned() })?;
            self.heard.journal.event_of(&instance.name, RunEvent::Built(data_copy(copied)))?;
        }
        Ok(())
    }

    /// Gives every instance the data of the snapshot in a folder of its host, where `anew`, and nothing of it in the page cache.
    pub(super) fn restore(&mut self, from: impl Fn(&InstancePlan) -> String, anew: bool) -> Result<(), Error> {
        for instance in self.ours() {
            let InstancePlan { name, place, .. } = instance.clone();
            if anew {
                self.heard.view.phase(Phase::Restoring);
                let ask = host::RestoreSnapshot { instance: name, place: place.clone(), from: from(instance) };
                let copied = self.ask(instance, ask)?;
                self.heard.journal.event_of(&instance.name, RunEvent::Restored(data_copy(copied)))?;
            }
            self.ask(instance, host::DropPageCache { place })?;
        }
        Ok(())
    }

    /// Looks what others do on the host of the primary.
    pub(super) fn check_quiet(&mut self, time: Duration) -> Result<host::QuietCheck, Error> {
        let InstancePlan { place, limits, .. } = self.primary();
        let LimitsAsked { cores, cores_before, .. } = *limits;
        self.ask(self.primary(), host::CheckQuiet { folder: place.folder.clone(), time, cores, cores_before })
    }

    /// Drops what the page cache holds of the data.
    pub(super) fn drop_page_cache(&mut self) -> Result<(), Error> {
        for instance in self.ours() {
            self.ask(instance, host::DropPageCache { place: instance.place.clone() })?;
        }
        Ok(())
    }

    /// Attaches the storage of every instance and puts limits in place; gives what is in force before anything runs.
    pub(super) fn prepare(&mut self, limits: impl Fn(&InstancePlan) -> LimitsAsked) -> Result<Vec<Fact>, Error> {
        let mut facts = Vec::new();
        for instance in self.ours() {
            let InstancePlan { name, place, storage, .. } = instance.clone();
            facts.extend(self.ask(instance, host::Attach { instance: name.clone(), place, storage })?);
            facts.extend(self.ask(instance, host::PrepareLimits { instance: name, limits: limits(instance) })?);
        }
        Ok(facts)
    }

    /// Prepares every instance for a build: on a plain directory, without limits, which belong to the measured runs.
    pub(super) fn prepare_to_build(&mut self) -> Result<(), Error> {
        for instance in self.ours() {
            let InstancePlan { name, place, .. } = instance.clone();
            let (storage, limits) = (StoragePlan::directory(), LimitsAsked::default());
            self.ask(instance, host::Attach { instance: name.clone(), place, storage })?;
            self.ask(instance, host::PrepareLimits { instance: name, limits })?;
        }
        Ok(())
    }

    /// Starts every instance from the place and in the part that are given for it, of which the address of the primary is known where it
    /// runs. Standbys follow through a relay where there is a link.
    pub(super) fn start(
        &mut self,
        link: Option<LinkAsked>,
        how: impl Fn(&InstancePlan, Option<&String>) -> (DataLocation, ReplicationPart),
    ) -> Result<StartedDeployment, Error> {
        let mut all = StartedDeployment::default();
        for instance in self.ours() {
            self.admit(instance)?;
            let upstream = self.upstream_of(instance, link, all.addresses.first())?;
            let (place, part) = how(instance, upstream.as_ref());
            let started = self.ask(instance, host::Start { instance: instance.name.clone(), place, part })?;
            all.addresses.push(started.reached_at.unwrap_or(started.address));
            all.names.push(instance.name.clone());
            all.upstreams.extend(upstream.map(|upstream| (instance.name.clone(), upstream)));
            all.facts.extend(started.facts);
        }
        Ok(all)
    }

    /// Lets users come to the primary by a relay, which can delay them and part them from it.
    pub(super) fn front(&mut self, started: &mut StartedDeployment, link: LinkAsked) -> Result<(), Error> {
        let Some(address) = started.addresses.first_mut() else { return Ok(()) };
        let InstancePlan { name, place, .. } = self.primary().clone();
        let ask = host::StartLink { instance: name, place, upstream: address.clone(), link };
        *address = self.ask(self.primary(), ask)?;
        Ok(())
    }

    /// Starts a failover manager, and by it every instance; the primary leads.
    pub(super) fn start_managed(
        &mut self,
        manager: &ManagerAsked,
        asked: &ReplicationAsked,
    ) -> Result<StartedDeployment, Error> {
        let node =
            |instance: &InstancePlan| ManagedNode { instance: instance.name.clone(), place: instance.place.clone() };
        let nodes = self.ours().map(node).collect();
        let ask = host::StartManaged { manager: manager.clone(), asked: asked.clone(), nodes };
        let mut all = StartedDeployment::default();
        for started in self.ask(self.primary(), ask)? {
            all.addresses.push(started.address);
            all.facts.extend(started.facts);
        }
        Ok(all)
    }

    /// Asks the failover manager how its cluster stands.
    pub(super) fn read_cluster(&mut self) -> Result<ClusterReading, Error> {
        self.ask(self.primary(), host::ReadCluster {})
    }

    /// Makes a fault of the arbiter of the failover manager.
    pub(super) fn make_fault_of_arbiter(&mut self, kind: FaultKind) -> Result<FaultInForce, Error> {
        self.ask(
            self.primary(),
            host::MakeFault { instance: InstanceName::arbiter(), kind, strength: FaultStrength::Whole },
        )
    }

    /// Starts the arbiter of the failover manager again.
    pub(super) fn start_arbiter(&mut self) -> Result<(), Error> {
        self.ask(self.primary(), host::StartArbiter {})
    }

    /// Starts one instance, such as one that a fault has ended, on the data that it has.
    pub(super) fn start_again(
        &mut self,
        instance: &InstancePlan,
        place: DataLocation,
        part: ReplicationPart,
    ) -> Result<(), Error> {
        self.admit(instance)?;
        self.ask(instance, host::Start { instance: instance.name.clone(), place, part }).map(drop)
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

    /// Reads how much log a standby has received.
    pub(super) fn received(&mut self, standby: &InstancePlan) -> Result<Bytes, Error> {
        self.ask(standby, host::ReadReceived { instance: standby.name.clone() })
    }

    /// Tells whether a failed instance can take no write any more.
    pub(super) fn is_fenced(&mut self, instance: &InstancePlan) -> Result<bool, Error> {
        self.ask(instance, host::IsFenced { instance: instance.name.clone() })
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

    /// Reads how the replication of an instance stands that others follow.
    pub(super) fn read_replication_of(&mut self, instance: &InstancePlan) -> Result<ReplicationReading, Error> {
        self.ask(instance, host::ReadReplication { instance: instance.name.clone() })
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

    /// Address that a standby follows: that of the primary, or of a relay to it.
    fn upstream_of(
        &mut self,
        instance: &InstancePlan,
        link: Option<LinkAsked>,
        primary: Option<&String>,
    ) -> Result<Option<String>, Error> {
        let (Role::Standby, Some(link), Some(upstream)) = (instance.role, link, primary.cloned()) else {
            return Ok(primary.cloned());
        };
        let InstancePlan { name, place, .. } = instance.clone();
        self.ask(instance, host::StartLink { instance: name, place, upstream, link }).map(Some)
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

    /// Watches the standbys of an existing server from now on.
    pub(super) fn watch_existing(&mut self, asked: ReplicationAsked) -> Result<(), Error> {
        let InstancePlan { name, place, .. } = self.primary().clone();
        self.ask(self.primary(), host::WatchExisting { instance: name, place, asked })
    }

    /// Reads how the replication of the primary stands.
    pub(super) fn read_replication(&mut self) -> Result<ReplicationReading, Error> {
        self.ask(self.primary(), host::ReadReplication { instance: self.primary().name.clone() })
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

    /// Puts the process of an embedded engine under the limits of the primary.
    pub(super) fn join(&mut self, pid: u32) -> Result<(), Error> {
        self.ask(self.primary(), host::JoinLimits { instance: self.primary().name.clone(), pid })
    }

    /// Reads the data of every instance once, under its limits.
    pub(super) fn prewarm(&mut self) -> Result<(), Error> {
        for instance in self.ours() {
            let read = self.ask(instance, host::Prewarm { instance: instance.name.clone() })?;
            let event = RunEvent::Prewarmed { bytes: read.bytes.0, seconds: read.took.as_secs_f64() };
            self.heard.journal.event_of(&instance.name, event)?;
        }
        Ok(())
    }

    /// Reads back what should be in force.
    pub(super) fn verify(&mut self) -> Result<Vec<Fact>, Error> {
        let mut facts = Vec::new();
        for instance in self.ours() {
            facts.extend(self.ask(instance, host::Verify { instance: instance.name.clone() })?);
        }
        Ok(facts)
    }

    /// Has each agent know the processes of instances that others hold on the same machine.
    pub(super) fn know_beside(&mut self, facts: &[Fact]) -> Result<(), Error> {
        let process_of = |instance: &InstancePlan| {
            let own = facts.iter().find(|fact| INSTANCE_PROCESS.is_of(fact) && fact.instance == instance.name);
            own?.effective.as_ref()?.parse::<u32>().ok()
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

    /// Lifts all limits; processes go on.
    pub(super) fn release(&mut self) -> Result<(), Error> {
        for instance in &self.deployment.instances {
            self.ask(instance, host::Release { instance: instance.name.clone() })?;
        }
        Ok(())
    }

    /// Stops all servers and detaches their storage: standbys first, since a primary that ends waits until they have received its log.
    pub(super) fn stop(&mut self) -> Result<(), Error> {
        let (primary, standbys): (Vec<_>, Vec<_>) = self.ours().partition(|instance| instance.role == Role::Primary);
        for instance in standbys.into_iter().chain(primary) {
            self.stop_one(instance)?;
        }
        // After its nodes, which could not tell it that they end.
        if self.ours().next().is_some() {
            self.ask(self.primary(), host::StopArbiter {})?;
        }
        Ok(())
    }
}

/// A fact of a host as one of the instance that has it to itself.
pub(super) fn of(instance: &InstanceName, fact: Fact) -> Fact {
    Fact { instance: instance.clone(), ..fact }
}

fn data_copy(copied: host::SnapshotCopy) -> DataCopy {
    let host::SnapshotCopy { bytes, method, took } = copied;
    DataCopy { bytes: bytes.0, method, seconds: took.as_secs_f64() }
}
