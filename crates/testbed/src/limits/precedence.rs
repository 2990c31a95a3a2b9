//! Precedence over other processes of the host, where `limits.cpu` bounds what the database takes, so that it gets its allowance beside builds
//! and browsers, and these the rest: the largest weight of CPU time, and a short slice, with which a thread whose request to the device has
//! ended runs at once. The load generator, which does no more than the database lets it, has the same without an allowance: it would starve
//! beside a database that goes before it. Does nothing against other guests of a hypervisor.
//! Sources: Documentation/admin-guide/cgroup-v2.rst, `cpu.weight`; Documentation/scheduler/sched-design-CFS.rst, `cpu.shares`;
//! Documentation/scheduler/sched-eevdf.rst.

use super::cgroup_dir::CgroupDir;
use super::hierarchy::{Controller, Version};
use super::limit::{Limit, LimitState};
use super::members::{each_thread, trees};
use crate::sys;
use proofload_model::error::Error;
use proofload_model::facts::limit;
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;
use std::time::Duration;

/// The precedence.
pub(super) struct Precedence;

/// The shortest slice that the kernel takes.
const SLICE: Duration = Duration::from_micros(100);

/// File, largest weight and default of a version.
const fn weight(version: Version) -> (&'static str, &'static str, &'static str) {
    match version {
        Version::One => ("cpu.shares", "262144", "1024"),
        Version::Two => ("cpu.weight", "10000", "100"),
    }
}

/// Whether members are to go before others: their CPU time is limited, or they are no instance.
const fn is_asked(state: &LimitState) -> bool {
    (state.asked.cpu.is_some() || state.is_of_process) && !state.asked.without_precedence
}

/// The control group, if its members are to go before others.
fn raised(state: &LimitState) -> Option<&CgroupDir> {
    if is_asked(state) { state.group.dir(Controller::Cpu).ok() } else { None }
}

impl Limit for Precedence {
    fn setting(&self) -> &'static str {
        "precedence of the limited CPU time"
    }

    fn needs(&self, asked: &LimitsAsked) -> Option<Controller> {
        asked.cpu.filter(|_| !asked.without_precedence).map(|_| Controller::Cpu)
    }

    fn apply(&self, state: &mut LimitState) -> Result<(), Error> {
        if let Some(dir) = raised(state) {
            let (name, largest, _) = weight(dir.version());
            // Where it cannot be raised the fact shows what is in force.
            let _as_far_as_it_goes = dir.write(name, largest);
        }
        Ok(())
    }

    fn join(&self, state: &LimitState, process: u32) -> Result<(), Error> {
        self.born(state, process);
        Ok(())
    }

    fn born(&self, state: &LimitState, process: u32) {
        if raised(state).is_some() {
            // Likewise.
            let _as_far_as_it_goes = each_thread(process, |thread| sys::set_slice(thread, Some(SLICE)));
        }
    }

    fn verify(&self, state: &LimitState) -> Vec<Fact> {
        if !is_asked(state) {
            return Vec::new();
        }
        let dir = match state.group.dir(Controller::Cpu) {
            Ok(dir) => dir,
            Err(why) => return vec![limit::WEIGHT.unknown(why.to_string())],
        };
        let (name, _, default) = weight(dir.version());
        let weight = match dir.read(name) {
            Ok(weight) => limit::WEIGHT.observed(format!("{weight} ({default} is usual)"), dir.source(name)),
            Err(why) => limit::WEIGHT.unknown(why.to_string()),
        };
        let longest =
            trees(state).into_iter().flat_map(sys::threads).filter_map(|thread| sys::slice(thread).ok()?).max();
        let slice = longest.map(|longest| {
            limit::SLICE.observed(format!("{} µs", longest.as_micros()), "sched_getattr of every thread")
        });
        std::iter::once(weight).chain(slice).collect()
    }

    fn lift(&self, state: &LimitState) -> Result<(), Error> {
        let Some(dir) = raised(state) else { return Ok(()) };
        for process in trees(state) {
            // A process that may not be changed was not changed either.
            let _as_far_as_it_goes = each_thread(process, |thread| sys::set_slice(thread, None));
        }
        let (name, _, usual) = weight(dir.version());
        dir.write(name, usual)
    }
}

