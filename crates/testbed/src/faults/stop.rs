//! The engine's own clean stop, as for maintenance.

use super::fault::{FaultMaker, FaultSite};
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;
use std::time::Duration;

/// A clean stop first writes back what is in memory.
const WRITTEN_BACK_WITHIN: Duration = Duration::from_secs(120);

/// The fault.
pub(super) struct Stop;

impl FaultMaker for Stop {
    fn kind(&self) -> FaultKind {
        FaultKind::Stop
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.server()?.tell_to_stop();
        Ok(())
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.expect_none_left()
    }

    /// What ended stays so until it is started again.
    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        super::crash::end_all(site)
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.expect_none_left()
    }

    fn patience(&self) -> Duration {
        WRITTEN_BACK_WITHIN
    }
}
