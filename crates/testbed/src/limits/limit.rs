//! The contract of a limit: put in place empty, joined by processes, read back, lifted. A limit may not judge what a false fact means.

use super::group::Group;
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;

/// What limits share: what was asked, and what stands because of it.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// What was asked.
    pub(crate) asked: LimitsAsked,
    /// The control group; none where there is no memory controller or no right to use it.
    pub(crate) group: Option<Group>,
    /// Why there is no group.
    pub(crate) no_group: Option<String>,
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

    /// Puts it in place; does nothing when it is not asked for.
    fn apply(&self, fence: &mut Fence) -> Result<(), Error>;

    /// Puts a running process under it.
    fn join(&self, fence: &Fence, process: u32) -> Result<(), Error>;

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
    }
}
