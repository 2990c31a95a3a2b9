//! A link that closes all its connections and refuses new ones, as a switch that starts again. Needs our relay.

use super::fault::{FaultMaker, FaultSite, expect};
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;

/// The fault.
pub(super) struct Reset;

impl FaultMaker for Reset {
    fn kind(&self) -> FaultKind {
        FaultKind::Reset
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.relay()?.close();
        Ok(())
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        expect(site.relay()?.refuses(), || "the link still accepts connections".to_owned())
    }

    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.relay()?.open()
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        expect(!site.relay()?.refuses(), || "the link still refuses connections".to_owned())
    }
}
