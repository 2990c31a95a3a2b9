//! The end of the first process alone: a defect of the server's own. The others see it and end by themselves.

use super::fault::{FaultMaker, FaultSite, expect};
use super::process::Process;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// The fault.
pub(super) struct Kill;

impl FaultMaker for Kill {
    fn kind(&self) -> FaultKind {
        FaultKind::Kill
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        // A manager lives on, and its end would be told.
        if !site.server()?.is_managed() {
            site.server()?.expect_end();
        }
        site.first.into_iter().for_each(Process::kill);
        Ok(())
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        expect(!site.first.is_some_and(Process::is_running), || "the first process is still running".to_owned())
    }

    /// What ended stays so until it is started again.
    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        super::crash::end_all(site)
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.expect_none_left()
    }
}
