//! The rows of the tables of drills: one for each drill, and one for each write of a prober that is not plainly kept.

use super::Selection;
use super::table::{Cell, Emit, whole};
use crate::findings::drills::{DrillOf, report_of};
use crate::findings::protection::{degraded_seconds, unprotected};
use proofload_model::drill::{DrillReport, ProbeKind};
use proofload_model::replication::{ReplicationMode, replication};
use proofload_model::time::Offset;
use proofload_record::{Attempt, Record};
use std::io::Result;

fn number(value: Option<f64>) -> Cell<'static> {
    value.map_or(Cell::Empty, Cell::Number)
}

fn drilled<'r>(record: &'r Record, selection: &'r Selection) -> impl Iterator<Item = (&'r Attempt, &'r DrillReport)> {
    selection.attempts(record).filter_map(|attempt| Some((attempt, report_of(attempt)?)))
}

pub(super) fn drills(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    for (attempt, report) in drilled(record, selection) {
        let settings = record.plan.settings(&record.study, attempt.run.point);
        let mode = replication(&settings).ok().flatten().map_or(ReplicationMode::None, |asked| asked.mode);
        let drill = DrillOf { attempt: attempt.id, report };
        let unprotected = unprotected(attempt, report, &settings);
        let outage = drill.outages(ProbeKind::Write).next().copied();
        let ledger = &report.prober.ledger;
        let strength = report.strength.quantity();
        let mut row = vec![
            Cell::Integer(attempt.id),
            Cell::Integer(i64::from(attempt.run.index)),
            Cell::Integer(i64::from(attempt.run.point)),
            Cell::Made(report.fault.map_or_else(|| "none".to_owned(), |fault| fault.to_string())),
            number(strength.map(|(value, _)| value)),
            strength.map_or(Cell::Empty, |(_, unit)| Cell::Text(unit)),
            Cell::Number(report.phase),
            Cell::Text(mode.word()),
            Cell::Number(report.before),
            Cell::Number(report.fault_after),
            Cell::Number(report.fault_at),
            number(outage.map(|outage| outage.from.as_seconds())),
            report.manager.map_or(Cell::Empty, |manager| Cell::Text(manager.word())),
            number(report.detected_at),
            number(report.promote_asked_at),
            number(report.promoted_at),
            report.promoted.as_ref().map_or(Cell::Empty, |name| Cell::Text(name.as_str())),
            number(outage.and_then(|outage| outage.to).map(Offset::as_seconds)),
            number(report.undone_at),
            number(report.rejoin_asked_at),
            number(report.rejoined_at),
            number(report.recovered_at),
            number(report.protected_again_at),
        ];
        row.extend(
            [ProbeKind::Write, ProbeKind::Read, ProbeKind::Connect].map(|kind| Cell::Number(drill.outage(kind))),
        );
        row.extend([
            whole(degraded_seconds(attempt, report)),
            Cell::Number(unprotected.seconds()),
            Cell::Number(report.work_missed),
        ]);
        let counts = [
            ledger.sent,
            ledger.kept,
            ledger.lost,
            ledger.lost_as_warned,
            unprotected.lost,
            ledger.unknown_present,
            ledger.unknown_absent,
            ledger.phantoms,
            ledger.seen_and_lost,
            ledger.holes,
            ledger.doubles,
        ];
        row.extend(counts.map(whole));
        row.extend([
            number(ledger.oldest_lost.map(Offset::as_seconds)),
            Cell::Number(ledger.two_primaries_seconds),
            Cell::Boolean(ledger.unread.is_none()),
        ]);
        emit(&row)?;
    }
    Ok(())
}

/// Records from before ranges were kept have the numbers of the first thousand lost writes alone.
pub(super) fn ledger(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    for (attempt, report) in drilled(record, selection) {
        let head = [Cell::Integer(attempt.id), Cell::Integer(i64::from(attempt.run.index))];
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
