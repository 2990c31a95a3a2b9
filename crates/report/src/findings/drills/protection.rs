//! When writes of a drill were acknowledged without the standbys that the mode asks for, and when service was there but degraded.

use crate::findings::telemetry::traces;
use crate::findings::window::Window;
use proofload_analysis::latency::Sparse;
use proofload_model::drill::{DrillReport, ProbeKind};
use proofload_model::ledger::LedgerRange;
use proofload_model::replication::{ReplicationMode, replication};
use proofload_model::samples::{IntervalSample, LatencyClock, OperationCounts};
use proofload_model::series;
use proofload_model::settings::Settings;
use proofload_record::Attempt;

/// Times the level before beyond which the 99th percentile of a second's response times is degraded, and share of the throughput below which.
const DEGRADED_FROM: f64 = 3.0;
const DEGRADED_BELOW: f64 = 0.95;

/// Times the usual distance of readings beyond which what lies between two of them is not known.
const UNREAD_FROM: f64 = 2.0;

/// Time of a drill in which commits did not wait as the mode says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnprotectedTime {
    /// Stretches in seconds from time zero, in order.
    pub stretches: Vec<(f64, f64)>,
    /// Writes of the prober that were due in them and acknowledged.
    pub acknowledged: u64,
    /// Writes that were acknowledged in them and are lost.
    pub lost: u64,
}

impl UnprotectedTime {
    /// Whether a moment, in seconds from time zero, is in one of its stretches.
    pub fn covers(&self, at: f64) -> bool {
        self.stretches.iter().any(|(from, to)| (*from..=*to).contains(&at))
    }

    /// How long that was, seconds.
    pub fn seconds(&self) -> f64 {
        self.stretches.iter().map(|(from, to)| to - from).fold(0.0, |sum, stretch| sum + stretch)
    }
}

/// The unprotected time of a drill; empty under a mode that waits for nobody.
pub fn unprotected(attempt: &Attempt, report: &DrillReport, settings: &Settings) -> UnprotectedTime {
    let mode = replication(settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode);
    if !mode.waits() {
        return UnprotectedTime::default();
    }
    let mut stretches = as_read(attempt);
    stretches.extend(after_promotion(report));
    stretches.sort_by(|one, other| one.0.total_cmp(&other.0));
    let within = |at: f64| stretches.iter().any(|(from, to)| (*from..=*to).contains(&at));
    let writes = report.prober.kinds.iter().find(|kind| kind.kind == ProbeKind::Write);
    let tenths = writes.map_or(&[][..], |kind| &kind.tenths);
    let acknowledged = tenths.iter().enumerate().filter(|(place, _)| within((*place as f64 + 0.5) / 10.0));
    let acknowledged = acknowledged.map(|(_, tenth)| u64::from(tenth.acknowledged)).sum();
    let ledger = &report.prober.ledger;
    let lost = |range: &LedgerRange| {
        let ended = range.writes(ledger.period_ns).filter(|write| within(write.ended.as_seconds()));
        if range.class.is_plainly_lost() { ended.count() as u64 } else { 0 }
    };
    UnprotectedTime { acknowledged, lost: ledger.ranges.iter().map(lost).sum(), stretches }
}

/// Stretches around readings of the primary that found commits not waiting, up to the readings on both sides: nothing is known in between.
fn as_read(attempt: &Attempt) -> Vec<(f64, f64)> {
    let mut stretches: Vec<(f64, f64)> = Vec::new();
    for trace in traces(attempt, series::replication::UNPROTECTED) {
        for (place, (at, _)) in trace.samples.iter().enumerate().filter(|(_, (_, value))| *value > 0.0) {
            let before = place.checked_sub(1).and_then(|before| trace.samples.get(before)).map_or(*at, |(at, _)| *at);
            let after = trace.samples.get(place + 1).map_or(*at, |(at, _)| *at);
            match stretches.last_mut() {
                Some(last) if last.1 >= before => last.1 = after,
                _ => stretches.push((before, after)),
            }
        }
    }
    stretches
}

