//! Data of the instances of a deployment before they start: restored from snapshots, those of one host together and all hosts at the same
//! time. May not start anything.

use super::testbed::{Testbed, data_copy};
use crate::live::Phase;
use proofload_model::deployment::{HostName, InstancePlan};
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::wire::host;

/// Instances of one host whose data come from one folder.
struct RestoreGroup<'p> {
    host: &'p HostName,
    from: String,
    instances: Vec<&'p InstancePlan>,
}

impl<'p> RestoreGroup<'p> {
    /// Puts instances into groups, in the order in which they come.
    fn all(instances: &[&'p InstancePlan], from: impl Fn(&InstancePlan) -> String) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for &instance in instances {
            let from = from(instance);
            let known = groups.iter_mut().find(|group| *group.host == instance.host && group.from == from);
            match known {
                Some(group) => group.instances.push(instance),
                None => groups.push(Self { host: &instance.host, from, instances: vec![instance] }),
            }
        }
        groups
    }

    fn ask(&self) -> host::RestoreSnapshot {
        let target = |instance: &&InstancePlan| host::RestoreTarget {
            instance: instance.name.clone(),
            place: instance.place.clone(),
        };
        host::RestoreSnapshot { from: self.from.clone(), instances: self.instances.iter().map(target).collect() }
    }
}

impl Testbed<'_, '_> {
    /// Gives every instance the data of the snapshot in a folder of its host, where `anew` or where its own were discarded. Nothing of
    /// data or snapshot is in the page cache afterwards.
    pub(super) fn restore(&mut self, from: impl Fn(&InstancePlan) -> String, anew: bool) -> Result<(), Error> {
        let mut restored = Vec::new();
        for instance in self.ours() {
            if anew || self.ask(instance, host::AreDiscarded { place: instance.place.clone() })? {
                restored.push(instance);
            }
        }
        if !restored.is_empty() {
            self.heard.view.phase(Phase::Restoring);
            self.restore_all(&RestoreGroup::all(&restored, from))?;
        }
        self.drop_page_cache()
    }

    fn restore_all(&mut self, groups: &[RestoreGroup<'_>]) -> Result<(), Error> {
        let asks = groups.iter().map(|group| (group.host, group.ask())).collect();
        let answers = self.agents.ask_hosts(asks, self.heard)?;
        for (group, copies) in groups.iter().zip(answers) {
            for (instance, copied) in group.instances.iter().zip(copies?) {
                self.heard.journal.event_of(&instance.name, RunEvent::Restored(data_copy(copied)))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::deployment::{Deployment, InstanceName};
    use proofload_model::standby_hosts::{StandbyHost, StandbyHosts};
    use proofload_model::wire::{DataLocation, LimitsAsked};

    fn deployment() -> Deployment {
        let place = DataLocation::in_folder("postgresql", "study/data");
        let standbys = [InstanceName::standby(1), InstanceName::standby(2)];
        Deployment::of_one(place, LimitsAsked::default()).with_standbys(&standbys)
    }

    #[track_caller]
    fn check(deployment: &Deployment, from: impl Fn(&InstancePlan) -> String, expected: &[&[&str]]) {
        let instances: Vec<&InstancePlan> = deployment.instances.iter().collect();
        let asked: Vec<Vec<String>> = RestoreGroup::all(&instances, from)
            .iter()
            .map(|group| group.ask().instances.iter().map(|target| target.instance.to_string()).collect())
            .collect();
        assert_eq!(asked, expected);
    }

    #[test]
    fn instances_of_one_host_are_restored_together_from_one_snapshot() {
        check(&deployment(), |_| "study/data".to_owned(), &[&["primary", "standby-1", "standby-2"]]);
        check(&deployment(), |one| one.place.folder.clone(), &[&["primary"], &["standby-1"], &["standby-2"]]);
    }

    #[test]
    fn instances_on_hosts_of_their_own_are_restored_there() {
        let local = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
        let host = |name: &str| StandbyHost { name: name.to_owned(), address: local };
        let hosts = StandbyHosts {
            primary: local,
            standbys: vec![host("db2"), host("db3")],
            is_one_machine: false,
            device: None,
        };
        let apart = deployment().on_hosts(&hosts, "study");
        check(&apart, |_| "study/data".to_owned(), &[&["primary"], &["standby-1"], &["standby-2"]]);
    }
}
