//! The rows of the tables of drills: one for each drill, for each outage, for each kind of a prober's operations in a tenth of a second, and
//! for each write that is not plainly kept.

use super::Selection;
use super::table::{Cell, Emit, whole};
use crate::findings::drills::{DrillOf, is_after, lost_in_drill, report_of};
use crate::findings::protection::{UnprotectedTime, degraded_seconds, unprotected};
use crate::findings::{Findings, evaluate};
use proofload_model::drill::{DrillReport, LogFork, Outage, ProbeKind, ProbeReport};
use proofload_model::replication::{ReplicationMode, replication};
use proofload_model::settings::Settings;
use proofload_model::time::Offset;
use proofload_model::units::Bytes;
use proofload_record::{Attempt, Record};
use std::io::Result;

/// Kinds of a prober's operations, in the order of the columns.
const KINDS: [ProbeKind; 3] = [ProbeKind::Write, ProbeKind::Read, ProbeKind::Connect];

fn number(value: Option<f64>) -> Cell<'static> {
    value.map_or(Cell::Empty, Cell::Number)
}

fn count(value: Option<u64>) -> Cell<'static> {
    value.map_or(Cell::Empty, whole)
}

fn at(moment: Option<Offset>) -> Cell<'static> {
    number(moment.map(Offset::as_seconds))
}

fn word(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::Write => "write",
        ProbeKind::Read => "read",
        ProbeKind::Connect => "connect",
    }
}

fn drilled<'r>(record: &'r Record, selection: &'r Selection) -> impl Iterator<Item = (&'r Attempt, &'r DrillReport)> {
    selection.attempts(record).filter_map(|attempt| Some((attempt, report_of(attempt)?)))
}

/// What every row of a drill begins with.
fn head(attempt: &Attempt) -> [Cell<'static>; 2] {
    [Cell::Integer(attempt.id), Cell::Integer(i64::from(attempt.run.index))]
}

pub(super) fn drills(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    if drilled(record, selection).next().is_none() {
        return Ok(());
    }
    let findings = evaluate(record);
    for (attempt, report) in drilled(record, selection) {
        let settings = record.plan.settings(&record.study, attempt.run.point);
        let drill = DrillOf { attempt: attempt.id, report };
        let unprotected = unprotected(attempt, report, &settings);
        let mut row = head(attempt).to_vec();
        row.push(Cell::Integer(i64::from(attempt.run.point)));
        row.extend(judged(&findings, attempt));
        row.extend(asked(report, &settings));
        row.extend(instants(&drill));
        row.extend(left(report));
        row.extend(KINDS.map(|kind| Cell::Number(drill.outage(kind))));
        row.extend(KINDS.map(|kind| count(drill.probe(kind).map(|probe| probe.blips))));
        row.extend(KINDS.map(|kind| number(drill.probe(kind).map(|probe| probe.lag_p99_ms))));
        row.extend([
            whole(degraded_seconds(attempt, report)),
            Cell::Number(unprotected.seconds()),
            Cell::Number(report.work_missed),
        ]);
        row.extend(writes(attempt, report, &settings, &unprotected));
        emit(&row)?;
    }
    Ok(())
}

/// Whether a drill counts, and why it is void. Neither counts nor is void: a later attempt at its run came to its end.
fn judged(findings: &Findings<'_>, attempt: &Attempt) -> [Cell<'static>; 2] {
    let run = findings.points.iter().flat_map(|point| &point.runs).find(|run| run.attempt == attempt.id);
    let mut earlier = findings.points.iter().flat_map(|point| &point.earlier);
    let voids = match run {
        Some(run) => run.voids.as_slice(),
        None => earlier.find(|one| one.attempt == attempt.id).map_or(&[][..], |one| one.voids.as_slice()),
    };
    let reasons: Vec<String> = voids.iter().map(ToString::to_string).collect();
    let why = if reasons.is_empty() { Cell::Empty } else { Cell::Made(reasons.join("\n")) };
    [Cell::Boolean(run.is_some() && voids.is_empty()), why]
}

/// What was asked for, and the load before it.
fn asked(report: &DrillReport, settings: &Settings) -> [Cell<'static>; 6] {
    let mode = replication(settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode);
    let strength = report.strength.quantity();
    [
        Cell::Made(report.fault.map_or_else(|| "none".to_owned(), |fault| fault.to_string())),
        number(strength.map(|(value, _)| value)),
        strength.map_or(Cell::Empty, |(_, unit)| Cell::Text(unit)),
        Cell::Number(report.phase),
        Cell::Text(mode.word()),
        Cell::Number(report.before),
    ]
}

