//! The contract of a limit: put in place empty, joined by processes, read back, lifted. A limit may not judge what a false fact means.

use super::cgroup::Cgroup;
use super::cgroup_dir::CgroupDir;
use super::core_spin::CoreSpin;
use super::hierarchy::Controller;
use super::role_group::RoleGroup;
use crate::storages::Devices;
use crate::sys::ThreadRoles;
use proofload_model::error::Error;
use proofload_model::facts::{FactName, FactValue};
use proofload_model::intervention::ResourceClass;
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;
use std::time::Duration;

/// State that limits share: what was asked, and what is in place because of it.
#[derive(Debug, Default)]
pub(crate) struct LimitState {
    /// What was asked.
    pub(crate) asked: LimitsAsked,
    /// Block devices under the data: each of them is limited.
    pub(crate) devices: Devices,
    /// The control group; empty where there are no controllers or no right to use them.
    pub(crate) group: Cgroup,
    /// The group of the role that is limited, below that of the instance.
    pub(crate) role: Option<RoleGroup>,
    /// Roles that the server tells of its threads.
    pub(crate) thread_roles: ThreadRoles,
    /// Cores to run on; `None`: not limited.
    pub(crate) cores: Option<Vec<usize>>,
    /// What is taken of the cores while they are lowered.
    pub(crate) core_spin: CoreSpin,
    /// Cores that members may have again when the limit is lifted.
    pub(crate) all_cores: Vec<usize>,
    /// Roots of the process trees that joined.
    pub(crate) members: Vec<u32>,
    /// Whether it has been lifted.
    pub(crate) is_lifted: bool,
    /// Whether they hold for a process that is no instance: it has precedence also where its CPU time is not limited.
    pub(crate) is_of_process: bool,
}

/// A limit that is built in.
pub(crate) trait Limit: Sync {
    /// Path of the setting, such as `limits.memory`.
    fn setting(&self) -> &'static str;

    /// The controller that it cannot do without, when it is asked for.
    fn needs(&self, asked: &LimitsAsked) -> Option<Controller>;

    /// Puts it in place; does nothing when it is not asked for.
    fn apply(&self, state: &mut LimitState) -> Result<(), Error>;

    /// Puts a running process under it that is in the control group already.
    fn join(&self, _fence: &LimitState, _process: u32) -> Result<(), Error> {
        Ok(())
    }

    /// Follows a process that was born in the control group.
    fn born(&self, _state: &LimitState, _process: u32) {}

    /// Reads back what is in force.
    fn verify(&self, state: &LimitState) -> Vec<Fact>;

    /// How much of it was used up to now; nothing where it is not counted.
    fn usage(&self, _state: &LimitState) -> Vec<Fact> {
        Vec::new()
    }

    /// The same limit as one that can be changed while processes run under it; `None` where it cannot.
    fn live(&self) -> Option<&dyn LiveLimit> {
        None
    }

    /// Lifts it; processes go on.
    fn lift(&self, state: &LimitState) -> Result<(), Error>;
}

/// A limit that can be changed while processes run under it.
pub(super) trait LiveLimit {
    /// What changing it does.
    fn class(&self) -> ResourceClass {
        ResourceClass::Capacity
    }

    /// How long a change takes to act.
    fn settles(&self, state: &LimitState) -> Duration;

    /// What was asked for, per second, or as a number or size; `None` when it was not.
    fn asked_rate(&self, state: &LimitState) -> Option<f64>;

    /// Sets a rate; answers with the one that can be set, which it was rounded to.
    fn set_rate(&self, state: &LimitState, rate: f64) -> Result<f64, Error>;

    /// The rate in force, the smallest of all that hold; `None`: no limit.
    fn rate_in_force(&self, state: &LimitState) -> Result<Option<f64>, Error>;

    /// What was used since it was made, by device; empty where it is not counted.
    fn used(&self, _state: &LimitState) -> Vec<f64> {
        Vec::new()
    }
}

/// A fact about a limit that was asked for.
pub(super) fn verified(
    name: &FactName,
    requested: String,
    effective: Result<(impl Into<FactValue>, bool), Error>,
    source: String,
) -> Fact {
    match effective {
        Ok((effective, holds)) => name.compared(requested, Some(effective), holds, source),
        Err(error) => name.compared(requested, None::<FactValue>, false, error.to_string()),
    }
}

/// The limit that was read back, or that there is none.
pub(super) fn or_none(limit: Option<impl Into<FactValue>>) -> FactValue {
    limit.map_or_else(|| "none".into(), Into::into)
}

/// Checks that the processes that joined, and all that descend from them, are in the group.
pub(super) fn members_inside(name: &FactName, dir: &CgroupDir, joined: &[u32]) -> Fact {
    let inside = dir.members();
    let all: Vec<u32> = joined.iter().flat_map(|root| crate::sys::descendants(*root)).collect();
    let outside = all.iter().filter(|process| !inside.contains(process) && crate::sys::is_running(**process)).count();
    let effective = format!("{} inside, {outside} outside", inside.len());
    let source = dir.source("cgroup.procs");
    let missing = !joined.is_empty() && all.is_empty();
    verified(name, "every process inside".to_owned(), Ok((effective, outside == 0 && !missing)), source)
}
