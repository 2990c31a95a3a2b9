//! Operations that become due by a schedule, handed out to users in the order in which they are due. Knows no workload and no clock.
//!
//! All users of a load take from one counter: who is free takes the next operation, waits until it is due, and runs it. So the load is
//! one queue with as many servers as there are users; a slow user delays nobody else's operations. The counter is the only thing besides
//! the stop that client threads share in the hot path: one atomic addition per operation, no lock.

use super::schedule::{Arrivals, Schedule};
use proofload_model::time::Offset;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What the threads of a load take their operations from.
#[derive(Clone)]
pub(super) struct DueQueue {
    schedule: Arc<dyn Schedule>,
    next: Arc<AtomicU64>,
    /// Operations of all users together.
    operations: u64,
    /// An operation that has not begun so long after it was due is dropped.
    at_most: Duration,
}

impl DueQueue {
    /// A queue before its first operation; none when operations are due as soon as their user is free.
    pub(super) fn of(schedule: &Arc<dyn Schedule>, operations: Option<u64>, at_most: Duration) -> Option<Self> {
        schedule.arrivals()?;
        let (schedule, operations) = (Arc::clone(schedule), operations.unwrap_or(u64::MAX));
        Some(Self { schedule, next: Arc::default(), operations, at_most })
    }

    /// The part of one client thread.
    pub(super) fn on_thread(&self) -> Option<ThreadQueue> {
        Some(ThreadQueue { queue: self.clone(), arrivals: RefCell::new(self.schedule.arrivals()?) })
    }

    /// What is due second by second, for the collector.
    pub(super) fn offered(&self) -> Option<OfferedWalk> {
        Some(OfferedWalk { arrivals: self.schedule.arrivals()?, next: 0, operations: self.operations })
    }
}

/// One client thread's way to the queue.
pub(super) struct ThreadQueue {
    queue: DueQueue,
    arrivals: RefCell<Box<dyn Arrivals>>,
}

impl ThreadQueue {
    /// Takes the next operation, due or not, and says when it is due; none when there is none left.
    pub(super) fn take(&self) -> Option<Offset> {
        let index = self.queue.next.fetch_add(1, Ordering::Relaxed);
        (index < self.queue.operations).then(|| self.arrivals.borrow_mut().due(index))
    }

    /// Has an operation waited too long for a user?
    pub(super) fn gives_up_after(&self, waited: Duration) -> bool {
        waited > self.queue.at_most
    }
}

/// A walk along what is due, second by second.
pub struct OfferedWalk {
    arrivals: Box<dyn Arrivals>,
    next: u64,
    operations: u64,
}

impl OfferedWalk {
    /// Operations due from the end of the last stretch up to `end`, which is excluded. Asked for rising ends.
    pub fn until(&mut self, end: Offset) -> u64 {
        let before = self.next;
        while self.next < self.operations && self.arrivals.due(self.next) < end {
            self.next += 1;
        }
        self.next - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::schedule::{ConstantRate, Saturated};

    fn queue(rate: f64, operations: Option<u64>) -> DueQueue {
        let schedule: Arc<dyn Schedule> = Arc::new(ConstantRate::per_second(rate));
        DueQueue::of(&schedule, operations, Duration::from_secs(1)).expect("it has due times")
    }

    #[test]
    fn threads_take_each_operation_once_and_then_no_more() {
        let queue = queue(1000.0, Some(5));
        let (one, two) = (queue.on_thread().expect("a part"), queue.on_thread().expect("a part"));
        let taken: Vec<Option<i64>> =
            [&one, &two, &two, &one, &two, &one, &two].map(|part| part.take().map(|due| due.0 / 1_000_000)).to_vec();
        assert_eq!(taken, [Some(0), Some(1), Some(2), Some(3), Some(4), None, None]);
        let saturated: Arc<dyn Schedule> = Arc::new(Saturated);
        assert!(DueQueue::of(&saturated, None, Duration::ZERO).is_none());
    }

    #[test]
    fn offered_operations_fall_into_their_seconds() {
        let mut walk = queue(2.5, Some(9)).offered().expect("a walk");
        let seconds: Vec<u64> = (1..=5).map(|second| walk.until(Offset(second * 1_000_000_000))).collect();
        assert_eq!(seconds, [3, 2, 3, 1, 0], "due at 0, 0.4, 0.8, 1.2, 1.6, 2.0 s and so on, nine in all");
    }
}
