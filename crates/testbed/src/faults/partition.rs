//! A link through which nothing passes, while nothing is closed. Needs our relay.

use super::fault::{FaultMaker, FaultSite};
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;
use std::time::Duration;

/// A byte that has not come back after this time beside the delay does not pass.
const SILENCE: Duration = Duration::from_millis(200);

/// The fault.
pub(super) struct Partition;

impl FaultMaker for Partition {
    fn kind(&self) -> FaultKind {
        FaultKind::Partition
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let relay = site.relay.ok_or_else(|| Error::refused("part a link: it has no relay; set replication.rtt"))?;
        relay.hold(true);
        Ok(())
    }

    fn is_in_force(&self, site: &FaultSite<'_>) -> bool {
        site.relay.is_some_and(|relay| !relay.passes(SILENCE))
    }
}
