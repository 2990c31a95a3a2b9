//! Losses of drills in detail: how many writes, their share in what was acknowledged just before the fault, how old their
//! acknowledgements were, where the log forked, and what the checks of the load found lost.

use super::{pages, report_of};
use crate::findings::evaluate::Findings;
use crate::findings::point::PointFindings;
use proofload_model::drill::{DrillReport, LogFork, drill};
use proofload_model::ledger::{LedgerRange, LedgerWrite, WriteClass, WriteOutcome};
use proofload_model::samples::{Check, CheckOutcome};
use proofload_model::time::Offset;
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
    /// Writes of the full pace that the lost ones stand for.
    pub lost_at_full_pace: u64,
    /// Writes of the full pace that the acknowledged ones stand for.
    pub acknowledged_at_full_pace: u64,
}

impl LossShare {
    /// The share in per cent, of equal stretches of time whatever the pace of the prober in each.
    pub fn percent(&self) -> f64 {
        100.0 * self.lost_at_full_pace as f64 / self.acknowledged_at_full_pace as f64
    }

    /// Whether any of the writes was of the calm pace.
    pub fn has_calm_writes(&self) -> bool {
        self.acknowledged_at_full_pace > self.acknowledged
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
    let attempts = point.runs.iter().filter_map(|run| findings.finished(run.run.index));
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
    let writes = lost_writes(report);
    let ages = || writes.iter().map(|write| age(report, write.ended));
    let oldest = ages().reduce(f64::max);
    let told = ledger.oldest_lost.map(|at| report.fault_at - at.as_seconds());
    Some(DrillLoss {
        point,
        attempt: attempt.id,
        lost,
        oldest: oldest.or(told),
        newest: ages().reduce(f64::min),
        share: oldest.and_then(|oldest| share(attempt, report, &writes, oldest)),
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

/// Writes whose acknowledgement was lost.
fn lost_writes(report: &DrillReport) -> Vec<LedgerWrite> {
    let ledger = &report.prober.ledger;
    let is_lost = |range: &&LedgerRange| range.class.is_plainly_lost() || range.class == WriteClass::LostAsWarned;
    ledger.ranges.iter().filter(is_lost).flat_map(|range| range.writes(ledger.period_ns)).collect()
}

/// Age at the fault of what ended at a time, seconds.
fn age(report: &DrillReport, ended: Offset) -> f64 {
    report.fault_at - ended.as_seconds()
}

/// Lost writes among those acknowledged in as many last whole seconds before the fault as hold every lost one.
fn share(attempt: &Attempt, report: &DrillReport, lost: &[LedgerWrite], oldest: f64) -> Option<LossShare> {
    let ledger = &report.prober.ledger;
    let seconds = oldest.ceil().max(1.0);
    let is_within = |ended: Offset| (0.0..=seconds).contains(&age(report, ended));
    // Writes, and those of the full pace that they stand for.
    let counted = |(count, at_full_pace): (u64, u64), due: Offset| {
        (count + 1, at_full_pace + u64::from(ledger.paces.step_at(due)))
    };
    let writes = pages(attempt).flat_map(|page| page.writes(ledger.period_ns));
    let is_acknowledged = |told: WriteOutcome| matches!(told, WriteOutcome::Acknowledged | WriteOutcome::Warned);
    let acknowledged = writes.filter(|write| is_acknowledged(write.outcome) && is_within(write.ended));
    let (acknowledged, acknowledged_at_full_pace) = acknowledged.map(|write| write.due).fold((0, 0), counted);
    let lost = lost.iter().filter(|write| is_within(write.ended));
    let (lost, lost_at_full_pace) = lost.map(|write| write.due).fold((0, 0), counted);
    let seconds = seconds as u32;
    let share = LossShare { seconds, lost, acknowledged, lost_at_full_pace, acknowledged_at_full_pace };
    (acknowledged > 0).then_some(share)
}
