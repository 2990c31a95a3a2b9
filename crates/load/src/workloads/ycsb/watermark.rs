//! Progress of all users: the operations up to which everything is acknowledged, so that only inserted records are
//! read. Each user writes a cell of its own, which is read now and then; no lock. The progress of other agents' users
//! comes from outside, later. May not know what an operation does.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Operations of its own after which a user looks at the others' progress.
const LOOK_EVERY: u32 = 64;

/// Progress of one user, alone on its cache lines: 128 bytes, as neighbouring lines are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct UserProgress(AtomicU64);

/// The progress of all users.
#[derive(Debug, Clone)]
pub(super) struct Watermark {
    /// Users of this agent.
    users: Arc<[UserProgress]>,
    /// Number of the first of them.
    first: u32,
    /// Progress of all agents as far as it was told here; the largest index where there is no other.
    told: Arc<UserProgress>,
}

impl Watermark {
    /// The progress of an agent's users, by their numbers in the whole load, before their first operations.
    pub(super) fn new(users: Range<u32>, is_alone: bool) -> Self {
        let start = |user| UserProgress(AtomicU64::new(u64::from(user)));
        let told = UserProgress(AtomicU64::new(if is_alone { u64::MAX } else { 0 }));
        Self { first: users.start, users: users.map(start).collect(), told: Arc::new(told) }
    }

    /// Every operation of this agent below this index has ended.
    pub(super) fn ended_here_below(&self) -> u64 {
        self.users.iter().map(|user| user.0.load(Ordering::Acquire)).min().unwrap_or(0)
    }

    /// Every operation of all agents below this index has ended.
    pub(super) fn ended_below(&self) -> u64 {
        self.ended_here_below().min(self.told.0.load(Ordering::Acquire))
    }

    /// Takes the index below which the operations of all agents have ended.
    pub(super) fn tell(&self, index: u64) {
        self.told.0.fetch_max(index, Ordering::Release);
    }
}

/// One user's part in it.
pub(super) struct WatermarkUser {
    watermark: Watermark,
    user: usize,
    until_look: u32,
}

impl WatermarkUser {
    /// Access of one user, by its number in the whole load.
    pub(super) fn new(watermark: Watermark, user: u32) -> Self {
        let user = user.saturating_sub(watermark.first) as usize;
        Self { watermark, user, until_look: 0 }
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
        let watermark = Watermark::new(0..3, true);
        let mut users: Vec<WatermarkUser> = (0..3).map(|user| WatermarkUser::new(watermark.clone(), user)).collect();
        assert_eq!(watermark.ended_below(), 0);
        users[0].advance(9);
        users[1].advance(4);
        assert_eq!(watermark.ended_below(), 2);
        users.pop();
        assert_eq!(watermark.ended_below(), 4);
    }

    #[test]
    fn another_agents_users_hold_back_what_may_be_read_here() {
        let watermark = Watermark::new(2..4, false);
        let mut users: Vec<WatermarkUser> = (2..4).map(|user| WatermarkUser::new(watermark.clone(), user)).collect();
        for user in &mut users {
            user.advance(40);
        }
        assert_eq!((watermark.ended_here_below(), watermark.ended_below()), (40, 0));
        watermark.tell(30);
        watermark.tell(20);
        assert_eq!(watermark.ended_below(), 30);
        watermark.tell(70);
        assert_eq!(watermark.ended_below(), 40);
    }
}
