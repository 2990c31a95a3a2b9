//! Tables as which a record is exported: names, columns with their units, and the value of each column in a row. This file is a table.

use super::Selection;
use super::cell::{self, Cell};
use super::column::{self, ExportColumn};
use super::drill_tables::{drills, ledger, outages, prober, resolution_ms, word};
use super::experiment_tables::{change_of, class_of, visit_readings, visits};
use super::selection::Extract;
use super::tables::{
    checks, client, client_threads, documents, engine, errors, events, facts, latencies, levels, load_agents, logs,
    marks, operations, runs, sessions, standby, telemetry,
};
use super::time::{load_started, time_zero_us};
use crate::findings::drills::is_after;
use proofload_model::drill::ProbeKind::{Connect, Read, Write};
use proofload_model::time::Offset;
use proofload_record::Record;
use std::io::Result;

/// What takes the rows.
pub(super) type Emit<'e> = dyn FnMut(&[Cell<'_>]) -> Result<()> + 'e;

/// One table.
#[derive(Debug, Clone, Copy)]
pub struct ExportTable {
    /// Its name.
    pub name: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Its columns, in the order of a row's cells.
    pub columns: &'static [ExportColumn],
    /// Hands over its rows.
    pub(super) rows: fn(&Record, &Selection, &mut Emit<'_>) -> Result<()>,
}

macro_rules! tables {
    ($($name:ident, $row:literal, $of:pat_param => $($kind:ident $column:ident = $value:expr),+;)+) => {
        /// Every table, in the order of the JSON document. Offsets and seconds count from the run's time zero; `_us` ends a time in
        /// microseconds since 1970, UTC.
        pub const TABLES: &[ExportTable] = &[$(ExportTable {
            name: stringify!($name),
            row: $row,
            columns: &[$(column::$kind(stringify!($column))),+],
            rows: {
                fn rows(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
                    $name(Extract { record, selection }).try_for_each(|$of| emit(&[$(cell::$kind($value)),+]))
                }
                rows
            },
        }),+];
    };
}

// A table has the name of the function that hands over its rows; then come a row's parts, and each column with its kind, its name and its
// value.
tables! {
    runs, "an attempt at a planned run", row =>
        integer attempt = row.attempt.id, integer run = row.attempt.run.index, integer point = row.attempt.run.point,
        integer repetition = row.attempt.run.repetition, boolean sentinel = row.attempt.run.sentinel,
        text seed = row.attempt.run.seed.to_string(), text state = row.state, text reason = row.reason,
        integer started_us = row.attempt.started.0,
        integer time_zero_us = load_started(row.attempt).map(|_| time_zero_us(row.attempt)),
        integer window_from_s = row.attempt.window().map(|(from, _)| from),
        integer window_to_s = row.attempt.window().map(|(_, to)| to), boolean seal_holds = row.attempt.seal_holds,
        text profile = row.profile, text estimand = row.estimand;
    levels, "a level of a point", (point, setting, level) =>
        integer point = point.id, text setting = setting, text level = level.to_string();
    operations, "a kind of operation in a second", (attempt, second, counts) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer second = second.index,
        text kind = &counts.kind, integer due = counts.due, integer done = counts.done,
        integer rolled_back = counts.rolled_back, integer failed = counts.failed, integer dropped = counts.dropped,
        integer in_flight = counts.in_flight, integer retries = counts.retries;
    latencies, "a kind of operation and a clock in a second", (attempt, second, part, percentiles) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer second = second.index,
        text kind = &part.kind, text clock = part.clock.word(), integer count = part.count,
        integer sum_ns = part.sum_ns, integer max_ns = part.max_ns, integer p50_ns = percentiles.p50,
        integer p95_ns = percentiles.p95, integer p99_ns = percentiles.p99, integer p999_ns = percentiles.p999;
    errors, "a class of errors in a second", (attempt, second, error) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer second = second.index,
        text kind = &error.kind, text code = &error.code, text text = &error.text, integer count = error.count;
    client, "the load generator in a second", (attempt, second) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer second = second.index,
        integer resident_bytes = second.client.resident_bytes, integer send_lag_p99_ns = second.client.send_lag_ns_p99,
        integer offered = second.client.offered.map(|offered| offered.due),
        integer backlog = second.client.offered.map(|offered| offered.waiting);
    client_threads, "a client thread in a second", (attempt, second, thread, cpu) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer second = second.index,
        integer thread = thread, integer cpu_ns = cpu;
    load_agents, "one of several load agents in a second", (attempt, second) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer second = second.number,
        integer agent = second.agent, integer completed = second.completed, integer failed = second.failed,
        integer dropped = second.dropped, integer count = second.count, integer sum_ns = second.sum_ns,
        integer max_ns = second.max_ns, integer cpu_ns = second.client.thread_cpu_ns.iter().sum::<u64>(),
        integer resident_bytes = second.client.resident_bytes, integer send_lag_p99_ns = second.client.send_lag_ns_p99;
    engine, "a counter of an embedded engine in a second", (attempt, second, reading) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer second = second.index,
        text name = &reading.name, text instance = &reading.component, text unit = &reading.unit,
        number value = reading.value;
    telemetry, "a reading of a probe", (attempt, series, (offset, span, value)) =>
        integer attempt = attempt.id, integer run = attempt.run.index, text probe = &series.probe,
        text name = &series.name, text instance = &series.component, text unit = &series.unit,
        integer offset_ns = offset.0, integer span_ns = *span, number value = *value,
        text standby = standby(&series.instance);
    drills, "a drill", row =>
        integer attempt = row.attempt.id, integer run = row.attempt.run.index, integer point = row.attempt.run.point,
        boolean counts = row.counts, text void_reasons = row.void_reasons.as_ref(), text fault = row.fault(),
        number strength = row.report.strength.quantity().map(|(value, _)| value),
        text strength_unit = row.report.strength.quantity().map(|(_, unit)| unit),
        number phase_s = row.report.phase, text mode = row.mode, number before_per_s = row.report.before,
        number fault_begun_s = row.report.fault_begun, number fault_after_s = row.report.fault_after,
        number fault_at_s = row.report.fault_at, number first_failed_s = row.first_failed,
        text manager = row.report.manager.map(|manager| manager.word()), number detected_s = row.report.detected_at,
        number promote_asked_s = row.report.promote_asked_at, number promoted_s = row.report.promoted_at,
        text promoted = row.report.promoted.as_ref().map(|name| name.as_str()),
        number first_acknowledged_s = row.first_acknowledged, number undone_s = row.report.undone_at,
        number rejoin_asked_s = row.report.rejoin_asked_at, number rejoined_s = row.report.rejoined_at,
        number recovered_s = row.report.recovered_at, number protected_again_s = row.report.protected_again_at,
        integer standbys_reached = row.report.reach.map(|reach| reach.reached),
        integer standbys = row.report.reach.map(|reach| reach.of),
        boolean reach_holds_all = row.report.reach.map(|reach| reach.holds_all),
        integer timeline_before = row.report.fork.map(|fork| fork.timeline_before),
        integer timeline = row.report.fork.map(|fork| fork.timeline),
        integer fork_at_bytes = row.report.fork.map(|fork| fork.at.0),
        integer old_log_end_bytes = row.report.fork.and_then(|fork| fork.old_end).map(|end| end.0),
        integer log_lost_bytes = row.report.fork.and_then(|fork| fork.lost()).map(|lost| lost.0),
        number writes_away_s = row.drill.outage(Write), number reads_away_s = row.drill.outage(Read),
        number connections_away_s = row.drill.outage(Connect), integer write_blips = row.blips(Write),
        integer read_blips = row.blips(Read), integer connection_blips = row.blips(Connect),
        number write_lag_p99_ms = row.lag_p99_ms(Write), number read_lag_p99_ms = row.lag_p99_ms(Read),
        number connection_lag_p99_ms = row.lag_p99_ms(Connect), integer degraded_s = row.degraded_seconds,
        number unprotected_s = row.unprotected.seconds(), number work_missed_s = row.report.work_missed,
        integer sent = row.ledger().sent, integer kept = row.ledger().kept, integer lost = row.ledger().lost,
        integer lost_as_warned = row.ledger().lost_as_warned, integer lost_unprotected = row.unprotected.lost,
        integer lost_against_promise = row.lost_against_promise,
        integer unknown_present = row.ledger().unknown_present, integer unknown_absent = row.ledger().unknown_absent,
        integer phantoms = row.ledger().phantoms, integer seen_and_lost = row.ledger().seen_and_lost,
        integer holes = row.ledger().holes, integer doubles = row.ledger().doubles,
        integer stale_reads = row.ledger().stale_reads,
        number oldest_lost_s = row.ledger().oldest_lost.map(Offset::as_seconds),
        number two_primaries_s = row.ledger().two_primaries_seconds,
        integer two_claimed_s = row.ledger().two_claimed_seconds, boolean ledger_read = row.ledger().unread.is_none();
    outages, "an outage of a drill, for a kind of prober operation", (attempt, report, probe, outage) =>
        integer attempt = attempt.id, integer run = attempt.run.index, text kind = word(probe.kind),
        number from_s = outage.from.as_seconds(), number to_s = outage.to.map(Offset::as_seconds),
        integer failed = outage.failed, boolean of_the_fault = is_after(outage, report),
        number resolution_ms = resolution_ms(report, probe.kind, outage);
    prober, "a kind of prober operation in a tenth of a second", (attempt, probe, place, tenth) =>
        integer attempt = attempt.id, integer run = attempt.run.index, text kind = word(probe.kind),
        integer tenth = place, integer acknowledged = tenth.acknowledged, integer failed = tenth.failed,
        integer unknown = tenth.unknown;
    ledger, "a prober write that was not simply acknowledged and kept", (attempt, write) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer number = write.number,
        text class = write.class, integer node = write.node, integer due_ns = write.due_ns,
        integer ended_ns = write.ended_ns;
    visits, "a visit of an experiment", (attempt, place, result, is_complete) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer point = attempt.run.point,
        integer block = result.visit.block, boolean block_complete = is_complete, integer visit = place,
        text change = change_of(&result.visit).0, text resource = change_of(&result.visit).1,
        integer from_s = result.visit.from, integer to_s = result.visit.to, number switched_ms = result.visit.switched_ms,
        number per_s = result.throughput, number response_p99_ns = result.response_p99, number stolen = result.stolen;
    visit_readings, "a resource in a visit", (attempt, place, block, reading) =>
        integer attempt = attempt.id, integer run = attempt.run.index, integer block = block, integer visit = place,
        text resource = &reading.name, text kind = class_of(attempt, &reading.name),
        number in_force = reading.in_force, number used_per_s = reading.used;
    marks, "a database counter at one point in time", (attempt, label, mark, (counter, value)) =>
        integer attempt = attempt.id, integer run = attempt.run.index, text label = label,
        integer offset_ns = mark.offset.0, text counter = counter, integer value = *value;
    facts, "a fact; applies to the study if attempt is empty", (attempt, fact) =>
        integer attempt = attempt.map(|attempt| attempt.id), integer run = attempt.map(|attempt| attempt.run.index),
        text subject = &fact.subject, text name = &fact.name, text requested = fact.requested.as_ref(),
        text effective = fact.effective.as_ref(), text source = &fact.source, boolean holds = fact.holds,
        text standby = standby(&fact.instance);
    checks, "a check and its result", (attempt, check) =>
        integer attempt = attempt.id, integer run = attempt.run.index, text group = &check.group,
        text name = &check.name, text rule = &check.rule, text found = &check.found,
        text outcome = format!("{:?}", check.outcome), text offenders = check.offenders.join("\n"),
        integer lost = check.lost;
    events, "an event; belongs to the study if attempt is empty", (attempt, event) =>
        integer attempt = attempt.map(|attempt| attempt.id), integer run = attempt.map(|attempt| attempt.run.index),
        integer at_us = event.at.0, integer offset_ns = event.offset.map(|offset| offset.0),
        text name = event.event.name(), text detail = &event.listed;
    logs, "a log line for the operator", line =>
        integer attempt = line.attempt, integer at_us = line.at.0, text level = line.level.word(),
        text source = &line.source, text text = &line.text;
    sessions, "a run or resume", session =>
        integer at_us = session.at.0, text program = &session.program, text kernel = &session.machine;
    documents, "a document", (name, body) =>
        text name = name, text body = body;
}
