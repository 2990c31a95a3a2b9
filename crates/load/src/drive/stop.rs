//! When a phase ends. Knows no schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says whether a user should begin no further operation.
pub trait Stop: Send + Sync {
    /// `done`: operations that this user has ended.
    fn reached(&self, done: u64) -> bool;
}

/// Ends when someone says so. The only thing that client threads share in the hot path.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// No new operation begins from here on.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Stop for StopFlag {
    fn reached(&self, _done: u64) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Ends after so many operations of each user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfterCount(pub u64);

impl Stop for AfterCount {
    fn reached(&self, done: u64) -> bool {
        done >= self.0
    }
}
