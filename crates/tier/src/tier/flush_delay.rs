//! A delay of every flush: slept after it is durable and before it is acknowledged, by the thread that serves it, so that flushes that overlap
//! wait side by side. A latency, and no capacity.

use std::time::Duration;

use super::front::Tier;
use crate::error::Error;

/// The longest delay of a flush that a pool takes: twice the longest that may be asked for, as experiments make it longer for a visit.
pub const MOST_FLUSH_DELAY: Duration = Duration::from_secs(10);

/// The delay of flushes that is in force, and the flushes of all volumes since it was last set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushTimes {
    /// What every flush is delayed by; zero for nothing.
    pub delay: Duration,
    /// Flushes that were acknowledged, those alone that were delayed by just this.
    pub flushes: u64,
    /// Sum of the times that they took, delays among them.
    pub took: Duration,
    /// Sum of the times by which they were delayed, as measured.
    pub delayed: Duration,
}

impl FlushTimes {
    /// Counts a flush that began, was durable and is acknowledged at these times, and was delayed by so much.
    pub(super) fn count(&mut self, delay: Duration, [begin, durable, end]: [Duration; 3]) {
        // One that began under an earlier delay says nothing of this one.
        if delay == self.delay {
            self.flushes += 1;
            self.took += end.saturating_sub(begin);
            self.delayed += end.saturating_sub(durable);
        }
    }

    /// Mean time by which flushes were delayed; `None` without one.
    pub fn mean_delay(&self) -> Option<Duration> {
        (self.flushes > 0).then(|| self.delayed.div_f64(self.flushes as f64))
    }
}

impl Tier {
    /// Delays every flush from now on by a time; zero: by nothing. Flushes under way keep theirs. Counts begin anew.
    ///
    /// # Errors
    ///
    /// When the delay is longer than [`MOST_FLUSH_DELAY`]; then nothing has changed.
    pub fn delay_flushes(&self, delay: Duration) -> Result<(), Error> {
        if delay > MOST_FLUSH_DELAY {
            return Err(Error::unfit("delay of flushes in milliseconds", whole_ms(delay), "at most 10000"));
        }
        self.lock().flush_times = FlushTimes { delay, ..FlushTimes::default() };
        Ok(())
    }

    /// The delay of flushes, and the flushes since it was last set.
    pub fn flush_times(&self) -> FlushTimes {
        self.lock().flush_times
    }
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
