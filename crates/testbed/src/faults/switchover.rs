//! A planned change of the primary by the failover manager's own command. In force once the server that led has ended: the manager stops it.

use super::fault::{FaultMaker, FaultSite, expect};
use super::process::Process;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;
use std::time::Duration;

/// How long a manager may take until it stops the server that led: it waits for its period, and a checkpoint is made.
const STOPS_WITHIN: Duration = Duration::from_secs(120);

/// The fault.
pub(super) struct Switchover;

impl FaultMaker for Switchover {
    fn kind(&self) -> FaultKind {
        FaultKind::Switchover
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let order = site
            .switch_over
            .ok_or_else(|| Error::refused("failed to switch over: no failover manager runs the instance"))?;
        order()
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        expect(!site.first.is_some_and(Process::is_running), || "the old primary is still running".to_owned())
    }

    /// What the manager has changed it may change again; we do not.
    fn undo(&self, _: &FaultSite<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn expect_undone(&self, _: &FaultSite<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn patience(&self) -> Duration {
        STOPS_WITHIN
    }
}
