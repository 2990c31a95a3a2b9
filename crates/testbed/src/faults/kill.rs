//! The end of the first process alone: a defect of the server's own. The others see it and end by themselves.

use super::fault::{FaultMaker, FaultSite, KILL};
use crate::sys;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// The fault.
pub(super) struct Kill;

impl FaultMaker for Kill {
    fn kind(&self) -> FaultKind {
        FaultKind::Kill
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.server.expect_end();
        sys::signal(site.server.process(), KILL);
        Ok(())
    }

    fn is_in_force(&self, site: &FaultSite<'_>) -> bool {
        !sys::is_running(site.server.process())
    }
}
