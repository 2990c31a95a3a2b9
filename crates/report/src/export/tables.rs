//! The rows of each table, in the order of the record.

use super::Selection;
use super::table::{Cell, Emit, whole};
use super::time::{load_started, time_zero_us};
use crate::findings::{Estimand, Findings, evaluate};
use crate::metrics::PERCENTILES;
use proofload_analysis::latency::Sparse;
use proofload_model::deployment::InstanceName;
use proofload_model::samples::{Fact, IntervalSample};
use proofload_record::{Attempt, AttemptEvent, Record, State};
use std::io::Result;

/// What every row of an attempt begins with.
fn head(attempt: &Attempt) -> [Cell<'static>; 2] {
    [Cell::Integer(attempt.id), Cell::Integer(i64::from(attempt.run.index))]
}

fn optional<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell<'static>) -> Cell<'static> {
    value.map_or(Cell::Empty, cell)
}

fn text(value: Option<&String>) -> Cell<'_> {
    value.map_or(Cell::Empty, |value| Cell::Text(value))
}

pub(super) fn runs(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    let findings = evaluate(record);
    for attempt in selection.attempts(record) {
        let (state, reason) = match &attempt.state {
            State::Finished => ("finished", Cell::Empty),
            State::Failed { reason } => ("failed", Cell::Text(reason)),
            State::Open => ("open", Cell::Empty),
        };
        let (run, window, [id, index]) = (attempt.run, attempt.window(), head(attempt));
        emit(&[
            id,
            index,
            Cell::Integer(i64::from(run.point)),
            Cell::Integer(i64::from(run.repetition)),
            Cell::Boolean(run.sentinel),
            Cell::Made(run.seed.to_string()),
            Cell::Text(state),
            reason,
            Cell::Integer(attempt.started.0),
            optional(load_started(attempt), |_| Cell::Integer(time_zero_us(attempt))),
            optional(window, |(from, _)| whole(from)),
            optional(window, |(_, to)| whole(to)),
            optional(attempt.seal_holds, Cell::Boolean),
            optional(profile(record, attempt), Cell::Made),
            estimand(&findings, attempt),
        ])?;
    }
    Ok(())
}

/// The profile of an attempt, with the departures of its point.
fn profile(record: &Record, attempt: &Attempt) -> Option<String> {
    let point = record.plan.points.get(attempt.run.point as usize);
    let settings = &record.study.settings;
    crate::workloads::profile(&point.map_or_else(|| settings.clone(), |point| settings.with(&point.levels)))
}

