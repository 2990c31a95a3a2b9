//! What the load of one run did besides its throughput: how it ended, whether it kept up with what was offered, what
//! failed by class, and where it stalled.

pub(super) mod agents;
pub(super) mod generator;
pub(super) mod lost_sessions;
pub(super) mod pacing;
pub(super) mod standstill;

use super::metrics::latencies::{ByKind, all_kinds};
use super::window::Window;
use proofload_analysis::distribution::mean;
use proofload_analysis::latency::Sparse;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_analysis::stall::{Stalls, stalls};
use proofload_model::events::RunEvent;
use proofload_model::samples::{IntervalSample, LatencyClock, OfferedLoad};
use proofload_model::settings::{Settings, setting};
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// Achieved below this share of offered is an overload.
pub const LEAST_ACHIEVED: f64 = 0.99;
/// A backlog that reaches this many seconds of the offered load by the end of the window, after growing, is an overload: less comes and
/// goes with arrivals at random.
const LEAST_BACKLOG_S: f64 = 0.1;
/// Backlog of the last quarter over that of the first that counts as growth.
const BACKLOG_GROWTH: f64 = 2.0;

/// Why these have no interval.
const WHOLE: &str = "counts over the whole window";

/// A run that ended by a number of operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompletedLoad {
    /// Time from time zero to the end of the last operation, s.
    pub seconds: f64,
    /// Operations of the whole run.
    pub operations: u64,
    /// When the first user had no operation left, s; from then on fewer users worked.
    pub first_user_ended: Option<f64>,
}

/// Offered against achieved in the window of a run with a rate.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedRate {
    /// Asked for, operations per second.
    pub asked: f64,
    /// Became due in the window, per second: with arrivals at random not quite what was asked for. `None` in records of the first format.
    pub due: Option<f64>,
    /// Ended, failures included, per second.
    pub ended: f64,
    /// Dropped in the window, having waited too long for a user.
    pub dropped: u64,
    /// Seconds of the window.
    pub seconds: u64,
    /// Operations due and not begun, mean of the window's first and of its last quarter; `None` in records of the first format.
    pub backlog: Option<(f64, f64)>,
    /// Send lag at p99 over the window, ns; `None` where no user was free in time.
    pub lag_ns_p99: Option<f64>,
}

impl OfferedRate {
    /// Ended over offered, 1 when all was done in time.
    pub(crate) fn share(&self) -> f64 {
        self.ended / self.offered()
    }

    /// Offered, operations per second: what became due, else what was asked for.
    pub(crate) fn offered(&self) -> f64 {
        self.due.filter(|due| *due > 0.0).unwrap_or(self.asked)
    }

    /// Ended per second, for readers.
    pub(crate) fn achieved(&self) -> Quantity {
        Quantity::new(self.ended, Unit::PER_SECOND, self.seconds, Interval::none(WHOLE))
    }

    /// The same in per cent of what was offered.
    pub(crate) fn percent(&self) -> Quantity {
        Quantity::new(100.0 * self.share(), Unit::PERCENT, self.seconds, Interval::none(WHOLE))
    }

