//! Ends of phases. Knows no schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Decides whether a user should begin no further operation.
pub trait Stop: Send + Sync {
    /// Whether to stop after `done` operations of this user.
    fn reached(&self, done: u64) -> bool;
}

/// Stop that is set from outside. The only thing that client threads share in the hot path.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Stops: no new operation begins from here on.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Stop for StopFlag {
    fn reached(&self, _done: u64) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Stop after a number of operations of a user, or when the flag is set.
#[derive(Debug, Clone)]
pub struct AfterCount {
    /// Operations of this user.
    pub operations: u64,
    /// Flag that stops it earlier.
    pub flag: StopFlag,
}

impl AfterCount {
    /// The share of one user of operations that are dealt out in turn: user u has numbers u, u + users, u + 2 users, …
    pub fn share(operations: u64, user: u32, users: u32, flag: StopFlag) -> Self {
        let (user, users) = (u64::from(user), u64::from(users.max(1)));
        Self { operations: operations.saturating_sub(user).div_ceil(users), flag }
    }
}

impl Stop for AfterCount {
    fn reached(&self, done: u64) -> bool {
        done >= self.operations || self.flag.reached(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        for (operations, users) in [(0, 3), (1, 3), (10, 3), (2_000_000_000, 256), (u64::MAX, 7)] {
            let share = |user| AfterCount::share(operations, user, users, StopFlag::default()).operations;
            assert_eq!((0..users).map(share).sum::<u64>(), operations);
        }
    }
}
