//! Losses of drills in detail: how many writes, their share in what was acknowledged just before the fault, how old their
//! acknowledgements were, where the log forked, and what the checks of the load found lost.

use super::{pages, report_of};
use crate::findings::evaluate::Findings;
use crate::findings::point::PointFindings;
use proofload_model::drill::{DrillReport, LogFork, drill};
use proofload_model::ledger::{LedgerRange, WriteClass, WriteOutcome};
use proofload_model::samples::{Check, CheckOutcome};
use proofload_record::Attempt;

/// Checks that look for what users were told is there, in records from before checks counted what they did not find.
const OF_LOSSES: &[(&str, &str)] = &[("acknowledged", "orders lost"), ("acknowledged", "latest writes")];

/// Loss of one finished drill, void or not.
#[derive(Debug, Clone, PartialEq)]
pub struct DrillLoss<'r> {
    /// Number of the point.
    pub point: u32,
    /// Number of the attempt in the record.
    pub attempt: i64,
    /// Acknowledged writes of the prober that are lost, with and without a warning.
    pub lost: u64,
    /// Age at the fault of the oldest acknowledgement that was lost, seconds; negative for one that came after the fault.
    pub oldest: Option<f64>,
    /// Age of the newest of them likewise; `None` in records from before times were kept.
    pub newest: Option<f64>,
    /// Share of the lost writes in the last seconds before the fault; `None` where the times of writes were not kept.
    pub share: Option<LossShare>,
    /// Fork of the log; `None` where the engine does not tell it.
    pub fork: Option<LogFork>,
    /// Checks that found acknowledged work of the load lost.
    pub checks: Vec<&'r Check>,
}

/// Lost writes among those that were acknowledged in the last seconds before a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossShare {
    /// Whole seconds before the fault, as many as hold every lost acknowledgement, at least one.
    pub seconds: u32,
    /// Writes acknowledged in them that are lost.
    pub lost: u64,
    /// Writes acknowledged in them.
    pub acknowledged: u64,
}

impl LossShare {
    /// The share in per cent.
    pub fn percent(&self) -> f64 {
        100.0 * self.lost as f64 / self.acknowledged as f64
    }
}

/// Drills that lost acknowledged work, in the order of the points and their runs; empty where nothing was lost.
pub fn losses<'r>(findings: &Findings<'r>) -> Vec<DrillLoss<'r>> {
    findings.points.iter().flat_map(|point| of_point(findings, point)).collect()
}

fn of_point<'r>(findings: &Findings<'r>, point: &PointFindings) -> Vec<DrillLoss<'r>> {
    let settings = findings.record.plan.settings(&findings.record.study, point.id);
    if !matches!(drill(&settings), Ok(Some(_))) {
        return Vec::new();
    }
    let attempts = point.runs.iter().filter_map(|run| findings.record.finished(run.run.index));
    attempts.filter_map(|attempt| loss(attempt, point.id)).collect()
}

/// The loss of a drill; `None` where nothing is known to be lost.
fn loss(attempt: &Attempt, point: u32) -> Option<DrillLoss<'_>> {
    let report = report_of(attempt)?;
    let ledger = &report.prober.ledger;
    let lost = if ledger.unread.is_some() { 0 } else { ledger.lost + ledger.lost_as_warned };
    let checks: Vec<&Check> = attempt.checks.iter().filter(|check| found_lost(check)).collect();
    if lost == 0 && checks.is_empty() {
        return None;
    }
    let ages = ages(report);
    let oldest = ages.iter().copied().reduce(f64::max);
    let told = ledger.oldest_lost.map(|at| report.fault_at - at.as_seconds());
    Some(DrillLoss {
        point,
        attempt: attempt.id,
        lost,
        oldest: oldest.or(told),
        newest: ages.iter().copied().reduce(f64::min),
        share: oldest.and_then(|oldest| share(attempt, report, &ages, oldest)),
        fork: report.fork,
        checks,
    })
}

fn found_lost(check: &Check) -> bool {
    let is_named = || OF_LOSSES.contains(&(check.group.as_str(), check.name.as_str()));
    match check.lost {
        Some(lost) => lost > 0,
        None => is_named() && check.outcome == CheckOutcome::Failed && !check.offenders.is_empty(),
    }
}

/// Ages at the fault of all acknowledgements that were lost, seconds.
fn ages(report: &DrillReport) -> Vec<f64> {
    let ledger = &report.prober.ledger;
    let is_lost = |range: &&LedgerRange| range.class.is_plainly_lost() || range.class == WriteClass::LostAsWarned;
    let lost = ledger.ranges.iter().filter(is_lost).flat_map(|range| range.writes(ledger.period_ns));
    lost.map(|write| report.fault_at - write.ended.as_seconds()).collect()
}

/// Lost writes among those acknowledged in as many last whole seconds before the fault as hold every lost one.
fn share(attempt: &Attempt, report: &DrillReport, ages: &[f64], oldest: f64) -> Option<LossShare> {
    let seconds = oldest.ceil().max(1.0);
    let is_within = |age: f64| (0.0..=seconds).contains(&age);
    let writes = pages(attempt).flat_map(|page| page.writes(report.prober.ledger.period_ns));
    let acknowledged = writes.filter(|write| {
        matches!(write.outcome, WriteOutcome::Acknowledged | WriteOutcome::Warned)
            && is_within(report.fault_at - write.ended.as_seconds())
    });
    let acknowledged = acknowledged.count() as u64;
    let lost = ages.iter().filter(|age| is_within(**age)).count() as u64;
    (acknowledged > 0).then_some(LossShare { seconds: seconds as u32, lost, acknowledged })
}