/// What the figures of an attempt may claim; empty where it is no result of its run, and in records from before that was told.
fn estimand(findings: &Findings<'_>, attempt: &Attempt) -> Cell<'static> {
    let mut runs = findings.points.iter().flat_map(|point| &point.runs);
    let host = runs.find(|run| run.attempt == attempt.id).and_then(|run| run.host.as_ref());
    host.map_or(Cell::Empty, |host| Cell::Text(Estimand::name(&host.estimand)))
}

pub(super) fn levels(record: &Record, _: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    for point in &record.plan.points {
        for (setting, level) in &point.levels {
            emit(&[Cell::Integer(i64::from(point.id)), Cell::Text(setting), Cell::Made(level.to_string())])?;
        }
    }
    Ok(())
}

/// Hands every second of every attempt on, with the cells that its rows begin with.
fn seconds(
    record: &Record,
    selection: &Selection,
    mut each: impl FnMut(&[Cell<'static>; 3], &IntervalSample) -> Result<()>,
) -> Result<()> {
    for attempt in selection.attempts(record) {
        let [id, run] = head(attempt);
        for interval in &attempt.intervals {
            each(&[id.clone(), run.clone(), whole(interval.index)], interval)?;
        }
    }
    Ok(())
}

/// A row of several parts.
fn joined<'r>(head: &[Cell<'static>], rest: &[Cell<'r>]) -> Vec<Cell<'r>> {
    head.iter().chain(rest).cloned().collect()
}

pub(super) fn operations(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    seconds(record, selection, |head, interval| {
        for counts in &interval.counts {
            let numbers = [
                counts.due,
                counts.done,
                counts.rolled_back,
                counts.failed,
                counts.dropped,
                counts.in_flight,
                counts.retries,
            ];
            let mut row = joined(head, &[Cell::Text(&counts.kind)]);
            row.extend(numbers.map(whole));
            emit(&row)?;
        }
        Ok(())
    })
}

/// Percentiles are of the second alone; those of a window come from merged histograms, never from these.
pub(super) fn latencies(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    seconds(record, selection, |head, interval| {
        for part in &interval.histograms {
            let of_part = [Cell::Text(&part.kind), Cell::Text(part.clock.word())];
            let mut row = joined(head, &of_part);
            row.extend([part.count, part.sum_ns, part.max_ns].map(whole));
            let decoded = Sparse::from_v2_deflate(&part.payload).ok();
            let percentile = |share: f64| decoded.as_ref().and_then(|decoded| decoded.percentile(share));
            row.extend(PERCENTILES.iter().map(|(_, share)| optional(percentile(*share), whole)));
            emit(&row)?;
        }
        Ok(())
    })
}

pub(super) fn errors(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    seconds(record, selection, |head, interval| {
        for error in &interval.errors {
            let cells = [Cell::Text(&error.kind), Cell::Text(&error.code), Cell::Text(&error.text), whole(error.count)];
            emit(&joined(head, &cells))?;
        }
        Ok(())
    })
}

pub(super) fn client(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    seconds(record, selection, |head, interval| {
        let client = &interval.client;
        emit(&joined(
            head,
            &[
                whole(client.resident_bytes),
                optional(client.send_lag_ns_p99, whole),
                optional(client.offered, |offered| whole(offered.due)),
                optional(client.offered, |offered| whole(offered.waiting)),
            ],
        ))
    })
}

pub(super) fn load_agents(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    for attempt in selection.attempts(record) {
        for of in &attempt.agents.seconds {
            let [id, index] = head(attempt);
            emit(&[
                id,
                index,
                whole(of.number),
                Cell::Integer(of.agent.into()),
                whole(of.completed),
                whole(of.failed),
                whole(of.dropped),
                whole(of.count),
                whole(of.sum_ns),
                whole(of.max_ns),
                whole(of.client.thread_cpu_ns.iter().sum()),
                whole(of.client.resident_bytes),
                optional(of.client.send_lag_ns_p99, whole),
            ])?;
        }
    }
    Ok(())
}

pub(super) fn client_threads(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    seconds(record, selection, |head, interval| {
        for (thread, cpu) in interval.client.thread_cpu_ns.iter().enumerate() {
            emit(&joined(head, &[whole(thread as u64), whole(*cpu)]))?;
        }
        Ok(())
    })
}

pub(super) fn engine(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    seconds(record, selection, |head, interval| {
        for reading in &interval.engine {
            let (name, instance, unit) = (&reading.name, &reading.component, &reading.unit);
            let cells = [Cell::Text(name), Cell::Text(instance), Cell::Text(unit), Cell::Number(reading.value)];
            emit(&joined(head, &cells))?;
        }
        Ok(())
    })
}

pub(super) fn telemetry(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    for attempt in selection.attempts(record) {
        for series in &attempt.series {
            let words = [&series.probe, &series.name, &series.component, &series.unit].map(|word| Cell::Text(word));
            for (offset, span, value) in &series.samples {
                let mut row = joined(&head(attempt), &words);
                row.extend([Cell::Integer(offset.0), whole(*span), Cell::Number(*value), standby(&series.instance)]);
                emit(&row)?;
            }
        }
    }
    Ok(())
}

/// The standby that a row is of; empty for the primary and its host.
fn standby(instance: &InstanceName) -> Cell<'_> {
    if instance.is_standby() { Cell::Text(instance.as_str()) } else { Cell::Empty }
}

pub(super) fn marks(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    for attempt in selection.attempts(record) {
        for (label, mark) in &attempt.marks {
            for (counter, value) in &mark.counters {
                let offset = Cell::Integer(mark.offset.0);
                let cells = [Cell::Text(label), offset, Cell::Text(counter), Cell::Integer(*value)];
                emit(&joined(&head(attempt), &cells))?;
            }
        }
    }
    Ok(())
}

/// The cells before rows of the study as a whole.
const OF_STUDY: [Cell<'static>; 2] = [Cell::Empty, Cell::Empty];

pub(super) fn facts(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    let mut all = |head: [Cell<'static>; 2], facts: &[Fact]| {
        facts.iter().try_for_each(|fact| {
            let cells = [
                Cell::Text(&fact.subject),
                Cell::Text(&fact.name),
                text(fact.requested.as_ref()),
                text(fact.effective.as_ref()),
                Cell::Text(&fact.source),
                optional(fact.holds, Cell::Boolean),
                standby(&fact.instance),
            ];
            emit(&joined(&head, &cells))
        })
    };
    all(OF_STUDY, &record.facts)?;
    selection.attempts(record).try_for_each(|attempt| all(head(attempt), &attempt.facts))
}

pub(super) fn checks(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    for attempt in selection.attempts(record) {
        for check in &attempt.checks {
            let words = [&check.group, &check.name, &check.rule, &check.found].map(|word| Cell::Text(word));
            let mut row = joined(&head(attempt), &words);
            row.push(Cell::Made(format!("{:?}", check.outcome)));
            row.push(Cell::Made(check.offenders.join("\n")));
            row.push(optional(check.lost, whole));
            emit(&row)?;
        }
    }
    Ok(())
}

pub(super) fn events(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    let mut all = |head: [Cell<'static>; 2], events: &[AttemptEvent]| {
        events.iter().try_for_each(|event| {
            let at = [Cell::Integer(event.at.0), optional(event.offset, |offset| Cell::Integer(offset.0))];
            emit(&[&head[..], &at[..], &[Cell::Text(event.event.name()), Cell::Text(&event.listed)]].concat())
        })
    };
    all(OF_STUDY, &record.events)?;
    selection.attempts(record).try_for_each(|attempt| all(head(attempt), &attempt.events))
}

pub(super) fn logs(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    let attempts: Vec<i64> = selection.attempts(record).map(|attempt| attempt.id).collect();
    let told = |attempt: Option<i64>| attempt.is_none_or(|attempt| attempts.contains(&attempt));
    for line in record.logs.iter().filter(|line| told(line.attempt)) {
        let words = [&line.level, &line.source, &line.text].map(|word| Cell::Text(word));
        emit(&joined(&[optional(line.attempt, Cell::Integer), Cell::Integer(line.at.0)], &words))?;
    }
    Ok(())
}

pub(super) fn sessions(record: &Record, _: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    record
        .sessions
        .iter()
        .try_for_each(|line| emit(&[Cell::Integer(line.at.0), Cell::Text(&line.program), Cell::Text(&line.machine)]))
}

pub(super) fn documents(record: &Record, _: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    record.documents.iter().try_for_each(|(name, body)| emit(&[Cell::Text(name), Cell::Text(body)]))
}
