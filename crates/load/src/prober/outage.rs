//! Outages from the outcomes of operations. Pure. Source: the definition in docs/method.md, "Drills".

use super::operation::{ProbeOperation, ProbeOutcome};
use proofload_model::drill::{Outage, ProbeKind, ProbeReport, ProbeTenth};
use proofload_model::time::{Moment, Offset};

/// Fewest operations acknowledged in a row that end an outage.
pub(super) const FEWEST_IN_A_ROW: usize = 10;

/// Fewest operations of an outage; fewer are a blip.
const FEWEST_FAILED: u64 = 2;

/// The report of operations in the order of their due times; `rate`: operations due per second.
pub(super) fn report(kind: ProbeKind, operations: &[ProbeOperation], rate: u32, origin: Moment) -> ProbeReport {
    let (outages, blips) = outages(operations, rate, origin);
    ProbeReport {
        kind,
        due: operations.len() as u64,
        lag_p99_ms: lag_p99_ms(operations),
        outages,
        blips,
        tenths: tenths(operations, origin),
    }
}

/// Outages, and how many operations failed apart from them: an outage begins with the due time of the first operation that was not
/// acknowledged, and ends when the first of enough in a row was.
fn outages(operations: &[ProbeOperation], rate: u32, origin: Moment) -> (Vec<Outage>, u64) {
    let wanted = FEWEST_IN_A_ROW.max(rate as usize / 10);
    let (mut found, mut blips) = (Vec::new(), 0);
    let mut place = 0;
    while let Some(begin) = operations[place..].iter().position(|one| !one.is_acknowledged()).map(|at| place + at) {
        let end = end_of(&operations[begin..], wanted).map(|at| begin + at);
        let within = &operations[begin..end.unwrap_or(operations.len())];
        let failed = within.iter().filter(|one| !one.is_acknowledged()).count() as u64;
        let from = operations[begin].due.offset_from(origin);
        let to = end.map(|at| operations[at].ended.offset_from(origin));
        if failed >= FEWEST_FAILED {
            found.push(Outage { from, to, failed })
        } else {
            blips += failed
        }
        let Some(end) = end else { break };
        place = end;
    }
    (found, blips)
}

/// Place of the first of so many operations acknowledged in a row, or of fewer where the prober ended with them; `None` where its last
/// operation was not acknowledged.
fn end_of(operations: &[ProbeOperation], wanted: usize) -> Option<usize> {
    let mut first = 0;
    for (place, operation) in operations.iter().enumerate() {
        if !operation.is_acknowledged() {
            first = place + 1;
        } else if place + 1 - first >= wanted {
            return Some(first);
        }
    }
    (first < operations.len()).then_some(first)
}

fn lag_p99_ms(operations: &[ProbeOperation]) -> f64 {
    let mut lags: Vec<_> = operations.iter().map(|one| one.lag).collect();
    lags.sort_unstable();
    let place = (lags.len() * 99).div_ceil(100).saturating_sub(1);
    lags.get(place).map_or(0.0, |lag| lag.as_secs_f64() * 1e3)
}

fn tenths(operations: &[ProbeOperation], origin: Moment) -> Vec<ProbeTenth> {
    let mut tenths: Vec<ProbeTenth> = Vec::new();
    for operation in operations {
        let Offset(due) = operation.due.offset_from(origin);
        let place = usize::try_from(due / 100_000_000).unwrap_or(0);
        if tenths.len() <= place {
            tenths.resize(place + 1, ProbeTenth::default());
        }
        let tenth = &mut tenths[place];
        let count = match operation.outcome {
            ProbeOutcome::Acknowledged => &mut tenth.acknowledged,
            ProbeOutcome::Failed => &mut tenth.failed,
            ProbeOutcome::Unknown => &mut tenth.unknown,
        };
        *count += 1;
    }
    tenths
}

#[cfg(test)]
#[path = "outage_tests.rs"]
mod tests;
