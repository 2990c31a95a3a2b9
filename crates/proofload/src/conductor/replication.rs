//! Replication before the load: waits until standbys follow, then proves the mode by withholding what a commit should wait for. May not
//! know an engine.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::deployment::Deployment;
use proofload_model::error::Error;
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::facts::replication;
use proofload_model::replication::{HeldPart, LinkAsked, LinkMeasured, ReplicationAsked, ReplicationMode, link};
use proofload_model::samples::Fact;
use std::time::Duration;

/// How long standbys may take until the mode is in force.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(60);

const GLANCE: Duration = Duration::from_millis(50);

/// A commit that should wait and has not ended after this time does so.
const WAITS_AFTER: Duration = Duration::from_millis(500);

/// How long a commit may take that nothing withholds.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// Round trips by which a link is measured.
const ROUND_TRIPS: u32 = 100;

/// Rounds of them at most: what a link takes at its quickest shows only in moments in which nobody else has the cores.
const ROUNDS: u32 = 10;

/// How far the shortest round trip may be off what was asked: a share of it, and at least a time. The others tell what was kept from a core
/// by others, as the servers are.
const RTT_TOLERANCE: f64 = 0.05;
const RTT_FLOOR: Duration = Duration::from_micros(300);

/// The least share of what was asked that the shortest may take, where the floor would allow less: a relay that adds nothing fails.
const LEAST_OF_RTT: f64 = 0.8;

/// How far the median may be above a round trip for which the floor decides: 100 µs for each way. Source: docs/guides/replication.md.
const MEDIAN_FLOOR: Duration = Duration::from_micros(200);

/// How far the rate may be off, as a share of it.
const BANDWIDTH_TOLERANCE: f64 = 0.1;

/// Waits until the mode is in force and proves it; nothing happens to an instance alone.
pub(super) fn establish(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(asked) = &prepared.replication else { return Ok(()) };
    let begun = context.agents.now();
    wait_until_in_force(context, &prepared.deployment, asked)?;
    let seconds = context.agents.now().since(begun).as_secs_f64();
    measure_links(context, prepared)?;
    let unheld = commits(context, prepared, ENDS_WITHIN)?;
    if !unheld {
        return Err(unproved(
            asked,
            &format!("a commit had not finished after {ENDS_WITHIN:?} although nothing was held"),
        ));
    }
    let waited_for_apply = withhold(context, prepared, asked, HeldPart::Apply)?;
    let waited_for_link = withhold(context, prepared, asked, HeldPart::Link)?;
    wait_until_in_force(context, &prepared.deployment, asked)?;
    let mode = asked.mode;
    context.heard.journal.event(RunEvent::ReplicationProved(ReplicationProof {
        mode,
        in_force_after: seconds,
        waited_for_link,
        waited_for_apply,
    }))
}

/// Waits until the mode is in force at an existing server, of which nothing is withheld; nothing happens to a study that asks for none.
pub(super) fn establish_existing(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(asked) = &prepared.replication else { return Ok(()) };
    context.testbed(prepared).watch_existing(asked.clone())?;
    wait_until_in_force(context, &prepared.deployment, asked)?;
    let mode = asked.mode.to_string();
    let source = "the server's own views and a separate connection; nothing was withheld";
    context.heard.journal.facts(&[replication::MODE.compared(mode.clone(), Some(mode), true, source)])
}

/// Measures the network that was asked for, and notes what was found.
fn measure_links(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(link) = link(&prepared.settings) else { return Ok(()) };
    let mut facts = Vec::new();
    for _ in 0..ROUNDS {
        facts.clear();
        for (standby, found) in context.testbed(prepared).measure_links(ROUND_TRIPS)? {
            facts.extend(link_facts(link, &found).into_iter().map(|fact| Fact { instance: standby.clone(), ..fact }));
        }
        if facts.iter().all(|fact| fact.holds != Some(false)) {
            break;
        }
    }
    context.heard.journal.facts(&facts)
}

/// Facts of a link; one that is not what was asked for does not hold.
fn link_facts(asked: LinkAsked, found: &LinkMeasured) -> Vec<Fact> {
    let trip = |share: f64| {
        let place = (share * found.round_trips.len() as f64) as usize;
        found.round_trips.get(place).copied().unwrap_or_default()
    };
    let source = format!("{} round trips through the relay", found.round_trips.len());
    let milliseconds = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    let wanted = milliseconds(asked.rtt).to_string();
    let shortest = replication::RTT.compared(
        wanted.clone(),
        Some(milliseconds(trip(0.0))),
        is_shortest_kept(asked.rtt, trip(0.0)),
        source.clone(),
    );
    let median = match median_at_most(asked.rtt) {
        None => replication::RTT_P50.observed(milliseconds(trip(0.5)), source.clone()),
        Some(most) => {
            let source = format!("{source}; at most {} ms is accepted", milliseconds(most));
            replication::RTT_P50.compared(wanted, Some(milliseconds(trip(0.5))), trip(0.5) <= most, source)
        }
    };
    let mut facts = vec![shortest, median, replication::RTT_P99.observed(milliseconds(trip(0.99)), source)];
    if let (Some(asked), Some(found)) = (asked.bandwidth, found.bandwidth) {
        let off = (found.0 as f64 / asked.0 as f64 - 1.0).abs();
        let source = "bytes sent through the relay";
        let holds = off <= BANDWIDTH_TOLERANCE;
        facts.push(replication::BANDWIDTH.compared(asked.to_string(), Some(found.to_string()), holds, source));
    }
    facts
}

