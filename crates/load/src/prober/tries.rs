//! When each host is dialled again, and how long a try may take: longer as an outage goes on, so that a server that is slow to answer is reached at
//! last, with a bounded number of tries at once, so that they do not keep it from answering. May not dial.

use proofload_model::time::Moment;
use std::time::Duration;

/// Longest wait for a host's answer at first.
const SHORTEST_TRY: Duration = Duration::from_millis(500);
/// Longest wait for a host's answer at last.
pub(super) const LONGEST_TRY: Duration = Duration::from_secs(5);
/// Part of the outage that a try may take.
const PART_OF_OUTAGE: u32 = 8;
/// Pause between two tries of a host, with which as many as may be are under way at the shortest.
pub(super) const TRY_EVERY: Duration = Duration::from_millis(20);
/// Tries of one host under way at once. A host that says nothing and comes back is noticed within a try's time over this number: 20 ms at first, half
/// a hundredth of a long outage.
const AT_ONCE: u32 = 25;

/// Tries of one host.
#[derive(Debug, Clone, Copy)]
struct HostTries {
    under_way: u32,
    next: Moment,
    /// Whether its last try gave no connection.
    has_failed: bool,
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
        Self { hosts: vec![HostTries { under_way: 0, next: Moment(0), has_failed: false }; hosts], since: None }
    }

    /// Hosts to try now, and the longest wait for an answer; they count as under way.
    pub(super) fn due(&mut self, now: Moment) -> (Vec<usize>, Duration) {
        let outage = now.since(*self.since.get_or_insert(now));
        let due = |(host, tries): (usize, &mut HostTries)| {
            let is_due = tries.under_way < AT_ONCE && tries.next <= now;
            is_due.then(|| {
                tries.under_way += 1;
                tries.next = now + TRY_EVERY;
                host
            })
        };
        let hosts = self.hosts.iter_mut().enumerate().filter_map(due).collect();
        (hosts, (outage / PART_OF_OUTAGE).clamp(SHORTEST_TRY, LONGEST_TRY))
    }

    /// Notes that a try of a host gave no connection.
    pub(super) fn failed(&mut self, host: usize) {
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

    fn after(milliseconds: u64) -> Moment {
        Moment(0) + Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_silent_host_has_a_bounded_number_of_tries_and_delays_no_other() {
        let mut tries = Tries::of(2);
        let mut silent = 0;
        for round in 0..100 {
            for host in tries.due(after(20 * round)).0 {
                match host {
                    1 => tries.failed(1),
                    _ => silent += 1,
                }
            }
            assert!(!tries.all_failed(), "one has not answered yet");
        }
        assert_eq!(silent, 25);
        assert_eq!(tries.due(after(2000)).0, [1], "the other is asked every 20 ms");
        tries.failed(0);
        tries.failed(1);
        assert!(tries.all_failed());
        assert_eq!(tries.due(after(2020)).0, [0, 1]);
    }

    #[test]
    fn tries_take_longer_as_an_outage_goes_on() {
        let mut tries = Tries::of(1);
        let limits = [0, 3_000, 8_000, 40_000, 90_000].map(|at| tries.due(after(at)).1.as_millis());
        assert_eq!(limits, [500, 500, 1000, 5000, 5000]);
        tries.ended();
        assert_eq!(tries.due(after(95_000)), (vec![0], SHORTEST_TRY), "another outage begins anew");
    }
}
