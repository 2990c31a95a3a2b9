//! Kinds of operation that the database counts as well as the clients.

use crate::findings::window::Window;
use crate::workloads::{CountedKind, Workload};
use proofload_model::samples::{IntervalSample, MarkLabel, OperationCounts};
use proofload_record::Attempt;

/// One kind of operation by the clients' counts and by the database's own.
#[derive(Debug, Clone)]
pub struct CountedTwice {
    /// Committed in each second of the window; `None` when the run has no such kind.
    pub clients: Option<Vec<f64>>,
    /// Rate per minute, by the database's counter between the marks at the window's ends.
    pub database: Option<f64>,
}

/// All of them, in the order of the workload.
pub(crate) fn counted(
    attempt: &Attempt,
    inside: &[&IntervalSample],
    window: Option<Window>,
    workload: &Workload,
) -> Vec<CountedTwice> {
    let twice = |counted: &CountedKind| CountedTwice {
        clients: by_clients(inside, window, counted.kind),
        database: by_database(attempt, counted.counter),
    };
    workload.counted.iter().map(twice).collect()
}

fn of_kind<'i>(interval: &'i IntervalSample, kind: &str) -> Option<&'i OperationCounts> {
    interval.counts.iter().find(|counts| counts.kind == kind)
}

fn by_clients(inside: &[&IntervalSample], window: Option<Window>, kind: &str) -> Option<Vec<f64>> {
    let any = inside.iter().any(|interval| of_kind(interval, kind).is_some());
    let values = window?.by_second(inside, |interval| of_kind(interval, kind).map_or(0.0, |counts| counts.done as f64));
    any.then_some(values)
}

/// Growth of the database's counter between the marks at the ends of the window, per minute.
fn by_database(attempt: &Attempt, counter: &str) -> Option<f64> {
    let read = |label: MarkLabel| {
        let mark = attempt.mark(label)?;
        let (_, count) = mark.counters.iter().find(|(name, _)| name == counter)?;
        Some((mark.offset.as_seconds(), *count as f64))
    };
    let ((from, before), (to, after)) = (read(MarkLabel::WindowStart)?, read(MarkLabel::WindowEnd)?);
    (to > from).then(|| (after - before) / (to - from) * 60.0)
}
