//! An instance that stands still: its sockets stay open and nothing answers. Let go on, it would take writes again: two primaries.

use super::fault::{FaultMaker, FaultSite, Process};
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// How often all are told to halt: who is born meanwhile is found at the next look.
const TELLS: u32 = 20;

/// The fault.
pub(super) struct Freeze;

impl FaultMaker for Freeze {
    fn kind(&self) -> FaultKind {
        FaultKind::Freeze
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        halt_all(site);
        Ok(())
    }

    fn is_in_force(&self, site: &FaultSite<'_>) -> bool {
        let family = Process::family(site.server.process());
        !family.is_empty() && family.into_iter().all(Process::is_stopped)
    }
}

/// Halts all processes, the first one first, since it bears the others; answers with them.
pub(super) fn halt_all(site: &FaultSite<'_>) -> Vec<Process> {
    let mut family = Process::family(site.server.process());
    for _ in 0..TELLS {
        family.iter().for_each(|process| process.halt(true));
        let now = Process::family(site.server.process());
        let same = now == family;
        family = now;
        if same {
            break;
        }
    }
    family
}
