//! When each host is dialled again, and how long a try may take. A host that cannot be reached is tried all the time. A server that hangs has a
//! small number of tries open, each of which it may still answer when it goes on; one is replaced when its time is over, later and later as an
//! outage goes on. A host that refuses is tried by one after another, with pauses: a server that begins makes a process for each of them, and what
//! it spends on them delays it. One connection to a standby stays. May not dial.

use proofload_model::time::Moment;
use std::time::Duration;

/// Longest wait for an answer of a host that cannot be reached, and of any while an outage is no longer.
const SHORTEST_TRY: Duration = Duration::from_millis(500);
/// Longest wait for a host's answer at last.
pub(super) const LONGEST_TRY: Duration = Duration::from_secs(5);
/// Pause between two tries of a host that cannot be reached, which is noticed within it when it comes back; shortest between those of one that
/// hangs.
const TRY_EVERY: Duration = Duration::from_millis(12);
/// Most tries of one host under way at once that cannot be reached: as many as the pauses allow, and a few more. Nothing of them waits anywhere.
const UNREACHED_AT_ONCE: u32 = 54;
/// Most tries of one host under way at once that hangs. What its server has not accepted waits there, and when it goes on it serves all of that
/// first, also what was given up: 80 connections a second had made outages of 9 and 34 s of freezes of 5 s. One that is open would do to see the
/// end; with eight, begun an eighth of their time apart, there always are some that have most of their time left, and a server that never answers
/// what has come meanwhile is noticed an eighth of its outage later, in the first half second at its end. They come to 28 connections in 5 s,
/// and to fewer than two a second later.
const AT_ONCE: u32 = 8;
/// Pause after a refusal, as a multiple of the time that it took.
const REST: u32 = 4;
/// Shortest pause after a refusal.
const SHORTEST_REST: Duration = Duration::from_millis(10);
/// Longest pause after a refusal: with a connect it keeps the end of an outage within 50 ms. A refusal that takes long waits rather than works.
const LONGEST_REST: Duration = Duration::from_millis(30);
/// A refusal within this time is an answer of the host itself. Later it may be one of the network.
pub(super) const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// Tries of one host.
#[derive(Debug, Clone, Copy)]
struct HostTries {
    under_way: u32,
    next: Moment,
    /// When its first try began.
    first: Option<Moment>,
    /// Whether its last try gave no connection.
    has_failed: bool,
    /// Whether it has refused a try by itself.
    answers: bool,
    /// When its system accepted a try last; `None` where no later one was accepted than those that were not.
    reached_at: Option<Moment>,
}

impl HostTries {
    const NONE: Self =
        Self { under_way: 0, next: Moment(0), first: None, has_failed: false, answers: false, reached_at: None };

    /// Begins a try; the longest wait for its answer.
    fn begin(&mut self, now: Moment, outage: Duration) -> Duration {
        self.under_way += 1;
        self.first.get_or_insert(now);
        if self.answers || self.reached_at.is_none() {
            self.next = now + TRY_EVERY;
            return if self.answers { LONGEST_TRY } else { SHORTEST_TRY };
        }
        self.next = now + (outage / AT_ONCE).clamp(TRY_EVERY, LONGEST_TRY / AT_ONCE);
        outage.clamp(SHORTEST_TRY, LONGEST_TRY)
    }

