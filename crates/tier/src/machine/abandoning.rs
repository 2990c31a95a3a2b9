//! The end of a cache that failed while nothing was dirty: the volumes go on without it. What must be durable before that is the driver's.

use super::commits::SectorCrcs;
use super::machine_core::CacheMachine;
use super::work::{BlockWork, Change, End};
use crate::block::SectorSet;
use crate::lines::LineEntry;
use crate::lists::ListId;

/// Whether the pool still has its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CacheHold {
    /// It has.
    #[default]
    Held,
    /// It takes nothing more in; commits wait until no opening can bring it back.
    Leaving,
    /// It has none.
    Left,
}

impl CacheMachine {
    /// Notes that the cache can no longer say what it holds. All volumes fail if anything is dirty; else they do without it, and `true` asks the
    /// caller to make sure that no opening brings it back, then to call [`CacheMachine::abandon_end`].
    pub fn cache_failed(&mut self) -> bool {
        if self.cache_hold != CacheHold::Held || self.pool_failed {
            return false;
        }
        // Each volume loses it, which its requests alone may never meet.
        self.volumes.iter_mut().for_each(|volume| volume.counters.cache_errors += 1);
        if self.dirty_lines() > 0 {
            self.fail_pool();
            return false;
        }
        self.cache_hold = CacheHold::Leaving;
        self.volumes.iter_mut().for_each(|volume| volume.degraded = true);
        true
    }

    /// Whether the cache is about to be given up, so that commits must wait.
    pub fn is_abandoning(&self) -> bool {
        self.cache_hold == CacheHold::Leaving && !self.pool_failed
    }

    /// Whether the pool has given up its cache.
    pub fn has_abandoned(&self) -> bool {
        self.cache_hold == CacheHold::Left
    }

    /// Forgets all that the cache holds, which nobody can bring back.
    pub fn abandon_end(&mut self) {
        for line in 0..self.table.count() {
            if self.table.entry(line).is_mapped() {
                self.table.set(line, LineEntry::EMPTY);
                self.lists.set_trusted(line, false);
                self.lists.move_to(line, ListId::ASIDE);
            }
        }
        self.volumes.iter_mut().for_each(|volume| volume.lines = 0);
        self.records.forget_all();
        self.cache_hold = CacheHold::Left;
    }

    /// Ends a work that succeeded without what it wrote to a cache that is given up.
    pub(super) fn end_without_cache(&mut self, work: BlockWork) -> End {
        self.release_fresh(&work.change);
        let change = match work.change {
            Change::Place { .. } | Change::Overwrite { .. } => return End::Retry,
            Change::Fetch { gained, partial, .. } => Change::Fetch { line: None, fresh: false, gained, partial },
            Change::Through { from, bypass, pinned, sync_failures, .. } => {
                Change::Through { line: None, valid: SectorSet(0), from, bypass, pinned, sync_failures }
            }
            hit @ Change::Hit { .. } => hit,
        };
        let work = BlockWork { change, verification: None, ..work };
        self.count_success(&work);
        self.apply(&work, &SectorCrcs::default());
        End::Done
    }
}
