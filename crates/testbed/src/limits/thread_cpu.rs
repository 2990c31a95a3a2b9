//! `limits.thread_cpu`: CPU time of the threads of one role, in a control group of their own below that of the instance. It shows what a stage
//! costs that cannot be divided. In version 2 it needs a kernel with groups of threads (4.14); untested there.

use super::cpu;
use super::hierarchy::Controller;
use super::limit::{Limit, LimitState, LiveLimit, verified};
use super::role_group::{RoleGroup, RoleThreads};
use super::usage;
use proofload_model::error::Error;
use proofload_model::facts::limit;
use proofload_model::intervention::THREAD_CPU;
use proofload_model::samples::Fact;
use proofload_model::units::CpuRate;
use proofload_model::wire::{LimitsAsked, ThreadLimit};
use std::sync::Arc;
use std::time::Duration;

/// The limit of CPU time of a role.
pub(super) struct ThreadCpu;

impl Limit for ThreadCpu {
    fn setting(&self) -> &'static str {
        THREAD_CPU
    }

    fn needs(&self, asked: &LimitsAsked) -> Option<Controller> {
        asked.thread.as_ref().map(|_| Controller::Cpu)
    }

    fn apply(&self, state: &mut LimitState) -> Result<(), Error> {
        let Some(asked) = &state.asked.thread else { return Ok(()) };
        let failed = |error: Error| error.context(format!("failed to limit the role {} to {}", asked.role, asked.cpu));
        let instance = state.group.dir(Controller::Cpu).map_err(failed)?;
        let group = RoleGroup::make(instance, &asked.role, Arc::clone(&state.thread_roles)).map_err(failed)?;
        cpu::set_rate(group.dir(), cpu::in_seconds(asked.cpu)).map_err(failed)?;
        state.role = Some(group);
        Ok(())
    }

    fn verify(&self, state: &LimitState) -> Vec<Fact> {
        let Some(asked) = &state.asked.thread else { return Vec::new() };
        let Some(group) = &state.role else {
            let none = Err::<(CpuRate, bool), _>(Error::new("its control group is gone"));
            return vec![verified(&limit::THREAD_CPU, asked.cpu.to_string(), none, String::new())];
        };
        let found = group.look();
        let (effective, holds) = members(asked, &found, !state.members.is_empty());
        let source = group.dir().source("threads");
        vec![
            cpu::in_force(&limit::THREAD_CPU, group.dir(), asked.cpu),
            verified(&limit::THREAD_MEMBERS, asked.role.clone(), Ok((effective, holds)), source),
        ]
    }

    fn usage(&self, state: &LimitState) -> Vec<Fact> {
        // What throttled the role is told by the group of the instance where its own limit is asked for as well.
        let group = state.role.as_ref().filter(|_| state.asked.cpu.is_none());
        group.map(|group| usage::of_throttling(group.dir())).unwrap_or_default()
    }

    fn live(&self) -> Option<&dyn LiveLimit> {
        Some(self)
    }

    fn lift(&self, state: &LimitState) -> Result<(), Error> {
        state.role.as_ref().map_or(Ok(()), |group| cpu::unlimit(group.dir()))
    }
}

/// The threads of a role in words, and whether they are as they should be once there are processes.
fn members(asked: &ThreadLimit, found: &RoleThreads, has_processes: bool) -> (String, bool) {
    let RoleThreads { inside, outside, others } = found;
    let role = &asked.role;
    if inside + outside > 0 {
        return (format!("{inside} inside, {outside} outside"), *outside == 0);
    }
    if !has_processes || others.is_empty() {
        return ("no role is known yet".to_owned(), true);
    }
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    (format!("no thread has the role {role}; there are {}", others.join(", ")), asked.may_be_absent)
}

impl LiveLimit for ThreadCpu {
    fn settles(&self, _state: &LimitState) -> Duration {
        cpu::SETTLES
    }

    fn asked_rate(&self, state: &LimitState) -> Option<f64> {
        state.asked.thread.as_ref().map(|asked| cpu::in_seconds(asked.cpu))
    }

    fn set_rate(&self, state: &LimitState, rate: f64) -> Result<f64, Error> {
        cpu::set_rate(group(state)?.dir(), rate)
    }

    fn rate_in_force(&self, state: &LimitState) -> Result<Option<f64>, Error> {
        Ok(cpu::rate_in_force(group(state)?.dir()))
    }

    fn used(&self, state: &LimitState) -> Vec<f64> {
        state.role.iter().map(RoleGroup::used).collect()
    }
}

