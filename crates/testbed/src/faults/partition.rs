//! A link through which nothing passes, in both directions or in one, while nothing is closed. Needs a device that the standby has to itself,
//! or our relay.

use super::fault::{FaultMaker, FaultSite, expect};
use crate::network::Cable;
use crate::relay::Way;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;
use std::time::Duration;

/// A byte that has not arrived after this time beside the delay does not pass.
const SILENCE: Duration = Duration::from_millis(200);

/// The fault, by the directions that are cut.
pub(super) enum Partition {
    Whole,
    ToStandby,
    ToPrimary,
}

impl Partition {
    /// The device to take down: that cuts both directions, and a relay's connection with them.
    fn cable<'s>(&self, site: &FaultSite<'s>) -> Option<&'s Cable> {
        site.cable.filter(|_| matches!(self, Self::Whole))
    }

    const fn cut(&self) -> &'static [Way] {
        match self {
            Self::Whole => &Way::BOTH,
            Self::ToStandby => &[Way::ToStandby],
            Self::ToPrimary => &[Way::ToPrimary],
        }
    }
}

impl FaultMaker for Partition {
    fn kind(&self) -> FaultKind {
        match self {
            Self::Whole => FaultKind::Partition,
            Self::ToStandby => FaultKind::PartitionToStandby,
            Self::ToPrimary => FaultKind::PartitionToPrimary,
        }
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        if let Some(cable) = self.cable(site) {
            // Silence afterwards says something only where there was none before.
            expect(cable.answers(SILENCE), || format!("{} does not answer before its cable is cut", cable.peer))?;
            return cable.cut();
        }
        site.relay()?.hold(self.cut(), true);
        Ok(())
    }

    /// Nothing passes where it is cut, and something elsewhere. The relay is asked first: where the host pauses, nothing passes either.
    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        if let Some(cable) = self.cable(site) {
            return expect(!cable.answers(SILENCE), || format!("{} still answers", cable.peer));
        }
        let relay = site.relay()?;
        let is_held = Way::BOTH.iter().all(|way| relay.holds(*way) == self.cut().contains(way));
        expect(is_held, || "the relay does not hold just what is to be cut".to_owned())?;
        let passes = relay.passes(SILENCE);
        let as_asked = Way::BOTH.iter().all(|way| passes.contains(way) != self.cut().contains(way));
        expect(as_asked, || format!("bytes still pass by {passes:?}"))
    }

    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        if let Some(cable) = self.cable(site) {
            return cable.join();
        }
        site.relay()?.hold(self.cut(), false);
        Ok(())
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        if let Some(cable) = self.cable(site) {
            return expect(cable.answers(SILENCE), || format!("{} does not answer", cable.peer));
        }
        let passes = site.relay()?.passes(SILENCE);
        expect(passes == Way::BOTH, || format!("bytes pass only by {passes:?}"))
    }
}
