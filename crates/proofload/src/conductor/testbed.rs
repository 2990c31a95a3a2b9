//! The hosts under test as phases see them: a deployment is prepared, started, verified, released. Instances of an existing server are
//! neither started nor limited by us. May not know the load; faults, replication and probes of a deployment have files of their own.

use super::agents::Agents;
use super::heard::Heard;
use crate::live::Phase;
use proofload_model::deployment::{Deployment, InstanceName, InstancePlan, Role, StoragePlan};
use proofload_model::error::Error;
use proofload_model::events::{DataCopy, RunEvent};
use proofload_model::manager::{ManagedNode, ManagerAsked};
use proofload_model::replication::{LinkAsked, ReplicationAsked, ReplicationPart};
use proofload_model::samples::Fact;
use proofload_model::secret::Secret;
use proofload_model::study::confirmation_of;
use proofload_model::units::Bytes;
use proofload_model::wire::host::DataEnd;
use proofload_model::wire::{Ask, DataLocation, LimitsAsked, Preconditioning, host};
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
    pub(super) fn ours(&self) -> impl Iterator<Item = &'t InstancePlan> + use<'t> {
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

    /// Makes the primary empty.
    pub(super) fn create(&mut self) -> Result<(), Error> {
        let InstancePlan { name, place, .. } = self.primary().clone();
        self.ask(self.primary(), host::Create { instance: name, place })
    }

    /// Has the primary's stopped data, just built at this place, get a log that fits them at their next start; tells whether there has to
    /// be one.
    pub(super) fn refit_log(&mut self, place: DataLocation) -> Result<bool, Error> {
        let instance = self.primary().name.clone();
        self.ask(self.primary(), host::RefitLog { instance, place })
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

    /// Lifts all limits; processes go on.
    pub(super) fn release(&mut self) -> Result<(), Error> {
        for instance in &self.deployment.instances {
            self.ask(instance, host::Release { instance: instance.name.clone() })?;
        }
        Ok(())
    }
}

/// A fact of a host as one of the instance that has it to itself.
pub(super) fn of(instance: &InstanceName, fact: Fact) -> Fact {
    Fact { instance: instance.clone(), ..fact }
}

/// What is noted of a copy.
pub(super) fn data_copy(copied: host::SnapshotCopy) -> DataCopy {
    let host::SnapshotCopy { bytes, method, took } = copied;
    DataCopy { bytes: bytes.0, method, seconds: took.as_secs_f64() }
}
