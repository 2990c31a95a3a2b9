//! How fast a long step goes and how long it still takes, from the counts that it tells. Pure: the moments come from outside.

use proofload_model::step_count::{StepCount, StepUnit};
use proofload_model::time::Moment;
use std::collections::VecDeque;
use std::time::Duration;

/// The rate is that of so long a time, so that it follows a step that becomes slower.
const WINDOW: Duration = Duration::from_secs(10);
/// Nothing is said before a step has been seen for so long.
const LEAST: Duration = Duration::from_secs(1);
/// Slower steps have no rate worth a number; their remaining time is told all the same.
const LEAST_RATE: f64 = 10.0;
/// Bytes of a megabyte, and the slowest rate of bytes that is told.
const MEGABYTE: f64 = 1e6;

/// Counts of one step while it goes on.
#[derive(Debug, Default)]
pub(super) struct Pace {
    what: String,
    counts: VecDeque<(Moment, u64)>,
}

impl Pace {
    /// Takes a count and says it: `loading rows 43 %, 312,000 rows/s, 0:09 left`. Without a count only what is done.
    pub(super) fn say(&mut self, now: Moment, what: &str, count: Option<StepCount>) -> String {
        let done = count.map_or(0, |count| count.done);
        if self.what != what || self.counts.back().is_some_and(|(_, last)| *last > done) {
            what.clone_into(&mut self.what);
            self.counts.clear();
        }
        self.counts.push_back((now, done));
        while self.counts.get(1).is_some_and(|(moment, _)| now.since(*moment) >= WINDOW) {
            self.counts.pop_front();
        }
        let Some((StepCount { total, unit, .. }, percent)) = count.and_then(|count| Some((count, count.percent()?)))
        else {
            return what.to_owned();
        };
        let mut text = format!("{what} {percent} %");
        if let Some(rate) = self.rate(now).filter(|rate| *rate > 0.0 && done < total) {
            if let Some(words) = rate_words(rate, unit) {
                text += &format!(", {words}");
            }
            let left = (total - done) as f64 / rate;
            text += &format!(", {} left", super::numbers::clock_text(left.round() as u64));
        }
        text
    }

    /// Counts per second of the window.
    fn rate(&self, now: Moment) -> Option<f64> {
        let ((first, from), (_, to)) = (self.counts.front()?, self.counts.back()?);
        let span = now.since(*first);
        (span >= LEAST).then(|| (to - from) as f64 / span.as_secs_f64())
    }
}

/// A rate with its unit; `None` where it says nothing: a slow one, and that of a share or of a time.
fn rate_words(rate: f64, unit: StepUnit) -> Option<String> {
    match unit {
        StepUnit::Percent | StepUnit::Seconds => None,
        StepUnit::Bytes => (rate >= MEGABYTE).then(|| format!("{} MB/s", three_digits(rate / MEGABYTE))),
        unit => (rate >= LEAST_RATE).then(|| format!("{} {unit}/s", three_digits(rate))),
    }
}

/// Three digits that count, thousands apart: 312,000.
fn three_digits(rate: f64) -> String {
    let magnitude = 10f64.powi((rate.log10().floor() as i32 - 2).max(0));
    proofload_report::grouped((rate / magnitude).round() * magnitude, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment(seconds * 1_000_000_000)
    }

    fn count(done: u64, total: u64, unit: StepUnit) -> Option<StepCount> {
        Some(StepCount::of(done, total, unit))
    }

    #[test]
    fn a_step_tells_its_share_its_rate_and_the_time_left() {
        let mut pace = Pace::default();
        assert_eq!(pace.say(at(0), "loading rows", count(0, 5_000_000, StepUnit::Rows)), "loading rows 0 %");
        assert_eq!(
            pace.say(at(2), "loading rows", count(624_500, 5_000_000, StepUnit::Rows)),
            "loading rows 12 %, 312,000 rows/s, 0:14 left"
        );
        assert_eq!(pace.say(at(16), "loading rows", count(5_000_000, 5_000_000, StepUnit::Rows)), "loading rows 100 %");
    }

    #[test]
    fn what_an_earlier_build_left_is_no_speed() {
        let mut pace = Pace::default();
        pace.say(at(0), "loading rows", count(900, 1_000, StepUnit::Rows));
        assert_eq!(
            pace.say(at(5), "loading rows", count(950, 1_000, StepUnit::Rows)),
            "loading rows 95 %, 10 rows/s, 0:05 left"
        );
    }

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut pace = Pace::default();
        for second in 0..=100 {
            pace.say(at(second), "loading rows", count(second * 1_000, 1_000_000, StepUnit::Rows));
        }
        let text = pace.say(at(110), "loading rows", count(100_500, 1_000_000, StepUnit::Rows));
        assert_eq!(text, "loading rows 10 %, 50 rows/s, 4:59:50 left");
    }

    #[test]
    fn slow_steps_have_no_rate_and_another_step_begins_anew() {
        let mut pace = Pace::default();
        pace.say(at(0), "making indexes", count(0, 10, StepUnit::Indexes));
        assert_eq!(
            pace.say(at(10), "making indexes", count(5, 10, StepUnit::Indexes)),
            "making indexes 50 %, 0:10 left"
        );
        assert_eq!(pace.say(at(11), "checking the data", None), "checking the data");
        assert_eq!(pace.say(at(12), "making indexes", count(6, 10, StepUnit::Indexes)), "making indexes 60 %");
    }

    /// The unit is that of the count, whatever the words of the step end with.
    #[test]
    fn bytes_have_a_rate_in_megabytes_and_shares_and_times_have_none() {
        let last = |what: &str, all: u64, unit: StepUnit| {
            let mut pace = Pace::default();
            pace.say(at(0), what, count(0, all, unit));
            pace.say(at(2), what, count(all / 4, all, unit))
        };
        let fill = last("fio: sequential fill 1 of 2", 1_000_000_000, StepUnit::Bytes);
        assert_eq!(fill, "fio: sequential fill 1 of 2 25 %, 125 MB/s, 0:06 left");
        assert_eq!(last("backing up", 400, StepUnit::Percent), "backing up 25 %, 0:06 left");
        assert_eq!(last("waiting", 400, StepUnit::Seconds), "waiting 25 %, 0:06 left");
        assert_eq!(last("loading tables", 400, StepUnit::Chunks), "loading tables 25 %, 50 chunks/s, 0:06 left");
    }
}
