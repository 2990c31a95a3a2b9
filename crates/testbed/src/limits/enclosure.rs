//! All limits of one agent together: applied, joined, verified, lifted, and gone at the end.

use super::branch::Branch;
use super::group::Group;
use super::hierarchy::{Controller, Version};
use super::limit::Fence;
use super::{LIMITS, cpu, throttle, usage};
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;
use std::fs::File;
use std::path::Path;

/// Limits in place. Dropping them lifts them and removes the control group; processes that still run go on without limits.
#[derive(Debug, Default)]
pub(crate) struct Enclosure {
    fence: Fence,
}

impl Enclosure {
    /// Puts limits in place, empty; `folder`: where the data lie. Where the kernel allows, there is a control group also without a limit,
    /// so that use is counted and nothing of an instance gets away.
    pub(crate) fn prepare(asked: LimitsAsked, folder: &Path) -> Result<Self, Error> {
        let group = Group::create(&needed(&asked));
        Self::with(Fence { asked, group, folder: folder.to_owned(), ..Fence::default() })
    }

    fn with(fence: Fence) -> Result<Self, Error> {
        let mut enclosure = Self { fence };
        for limit in LIMITS {
            limit.apply(&mut enclosure.fence).map_err(|error| error.context(format!("apply {}", limit.setting())))?;
        }
        Ok(enclosure)
    }

    /// Puts a running process with all its threads under the limits.
    pub(crate) fn join(&mut self, process: u32) -> Result<(), Error> {
        self.fence.group.admit(process)?;
        for limit in LIMITS {
            limit.join(&self.fence, process)?;
        }
        self.fence.members.push(process);
        Ok(())
    }

    /// What a process needs to be born under the limits: lists to enter, cores.
    pub(crate) fn entrance(&self) -> Result<(Vec<File>, Option<Vec<usize>>), Error> {
        Ok((self.fence.group.entrances()?, self.fence.cores.clone()))
    }

    /// Remembers a process that was born under the limits.
    pub(crate) fn born(&mut self, process: u32) {
        self.fence.members.push(process);
    }

    /// Facts, requested and effective, of every limit that was asked for.
    pub(crate) fn verify(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::new();
        for fact in LIMITS.iter().flat_map(|limit| limit.verify(&self.fence)) {
            // Limits of one controller share what they say of its members.
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        facts.extend(where_it_is(&self.fence.group));
        facts
    }

    /// Facts of use up to now.
    pub(crate) fn usage(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = LIMITS.iter().flat_map(|limit| limit.usage(&self.fence)).collect();
        facts.extend(usage::of_work(&self.fence.group, &self.fence.folder));
        facts
    }

    /// The control group, for those who watch it.
    pub(crate) const fn group(&self) -> &Group {
        &self.fence.group
    }

    /// The cores, for those who watch them.
    pub(crate) const fn cores(&self) -> Option<&Vec<usize>> {
        self.fence.cores.as_ref()
    }

    /// Lifts every limit; processes go on. The group stays while it has members.
    pub(crate) fn lift(&mut self) -> Result<(), Error> {
        if self.fence.is_lifted {
            return Ok(());
        }
        let lifted: Vec<Result<(), Error>> = LIMITS
            .iter()
            .map(|limit| limit.lift(&self.fence).map_err(|error| error.context(format!("lift {}", limit.setting()))))
            .collect();
        self.fence.is_lifted = true;
        self.fence.group.remove();
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
fn where_it_is(group: &Group) -> Vec<Fact> {
    let source = "/proc/self/mountinfo, /proc/self/cgroup";
    let each = Controller::ALL.into_iter().filter_map(|controller| {
        let found = group.branch(controller);
        let (name, is_needed) = match controller {
            Controller::Memory => ("group", true),
            Controller::Io => ("group.io", true),
            Controller::Cpu => ("group.cpu", false),
            Controller::CpuAccounting => ("group.cpu_accounting", true),
        };
        let text = match found {
            Ok(branch) => branch.folder().display().to_string(),
            Err(error) if is_needed => format!("none: {error}"),
            Err(_) => return None,
        };
        Some(Fact::observed("limit", name, text, source))
    });
    each.collect()
}

/// Lifts what keeps the members of a group from dying: they need CPU time and the end of their waits for a device.
pub(crate) fn loosen(group: &Group) {
    for branch in group.branches() {
        throttle::loosen(branch);
        cpu::loosen(branch);
    }
}

/// Makes a group with limits, reads them back and removes the group; answers with the version of control groups. `folder`: where the
/// data would lie.
///
/// # Errors
/// What stands in the way.
pub(crate) fn try_out(asked: LimitsAsked, folder: &Path) -> Result<&'static str, Error> {
    // A group of this process may be in use by an agent in it; the trial has a group of its own.
    let needed = needed(&asked);
    let group = Group::create_trial(&needed);
    let trial = Enclosure::with(Fence { asked, group, folder: folder.to_owned(), ..Fence::default() })?;
    let version = needed.first().and_then(|controller| trial.fence.group.branch(*controller).ok()).map(Branch::version);
    match trial.verify().into_iter().find(|fact| fact.holds == Some(false)) {
        Some(fact) => Err(Error::new(format!(
            "{} is {} where {} was asked for, says {}",
            fact.name,
            fact.effective.as_deref().unwrap_or("not readable"),
            fact.requested.as_deref().unwrap_or("nothing"),
            fact.source
        ))),
        None => Ok(version.map_or("no control group", Version::word)),
    }
}

impl Drop for Enclosure {
    fn drop(&mut self) {
        let _as_far_as_it_goes = self.lift();
        self.fence.group.dissolve();
    }
}

#[cfg(test)]
pub(super) mod tests;