/// Stretches of a drill, in seconds from time zero, in which whether commits waited was not read at any instance, though their mode says that
/// they do: where readings are twice as far apart as they usually are.
pub fn unread(attempt: &Attempt, settings: &Settings) -> Vec<(f64, f64)> {
    let mode = replication(settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode);
    if !mode.waits() {
        return Vec::new();
    }
    let readings = traces(attempt, series::replication::UNPROTECTED);
    // What two instances read in the same second is not a short distance.
    let apart = readings.iter().flat_map(|trace| trace.samples.windows(2).map(|pair| pair[1].0 - pair[0].0));
    let mut apart: Vec<f64> = apart.collect();
    apart.sort_by(f64::total_cmp);
    let mut times: Vec<f64> = readings.iter().flat_map(|trace| trace.samples.iter().map(|(at, _)| *at)).collect();
    times.sort_by(f64::total_cmp);
    let Some(usual) = apart.get(apart.len() / 2) else { return Vec::new() };
    let gaps = times.windows(2).map(|pair| (pair[0], pair[1])).filter(|(from, to)| to - from > UNREAD_FROM * usual);
    let last = times.last().zip(attempt.intervals.last()).map(|(at, interval)| (*at, interval.index as f64));
    gaps.chain(last.filter(|(from, to)| to - from > UNREAD_FROM * usual)).collect()
}

/// The time after a promotion that left the new primary alone, until another instance followed it again.
fn after_promotion(report: &DrillReport) -> Option<(f64, f64)> {
    let promoted = report.promoted_at?;
    let has_standbys = report.reach.is_some_and(|reach| reach.reached > 1);
    let writes = report.prober.kinds.iter().find(|kind| kind.kind == ProbeKind::Write)?;
    let end = report.protected_again_at.unwrap_or(f64::INFINITY).min(writes.tenths.len() as f64 / 10.0);
    (!has_standbys && end > promoted).then_some((promoted, end))
}

/// Seconds from the fault to the recovery, or the end, in which writes were acknowledged and users had less: a response time three times that
/// before, or less than 95 % of their throughput.
pub fn degraded_seconds(attempt: &Attempt, report: &DrillReport) -> u64 {
    let Some((from, to)) = attempt.window() else { return 0 };
    let p99 = |interval: &IntervalSample| {
        let of_response = interval.histograms.iter().filter(|part| part.clock == LatencyClock::Response);
        let parts: Vec<Sparse> = of_response.filter_map(|part| Sparse::from_v2_deflate(&part.payload).ok()).collect();
        Sparse::merged(parts.iter()).percentile(0.99).map(|value| value as f64)
    };
    let window = Window { from, to };
    let mut before: Vec<f64> = window.inside(&attempt.intervals).into_iter().filter_map(p99).collect();
    before.sort_by(f64::total_cmp);
    let level = before.get(before.len() / 2).copied();
    let writes = report.prober.kinds.iter().find(|kind| kind.kind == ProbeKind::Write);
    let served = |second: u64| {
        let first = usize::try_from(second.saturating_mul(10)).unwrap_or(usize::MAX);
        let tenths = writes.and_then(|kind| kind.tenths.get(first..)).unwrap_or_default();
        tenths.iter().take(10).any(|tenth| tenth.acknowledged > 0)
    };
    let after = report.fault_at.max(0.0) as u64..report.recovered_at.map_or(u64::MAX, |at| at as u64);
    let is_degraded = |interval: &&IntervalSample| {
        let done = interval.counts.iter().map(OperationCounts::completed).sum::<u64>() as f64;
        let slow = level.zip(p99(interval)).is_some_and(|(level, found)| found > DEGRADED_FROM * level);
        served(interval.index) && (slow || done < DEGRADED_BELOW * report.before)
    };
    let seconds = attempt.intervals.iter().filter(|interval| after.contains(&interval.index));
    if report.fault.is_none() { 0 } else { seconds.filter(is_degraded).count() as u64 }
}
