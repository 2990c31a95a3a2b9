//! When each host is dialled again, and how long a try may take. A host that says nothing is tried with a bounded number of tries at once, of which
//! some may take longer as an outage goes on, since a server may need long to answer; one that refuses is tried by one after another, with pauses: a server that begins makes a process for each of
//! them, and what it spends on them delays it. One connection to a standby stays. May not dial.

use proofload_model::time::Moment;
use std::time::Duration;

/// Longest wait for a host's answer, but in long tries.
const SHORTEST_TRY: Duration = Duration::from_millis(500);
/// Longest wait for a host's answer in a long try at last.
pub(super) const LONGEST_TRY: Duration = Duration::from_secs(5);
/// Part of the outage that a long try may take.
const PART_OF_OUTAGE: u32 = 8;
/// Pause between two tries of a host that says nothing: one that comes back is noticed within it.
const TRY_EVERY: Duration = Duration::from_millis(12);
/// Pause between two long tries of a host that says nothing.
const LONG_TRY_EVERY: Duration = Duration::from_millis(500);
/// Most tries of one host under way at once: as many as these pauses allow, and a few more.
const AT_ONCE: u32 = 54;
/// Pause after a refusal, as a multiple of the time that it took.
const REST: u32 = 4;
/// Shortest pause after a refusal.
const SHORTEST_REST: Duration = Duration::from_millis(10);
/// Longest pause after a refusal: with a connect it keeps the end of an outage within 50 ms. A refusal that takes long waits rather than works.
const LONGEST_REST: Duration = Duration::from_millis(30);
/// A refusal within this time is an answer of the host itself. Later it may be one of the network.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// Tries of one host.
#[derive(Debug, Clone, Copy)]
struct HostTries {
    under_way: u32,
    next: Moment,
    next_long: Moment,
    /// Whether its last try gave no connection.
    has_failed: bool,
    /// Whether it has refused a try by itself.
    answers: bool,
}

impl HostTries {
    const NONE: Self = Self { under_way: 0, next: Moment(0), next_long: Moment(0), has_failed: false, answers: false };

    /// Longest wait for the answer to a try that begins now.
    fn limit(&mut self, now: Moment, long: Duration) -> Duration {
        match (self.answers, self.next_long <= now) {
            (true, _) => LONGEST_TRY,
            (false, false) => SHORTEST_TRY,
            (false, true) => {
                self.next_long = now + LONG_TRY_EVERY;
                long
            }
        }
    }

    /// Whether another try may begin.
    fn is_due(&self, now: Moment) -> bool {
        self.under_way < if self.answers { 1 } else { AT_ONCE } && self.next <= now
    }
}

/// Tries of all hosts since there was a connection.
#[derive(Debug)]
pub(super) struct Tries {
    hosts: Vec<HostTries>,
    since: Option<Moment>,
}

impl Tries {
    /// Tries of so many hosts, none of which was tried.
    pub(super) fn of(hosts: usize) -> Self {
        Self { hosts: vec![HostTries::NONE; hosts], since: None }
    }

    /// Hosts to try now of those that are wanted, each with the longest wait for its answer; they count as under way.
    pub(super) fn due(&mut self, now: Moment, is_wanted: impl Fn(usize) -> bool) -> Vec<(usize, Duration)> {
        let outage = now.since(*self.since.get_or_insert(now));
        let long = (outage / PART_OF_OUTAGE).clamp(SHORTEST_TRY, LONGEST_TRY);
        let due = |(host, tries): (usize, &mut HostTries)| {
            (tries.is_due(now) && is_wanted(host)).then(|| {
                tries.under_way += 1;
                tries.next = now + TRY_EVERY;
                (host, tries.limit(now, long))
            })
        };
        self.hosts.iter_mut().enumerate().filter_map(due).collect()
    }

    /// Notes that a host gave no connection to a try that took so long.
    pub(super) fn refused(&mut self, host: usize, now: Moment, took: Duration) {
        self.without_connection(host);
        let tries = &mut self.hosts[host];
        tries.answers |= took < ANSWERS_WITHIN;
        if tries.answers {
            tries.next = now + (REST * took).clamp(SHORTEST_REST, LONGEST_REST);
        }
    }

    /// Notes that a host gave no answer to a try.
    pub(super) fn silent(&mut self, host: usize) {
        self.without_connection(host);
    }

    /// Notes that a host has answered a try that is still under way, and is a standby.
    pub(super) fn answered_as_standby(&mut self, host: usize) {
        let tries = &mut self.hosts[host];
        (tries.has_failed, tries.answers) = (true, true);
    }

