//! The rows of the tables of drills: one for each drill, for each outage, for each kind of a prober's operations in a tenth of a second, and
//! for each write that is not plainly kept.

use super::selection::Extract;
use crate::findings::drills::protection::{UnprotectedTime, degraded_seconds, unprotected};
use crate::findings::drills::{DrillOf, lost_in_drill, report_of};
use crate::findings::{Findings, Void, evaluate};
use proofload_model::drill::{DrillReport, Ledger, Outage, ProbeKind, ProbeReport, ProbeTenth};
use proofload_model::replication::{ReplicationMode, replication};
use proofload_model::time::Offset;
use proofload_record::Attempt;
use std::collections::HashMap;

pub(super) fn word(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::Write => "write",
        ProbeKind::Read => "read",
        ProbeKind::Connect => "connect",
    }
}

fn drilled(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &DrillReport)> {
    of.attempts().filter_map(|attempt| Some((attempt, report_of(attempt)?)))
}

/// A drill with what is computed from it.
pub(super) struct DrillRow<'r> {
    pub(super) attempt: &'r Attempt,
    pub(super) report: &'r DrillReport,
    pub(super) drill: DrillOf<'r>,
    /// False also for one that is not void: a later attempt at its run came to its end.
    pub(super) counts: bool,
    pub(super) void_reasons: Option<String>,
    pub(super) mode: &'static str,
    /// Due time of the first write that failed; of several outages of writes the first.
    pub(super) first_failed: Option<f64>,
    pub(super) first_acknowledged: Option<f64>,
    pub(super) degraded_seconds: u64,
    pub(super) unprotected: UnprotectedTime,
    pub(super) lost_against_promise: Option<u64>,
}

impl DrillRow<'_> {
    pub(super) fn fault(&self) -> String {
        self.report.fault.map_or_else(|| "none".to_owned(), |fault| fault.to_string())
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.report.prober.ledger
    }

    pub(super) fn blips(&self, kind: ProbeKind) -> Option<u64> {
        self.drill.probe(kind).map(|probe| probe.blips)
    }

    pub(super) fn lag_p99_ms(&self, kind: ProbeKind) -> Option<f64> {
        self.drill.probe(kind).map(|probe| probe.lag_p99_ms)
    }
}

pub(super) fn drills(of: Extract<'_>) -> impl Iterator<Item = DrillRow<'_>> {
    let judged = drilled(of).next().map(|_| judged(&evaluate(of.record))).unwrap_or_default();
    drilled(of).map(move |(attempt, report)| {
        let settings = of.record.plan.settings(&of.record.study, attempt.run.point);
        let drill = DrillOf { run: attempt.run.index, attempt: attempt.id, report };
        let (counts, void_reasons) = judged.get(&attempt.id).cloned().unwrap_or_default();
        let outage = drill.outages(ProbeKind::Write).next().copied();
        let is_read = report.prober.ledger.unread.is_none();
        DrillRow {
            attempt,
            report,
            drill,
            counts,
            void_reasons,
            mode: replication(&settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode).word(),
            first_failed: outage.map(|outage| outage.from.as_seconds()),
            first_acknowledged: outage.and_then(|outage| outage.to).map(Offset::as_seconds),
            degraded_seconds: degraded_seconds(attempt, report),
            unprotected: unprotected(attempt, report, &settings),
            lost_against_promise: is_read.then(|| lost_in_drill(attempt, &settings)),
        }
    })
}

/// Whether each finished drill counts, and why it is void, by the number of its attempt.
fn judged(findings: &Findings<'_>) -> HashMap<i64, (bool, Option<String>)> {
    let reasons = |voids: &[Void]| {
        let reasons: Vec<String> = voids.iter().map(ToString::to_string).collect();
        (!reasons.is_empty()).then(|| reasons.join("\n"))
    };
    let of_earlier = findings.points.iter().flat_map(|point| &point.earlier);
    let of_earlier = of_earlier.map(|earlier| (earlier.attempt, (false, reasons(&earlier.voids))));
    let of_runs = findings.runs().map(|(_, run)| (run.attempt, (run.voids.is_empty(), reasons(&run.voids))));
    of_earlier.chain(of_runs).collect()
}

/// What the prober found of each kind of each drill.
fn kinds(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &DrillReport, &ProbeReport)> {
    drilled(of).flat_map(|(attempt, report)| report.prober.kinds.iter().map(move |probe| (attempt, report, probe)))
}

pub(super) fn outages(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &DrillReport, &ProbeReport, &Outage)> {
    kinds(of)
        .flat_map(|(attempt, report, probe)| probe.outages.iter().map(move |outage| (attempt, report, probe, outage)))
}

/// Time between two operations just before an outage, ms; `None` for connections, which are fewer than the writes whose period is kept, and in
/// records from before it was.
pub(super) fn resolution_ms(report: &DrillReport, kind: ProbeKind, outage: &Outage) -> Option<f64> {
    let ledger = &report.prober.ledger;
    let is_known = kind != ProbeKind::Connect && ledger.period_ns > 0;
    is_known.then(|| ledger.period_before(outage.from).as_secs_f64() * 1e3)
}

pub(super) fn prober(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, &ProbeReport, u64, &ProbeTenth)> {
    kinds(of).flat_map(|(attempt, _, probe)| {
        (0_u64..).zip(&probe.tenths).map(move |(place, tenth)| (attempt, probe, place, tenth))
    })
}

/// Write of the ledger; one of which only the number is known has no times.
pub(super) struct WriteRow {
    pub(super) number: u64,
    pub(super) class: &'static str,
    pub(super) node: Option<u32>,
    pub(super) due_ns: Option<i64>,
    pub(super) ended_ns: Option<i64>,
}

/// Records from before ranges were kept have the numbers of the first thousand lost writes alone.
pub(super) fn ledger(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, WriteRow)> {
    drilled(of).flat_map(|(attempt, report)| {
        let ledger = &report.prober.ledger;
        let writes = ledger.ranges.iter().flat_map(move |range| range.writes(ledger.period_ns)).map(|write| WriteRow {
            number: write.number,
            class: write.class.word(),
            node: Some(write.node),
            due_ns: Some(write.due.0),
            ended_ns: Some(write.ended.0),
        });
        let numbers = ledger.lost_numbers.iter().filter(move |_| ledger.ranges.is_empty()).map(|lost| WriteRow {
            number: *lost,
            class: "lost",
            node: None,
            due_ns: None,
            ended_ns: None,
        });
        writes.chain(numbers).map(move |write| (attempt, write))
    })
}