#[cfg(test)]
mod tests {
    use super::super::AppliedLimits;
    use super::super::applied::tests::enclose;
    use super::*;
    use crate::storages::Devices;
    use proofload_model::deployment::InstanceName;
    use proofload_model::units::CpuRate;
    use std::collections::BTreeMap;
    use std::process::Command;

    fn half_a_core() -> LimitsAsked {
        LimitsAsked { cpu: Some(CpuRate::from_seconds(0.5)), ..LimitsAsked::default() }
    }

    fn of_clients(asked: LimitsAsked) -> AppliedLimits {
        AppliedLimits::prepare_process(&InstanceName::clients(), asked, Devices::default()).unwrap()
    }

    fn is_largest(facts: &[Fact]) -> bool {
        let is_one = |text: &str| text.starts_with("10000 (100") || text.starts_with("262144 (1024");
        limit::WEIGHT.text(facts).is_some_and(is_one)
    }

    #[test]
    fn a_load_generator_has_the_precedence_of_its_database_without_a_limit() {
        let Some((_alone, database)) = enclose(half_a_core()) else { return };
        let mut clients = of_clients(LimitsAsked::default());
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let usual = sys::slice(child.id()).unwrap();
        clients.join(child.id()).unwrap();
        let facts = clients.verify();
        assert!(is_largest(&facts) && is_largest(&database.verify()), "{facts:#?}");
        assert_eq!(limit::SLICE.text(&facts), usual.map(|_| "100 µs"));
        assert!(facts.iter().all(|fact| fact.requested.is_none()), "nothing is limited: {facts:#?}");
        let dir = clients.group().dir(Controller::Cpu).unwrap().clone();
        let quota = dir.read(if dir.version() == Version::One { "cpu.cfs_quota_us" } else { "cpu.max" }).unwrap();
        assert!(quota == "-1" || quota.starts_with("max"), "{quota}");
        let of_database = database.group().dir(Controller::Cpu).unwrap();
        assert_eq!(dir.folder().parent(), of_database.folder().parent(), "weights count among siblings");
        assert_eq!(dir.members(), [child.id()]);
        clients.lift().unwrap();
        let (name, _, default) = weight(dir.version());
        assert_eq!((dir.read(name).unwrap().as_str(), sys::slice(child.id()).unwrap()), (default, usual));
        drop(clients);
        assert!(!dir.folder().exists() && sys::is_running(child.id()), "the group is gone, the process is not");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_limit_of_the_load_generator_is_changed_in_the_same_group() {
        let Some((_alone, _database)) = enclose(half_a_core()) else { return };
        let clients = of_clients(half_a_core());
        let meters = clients.change(&BTreeMap::from([("limits.cpu".to_owned(), 0.5)])).unwrap();
        assert_eq!(meters.iter().find(|meter| meter.setting == "limits.cpu").unwrap().in_force, Some(0.25));
        assert!(is_largest(&clients.verify()));
        drop(clients);
        let clients = of_clients(LimitsAsked { without_precedence: true, ..half_a_core() });
        assert_eq!(limit::WEIGHT.last(&clients.verify()), None, "its database has none");
    }

    #[test]
    fn where_no_group_can_be_had_the_weight_is_unknown_with_the_reason() {
        let state = LimitState { is_of_process: true, ..LimitState::default() };
        let facts = Precedence.verify(&state);
        assert!(limit::WEIGHT.is_of(&facts[0]) && facts[0].effective.is_none(), "{facts:?}");
        assert!(facts[0].source.contains("has the CPU controller"), "{facts:?}");
        Precedence.lift(&state).unwrap();
    }
}
