//! A link that becomes slow: more delay, or fewer bytes a second. Needs our relay.

use super::fault::{FaultMaker, FaultSite, expect};
use crate::relay::LinkLaw;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::units::BytesPerSecond;
use std::time::Duration;

/// Round trips of which the shortest counts: the others waited for a core as well.
const ROUND_TRIPS: u32 = 5;

/// How far the shortest may be below what was asked: a share of it, and at least a time.
const RTT_TOLERANCE: f64 = 0.05;
const RTT_FLOOR: Duration = Duration::from_micros(150);

/// How far the rate may be above what was asked, as a share of it. Below it is what others leave of the link.
const RATE_TOLERANCE: f64 = 0.1;

/// How many times as fast a link is without a fault whose end a transfer shows.
const MUCH_FASTER: u64 = 4;

/// Fastest fault whose end a transfer shows, bytes per second: a busy host transfers this many without a limit.
const SHOWN_BY_TRANSFER: u64 = 32 << 20;

/// The fault.
pub(super) enum Congestion {
    Latency,
    Bandwidth,
}

impl FaultMaker for Congestion {
    fn kind(&self) -> FaultKind {
        match self {
            Self::Latency => FaultKind::Latency,
            Self::Bandwidth => FaultKind::Bandwidth,
        }
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let relay = site.relay()?;
        let (before, now) = (relay.law(), slow(relay.asked(), site.strength));
        expect(now != relay.asked() || before != relay.asked(), || {
            format!("failed to slow the link down: {} is its value without the fault", site.strength)
        })?;
        relay.set_law(now);
        Ok(())
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let relay = site.relay()?;
        // What is measured may be as slow for another reason.
        let (found, asked) = (relay.law(), slow(relay.asked(), site.strength));
        expect(found == asked, || format!("the link has {found:?}, not {asked:?}"))?;
        match site.strength {
            FaultStrength::Rtt(rtt) => {
                let shortest = relay.round_trips(ROUND_TRIPS)?.into_iter().min().unwrap_or_default();
                let least = rtt.saturating_sub(rtt.mul_f64(RTT_TOLERANCE).max(RTT_FLOOR));
                expect(shortest >= least, || format!("a round trip takes {shortest:?}, not {rtt:?}"))
            }
            FaultStrength::Bandwidth(rate) => {
                let found = relay.bandwidth()?;
                let as_slow = found.is_some_and(|found| found.0 as f64 <= rate.0 as f64 * (1.0 + RATE_TOLERANCE));
                expect(as_slow, || format!("the link transfers {found:?}, not {rate}"))
            }
            other => Err(Error::refused(format!(
                "failed to slow the link down: {other:?} is not a strength of a link fault"
            ))),
        }
    }

    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let relay = site.relay()?;
        relay.set_law(relay.asked());
        Ok(())
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let relay = site.relay()?;
        expect(relay.law() == relay.asked(), || "the link is still as slow as during the fault".to_owned())?;
        match site.strength {
            FaultStrength::Rtt(rtt) => {
                let shortest = relay.round_trips(ROUND_TRIPS)?.into_iter().min().unwrap_or_default();
                expect(shortest < rtt, || format!("a round trip takes {shortest:?}"))
            }
            FaultStrength::Bandwidth(rate) if is_end_shown(relay.asked().rate, rate) => {
                let found = relay.transferred(rate)?;
                expect(found.0 as f64 > rate.0 as f64 * (1.0 + RATE_TOLERANCE), || {
                    format!("the link transfers {found}")
                })
            }
            _ => Ok(()),
        }
    }
}

/// Whether a transfer shows the end of a fault. A link that is hardly faster without it is full of what has waited; of a fast fault, the
/// host may be as slow.
fn is_end_shown(asked: Option<BytesPerSecond>, fault: BytesPerSecond) -> bool {
    fault.0 <= SHOWN_BY_TRANSFER && asked.is_none_or(|asked| asked.0 >= MUCH_FASTER * fault.0)
}

/// A law with the strength of a fault.
fn slow(law: LinkLaw, strength: FaultStrength) -> LinkLaw {
    match strength {
        FaultStrength::Rtt(rtt) => LinkLaw { delay: rtt / 2, ..law },
        FaultStrength::Bandwidth(rate) => LinkLaw { rate: Some(rate), ..law },
        _ => law,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_shows_the_end_of_slow_faults_of_much_faster_links() {
        let rate = BytesPerSecond;
        assert!(is_end_shown(None, rate(1 << 20)) && is_end_shown(None, rate(32 << 20)));
        assert!(is_end_shown(Some(rate(4 << 20)), rate(1 << 20)));
        assert!(!is_end_shown(Some(rate(3 << 20)), rate(1 << 20)), "it is full of what has waited");
        assert!(!is_end_shown(None, rate(1 << 30)), "a busy host is as slow");
    }
}
