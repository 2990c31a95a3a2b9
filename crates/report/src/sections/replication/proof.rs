//! What was proved of the modes before the runs, and how standbys were connected.

use crate::blocks::{Prose, prose};
use crate::findings::Findings;
use crate::findings::replication::ReplicatedPoint;
use crate::findings::replication::links::measured_round_trip;
use crate::numbers::{counted, short};
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::replication::ReplicationMode;

/// What was proved before the runs.
pub(super) fn proved(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let runs = points.iter().filter_map(|replicated| findings.point(replicated.point)).flat_map(|point| &point.runs);
    let proofs: Vec<ReplicationProof> = runs
        .filter_map(|run| {
            findings.finished(run.run.index)?.last_event(|event| match event {
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
        counted(proofs.len(), "run"),
        " with standbys, whose mode was in force at most ",
        short(latest),
        " s after the last start. While the standbys received no log, a commit waited more than 0.5 s in ",
        counted(waiting, "run"),
        " and completed in the others, as their modes require; while they applied none, it waited in ",
        counted(applying, "run"),
        seen(&proofs),
        ". The mode was read every second; a second in which it was not in force voids the point. Standbys were \
         started from the primary's snapshot and ",
        network(findings, points),
    ]
}

/// Tells what else than its length showed a wait, and what no test tells.
fn seen(proofs: &[ReplicationProof]) -> String {
    let listed = proofs.iter().filter(|proof| proof.seen_waiting == Some(true)).count();
    let by_number = proofs.iter().filter(|proof| proof.count_proved).count();
    let is_write_or_flush =
        |proof: &ReplicationProof| matches!(proof.mode, ReplicationMode::RemoteWrite | ReplicationMode::RemoteFlush);
    let mut text = String::new();
    if listed > 0 {
        text += &format!(
            ". In {} the server itself listed each such commit as waiting for a standby",
            counted(listed, "run")
        );
    }
    if by_number > 0 {
        text += &format!(
            ". In {} some of several standbys were held: with the number left that must confirm a commit completed, with \
             one less it waited",
            counted(by_number, "run")
        );
    }
    if proofs.iter().any(is_write_or_flush) {
        text += ". Whether a standby writes or flushes before it confirms is told by its settings alone";
    }
    text
}

/// How standbys were connected.
fn network(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> String {
    let trips: Vec<f64> =
        points.iter().filter_map(|one| measured_round_trip(findings, findings.point(one.point)?)).collect();
    let least = trips.iter().copied().fold(f64::INFINITY, f64::min);
    let most = trips.iter().copied().fold(0.0, f64::max);
    if trips.is_empty() {
        return "connected directly: no delay was added.".to_owned();
    }
    let range = if trips.len() == 1 { short(most) } else { format!("{} to {}", short(least), short(most)) };
    format!(
        "connected through Proofload's relay. Its round trip was measured 100 times before each run: medians of \
         {range} ms. It adds a delay and limits the rate; unlike a network it does not lose, reorder or resend \
         packets, and it consists of threads of the agent on the standby's host."
    )
}
