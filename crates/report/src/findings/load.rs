//! What the load of one run did besides its throughput: how it ended, whether it kept up with what was offered, what
//! failed by class, and where it stalled.

use super::latencies::{ByKind, all_kinds};
use crate::analysis::distribution::mean;
use crate::analysis::latency::Sparse;
use crate::analysis::quantity::{Interval, Quantity, Unit};
use crate::analysis::stall::{Stalls, stalls};
use proofload_model::samples::IntervalSample;
use proofload_model::settings::Settings;
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// Achieved below this share of offered is an overload.
pub const LEAST_ACHIEVED: f64 = 0.99;
/// Send lag that reaches this by the end of the window, after growing, is an overload, ns.
const LEAST_LAG_NS: f64 = 1e6;
/// Send lag of the last quarter over that of the first that counts as growth.
const LAG_GROWTH: f64 = 2.0;

/// Why these have no interval.
const WHOLE: &str = "counts of the whole window";

/// A run that ended by a number of operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Completed {
    /// From time zero to the end of the last operation, s.
    pub seconds: f64,
    /// Operations of the whole run.
    pub operations: u64,
    /// When the first user had no operation left, s; from then on fewer users worked.
    pub first_user_ended: Option<f64>,
}

/// Offered against achieved in the window of a run with a rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Asked for, operations per second.
    pub asked: f64,
    /// Ended, failures included, per second.
    pub ended: f64,
    /// Seconds of the window.
    pub seconds: u64,
    /// Operations due and not ended at the window's ends.
    pub backlog: Option<(u64, u64)>,
    /// Send lag at p99, mean of the window's first and of its last quarter, ns; none where it was not observed.
    pub lag_ns: Option<(f64, f64)>,
}

impl Offered {
    /// Ended over asked, 1 when all was done in time.
    pub fn share(&self) -> f64 {
        self.ended / self.asked
    }

    /// Ended per second, for readers.
    pub fn achieved(&self) -> Quantity {
        Quantity::new(self.ended, Unit::PER_SECOND, self.seconds, Interval::none(WHOLE))
    }

    /// The same in per cent of what was offered.
    pub fn percent(&self) -> Quantity {
        Quantity::new(100.0 * self.share(), Unit::PERCENT, self.seconds, Interval::none(WHOLE))
    }

    /// Why it is an overload; none when the run kept up.
    pub fn overload(&self) -> Option<String> {
        if self.share() < LEAST_ACHIEVED {
            let percent = crate::numbers::short(100.0 * self.share());
            return Some(format!("offered load above capacity: {percent} % of it was achieved in the window"));
        }
        let (first, last) = self.lag_ns?;
        (last > LEAST_LAG_NS && last > LAG_GROWTH * first).then(|| {
            let (from, to) = (crate::numbers::short(first * 1e-6), crate::numbers::short(last * 1e-6));
            format!("offered load above capacity: send lag at p99 grew from {from} ms to {to} ms in the window")
        })
    }
}

/// Errors of one class in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Kind of operation.
    pub kind: String,
    /// The engine's or the workload's code, such as `not_found`.
    pub code: String,
    /// The first text met.
    pub text: String,
    /// How often.
    pub count: u64,
}

/// How a run ended, where it ended by a number of operations.
pub(super) fn completed(attempt: &Attempt) -> Option<Completed> {
    let detail: serde_json::Value = serde_json::from_str(&attempt.event("completed")?.detail).ok()?;
    let seconds = detail["seconds"].as_f64().filter(|seconds| *seconds > 0.0)?;
    let operations = detail["operations"].as_u64()?;
    Some(Completed { seconds, operations, first_user_ended: detail["first_user_ended"].as_f64() })
}

/// The rate that was asked for, operations per second; none for a saturated load.
pub(super) fn asked_rate(settings: &Settings) -> Option<f64> {
    settings.number("workload.rate").ok().filter(|rate| *rate > 0.0)
}

/// What was offered in the window and what became of it.
pub(super) fn offered(inside: &[&IntervalSample], settings: &Settings) -> Option<Offered> {
    let asked = asked_rate(settings)?;
    if inside.is_empty() {
        return None;
    }
    let ended: u64 = inside
        .iter()
        .flat_map(|interval| &interval.counts)
        .map(|counts| counts.done + counts.rolled_back + counts.failed)
        .sum();
    let waiting = |interval: &&IntervalSample| interval.counts.iter().map(|counts| counts.in_flight).sum::<u64>();
    let lags: Vec<f64> =
        inside.iter().filter_map(|interval| interval.client.send_lag_ns_p99).map(|lag| lag as f64).collect();
    let quarter = lags.len().div_ceil(4);
    let ends = (quarter > 0).then(|| (mean(&lags[..quarter]), mean(&lags[lags.len() - quarter..])));
    Some(Offered {
        asked,
        ended: ended as f64 / inside.len() as f64,
        seconds: inside.len() as u64,
        backlog: inside.first().map(waiting).zip(inside.last().map(waiting)),
        lag_ns: ends,
    })
}

/// Errors of the window by class, the most frequent first.
pub(super) fn failures(inside: &[&IntervalSample]) -> Vec<Failure> {
    let mut classes: BTreeMap<(&str, &str), (u64, &str)> = BTreeMap::new();
    for error in inside.iter().flat_map(|interval| &interval.errors) {
        classes.entry((&error.kind, &error.code)).or_insert((0, &error.text)).0 += error.count;
    }
    let failure = |((kind, code), (count, text)): ((&str, &str), (u64, &str))| Failure {
        kind: kind.to_owned(),
        code: code.to_owned(),
        text: text.to_owned(),
        count,
    };
    let mut failures: Vec<Failure> = classes.into_iter().map(failure).collect();
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    failures
}

/// Stalls of the window; its histograms are put to the seconds that they belong to.
pub(super) fn stalls_of(
    window: Option<(u64, u64)>,
    inside: &[&IntervalSample],
    by_kind: &ByKind,
    measured: &[f64],
) -> Stalls {
    let Some((from, to)) = window else { return Stalls { median: f64::NAN, ..Stalls::default() } };
    let mut responses = vec![Sparse::default(); to.saturating_sub(from) as usize];
    for (interval, part) in inside.iter().zip(all_kinds(by_kind)) {
        if let Some(place) = responses.get_mut((interval.index - from) as usize) {
            *place = part;
        }
    }
    stalls(measured, &responses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ended: f64, lag_ns: Option<(f64, f64)>, overload: Option<&str>) {
        let offered = Offered { asked: 1_000.0, ended, seconds: 20, backlog: None, lag_ns };
        assert_eq!(offered.overload().as_deref(), overload);
    }

    #[test]
    fn an_overload_is_what_falls_behind() {
        check(995.0, None, None);
        check(1_000.0, Some((2e6, 2.1e6)), None);
        check(1_000.0, Some((1e3, 9e5)), None);
        check(900.0, None, Some("offered load above capacity: 90 % of it was achieved in the window"));
        let grew = "offered load above capacity: send lag at p99 grew from 1 ms to 40 ms in the window";
        check(999.0, Some((1e6, 4e7)), Some(grew));
    }
}