/// When things happened; of several outages of writes the first.
fn instants<'r>(drill: &DrillOf<'r>) -> [Cell<'r>; 15] {
    let report = drill.report;
    let outage = drill.outages(ProbeKind::Write).next().copied();
    [
        number(report.fault_begun),
        Cell::Number(report.fault_after),
        Cell::Number(report.fault_at),
        at(outage.map(|outage| outage.from)),
        report.manager.map_or(Cell::Empty, |manager| Cell::Text(manager.word())),
        number(report.detected_at),
        number(report.promote_asked_at),
        number(report.promoted_at),
        report.promoted.as_ref().map_or(Cell::Empty, |name| Cell::Text(name.as_str())),
        at(outage.and_then(|outage| outage.to)),
        number(report.undone_at),
        number(report.rejoin_asked_at),
        number(report.rejoined_at),
        number(report.recovered_at),
        number(report.protected_again_at),
    ]
}

/// Standbys that answered before one was promoted, and where its log left the old one.
fn left(report: &DrillReport) -> [Cell<'static>; 8] {
    let (reach, fork) = (report.reach, report.fork);
    let bytes = |of: fn(&LogFork) -> Option<Bytes>| count(fork.as_ref().and_then(of).map(|bytes| bytes.0));
    [
        count(reach.map(|reach| u64::from(reach.reached))),
        count(reach.map(|reach| u64::from(reach.of))),
        reach.map_or(Cell::Empty, |reach| Cell::Boolean(reach.holds_all)),
        count(fork.map(|fork| u64::from(fork.timeline_before))),
        count(fork.map(|fork| u64::from(fork.timeline))),
        bytes(|fork| Some(fork.at)),
        bytes(|fork| fork.old_end),
        bytes(LogFork::lost),
    ]
}

/// What became of the writes.
fn writes(
    attempt: &Attempt,
    report: &DrillReport,
    settings: &Settings,
    unprotected: &UnprotectedTime,
) -> Vec<Cell<'static>> {
    let ledger = &report.prober.ledger;
    let is_read = ledger.unread.is_none();
    let mut cells =
        [ledger.sent, ledger.kept, ledger.lost, ledger.lost_as_warned, unprotected.lost].map(whole).to_vec();
    cells.push(count(is_read.then(|| lost_in_drill(attempt, settings))));
    let counts = [
        ledger.unknown_present,
        ledger.unknown_absent,
        ledger.phantoms,
        ledger.seen_and_lost,
        ledger.holes,
        ledger.doubles,
        ledger.stale_reads,
    ];
    cells.extend(counts.map(whole));
    cells.extend([
        at(ledger.oldest_lost),
        Cell::Number(ledger.two_primaries_seconds),
        whole(ledger.two_claimed_seconds),
        Cell::Boolean(is_read),
    ]);
    cells
}

/// Hands on what the prober found of each kind of each drill.
fn each_kind(
    record: &Record,
    selection: &Selection,
    mut each: impl FnMut(&[Cell<'static>], &DrillReport, &ProbeReport) -> Result<()>,
) -> Result<()> {
    for (attempt, report) in drilled(record, selection) {
        for probe in &report.prober.kinds {
            let head = [&head(attempt)[..], &[Cell::Text(word(probe.kind))]].concat();
            each(&head, report, probe)?;
        }
    }
    Ok(())
}

pub(super) fn outages(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    each_kind(record, selection, |head, report, probe| {
        let row = |outage: &Outage| {
            let rest =
                [at(Some(outage.from)), at(outage.to), whole(outage.failed), Cell::Boolean(is_after(outage, report))];
            [head, &rest[..]].concat()
        };
        probe.outages.iter().try_for_each(|outage| emit(&row(outage)))
    })
}

pub(super) fn prober(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    each_kind(record, selection, |head, _, probe| {
        for (place, tenth) in probe.tenths.iter().enumerate() {
            let counts = [tenth.acknowledged, tenth.failed, tenth.unknown].map(|counted| Cell::Integer(counted.into()));
            emit(&[head, &[whole(place as u64)], &counts[..]].concat())?;
        }
        Ok(())
    })
}

/// Records from before ranges were kept have the numbers of the first thousand lost writes alone.
pub(super) fn ledger(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    for (attempt, report) in drilled(record, selection) {
        let head = head(attempt);
        let ledger = &report.prober.ledger;
        for write in ledger.ranges.iter().flat_map(|range| range.writes(ledger.period_ns)) {
            let times = [write.due, write.ended].map(|at| Cell::Integer(at.0));
            let class = [whole(write.number), Cell::Text(write.class.word()), Cell::Integer(i64::from(write.node))];
            emit(&[&head[..], &class[..], &times[..]].concat())?;
        }
        for lost in ledger.lost_numbers.iter().filter(|_| ledger.ranges.is_empty()) {
            let rest = [whole(*lost), Cell::Text("lost"), Cell::Empty, Cell::Empty, Cell::Empty];
            emit(&[&head[..], &rest[..]].concat())?;
        }
    }
    Ok(())
}