    /// Why it is an overload; `None` when the run kept up.
    pub(crate) fn overload(&self) -> Option<String> {
        if self.share() < LEAST_ACHIEVED {
            let percent = crate::numbers::short(100.0 * self.share());
            return Some(format!("offered load exceeds capacity: {percent} % of it was achieved in the window"));
        }
        let (first, last) = self.backlog?;
        (last > LEAST_BACKLOG_S * self.offered() && last > BACKLOG_GROWTH * first).then(|| {
            let (from, to) = (crate::numbers::short(first), crate::numbers::short(last));
            format!("offered load exceeds capacity: the backlog grew from {from} to {to} operations in the window")
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
pub(super) fn completed(attempt: &Attempt) -> Option<CompletedLoad> {
    attempt.last_event(|event| match *event {
        RunEvent::Completed { seconds, operations, first_user_ended } if seconds > 0.0 => {
            Some(CompletedLoad { seconds, operations, first_user_ended })
        }
        _ => None,
    })
}

/// The rate that was asked for, operations per second; `None` for a saturated load.
pub(super) fn asked_rate(settings: &Settings) -> Option<f64> {
    settings.number(setting::WORKLOAD_RATE).ok().filter(|rate| *rate > 0.0)
}

/// What was offered in the window and what became of it.
pub(super) fn offered(inside: &[&IntervalSample], settings: &Settings) -> Option<OfferedRate> {
    let asked = asked_rate(settings)?;
    if inside.is_empty() {
        return None;
    }
    let ended: u64 = inside
        .iter()
        .flat_map(|interval| &interval.counts)
        .map(|counts| counts.done + counts.rolled_back + counts.failed)
        .sum();
    let seconds = inside.len() as f64;
    let told: Vec<OfferedLoad> = inside.iter().filter_map(|interval| interval.client.offered).collect();
    let all_told = told.len() == inside.len();
    let waiting: Vec<f64> = told.iter().map(|second| second.waiting as f64).collect();
    let quarter = waiting.len().div_ceil(4);
    Some(OfferedRate {
        asked,
        due: all_told.then(|| told.iter().map(|second| second.due).sum::<u64>() as f64 / seconds),
        ended: ended as f64 / seconds,
        dropped: inside.iter().flat_map(|interval| &interval.counts).map(|counts| counts.dropped).sum(),
        seconds: inside.len() as u64,
        backlog: all_told.then(|| (mean(&waiting[..quarter]), mean(&waiting[waiting.len() - quarter..]))),
        lag_ns_p99: send_lag_p99(inside),
    })
}

/// Send lag at p99 over a window, ns, from its merged histograms; in records of the first format the largest of its seconds.
pub(super) fn send_lag_p99(inside: &[&IntervalSample]) -> Option<f64> {
    let parts = inside.iter().flat_map(|interval| &interval.histograms);
    let parts = parts.filter(|part| part.clock == LatencyClock::SendLag);
    let lags: Vec<Sparse> = parts.filter_map(|part| Sparse::from_v2_deflate(&part.payload).ok()).collect();
    let merged = Sparse::merged(&lags);
    let largest = || inside.iter().filter_map(|interval| interval.client.send_lag_ns_p99).max();
    let found = if merged.count() > 0 { merged.percentile(0.99) } else { largest() };
    found.map(|lag| lag as f64)
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
    window: Option<Window>,
    inside: &[&IntervalSample],
    by_kind: &ByKind,
    measured: &[f64],
) -> Stalls {
    let Some(window) = window else { return Stalls { median: f64::NAN, ..Stalls::default() } };
    let mut responses = vec![Sparse::default(); window.seconds()];
    for (interval, part) in inside.iter().zip(all_kinds(by_kind)) {
        if let Some(place) = responses.get_mut((interval.index - window.from) as usize) {
            *place = part;
        }
    }
    stalls(measured, &responses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ended: f64, backlog: Option<(f64, f64)>, overload: Option<&str>) {
        let (due, lag_ns_p99) = (Some(1_000.0), None);
        let offered = OfferedRate { asked: 1_010.0, due, ended, dropped: 0, seconds: 20, backlog, lag_ns_p99 };
        assert_eq!(offered.overload().as_deref(), overload);
    }

    #[test]
    fn an_overload_is_what_falls_behind() {
        check(995.0, None, None);
        check(1_000.0, Some((200.0, 210.0)), None);
        check(1_000.0, Some((1.0, 90.0)), None);
        check(900.0, None, Some("offered load exceeds capacity: 90 % of it was achieved in the window"));
        let grew = "offered load exceeds capacity: the backlog grew from 20 to 150 operations in the window";
        check(992.0, Some((20.0, 150.0)), Some(grew));
    }
}
