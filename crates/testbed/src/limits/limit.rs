//! The contract of a limit: put in place empty, joined by processes, read back, lifted. A limit may not judge what a false fact means.

use super::branch::Branch;
use super::group::Group;
use super::hierarchy::Controller;
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;
use std::path::PathBuf;

/// What limits share: what was asked, and what stands because of it.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// What was asked.
    pub(crate) asked: LimitsAsked,
    /// Where the data lie: the block device there is limited.
    pub(crate) folder: PathBuf,
    /// The control group; empty where there are no controllers or no right to use them.
    pub(crate) group: Group,
    /// Cores to run on; none: not limited.
    pub(crate) cores: Option<Vec<usize>>,
    /// Cores that members may have again when the limit is lifted.
    pub(crate) all_cores: Vec<usize>,
    /// Roots of the process trees that joined.
    pub(crate) members: Vec<u32>,
    /// Has it been lifted?
    pub(crate) is_lifted: bool,
}

/// A limit that is built in.
pub(crate) trait Limit: Sync {
    /// Path of the setting, such as `limits.memory`.
    fn setting(&self) -> &'static str;

    /// The controller that it cannot do without, when it is asked for.
    fn needs(&self, asked: &LimitsAsked) -> Option<Controller>;

    /// Puts it in place; does nothing when it is not asked for.
    fn apply(&self, fence: &mut Fence) -> Result<(), Error>;

    /// Puts a running process under it that is in the control group already.
    fn join(&self, _fence: &Fence, _process: u32) -> Result<(), Error> {
        Ok(())
    }

    /// Reads back what is in force.
    fn verify(&self, fence: &Fence) -> Vec<Fact>;

    /// How much of it was used up to now.
    fn usage(&self, fence: &Fence) -> Vec<Fact>;

    /// Lifts it; processes go on.
    fn lift(&self, fence: &Fence) -> Result<(), Error>;
}

/// A fact about a limit that was asked for.
pub(super) fn verified(
    name: &str,
    requested: String,
    effective: Result<(String, bool), Error>,
    source: String,
) -> Fact {
    let (effective, holds, source) = match effective {
        Ok((effective, holds)) => (Some(effective), holds, source),
        Err(error) => (None, false, error.to_string()),
    };
    Fact {
        subject: "limit".to_owned(),
        name: name.to_owned(),
        requested: Some(requested),
        effective,
        source,
        holds: Some(holds),
        ..Fact::default()
    }
}

/// Are the processes that joined, and all that descend from them, in the group?
pub(super) fn members_inside(name: &str, branch: &Branch, joined: &[u32]) -> Fact {
    let inside = branch.members();
    let all: Vec<u32> = joined.iter().flat_map(|root| crate::sys::descendants(*root)).collect();
    let outside = all.iter().filter(|process| !inside.contains(process) && crate::sys::is_running(**process)).count();
    let effective = format!("{} inside, {outside} outside", inside.len());
    let source = branch.source("cgroup.procs");
    let missing = !joined.is_empty() && all.is_empty();
    verified(name, "every process inside".to_owned(), Ok((effective, outside == 0 && !missing)), source)
}
