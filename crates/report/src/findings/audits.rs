//! Comparisons of sums: what clients counted, what the record holds, what the database says. Exact, no tolerance.

use crate::workloads::{CountedKind, Workload};
use proofload_model::events::RunEvent;
use proofload_model::samples::{IntervalSample, MarkLabel, OperationCounts};
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// One comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// What is compared.
    pub name: &'static str,
    /// What must hold.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
    /// Whether it holds.
    pub holds: bool,
    /// Whether it asks the database, and not the clients alone.
    pub by_database: bool,
}

/// All comparisons that the record allows.
pub(super) fn audits(attempt: &Attempt, workload: &'static Workload) -> Vec<Audit> {
    let mut audits =
        vec![continuity(&attempt.intervals), conservation(&attempt.intervals), histograms(&attempt.intervals)];
    audits.extend(offered(&attempt.intervals));
    audits.extend(totals(attempt));
    audits.extend(workload.counted.iter().filter_map(|counted| agreement(attempt, counted)));
    audits
}

fn continuity(intervals: &[IntervalSample]) -> Audit {
    let missing: Vec<u64> =
        intervals.windows(2).filter(|pair| pair[1].index != pair[0].index + 1).map(|pair| pair[0].index + 1).collect();
    let found = match missing.first() {
        None => format!("{} seconds, none missing", intervals.len()),
        Some(first) => format!("{} gaps, the first at second {first}", missing.len()),
    };
    Audit {
        name: "sequence of intervals",
        rule: "every second of the load has exactly one interval in the record",
        found,
        holds: missing.is_empty(),
        by_database: false,
    }
}

fn conservation(intervals: &[IntervalSample]) -> Audit {
    let mut before: BTreeMap<&str, u64> = BTreeMap::new();
    let mut broken = 0u64;
    let mut due = 0u64;
    for counts in intervals.iter().flat_map(|interval| &interval.counts) {
        let earlier = before.insert(&counts.kind, counts.in_flight).unwrap_or(0);
        let accounted = counts.done + counts.rolled_back + counts.failed + counts.dropped + counts.in_flight;
        broken += u64::from(counts.due + earlier != accounted);
        due += counts.due;
    }
    let rule = "due = completed + rolled back by design + failed + dropped + change of operations in flight, in every \
        interval";
    conserved("conservation of operations", rule, due, broken)
}

/// A sum over `due` operations that should hold in every interval, and does not in `broken` of them.
fn conserved(name: &'static str, rule: &'static str, due: u64, broken: u64) -> Audit {
    let (of_due, of_broken) = (if due == 1 { "" } else { "s" }, if broken == 1 { "" } else { "s" });
    let found = if broken == 0 {
        format!("holds for {due} operation{of_due}")
    } else {
        format!("violated in {broken} interval{of_broken}")
    };
    Audit { name, rule, found, holds: broken == 0, by_database: false }
}

/// Checks that what became due by a schedule has begun, was given up, or still waits.
fn offered(intervals: &[IntervalSample]) -> Option<Audit> {
    let (mut before, mut due, mut broken) = (0, 0u64, 0u64);
    for interval in intervals {
        let Some(second) = interval.client.offered else { break };
        let begun: u64 = interval.counts.iter().map(|counts| counts.due).sum();
        broken += u64::from(before + second.due != begun + second.waiting);
        before = second.waiting;
        due += second.due;
    }
    let rule = "due by the schedule = started or given up + change of waiting operations, in every interval";
    (due > 0).then(|| conserved("conservation of the offered load", rule, due, broken))
}

/// Completed operations have a latency each; failed ones have none.
fn histograms(intervals: &[IntervalSample]) -> Audit {
    let completed: u64 =
        intervals.iter().flat_map(|interval| &interval.counts).map(|counts| counts.done + counts.rolled_back).sum();
    let timed: u64 = intervals
        .iter()
        .flat_map(|interval| &interval.histograms)
        .filter(|part| part.clock == proofload_model::samples::LatencyClock::Response)
        .map(|part| part.count)
        .sum();
    Audit {
        name: "latencies and counts",
        rule: "every completed operation has one response time",
        found: format!("{timed} response times, {completed} completed operations"),
        holds: timed == completed,
        by_database: false,
    }
}

/// The clients' own totals at the end, against the sum of intervals.
fn totals(attempt: &Attempt) -> Option<Audit> {
    let totals = attempt.last_event(|event| match event {
        RunEvent::LoadStopped { totals, .. } => Some(totals),
        _ => None,
    })?;
    let mut sums: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    for counts in attempt.intervals.iter().flat_map(|interval| &interval.counts) {
        let sum = sums.entry(&counts.kind).or_default();
        for (sum, part) in sum.iter_mut().zip([counts.done, counts.rolled_back, counts.failed, counts.dropped]) {
            *sum += part;
        }
    }
    let differs = |total: &&OperationCounts| {
        let counted = [total.done, total.rolled_back, total.failed, total.dropped];
        sums.get(total.kind.as_str()).copied().unwrap_or_default() != counted
    };
    let wrong: Vec<&str> = totals.iter().filter(differs).map(|total| total.kind.as_str()).collect();
    let found = if wrong.is_empty() {
        format!("equal for {} kinds of operations", totals.len())
    } else {
        format!("different for {}", wrong.join(", "))
    };
    let rule = "the sum of the intervals equals the clients' own totals";
    Some(Audit { name: "intervals and totals", rule, found, holds: wrong.is_empty(), by_database: false })
}

/// A kind by the database's counter against what was acknowledged to clients, over the whole run.
fn agreement(attempt: &Attempt, counted: &CountedKind) -> Option<Audit> {
    let read = |label: MarkLabel| {
        let mark = attempt.mark(label)?;
        mark.counters.iter().find(|(name, _)| name == counted.counter).map(|(_, value)| *value)
    };
    let stored = read(MarkLabel::After)? - read(MarkLabel::Before)?;
    let counts =
        || attempt.intervals.iter().flat_map(|interval| &interval.counts).filter(|counts| counts.kind == counted.kind);
    let acknowledged = i64::try_from(counts().map(|counts| counts.done).sum::<u64>()).ok()?;
    let uncertain = i64::try_from(counts().map(|counts| counts.failed).sum::<u64>()).ok()?;
    Some(Audit {
        name: counted.audit,
        rule: counted.rule,
        found: format!("{acknowledged} acknowledged, {stored} stored, {uncertain} uncertain"),
        holds: (acknowledged..=acknowledged + uncertain).contains(&stored),
        by_database: true,
    })
}
