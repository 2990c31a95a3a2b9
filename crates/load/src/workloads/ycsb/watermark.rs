//! Progress of all users: the operations up to which everything is acknowledged, so that only inserted records are
//! read. Each user writes a cell of its own, which is read now and then; no lock. May not know what an operation does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Operations of its own after which a user looks at the others' progress.
const LOOK_EVERY: u32 = 64;

/// Progress of one user, alone on its cache lines: 128 bytes, as neighbouring lines are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct UserProgress(AtomicU64);

/// The progress of all users of an agent.
#[derive(Debug, Clone)]
pub(super) struct Watermark {
    users: Arc<[UserProgress]>,
}

impl Watermark {
    /// The progress of this many users before their first operations.
    pub(super) fn new(users: u32) -> Self {
        let start = |user| UserProgress(AtomicU64::new(u64::from(user)));
        Self { users: (0..users).map(start).collect() }
    }

    /// Every operation below this index has ended.
    pub(super) fn ended_below(&self) -> u64 {
        self.users.iter().map(|user| user.0.load(Ordering::Acquire)).min().unwrap_or(0)
    }
}

/// One user's part in it.
pub(super) struct WatermarkUser {
    watermark: Watermark,
    user: usize,
    until_look: u32,
}

impl WatermarkUser {
    /// Access of one user.
    pub(super) fn new(watermark: Watermark, user: u32) -> Self {
        Self { watermark, user: user as usize, until_look: 0 }
    }

    /// The user begins operation `next`: all its own below it have ended. Sometimes tells how far everybody is.
    #[inline]
    pub(super) fn advance(&mut self, next: u64) -> Option<u64> {
        self.watermark.users[self.user].0.store(next, Ordering::Release);
        if self.until_look > 0 {
            self.until_look -= 1;
            return None;
        }
        self.until_look = LOOK_EVERY;
        Some(self.watermark.ended_below())
    }
}

impl Drop for WatermarkUser {
    /// A user that has ended holds nobody back.
    fn drop(&mut self) {
        self.watermark.users[self.user].0.store(u64::MAX, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_user_counts_and_one_that_has_ended_does_not() {
        let watermark = Watermark::new(3);
        let mut users: Vec<WatermarkUser> = (0..3).map(|user| WatermarkUser::new(watermark.clone(), user)).collect();
        assert_eq!(watermark.ended_below(), 0);
        users[0].advance(9);
        users[1].advance(4);
        assert_eq!(watermark.ended_below(), 2);
        users.pop();
        assert_eq!(watermark.ended_below(), 4);
    }
}
