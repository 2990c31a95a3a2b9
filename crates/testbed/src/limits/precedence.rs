//! Precedence over other processes of the host, where `limits.cpu` bounds what the database takes, so that it gets its allowance beside builds
//! and browsers, and these the rest: the largest weight of CPU time, and a short slice, with which a thread whose request to the device has
//! ended runs at once. Does nothing against other guests of a hypervisor.
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

/// The control group, if CPU time is limited.
fn limited(state: &LimitState) -> Option<&CgroupDir> {
    state.asked.cpu.filter(|_| !state.asked.without_precedence).and_then(|_| state.group.dir(Controller::Cpu).ok())
}

impl Limit for Precedence {
    fn setting(&self) -> &'static str {
        "precedence of the limited CPU time"
    }

    fn needs(&self, asked: &LimitsAsked) -> Option<Controller> {
        asked.cpu.filter(|_| !asked.without_precedence).map(|_| Controller::Cpu)
    }

    fn apply(&self, state: &mut LimitState) -> Result<(), Error> {
        if let Some(dir) = limited(state) {
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
        if limited(state).is_some() {
            // Likewise.
            let _as_far_as_it_goes = each_thread(process, |thread| sys::set_slice(thread, Some(SLICE)));
        }
    }

    fn verify(&self, state: &LimitState) -> Vec<Fact> {
        let Some(dir) = limited(state) else { return Vec::new() };
        let (name, _, default) = weight(dir.version());
        let weight = dir
            .read(name)
            .map(|weight| limit::WEIGHT.observed(format!("{weight} ({default} is usual)"), dir.source(name)));
        let longest =
            trees(state).into_iter().flat_map(sys::threads).filter_map(|thread| sys::slice(thread).ok()?).max();
        let slice = longest.map(|longest| {
            limit::SLICE.observed(format!("{} µs", longest.as_micros()), "sched_getattr of every thread")
        });
        weight.into_iter().chain(slice).collect()
    }

    fn usage(&self, _state: &LimitState) -> Vec<Fact> {
        Vec::new()
    }

    fn lift(&self, state: &LimitState) -> Result<(), Error> {
        let Some(dir) = limited(state) else { return Ok(()) };
        for process in trees(state) {
            // A process that may not be changed was not changed either.
            let _as_far_as_it_goes = each_thread(process, |thread| sys::set_slice(thread, None));
        }
        let (name, _, usual) = weight(dir.version());
        dir.write(name, usual)
    }
}
