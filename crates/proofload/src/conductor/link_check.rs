//! The check of a relay before the load: round trips and rate against what the study asks for. Knows neither who comes by the relay, nor how it
//! is measured.

use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::facts::replication;
use proofload_model::replication::{LinkAsked, LinkMeasured};
use proofload_model::samples::Fact;
use std::time::Duration;

/// Round trips by which a link is measured.
const ROUND_TRIPS: u32 = 100;

/// Rounds of them at most: what a link takes at its quickest shows only in moments in which nobody else has the cores.
const ROUNDS: u32 = 10;

/// How far the shortest round trip may be off what was asked: a share of it, and at least a time. The others tell what was kept from a core
/// by others, as the servers are. The floor is no bound on a result: what the relay lets go more than 100 µs late is judged in each second of the
/// window. Source: docs/adr/0041-standbys-from-one-snapshot.md.
const RTT_TOLERANCE: f64 = 0.05;
const RTT_FLOOR: Duration = Duration::from_micros(300);

/// The least share of what was asked that the shortest may take, where the floor would allow less: a relay that adds nothing fails.
const LEAST_OF_RTT: f64 = 0.8;

/// How far the median may be above a round trip for which the floor decides: 100 µs for each way. Source: docs/guides/replication.md.
const MEDIAN_FLOOR: Duration = Duration::from_micros(200);

/// How far the rate may be off, as a share of it.
const BANDWIDTH_TOLERANCE: f64 = 0.1;

/// Measures links by so many round trips each, again until all are what was asked for or the rounds are over; their facts, each of the end that
/// its link leads to. `relay`: its name in their source.
pub(super) fn checked(
    asked: LinkAsked,
    relay: &str,
    mut measure: impl FnMut(u32) -> Result<Vec<(InstanceName, LinkMeasured)>, Error>,
) -> Result<Vec<Fact>, Error> {
    let mut facts = Vec::new();
    for _ in 0..ROUNDS {
        facts.clear();
        for (end, found) in measure(ROUND_TRIPS)? {
            let of_link = facts_of(asked, relay, &found).into_iter();
            facts.extend(of_link.map(|fact| Fact { instance: end.clone(), ..fact }));
        }
        if facts.iter().all(|fact| fact.holds != Some(false)) {
            break;
        }
    }
    Ok(facts)
}

/// Facts of a link; one that is not what was asked for does not hold.
fn facts_of(asked: LinkAsked, relay: &str, found: &LinkMeasured) -> Vec<Fact> {
    let trip = |share: f64| {
        let place = (share * found.round_trips.len() as f64) as usize;
        found.round_trips.get(place).copied().unwrap_or_default()
    };
    let source = format!("{} round trips through {relay}", found.round_trips.len());
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
        let source = format!("bytes sent through {relay}");
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

#[cfg(test)]
mod tests {
    use super::*;

    const RELAY: &str = "the relay";

    fn of_rtt(asked: u64) -> LinkAsked {
        LinkAsked { rtt: Duration::from_micros(asked), bandwidth: None }
    }

    fn found(shortest: u64, median: u64) -> LinkMeasured {
        let trips = [vec![shortest; 40], vec![median; 60]].concat();
        LinkMeasured { round_trips: trips.into_iter().map(Duration::from_micros).collect(), bandwidth: None }
    }

    /// Which facts of a link hold: its shortest round trip and its median, µs.
    fn held(asked: u64, shortest: u64, median: u64) -> [Option<bool>; 2] {
        let facts = facts_of(of_rtt(asked), RELAY, &found(shortest, median));
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

    #[test]
    fn a_relay_of_users_is_measured_again_until_it_holds_and_at_most_so_often() {
        let mut rounds = 0;
        let facts = checked(of_rtt(1000), RELAY, |_| {
            rounds += 1;
            Ok(vec![(InstanceName::clients(), found(1000, if rounds < 3 { 1400 } else { 1100 }))])
        });
        let facts = facts.expect("it was measured");
        assert_eq!((rounds, facts.len()), (3, 3), "{facts:?}");
        assert!(facts.iter().all(|fact| fact.instance == InstanceName::clients() && fact.holds != Some(false)));
        let mut rounds = 0;
        let late = checked(of_rtt(1000), RELAY, |_| {
            rounds += 1;
            Ok(vec![(InstanceName::clients(), found(1000, 1400))])
        });
        let late = late.expect("it was measured");
        assert_eq!(rounds, ROUNDS);
        assert!(late.iter().any(|fact| fact.holds == Some(false)), "the median is too long: {late:?}");
    }
}
