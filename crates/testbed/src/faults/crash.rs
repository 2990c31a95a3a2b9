//! The crash of a host, as others see it: all processes of the instance end at once. The page cache survives, so this is no loss of power.

use super::fault::{FaultMaker, FaultSite};
use crate::limits;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// The fault.
pub(super) struct Crash;

impl FaultMaker for Crash {
    fn kind(&self) -> FaultKind {
        FaultKind::Crash
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.server()?.expect_end();
        end_all(site)
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        expect_empty(site)?;
        site.expect_none_left()
    }

    /// What ended stays so until it is started again.
    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        end_all(site)
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        self.expect_in_force(site)
    }
}

/// Ends all processes at once: by the control group, or else halted before the first of them is killed, so that nobody sees another end
/// and nobody is born meanwhile.
pub(super) fn end_all(site: &FaultSite<'_>) -> Result<(), Error> {
    match (site.group, site.server) {
        (Some(group), _) => limits::kill(group)?,
        (None, Some(server)) => {
            super::freeze::halt_all(server).into_iter().for_each(|process| process.kill());
        }
        (None, None) => {}
    }
    site.left().for_each(|process| process.kill());
    Ok(())
}

fn expect_empty(site: &FaultSite<'_>) -> Result<(), Error> {
    match site.group.map(|group| group.members().len()) {
        None | Some(0) => Ok(()),
        Some(members) => Err(Error::new(format!("{members} processes are still in the control group"))),
    }
}