/// Whether the shortest round trip is what was asked: not longer beyond the tolerance, and not so short that no delay was added.
fn is_shortest_kept(asked: Duration, shortest: Duration) -> bool {
    let tolerated = asked.mul_f64(RTT_TOLERANCE).max(RTT_FLOOR);
    shortest <= asked + tolerated && shortest >= asked.saturating_sub(tolerated).max(asked.mul_f64(LEAST_OF_RTT))
}

/// The longest median of a round trip that is short enough for the floor to decide; `None` for longer ones, and where no delay is asked.
fn median_at_most(asked: Duration) -> Option<Duration> {
    let share = asked.mul_f64(RTT_TOLERANCE);
    (!asked.is_zero() && share < RTT_FLOOR).then(|| asked + share.max(MEDIAN_FLOOR))
}

/// Waits until a mode is in force at the primary of a deployment.
pub(super) fn wait_until_in_force(
    context: &mut RunContext<'_>,
    deployment: &Deployment,
    asked: &ReplicationAsked,
) -> Result<(), Error> {
    let begun = context.agents.now();
    loop {
        // A server that has just started beside a busy disk may not answer in time; it is asked again.
        let why = match context.testbed_of(deployment).read_replication() {
            Ok(seen) if seen.out_of_force.is_none() => return Ok(()),
            Ok(seen) => seen.out_of_force.unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        context.expect_no_trouble()?;
        if context.agents.now().since(begun) > IN_FORCE_WITHIN {
            return Err(unproved(asked, &format!("{why}, {IN_FORCE_WITHIN:?} after all instances were started")));
        }
        context.agents.hear(GLANCE, &mut context.heard)?;
    }
}

/// Holds a part of what all standbys do, commits, and lets them go on; tells whether the commit waited, which must fit the mode.
fn withhold(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    asked: &ReplicationAsked,
    part: HeldPart,
) -> Result<bool, Error> {
    // A commit that need not wait may take long beside a busy disk.
    let within = if should_wait(asked.mode, part) { WAITS_AFTER } else { ENDS_WITHIN };
    let held = context.testbed(prepared).hold_standbys(part, true);
    let ended = held.and_then(|()| commits(context, prepared, within));
    // Also when something failed: nothing stays held.
    context.testbed(prepared).hold_standbys(part, false)?;
    let waited = !ended?;
    let what = match part {
        HeldPart::Link => "standbys received no log",
        HeldPart::Apply => "standbys applied no log",
    };
    if waited && !context.testbed(prepared).end_commit(ENDS_WITHIN)? {
        return Err(unproved(
            asked,
            &format!("a commit that waited while {what} had not finished {ENDS_WITHIN:?} later"),
        ));
    }
    match (waited, should_wait(asked.mode, part)) {
        (true, false) => Err(unproved(asked, &format!("a commit waited while {what}"))),
        (false, true) => Err(unproved(asked, &format!("a commit finished while {what}"))),
        _ => Ok(waited),
    }
}

/// Whether a commit waits while a part is held.
fn should_wait(mode: ReplicationMode, held: HeldPart) -> bool {
    match held {
        HeldPart::Link => mode.waits(),
        HeldPart::Apply => mode == ReplicationMode::RemoteApply,
    }
}

fn commits(context: &mut RunContext<'_>, prepared: &PreparedRun, within: Duration) -> Result<bool, Error> {
    context.testbed(prepared).begin_commit(within)
}

fn unproved(asked: &ReplicationAsked, why: &str) -> Error {
    Error::verification(format!("replication.mode {} is not in force: {why}", asked.mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_what_its_mode_says() {
        let waits: Vec<[bool; 2]> = ["async", "remote_write", "remote_flush", "remote_apply"]
            .map(|word| ReplicationMode::of(word).expect("a mode"))
            .iter()
            .map(|mode| [HeldPart::Link, HeldPart::Apply].map(|part| should_wait(*mode, part)))
            .collect();
        assert_eq!(waits, [[false, false], [true, false], [true, false], [true, true]]);
    }

    /// Which facts of a link hold: its shortest round trip and its median, µs.
    fn held(asked: u64, shortest: u64, median: u64) -> [Option<bool>; 2] {
        let asked = LinkAsked { rtt: Duration::from_micros(asked), bandwidth: None };
        let round_trips =
            [vec![shortest; 40], vec![median; 60]].concat().into_iter().map(Duration::from_micros).collect();
        let facts = link_facts(asked, &LinkMeasured { round_trips, bandwidth: None });
        [&replication::RTT, &replication::RTT_P50].map(|name| name.last(&facts).expect("it is told").holds)
    }

    #[test]
    fn a_relay_that_adds_nothing_is_found_at_the_smallest_delay() {
        assert_eq!(held(200, 0, 30), [Some(false), Some(true)], "no delay was added");
        assert_eq!(held(200, 150, 250), [Some(false), Some(true)]);
        assert_eq!(held(200, 165, 250), [Some(true), Some(true)]);
        assert_eq!(held(200, 200, 401), [Some(true), Some(false)], "most trips took twice as long");
        assert_eq!(held(1000, 1050, 1200), [Some(true), Some(true)]);
        assert_eq!(held(1000, 700, 1000), [Some(false), Some(true)]);
    }

    #[test]
    fn a_long_round_trip_is_told_by_its_shortest_alone_and_none_has_no_median() {
        assert_eq!(held(20_000, 20_100, 24_000), [Some(true), None]);
        assert_eq!(held(20_000, 18_900, 20_000), [Some(false), None]);
        assert_eq!(held(0, 40, 900), [Some(true), None]);
    }
}
