//! Operations that become due by a schedule, handed out to users in the order in which they are due. Knows no workload
//! and no clock.
//!
//! All users of a load take from one counter: who is free takes the next operation, waits until it is due, and runs it.
//! So the load is one queue with as many servers as there are users; a slow user delays nobody else's operations. The
//! counter is the only thing besides the stop that client threads share in the hot path: one atomic addition per
//! operation, no lock. With several load agents each has such a queue of its own part of the arrivals, every one of
//! which is due when it is due in the whole load.

use super::schedule::{Arrivals, Schedule};
use proofload_model::load_share::{LoadShare, Turns};
use proofload_model::time::Offset;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Source of due operations for the threads of a load.
#[derive(Clone)]
pub(super) struct DueQueue {
    schedule: Arc<dyn Schedule>,
    /// The arrivals that are taken from this queue.
    turns: Arc<Turns>,
    next: Arc<AtomicU64>,
    /// Operations of all users of all agents together.
    operations: u64,
    /// Longest delay after which an operation may still begin; beyond it the operation is dropped.
    at_most: Duration,
}

impl DueQueue {
    /// A queue before its first operation; `None` when operations are due as soon as their user is free. `operations`
    /// counts the whole load.
    pub(super) fn of(
        schedule: &Arc<dyn Schedule>,
        part: &LoadShare,
        operations: Option<u64>,
        at_most: Duration,
    ) -> Option<Self> {
        schedule.arrivals()?;
        let (schedule, operations) = (Arc::clone(schedule), operations.unwrap_or(u64::MAX));
        Some(Self { schedule, turns: Arc::new(part.turns()), next: Arc::default(), operations, at_most })
    }

    /// The queue as seen by one client thread.
    pub(super) fn on_thread(&self) -> Option<ThreadQueue> {
        Some(ThreadQueue { queue: self.clone(), arrivals: RefCell::new(self.schedule.arrivals()?) })
    }

    /// A walk along what is due second by second, for the collector.
    pub(super) fn offered(&self) -> Option<OfferedWalk> {
        let (arrivals, turns) = (self.schedule.arrivals()?, Arc::clone(&self.turns));
        Some(OfferedWalk { arrivals, turns, next: 0, operations: self.operations })
    }
}

/// Access of one client thread to the queue.
pub(super) struct ThreadQueue {
    queue: DueQueue,
    arrivals: RefCell<Box<dyn Arrivals>>,
}

impl ThreadQueue {
    /// Takes the next operation, due or not, and returns when it is due; `None` when none is left.
    pub(super) fn take(&self) -> Option<Offset> {
        let index = self.queue.turns.number(self.queue.next.fetch_add(1, Ordering::Relaxed));
        (index < self.queue.operations).then(|| self.arrivals.borrow_mut().due(index))
    }

    /// Whether an operation has waited too long for a user.
    pub(super) fn gives_up_after(&self, waited: Duration) -> bool {
        waited > self.queue.at_most
    }
}

/// A walk along due operations, second by second.
pub struct OfferedWalk {
    arrivals: Box<dyn Arrivals>,
    turns: Arc<Turns>,
    next: u64,
    operations: u64,
}

impl OfferedWalk {
    /// Operations due from the last `end` up to this one, which is excluded. Call with rising ends.
    pub fn until(&mut self, end: Offset) -> u64 {
        let before = self.next;
        loop {
            let number = self.turns.number(self.next);
            if number >= self.operations || self.arrivals.due(number) >= end {
                break;
            }
            self.next += 1;
        }
        self.next - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::schedule::{ConstantRate, SaturatedSchedule};

    fn queue(rate: f64, operations: Option<u64>) -> DueQueue {
        let schedule: Arc<dyn Schedule> = Arc::new(ConstantRate::per_second(rate));
        DueQueue::of(&schedule, &LoadShare::default(), operations, Duration::from_secs(1)).expect("it has due times")
    }

    #[test]
    fn the_queues_of_several_agents_hold_what_one_would_hold() {
        let schedule: Arc<dyn Schedule> = Arc::new(ConstantRate::per_second(10.0));
        let mut taken: Vec<i64> = Vec::new();
        let mut offered = 0;
        for agent in 0..3 {
            let part = LoadShare { agent, shares: vec![1, 2, 4] };
            let queue = DueQueue::of(&schedule, &part, Some(40), Duration::ZERO).expect("it has due times");
            let thread = queue.on_thread().expect("a part");
            taken.extend(std::iter::from_fn(|| thread.take()).map(|due| due.0 / 1_000_000));
            let mut walk = queue.offered().expect("a walk");
            offered += walk.until(Offset(1_000_000_000)) + walk.until(Offset(60_000_000_000));
        }
        taken.sort_unstable();
        assert!(taken.iter().copied().eq((0..40).map(|index| index * 100)), "{taken:?}");
        assert_eq!(offered, 40);
    }

    #[test]
    fn threads_take_each_operation_once_and_then_no_more() {
        let queue = queue(1000.0, Some(5));
        let (one, two) = (queue.on_thread().expect("a part"), queue.on_thread().expect("a part"));
        let taken: Vec<Option<i64>> =
            [&one, &two, &two, &one, &two, &one, &two].map(|part| part.take().map(|due| due.0 / 1_000_000)).to_vec();
        assert_eq!(taken, [Some(0), Some(1), Some(2), Some(3), Some(4), None, None]);
        let saturated: Arc<dyn Schedule> = Arc::new(SaturatedSchedule);
        assert!(DueQueue::of(&saturated, &LoadShare::default(), None, Duration::ZERO).is_none());
    }

    #[test]
    fn offered_operations_fall_into_their_seconds() {
        let mut walk = queue(2.5, Some(9)).offered().expect("a walk");
        let seconds: Vec<u64> = (1..=5).map(|second| walk.until(Offset(second * 1_000_000_000))).collect();
        assert_eq!(seconds, [3, 2, 3, 1, 0], "due at 0, 0.4, 0.8, 1.2, 1.6, 2.0 s and so on, nine in all");
    }
}
