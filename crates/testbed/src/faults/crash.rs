//! The crash of a host, as others see it: all processes of the instance end at once. The page cache survives, so this is no loss of power.

use super::fault::{FaultMaker, FaultSite, Process};
use crate::sys;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// The fault.
pub(super) struct Crash;

impl FaultMaker for Crash {
    fn kind(&self) -> FaultKind {
        FaultKind::Crash
    }

    /// Halts all before the first is killed: nobody sees another end, and nobody is born meanwhile.
    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.server.expect_end();
        let family = super::freeze::halt_all(site);
        family.iter().for_each(|process| process.kill());
        Ok(())
    }

    fn is_in_force(&self, site: &FaultSite<'_>) -> bool {
        let left: Vec<Process> =
            if sys::is_running(site.server.process()) { Process::family(site.server.process()) } else { Vec::new() };
        left.iter().for_each(|process| process.kill());
        left.is_empty() && !site.processes.iter().any(|process| process.is_running())
    }
}
