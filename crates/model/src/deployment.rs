//! The deployment under test: named instances of a database, each with its role, host, storage, limits and settings. Pure. May not know
//! how an instance is run.

use crate::standby_hosts::StandbyHosts;
use crate::tier::TIER;
use crate::units::CpuRate;
use crate::wire::{DataLocation, LimitsAsked, ThreadLimit};
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the names of standbys begin.
const STANDBY: &str = "standby-";

/// Name of an instance in its deployment. The empty name, the default, belongs to no instance; records of formats 1 to 3 know no other.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstanceName(String);

impl InstanceName {
    /// A name as a study or a record gives it.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name of the only instance of a deployment of one.
    pub fn primary() -> Self {
        Self::new("primary")
    }

    /// The name of the standby of this number, from 1.
    pub fn standby(number: u32) -> Self {
        Self(format!("{STANDBY}{number}"))
    }

    /// The name of what decides for a failover manager who leads.
    pub fn arbiter() -> Self {
        Self::new("arbiter")
    }

    /// The name of the load generator, where it is limited as an instance is.
    pub fn clients() -> Self {
        Self::new("clients")
    }

    /// Tells whether this is the name of a standby.
    pub fn is_standby(&self) -> bool {
        self.0.starts_with(STANDBY)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether this is the name of no instance.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Name of a host as a study gives it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostName(String);

impl HostName {
    /// A host by its name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The host that `agents.host` reaches: that of the primary, and of standbys that have none of their own.
    pub fn under_test() -> Self {
        Self("host".to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Part of an instance in its deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Takes the writes of the load.
    Primary,
    /// Follows a primary, and can take its place.
    Standby,
    /// Votes, and holds no data.
    Witness,
}

/// Storage of an instance, as the testbed's registry of storages knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoragePlan {
    /// Name in the registry.
    pub kind: String,
}

impl StoragePlan {
    /// Volumes of the cache tier of its place.
    pub fn tier() -> Self {
        Self { kind: TIER.to_owned() }
    }

    /// A directory of a file system that is there.
    pub fn directory() -> Self {
        Self { kind: "directory".to_owned() }
    }
}

/// One instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstancePlan {
    /// Name.
    pub name: InstanceName,
    /// Role at the start of a run.
    pub role: Role,
    /// Host that it runs on.
    pub host: HostName,
    /// Address of its host at which clients and other instances reach it; `None`: only who is on its host does.
    pub address: Option<IpAddr>,
    /// Network device that its host has to itself; `None`: that is not known.
    pub device: Option<String>,
    /// Engine, folder or URL, settings.
    pub place: DataLocation,
    /// Storage that its folder lies on.
    pub storage: StoragePlan,
    /// Limits put on it.
    pub limits: LimitsAsked,
}

/// All instances of a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// Instances in the order in which they are prepared.
    pub instances: Vec<InstancePlan>,
}

impl Deployment {
    /// A single instance, the primary, on the host under test.
    pub fn of_one(place: DataLocation, limits: LimitsAsked) -> Self {
        let (name, host, storage) = (InstanceName::primary(), HostName::under_test(), StoragePlan::directory());
        Self {
            instances: vec![InstancePlan {
                name,
                role: Role::Primary,
                host,
                address: None,
                device: None,
                place,
                storage,
                limits,
            }],
        }
    }

    /// The same with standbys of these names beside the primary: same host, settings and limits, folders and cores of their own.
    #[must_use]
    pub fn with_standbys(mut self, names: &[InstanceName]) -> Self {
        let primary = self.primary().clone();
        for (before, name) in (1..).zip(names) {
            let mut standby = InstancePlan { name: name.clone(), role: Role::Standby, ..primary.clone() };
            standby.place.folder = format!("{}.{name}", primary.place.folder);
            standby.limits.cores_before += before * primary.limits.cores.unwrap_or(0);
            self.instances.push(standby);
        }
        self
    }

    /// The same with another allowance of CPU time for each standby; `None`: that of the primary.
    #[must_use]
    pub fn with_standby_cpu(mut self, cpu: Option<CpuRate>) -> Self {
        let standbys = self.instances.iter_mut().filter(|instance| instance.role == Role::Standby);
        standbys.for_each(|standby| standby.limits.cpu = cpu.or(standby.limits.cpu));
        self
    }

    /// The same with a limit of one role on each standby.
    #[must_use]
    pub fn with_standby_thread(mut self, thread: Option<&ThreadLimit>) -> Self {
        let standbys = self.instances.iter_mut().filter(|instance| instance.role == Role::Standby);
        standbys.for_each(|standby| standby.limits.thread = thread.cloned());
        self
    }

    /// The same with each standby on its host: all are reached by address, cores of a standby begin where the primary's do unless all hosts
    /// are one machine, and its folder lies in the one that the study has on its host.
    #[must_use]
    pub fn on_hosts(mut self, hosts: &StandbyHosts, study: &str) -> Self {
        let before = self.primary().limits.cores_before;
        self.primary_mut().address = Some(hosts.primary);
        let standbys = self.instances.iter_mut().filter(|instance| instance.role == Role::Standby);
        for (standby, host) in standbys.zip(&hosts.standbys) {
            let below = standby.place.folder.strip_prefix(study).unwrap_or_default().to_owned();
            standby.place.folder = format!("{}{below}", folder_on(study, &host.host()));
            (standby.host, standby.address) = (host.host(), Some(host.address));
            standby.device.clone_from(&hosts.device);
            if !hosts.is_one_machine {
                standby.limits.cores_before = before;
            }
        }
        self
    }

    /// Instances that follow the primary.
    pub fn standbys(&self) -> impl Iterator<Item = &InstancePlan> {
        self.instances.iter().filter(|instance| instance.role == Role::Standby)
    }

    /// The instance that takes the writes of the load.
    ///
    /// # Panics
    /// On a deployment without a primary, which is made nowhere.
    pub fn primary(&self) -> &InstancePlan {
        let primary = self.instances.iter().find(|instance| instance.role == Role::Primary);
        primary.expect("every deployment has a primary")
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// Likewise.
    pub fn primary_mut(&mut self) -> &mut InstancePlan {
        let primary = self.instances.iter_mut().find(|instance| instance.role == Role::Primary);
        primary.expect("every deployment has a primary")
    }
}

/// The folder that a study has on a host: one of its own on each, so that hosts may be one machine.
pub fn folder_on(study: &str, host: &HostName) -> String {
    if *host == HostName::under_test() { study.to_owned() } else { format!("{study}@{host}") }
}
