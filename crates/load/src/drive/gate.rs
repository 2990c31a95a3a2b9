//! A gate between operations: users of higher numbers wait there while it is lowered. None is stopped inside an operation, since a user
//! that holds locks would stop all others. Open, it costs two reads of shared values per operation. Which users began an operation is
//! noted, so that whoever lowers the gate can tell whether it holds.

use super::context::UserContext;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// How often a held user looks whether it may go on.
const GLANCE: Duration = Duration::from_millis(20);

/// How many users of the whole load may begin operations.
#[derive(Debug, Clone, Default)]
pub(super) struct Gate(Arc<GateState>);

#[derive(Debug)]
struct GateState {
    active: AtomicU32,
    /// Whether any user passes here.
    is_used: AtomicBool,
    /// Whether each user of this agent began an operation since they were last counted.
    began: Box<[AtomicBool]>,
}

impl Default for GateState {
    fn default() -> Self {
        Self { active: AtomicU32::new(u32::MAX), is_used: AtomicBool::new(false), began: Box::default() }
    }
}

impl Gate {
    /// A gate that counts so many users of this agent.
    pub(super) fn of(users: u32) -> Self {
        let began = (0..users).map(|_| AtomicBool::new(false)).collect();
        Self(Arc::new(GateState { began, ..GateState::default() }))
    }

    /// Users of this agent that are counted.
    pub(super) fn users(&self) -> usize {
        self.0.began.len()
    }

    /// Notes that a user of this agent begins an operation, by its number in the agent. It writes once per count only: client threads would
    /// take the memory from each other.
    pub(super) fn note(&self, user: u32) {
        let is_unknown = |began: &&AtomicBool| !began.load(Ordering::Relaxed);
        if let Some(began) = self.0.began.get(user as usize).filter(is_unknown) {
            began.store(true, Ordering::Relaxed);
        }
    }

    /// Counts the users of this agent that began an operation since the last count; `None` where no user passes here.
    pub(super) fn count_active(&self) -> Option<usize> {
        let active = self.0.began.iter().filter(|began| began.swap(false, Ordering::Relaxed)).count();
        self.is_installed().then_some(active)
    }

    /// Lets the first so many users pass; `None`: all.
    pub(super) fn set(&self, active: Option<u32>) {
        self.0.active.store(active.unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// Whether a user waits before its next operation.
    pub(super) fn holds(&self, user: u32) -> bool {
        user >= self.0.active.load(Ordering::Relaxed)
    }

    /// Notes that users pass here.
    pub(super) fn install(&self) {
        self.0.is_used.store(true, Ordering::Relaxed);
    }

    /// Whether users pass here: those of a paced load are terminals, which share sessions.
    pub(super) fn is_installed(&self) -> bool {
        self.0.is_used.load(Ordering::Relaxed)
    }
}

impl UserContext {
    /// Waits while the gate holds this user and the load goes on.
    pub(super) async fn pass_gate(&self) {
        let clock = self.clock.as_ref();
        while self.gate.holds(self.rounds.user) && !self.stop.reached(0) {
            self.wait.until(clock, self.stop.as_ref(), clock.now() + GLANCE).await;
            // A thread whose users are all held hands over its seconds too.
            self.recorder.borrow_mut().turn(clock.now());
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_users_pass() {
        let gate = Gate::default();
        assert!(!gate.holds(u32::MAX - 1));
        gate.set(Some(3));
        assert_eq!([0, 2, 3, 9].map(|user| gate.holds(user)), [false, false, true, true]);
        gate.clone().set(None);
        assert!(!gate.holds(9));
    }

    #[test]
    fn users_that_begin_operations_are_counted_once_since_the_last_count() {
        let gate = Gate::of(3);
        gate.note(0);
        assert_eq!(gate.count_active(), None, "nobody passes here");
        gate.install();
        [2, 0, 2, 2, 7].into_iter().for_each(|user| gate.note(user));
        assert_eq!([gate.count_active(), gate.count_active()], [Some(2), Some(0)]);
        gate.note(1);
        assert_eq!((gate.count_active(), gate.users()), (Some(1), 3));
    }
}
