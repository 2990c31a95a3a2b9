//! All limits of one instance together: applied, joined, verified, lifted, and gone at the end.

use super::cgroup::Cgroup;
use super::cgroup_dir::CgroupDir;
use super::core_spin::CoreSpin;
use super::hierarchy::{Controller, Version};
use super::limit::LimitState;
use super::{LIMITS, cpu, freezer, throttle, usage};
use crate::storages::Devices;
use crate::sys::ThreadRoles;
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::facts::limit;
use proofload_model::samples::Fact;
use proofload_model::time::Clock;
use proofload_model::wire::LimitsAsked;
use std::fs::File;
use std::sync::Arc;

/// Limits in place. Dropping them lifts them and removes the control group; processes that still run go on without limits.
#[derive(Debug, Default)]
pub(crate) struct AppliedLimits {
    state: LimitState,
}

impl AppliedLimits {
    /// Puts limits of an instance in place, empty. Where the kernel allows, there is a control group also without a limit, so that use is
    /// counted and nothing of an instance gets away.
    pub(crate) fn prepare(instance: &InstanceName, asked: LimitsAsked, devices: Devices) -> Result<Self, Error> {
        let group = Cgroup::create(instance, &needed(&asked));
        Self::with(LimitState { asked, group, devices, ..LimitState::default() })
    }

    /// Puts limits of a process that is no instance in place, empty. It has precedence over other processes unless `asked` says without,
    /// also where its CPU time is not limited; where that cannot be had a fact says why.
    pub(crate) fn prepare_process(name: &InstanceName, asked: LimitsAsked, devices: Devices) -> Result<Self, Error> {
        let mut needed = needed(&asked);
        if !asked.without_precedence && !needed.contains(&Controller::Cpu) {
            needed.push(Controller::Cpu);
        }
        let group = Cgroup::create(name, &needed);
        Self::with(LimitState { asked, group, devices, is_of_process: true, ..LimitState::default() })
    }

    /// The same, whose cores can be slowed by the time of a clock.
    pub(crate) fn timed_by(mut self, clock: Arc<dyn Clock>) -> Self {
        self.state.core_spin = CoreSpin::timed_by(clock);
        self
    }

    fn with(state: LimitState) -> Result<Self, Error> {
        let mut applied = Self { state };
        for limit in LIMITS {
            limit
                .apply(&mut applied.state)
                .map_err(|error| error.context(format!("failed to apply {}", limit.setting())))?;
        }
        Ok(applied)
    }

    /// Puts a running process with all its threads under the limits.
    pub(crate) fn join(&mut self, process: u32) -> Result<(), Error> {
        self.state.group.admit(process)?;
        for limit in LIMITS {
            limit.join(&self.state, process)?;
        }
        self.state.members.push(process);
        Ok(())
    }

    /// What a process needs to be born under the limits: lists to enter, cores.
    pub(crate) fn entrance(&self) -> Result<(Vec<File>, Option<Vec<usize>>), Error> {
        Ok((self.state.group.entrances()?, self.state.cores.clone()))
    }

    /// Remembers a process that was born under the limits.
    pub(crate) fn born(&mut self, process: u32) {
        for limit in LIMITS {
            limit.born(&self.state, process);
        }
        self.state.members.push(process);
    }

    /// Facts, requested and effective, of every limit that was asked for.
    pub(crate) fn verify(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::new();
        for fact in LIMITS.iter().flat_map(|limit| limit.verify(&self.state)) {
            // Limits of one controller share what they say of its members.
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        facts.extend(where_it_is(&self.state.group));
        facts
    }

    /// Facts of use up to now.
    pub(crate) fn usage(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = LIMITS.iter().flat_map(|limit| limit.usage(&self.state)).collect();
        facts.extend(usage::of_work(&self.state.group, &self.state.devices));
        facts
    }

    /// State for what changes it during a run.
    pub(super) const fn state(&self) -> &LimitState {
        &self.state
    }

    /// The control group, for those who watch it.
    pub(crate) const fn group(&self) -> &Cgroup {
        &self.state.group
    }

    /// Roles of threads, for the probe that is told them.
    pub(crate) fn thread_roles(&self) -> ThreadRoles {
        Arc::clone(&self.state.thread_roles)
    }

    /// The cores, for those who watch them.
    pub(crate) const fn cores(&self) -> Option<&Vec<usize>> {
        self.state.cores.as_ref()
    }

    /// Lifts every limit; processes go on. The group stays while it has members.
    pub(crate) fn lift(&mut self) -> Result<(), Error> {
        if self.state.is_lifted {
            return Ok(());
        }
        let lifted: Vec<Result<(), Error>> = LIMITS
            .iter()
            .map(|limit| {
                limit.lift(&self.state).map_err(|error| error.context(format!("failed to remove {}", limit.setting())))
            })
            .collect();
        self.state.is_lifted = true;
        self.state.role = None;
        self.state.group.remove();
        lifted.into_iter().collect()
    }
}

/// The controllers that limits cannot do without.
fn needed(asked: &LimitsAsked) -> Vec<Controller> {
    let mut needed: Vec<Controller> = LIMITS.iter().filter_map(|limit| limit.needs(asked)).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// Facts: the folder of the group for each controller.
fn where_it_is(group: &Cgroup) -> Vec<Fact> {
    let source = "/proc/self/mountinfo, /proc/self/cgroup";
    let each = Controller::ALL.into_iter().filter_map(|controller| {
        let found = group.dir(controller);
        let (name, is_needed) = match controller {
            Controller::Memory => (limit::GROUP, true),
            Controller::Io => (limit::GROUP_IO, true),
            Controller::Cpu => (limit::GROUP_CPU, false),
            Controller::CpuAccounting => (limit::GROUP_CPU_ACCOUNTING, true),
            Controller::Freezer => return None,
        };
        let text = match found {
            Ok(dir) => dir.folder().display().to_string(),
            Err(error) if is_needed => format!("none: {error}"),
            Err(_) => return None,
        };
        Some(name.observed(text, source))
    });
    each.collect()
}

/// Lifts what keeps the members of a group from dying: they need to run, CPU time and the end of their waits for a device.
pub(crate) fn lift_stalls(group: &Cgroup) {
    for dir in group.dirs() {
        freezer::thaw(dir);
        throttle::lift_stalls(dir);
        cpu::lift_stalls(dir);
    }
}

/// Makes a group with limits, reads them back and removes the group; answers with the version of control groups. `devices`: those
/// under the data.
///
/// # Errors
/// What stands in the way.
pub(crate) fn try_out(asked: LimitsAsked, devices: Devices) -> Result<&'static str, Error> {
    // A group of this process may be in use by an agent in it; the trial has a group of its own.
    let needed = needed(&asked);
    let group = Cgroup::create_trial(&needed);
    let trial = AppliedLimits::with(LimitState { asked, group, devices, ..LimitState::default() })?;
    let version = needed.first().and_then(|controller| trial.state.group.dir(*controller).ok()).map(CgroupDir::version);
    match trial.verify().into_iter().find(|fact| fact.holds == Some(false)) {
        Some(fact) => Err(Error::new(format!(
            "{} is {} instead of {}, according to {}",
            fact.name,
            fact.effective.as_deref().unwrap_or("not readable"),
            fact.requested.as_deref().unwrap_or("nothing"),
            fact.source
        ))),
        None => Ok(version.map_or("no control group", Version::word)),
    }
}

impl Drop for AppliedLimits {
    fn drop(&mut self) {
        let _as_far_as_it_goes = self.lift();
        self.state.group.dissolve();
    }
}

#[cfg(test)]
pub(super) mod tests;