fn group(state: &LimitState) -> Result<&RoleGroup, Error> {
    state.role.as_ref().ok_or_else(|| Error::new("the control group of the role is gone"))
}

#[cfg(test)]
mod tests {
    use super::super::applied::tests::enclose;
    use super::*;
    use std::collections::BTreeMap;
    use std::ops::Range;
    use std::process::{Child, Command};
    use std::time::Instant;

    /// A program whose title tells a role, as a server's process does, and which is busy.
    fn busy(title: &str) -> Child {
        let line = format!("exec -a '{title}' sh -c 'while :; do :; done'");
        Command::new("bash").args(["-c", &line]).spawn().unwrap()
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn used_in(applied: &super::super::AppliedLimits, time: Duration) -> f64 {
        let meter = |applied: &super::super::AppliedLimits| {
            applied.meters().into_iter().find(|meter| meter.setting == THREAD_CPU).unwrap()
        };
        // A pause between the two readings makes it no more per second.
        let (began, before) = (Instant::now(), meter(applied).used[0]);
        std::thread::sleep(time);
        (meter(applied).used[0] - before) / began.elapsed().as_secs_f64()
    }

    /// What is used per second is in a range: in no window more, and in one of ten not less, since others may have the processor in the rest.
    #[track_caller]
    fn check_used(applied: &super::super::AppliedLimits, expected: &Range<f64>) {
        let mut windows: Vec<f64> = Vec::new();
        while windows.last().is_none_or(|used| *used < expected.start) {
            assert!(windows.len() < 10, "{windows:?}");
            windows.push(used_in(applied, Duration::from_secs(2)));
            assert!(windows.iter().all(|used| *used < expected.end), "{windows:?}");
        }
    }

    fn fact(applied: &super::super::AppliedLimits) -> Fact {
        applied.verify().into_iter().find(|fact| limit::THREAD_MEMBERS.is_of(fact)).unwrap()
    }

    /// Waits for what the limit says of its members: a program needs a moment until its title tells its role.
    #[track_caller]
    fn until(applied: &super::super::AppliedLimits, holds: bool, effective: &str) {
        let begun = Instant::now();
        loop {
            let found = fact(applied);
            if found.holds == Some(holds) && found.effective.as_deref().is_some_and(|text| text.contains(effective)) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "{found:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_role_that_is_nowhere_is_a_fault_unless_it_may_be_absent() {
        let others = ["checkpointer".to_owned()].into_iter().collect();
        let found = RoleThreads { inside: 0, outside: 0, others };
        for may_be_absent in [false, true] {
            let asked = ThreadLimit { role: "walsender".to_owned(), cpu: CpuRate::from_seconds(0.1), may_be_absent };
            let (effective, holds) = members(&asked, &found, true);
            assert_eq!(effective, "no thread has the role walsender; there are checkpointer");
            assert_eq!(holds, may_be_absent);
        }
    }

    #[test]
    fn only_threads_of_the_role_are_limited_also_those_born_later() {
        let thread =
            ThreadLimit { role: "walsender".to_owned(), cpu: CpuRate::from_seconds(0.1), may_be_absent: false };
        let asked = LimitsAsked { thread: Some(thread), ..LimitsAsked::default() };
        let Some((_alone, mut applied)) = enclose(asked) else { return };
        assert_eq!(fact(&applied).holds, Some(true), "nothing runs yet");
        // `sh: ` is how a title begins: with the name of the program.
        let (other, first) = (busy("sh: checkpointer"), busy("sh: walsender u [local] streaming 0/3"));
        applied.join(other.id()).unwrap();
        until(&applied, false, "there are checkpointer");
        applied.join(first.id()).unwrap();
        until(&applied, true, "1 inside, 0 outside");
        check_used(&applied, &(0.06..0.12));
        end(first);
        let again = busy("sh: walsender u [local] streaming 0/4");
        applied.join(again.id()).unwrap();
        std::thread::sleep(3 * Duration::from_millis(500));
        let lowered = applied.change(&BTreeMap::from([(THREAD_CPU.to_owned(), 0.5)])).unwrap();
        let meter = lowered.into_iter().find(|meter| meter.setting == THREAD_CPU).unwrap();
        assert_eq!((meter.asked, meter.in_force), (0.1, Some(0.05)));
        check_used(&applied, &(0.025..0.065));
        let group = applied.group().dir(Controller::Cpu).unwrap().folder().to_owned();
        assert!(crate::sys::cpu_time(other.id()).unwrap() > Duration::from_millis(500), "it is not limited");
        drop(applied);
        assert!(!group.exists(), "the group is gone with that below it");
        end(other);
        end(again);
    }
}