    /// Whether another try may begin.
    fn is_due(&self, now: Moment) -> bool {
        let most = match (self.answers, self.reached_at.is_some()) {
            (true, _) => 1,
            (false, true) => AT_ONCE,
            (false, false) => UNREACHED_AT_ONCE,
        };
        self.under_way < most && self.next <= now
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
        let due = |(host, tries): (usize, &mut HostTries)| {
            (tries.is_due(now) && is_wanted(host)).then(|| (host, tries.begin(now, outage)))
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

    /// Notes that the system of a host has accepted a try that is still under way.
    pub(super) fn reached(&mut self, host: usize, now: Moment) {
        self.hosts[host].reached_at = Some(now);
    }

    /// Notes that a host gave no answer to a try that its system had accepted.
    pub(super) fn silent(&mut self, host: usize) {
        self.without_connection(host);
        self.hosts[host].answers = false;
    }

    /// Notes that not even the system of a host accepted a try.
    pub(super) fn unreached(&mut self, host: usize, begun: Moment) {
        self.without_connection(host);
        let tries = &mut self.hosts[host];
        tries.answers = false;
        // One that began before another was accepted says nothing of now.
        tries.reached_at = tries.reached_at.filter(|at| *at >= begun);
    }

    /// Notes that a host has answered a try that is still under way, and is a standby.
    pub(super) fn answered_as_standby(&mut self, host: usize) {
        let tries = &mut self.hosts[host];
        (tries.has_failed, tries.answers) = (true, true);
    }

    /// Tells whether a server hangs for so long that other connections would only wait there.
    pub(super) fn is_silent(&self, host: usize, now: Moment) -> bool {
        let tries = &self.hosts[host];
        tries.reached_at.is_some()
            && !tries.answers
            && tries.first.is_some_and(|first| now.since(first) >= SHORTEST_TRY)
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
        assert_eq!((silent, refused), (UNREACHED_AT_ONCE, 200), "the other is asked every 10 ms");
        tries.unreached(0, after(0));
        assert!(tries.all_failed());
        assert_eq!(tries.due(after(2020), all), [(0, SHORTEST_TRY), (1, LONGEST_TRY)]);
    }

    #[test]
    fn a_host_that_cannot_be_reached_is_tried_all_the_time() {
        let mut tries = Tries::of(1);
        let (mut open, mut last): (Vec<Moment>, Moment) = (Vec::new(), Moment(0));
        for millisecond in 0..60_000 {
            let now = after(millisecond);
            let before = open.len();
            open.retain(|until| *until > now);
            (open.len()..before).for_each(|_| tries.unreached(0, now));
            for (_, limit) in tries.due(now, all) {
                last = now;
                open.push(now + limit);
            }
            assert!(now.since(last) <= TRY_EVERY, "none was begun since {last:?}");
            assert!(!tries.is_silent(0, now), "nothing of others would wait there");
        }
        tries.reached(0, after(60_000));
        assert!(tries.is_silent(0, after(60_000)), "it is there and hangs");
        tries.unreached(0, after(59_900));
        assert!(tries.is_silent(0, after(60_001)), "a try that began before says nothing of now");
        assert!(tries.due(after(60_500), all).is_empty(), "more than eight are under way");
        tries.unreached(0, after(60_600));
        assert!(!tries.is_silent(0, after(60_601)), "it is gone again");
    }

    #[test]
    fn a_host_that_says_nothing_has_few_tries_and_always_one_open() {
        let mut tries = Tries::of(1);
        let (mut open, mut begun): (Vec<Moment>, usize) = (Vec::new(), 0);
        for millisecond in 0..60_000 {
            let now = after(millisecond);
            let before = open.len();
            open.retain(|until| *until > now);
            (open.len()..before).for_each(|_| tries.silent(0));
            for (_, limit) in tries.due(now, all) {
                open.push(now + limit);
                begun += 1;
                tries.reached(0, now);
            }
            assert!((1..=AT_ONCE as usize).contains(&open.len()), "{} tries are open at {now:?}", open.len());
            let bound = if millisecond < 5_000 { 30 } else { 30 + 2 * (millisecond as usize / 1_000 - 4) };
            assert!(begun <= bound, "{begun} tries until {now:?}");
            assert_eq!(tries.is_silent(0, now), millisecond >= 500);
        }
        tries.ended();
        assert!(!tries.is_silent(0, after(60_000)), "it has answered");
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
        let limits = [0, 3_000, 8_000, 40_000, 90_000].map(|at| {
            let limit = tries.due(after(at), all)[0].1.as_millis();
            tries.reached(0, after(at));
            limit
        });
        assert_eq!(limits, [500, 3000, 5000, 5000, 5000]);
        assert!(tries.due(after(90_600), all).is_empty(), "an eighth of their time apart");
        assert_eq!(tries.due(after(90_625), all), [(0, LONGEST_TRY)]);
        tries.ended();
        assert_eq!(tries.due(after(95_000), all), [(0, SHORTEST_TRY)], "another outage begins anew");
    }

    #[test]
    fn what_a_network_refuses_late_is_tried_as_if_silent() {
        let mut tries = Tries::of(1);
        tries.due(after(0), all);
        tries.refused(0, after(3_000), Duration::from_secs(3));
        let begun = (0..100).flat_map(|round| tries.due(after(3_000 + 500 * round), all)).count();
        assert_eq!(begun, UNREACHED_AT_ONCE as usize);
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
    fn a_host_that_answered_and_then_hangs_is_no_longer_one_that_answers() {
        let mut tries = Tries::of(1);
        tries.due(after(0), all);
        tries.refused(0, after(1), Duration::from_millis(1));
        assert_eq!(tries.due(after(100), all), [(0, LONGEST_TRY)], "one try, which may take long");
        tries.reached(0, after(100));
        tries.silent(0);
        assert!(tries.is_silent(0, after(5_100)));
        assert_eq!(tries.due(after(5_100), all), [(0, LONGEST_TRY)]);
        assert_eq!(tries.due(after(5_800), all).len(), 1, "it has several from now on");
    }

    #[test]
    fn a_host_that_is_not_wanted_is_not_tried() {
        let mut tries = Tries::of(2);
        assert_eq!(tries.due(after(0), |host| host == 1), [(1, SHORTEST_TRY)]);
        assert_eq!(tries.due(after(1), all), [(0, SHORTEST_TRY)]);
    }
}
