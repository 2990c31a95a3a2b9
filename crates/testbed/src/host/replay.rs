//! What applies the log of a standby, as faults see it.

use super::replication::facet;
use crate::faults::Replay;
use proofload_engine::{Replication, Target};
use proofload_model::error::Error;

/// The replay of an instance.
pub(super) struct ReplayOf<'a> {
    facet: &'static dyn Replication,
    target: &'a Target,
}

impl<'a> ReplayOf<'a> {
    /// Finds the replay of an instance whose engine has standbys.
    pub(super) fn standby(target: &'a Target) -> Option<Self> {
        Some(Self { facet: facet(&target.place).ok()?, target })
    }
}

impl Replay for ReplayOf<'_> {
    fn pause(&self, paused: bool) -> Result<(), Error> {
        Ok(self.facet.hold_apply(self.target, paused)?)
    }

    fn is_paused(&self) -> Result<bool, Error> {
        Ok(self.facet.holds_apply(self.target)?)
    }
}
