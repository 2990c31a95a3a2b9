//! What was proved of the modes before the runs, and how standbys were connected.

use super::modes::point;
use crate::blocks::{Prose, prose};
use crate::findings::Findings;
use crate::findings::replication::ReplicatedPoint;
use crate::numbers::short;
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::facts::replication as facts;

/// What was proved before the runs.
pub(super) fn proved(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let runs = points.iter().filter_map(|replicated| point(findings, replicated)).flat_map(|point| &point.runs);
    let proofs: Vec<ReplicationProof> = runs
        .filter_map(|run| {
            findings.record.finished(run.run.index)?.last_event(|event| match event {
                RunEvent::ReplicationProved(proof) => Some(*proof),
                _ => None,
            })
        })
        .collect();
    if proofs.is_empty() {
        return prose![
            "The standbys belong to an existing server. Before each run and every second, three readings were taken: \
             the level of a connection, the server's standby names and the streaming standbys. A second in which the \
             mode was not in force voids the point. Standby links were not held for a test, so the mode is as \
             reported by the server."
        ];
    }
    let latest = proofs.iter().map(|proof| proof.in_force_after).fold(0.0, f64::max);
    let waiting = proofs.iter().filter(|proof| proof.waited_for_link).count();
    let applying = proofs.iter().filter(|proof| proof.waited_for_apply).count();
    prose![
        "Proved before ",
        runs_of(proofs.len()),
        " with standbys, whose mode was in force at most ",
        short(latest),
        " s after the last start. While the standbys received no log, a commit waited more than 0.5 s in ",
        runs_of(waiting),
        " and completed in the others, as their modes require; while they applied none, it waited in ",
        runs_of(applying),
        ". The mode was read every second; a second in which it was not in force voids the point. Standbys were \
         started from the primary's snapshot and ",
        network(findings, points),
    ]
}

/// A number of runs.
fn runs_of(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

/// How standbys were connected.
fn network(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> String {
    let trips: Vec<f64> = points.iter().filter_map(|one| round_trip(findings, one)).collect();
    let least = trips.iter().copied().fold(f64::INFINITY, f64::min);
    let most = trips.iter().copied().fold(0.0, f64::max);
    if trips.is_empty() {
        return "connected directly: no delay was added.".to_owned();
    }
    let range = if trips.len() == 1 { short(most) } else { format!("{} to {}", short(least), short(most)) };
    format!(
        "connected through Proofload's relay. Its round trip was measured 100 times before each run: medians of \
         {range} ms. It adds a delay and limits the rate; unlike a network it does not lose, reorder or resend \
         packets."
    )
}

/// Median round trip to the standbys of a point, over its runs, ms; `None` where they were connected directly.
fn round_trip(findings: &Findings<'_>, replicated: &ReplicatedPoint) -> Option<f64> {
    let runs = &point(findings, replicated)?.runs;
    let facts =
        runs.iter().filter_map(|run| findings.record.finished(run.run.index)).flat_map(|attempt| &attempt.facts);
    let trips: Vec<f64> = facts.filter(|fact| facts::RTT_P50.is_of(fact)).filter_map(|fact| fact.number).collect();
    (!trips.is_empty()).then(|| trips.iter().sum::<f64>() / trips.len() as f64)
}
