//! A standby that receives log and applies no log: it falls behind, and what it has to catch up lengthens its promotion.

use super::fault::{FaultMaker, FaultSite, Replay, expect};
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// The fault.
pub(super) struct ReplayPause;

fn replay<'a>(site: &FaultSite<'a>) -> Result<&'a dyn Replay, Error> {
    site.replay.ok_or_else(|| Error::refused("failed to pause the replay: the instance is not a running standby"))
}

impl FaultMaker for ReplayPause {
    fn kind(&self) -> FaultKind {
        FaultKind::ReplayPause
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        replay(site)?.pause(true)
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        expect(replay(site)?.is_paused()?, || "the standby still applies its log".to_owned())
    }

    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        replay(site)?.pause(false)
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        expect(!replay(site)?.is_paused()?, || "the standby still applies no log".to_owned())
    }
}