    /// Time until another try may be due.
    pub(super) fn pause(&self, now: Moment) -> Duration {
        self.hosts.iter().map(|tries| tries.next.since(now)).filter(|left| !left.is_zero()).min().unwrap_or(TRY_EVERY)
    }

    fn without_connection(&mut self, host: usize) {
        let tries = &mut self.hosts[host];
        tries.under_way = tries.under_way.saturating_sub(1);
        tries.has_failed = true;
    }

    /// Whether the last try of every host gave no connection.
    pub(super) fn all_failed(&self) -> bool {
        self.hosts.iter().all(|tries| tries.has_failed)
    }

    /// Notes that no try is under way any more, since there is a connection, or nobody wants one.
    pub(super) fn ended(&mut self) {
        *self = Self::of(self.hosts.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(_host: usize) -> bool {
        true
    }

    fn after(milliseconds: u64) -> Moment {
        Moment(0) + Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_silent_host_has_a_bounded_number_of_tries_and_delays_no_other() {
        let mut tries = Tries::of(2);
        let (mut silent, mut refused) = (0, 0);
        for round in 0..200 {
            let now = after(10 * round);
            for (host, _) in tries.due(now, all) {
                match host {
                    1 => tries.refused(1, now, Duration::from_millis(1)),
                    _ => silent += 1,
                }
                refused += host;
            }
            assert!(!tries.all_failed(), "one has not answered yet");
        }
        assert_eq!((silent, refused), (AT_ONCE, 200), "the other is asked every 10 ms");
        tries.silent(0);
        assert!(tries.all_failed());
        assert_eq!(tries.due(after(2020), all), [(0, SHORTEST_TRY), (1, LONGEST_TRY)]);
    }

    #[test]
    fn a_host_that_answers_is_tried_by_one_after_another() {
        let mut tries = Tries::of(1);
        let (mut busy, mut now) = (Duration::ZERO, Moment(0));
        for millisecond in 0..10_000 {
            now = after(millisecond);
            if !tries.due(now, all).is_empty() {
                assert!(
                    busy.is_zero() || tries.due(now + TRY_EVERY, all).is_empty(),
                    "one at once from its first answer on"
                );
                let took = Duration::from_millis(7);
                busy += took;
                tries.refused(0, now + took, took);
            }
        }
        assert!((1_900..=2_100).contains(&busy.as_millis()), "{busy:?} of {now:?}");
        tries.refused(0, now, Duration::from_secs(3));
        assert_eq!(tries.due(now + LONGEST_REST, all).len(), 1, "no pause is longer");
    }

    #[test]
    fn tries_take_longer_as_an_outage_goes_on() {
        let mut tries = Tries::of(1);
        let limits = [0, 3_000, 8_000, 40_000, 90_000].map(|at| tries.due(after(at), all)[0].1.as_millis());
        assert_eq!(limits, [500, 500, 1000, 5000, 5000]);
        assert_eq!(tries.due(after(90_012), all), [(0, SHORTEST_TRY)], "most tries are short");
        tries.ended();
        assert_eq!(tries.due(after(95_000), all), [(0, SHORTEST_TRY)], "another outage begins anew");
    }

    #[test]
    fn what_a_network_refuses_late_is_tried_as_if_silent() {
        let mut tries = Tries::of(1);
        tries.due(after(0), all);
        tries.refused(0, after(3_000), Duration::from_secs(3));
        let begun = (0..100).flat_map(|round| tries.due(after(3_000 + 20 * round), all)).count();
        assert_eq!(begun, AT_ONCE as usize);
    }

    #[test]
    fn a_standby_that_answers_is_tried_by_no_other_while_it_is_asked() {
        let mut tries = Tries::of(1);
        assert_eq!(
            (tries.due(after(0), all).len(), tries.due(after(20), all).len()),
            (1, 1),
            "nothing is known of it yet"
        );
        tries.answered_as_standby(0);
        assert!(tries.all_failed(), "a standby takes no writes");
        tries.refused(0, after(30), Duration::from_millis(10));
        assert!((1..100).all(|round| tries.due(after(20 * round), all).is_empty()));
        tries.refused(0, after(2_000), Duration::from_secs(2));
        assert_eq!(tries.pause(after(2_000)), LONGEST_REST);
        assert_eq!(tries.due(after(2_000) + LONGEST_REST, all).len(), 1);
    }

    #[test]
    fn a_host_that_is_not_wanted_is_not_tried() {
        let mut tries = Tries::of(2);
        assert_eq!(tries.due(after(0), |host| host == 1), [(1, SHORTEST_TRY)]);
        assert_eq!(tries.due(after(1), all), [(0, SHORTEST_TRY)]);
    }
}
