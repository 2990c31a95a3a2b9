//! The delay of flushes of the tier under an instance, changed while load goes on and read back by the tier's control socket. It lives in the
//! process of the tier, so that nothing of it is left where that has ended.

use proofload_model::error::Error;
use proofload_model::intervention::{FLUSH_DELAY, LimitMeter, ResourceClass};
use proofload_model::tier::CONTROL_SOCKET;
use proofload_model::wire::DataLocation;
use proofload_tier::control::ControlClient;
use proofload_tier::tier::FlushTimes;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a change takes to act beside the delay itself: flushes under way keep theirs.
const SETTLES: Duration = Duration::from_millis(200);
/// Flushes may be delayed longer than asked by this share and this time, on average: a host wakes threads late.
const LONGER: (f64, Duration) = (0.1, Duration::from_millis(1));

/// The delay of flushes of one tier.
#[derive(Debug)]
pub(super) struct FlushDelay {
    /// What the study asks for.
    asked: Duration,
    socket: PathBuf,
}

impl FlushDelay {
    /// The delay of a place whose study delays flushes. `served`: socket of a tier that is served to it, else that of its own process.
    pub(super) fn of(place: &DataLocation, served: Option<PathBuf>) -> Option<Self> {
        let asked = place.tier.as_ref()?.flush_delay?;
        Some(Self { asked, socket: served.unwrap_or_else(|| Path::new(&place.folder).join(CONTROL_SOCKET)) })
    }

    /// Lets so many flushes per second follow one another as a share of what the study asks for allows; `None`: as asked.
    pub(super) fn change(&self, share: Option<f64>) -> Result<(), Error> {
        let share = share.unwrap_or(1.0);
        if !(share > 0.0 && share.is_finite()) {
            return Err(Error::refused(format!("failed to change {FLUSH_DELAY}: {share} is no share")));
        }
        let delay = self.asked.div_f64(share);
        let failed = |error: proofload_tier::Error| {
            Error::new(format!("failed to change {FLUSH_DELAY} to {delay:?}: {error}; is the load still running?"))
        };
        let client = match ControlClient::connect(&self.socket) {
            // Nobody has the tier open: who opens it next has what the study asks for.
            Err(_) if delay == self.asked => return Ok(()),
            other => other.map_err(failed)?,
        };
        let found = client.delay_flushes(delay).map_err(failed)?.pool.flush_times.delay;
        if found == delay {
            return Ok(());
        }
        Err(Error::new(format!("failed to change {FLUSH_DELAY} to {delay:?}: the tier says {found:?}")))
    }

    /// How it stands: flushes per second that follow one another, in force where the tier has delayed its flushes by just that.
    pub(super) fn meter(&self) -> LimitMeter {
        let found = ControlClient::connect(&self.socket).and_then(|client| client.reading());
        let times = found.ok().map(|reading| reading.pool.flush_times);
        LimitMeter {
            setting: FLUSH_DELAY.to_owned(),
            class: ResourceClass::Speed,
            settles: SETTLES + self.asked,
            asked: per_second(self.asked),
            in_force: times.filter(is_as_set).map(|times| per_second(times.delay)),
            used: Vec::new(),
        }
    }
}

fn per_second(delay: Duration) -> f64 {
    1.0 / delay.as_secs_f64()
}

/// Whether there is a delay, and the flushes since it was set were delayed by it, as far as there were any.
fn is_as_set(times: &FlushTimes) -> bool {
    let (part, time) = LONGER;
    let most = times.delay.mul_f64(1.0 + part) + time;
    let is_measured = times.mean_delay().is_none_or(|mean| mean >= times.delay && mean <= most);
    !times.delay.is_zero() && is_measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_force_is_what_flushes_were_delayed_by() {
        let delay = Duration::from_millis(10);
        let times = |delayed_ms| FlushTimes {
            delay,
            flushes: 4,
            took: Duration::from_millis(80),
            delayed: Duration::from_millis(delayed_ms),
        };
        assert!(is_as_set(&times(40)) && is_as_set(&times(46)));
        assert!(!is_as_set(&times(39)), "some were not delayed");
        assert!(!is_as_set(&times(60)), "this host's timers were measured");
        assert!(is_as_set(&FlushTimes { delay, ..FlushTimes::default() }), "no flush says nothing against it");
        assert!(!is_as_set(&FlushTimes::default()), "it was taken off");
    }

    #[test]
    fn a_tier_that_nobody_has_open_needs_no_putting_back_and_cannot_be_changed() {
        let closed = FlushDelay { asked: Duration::from_millis(5), socket: PathBuf::from("/nonexistent/control") };
        closed.change(None).expect("nothing is to be put back");
        let told = closed.change(Some(0.8)).expect_err("nobody listens").to_string();
        assert!(told.contains("storage.flush_delay to 6.25ms") && told.contains("/nonexistent/control"), "{told}");
        let told = closed.change(Some(0.0)).expect_err("no share").to_string();
        assert!(told.contains("0 is no share"), "{told}");
        assert_eq!((closed.meter().asked, closed.meter().in_force), (200.0, None));
    }
}
