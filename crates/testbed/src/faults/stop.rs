//! The engine's own clean stop, as for maintenance.

use super::fault::{FaultMaker, FaultSite};
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// The fault.
pub(super) struct Stop;

impl FaultMaker for Stop {
    fn kind(&self) -> FaultKind {
        FaultKind::Stop
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.server.tell_to_stop();
        Ok(())
    }

    fn is_in_force(&self, site: &FaultSite<'_>) -> bool {
        !site.processes.iter().any(|process| process.is_running())
    }
}
