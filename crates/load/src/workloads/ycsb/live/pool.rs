//! Connections that the users of a client thread share. A user takes one for an operation and gives it back afterwards; who finds none waits
//! its turn. How many are handed out at once can be changed while users run. Lock-free between operations.

use crate::workloads::ycsb::store::Store;
use proofload_model::time::Moment;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tokio::sync::Semaphore;

/// How many connections may be in use at a time, and for how long they were.
#[derive(Debug)]
pub(in crate::workloads::ycsb) struct PoolTurns {
    /// Connections of the pool.
    size: u32,
    /// Connections that may be in use at a time.
    allowed: AtomicU32,
    /// Turns that are not given out again when they come back, since fewer are allowed.
    surplus: AtomicU32,
    turns: Semaphore,
    /// Time for which connections were in use, all together, ns.
    used: AtomicU64,
}

impl PoolTurns {
    fn new(size: u32) -> Self {
        Self {
            size,
            allowed: AtomicU32::new(size),
            surplus: AtomicU32::new(0),
            turns: Semaphore::new(size as usize),
            used: AtomicU64::new(0),
        }
    }

    /// Sets how many may be in use at a time, at least one and at most all. One request at a time.
    fn allow(&self, wanted: u32) {
        let wanted = wanted.clamp(1, self.size);
        let before = self.allowed.swap(wanted, Ordering::Relaxed);
        let (fewer, more) = (before.saturating_sub(wanted), wanted.saturating_sub(before));
        self.surplus.fetch_add(fewer, Ordering::Relaxed);
        // Turns that nobody has are taken at once.
        while self.surplus.load(Ordering::Relaxed) > 0 {
            let Ok(idle) = self.turns.try_acquire() else { break };
            if self.takes_surplus() { idle.forget() } else { break }
        }
        let new = (0..more).filter(|_| !self.takes_surplus()).count();
        self.turns.add_permits(new);
    }

    /// Takes one off the surplus; false when there is none.
    fn takes_surplus(&self) -> bool {
        self.surplus.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |surplus| surplus.checked_sub(1)).is_ok()
    }

    async fn take(&self) {
        // It is never closed.
        if let Ok(turn) = self.turns.acquire().await {
            turn.forget();
        }
    }

    fn give_back(&self, used: u64) {
        self.used.fetch_add(used, Ordering::Relaxed);
        if !self.takes_surplus() {
            self.turns.add_permits(1);
        }
    }
}

/// The size of a pool while load runs; shared by all threads.
#[derive(Debug, Clone)]
pub(in crate::workloads::ycsb) struct ConnectionPool(Arc<PoolTurns>);

impl ConnectionPool {
    /// A pool of so many connections.
    pub(in crate::workloads::ycsb) fn new(size: u32) -> Self {
        Self(Arc::new(PoolTurns::new(size)))
    }

    /// Connections that the study asks for.
    pub(in crate::workloads::ycsb) fn size(&self) -> u32 {
        self.0.size
    }

    /// Lets so many be in use at a time.
    pub(in crate::workloads::ycsb) fn allow(&self, wanted: u32) {
        self.0.allow(wanted);
    }

    /// How many may be in use at most: those that are still in use of more that were allowed before count.
    pub(in crate::workloads::ycsb) fn in_force(&self) -> u32 {
        self.0.allowed.load(Ordering::Relaxed) + self.0.surplus.load(Ordering::Relaxed)
    }

    /// Seconds for which connections were in use, all together, as far as they have been given back.
    pub(in crate::workloads::ycsb) fn used_seconds(&self) -> f64 {
        self.0.used.load(Ordering::Relaxed) as f64 / 1e9
    }

    /// A user's place at this pool. `idle`: the connections of its thread that nobody uses.
    pub(in crate::workloads::ycsb) fn turn(&self, idle: Rc<RefCell<Vec<Store>>>) -> PoolTurn {
        PoolTurn { pool: Arc::clone(&self.0), idle }
    }
}

/// The place of a user at a pool.
pub(in crate::workloads::ycsb) struct PoolTurn {
    pool: Arc<PoolTurns>,
    idle: Rc<RefCell<Vec<Store>>>,
}

impl PoolTurn {
    /// Takes a connection as soon as one may be used; `None` when there is none although one may be: the thread has lost it.
    pub(in crate::workloads::ycsb) async fn take(&self) -> Option<Store> {
        self.pool.take().await;
        let store = self.idle.borrow_mut().pop();
        if store.is_none() {
            self.pool.give_back(0);
        }
        store
    }

    /// Gives a connection back that was taken at `since`.
    pub(in crate::workloads::ycsb) fn give_back(&self, store: Store, since: Moment, now: Moment) {
        self.idle.borrow_mut().push(store);
        self.pool.give_back(u64::try_from(now.since(since).as_nanos()).unwrap_or(u64::MAX));
    }

    /// Puts a new connection into the pool.
    pub(in crate::workloads::ycsb) fn add(&self, store: Store) {
        self.idle.borrow_mut().push(store);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(pool: &PoolTurns) -> usize {
        pool.turns.available_permits()
    }

    #[tokio::test]
    async fn fewer_are_handed_out_as_they_come_back_and_all_again_afterwards() {
        let pool = ConnectionPool::new(3);
        let turns = &pool.0;
        turns.take().await;
        turns.take().await;
        assert_eq!((free(turns), pool.in_force()), (1, 3));
        pool.allow(1);
        assert_eq!((free(turns), pool.in_force()), (0, 2), "the idle one is gone, one of both in use has to come back");
        turns.give_back(1_000);
        assert_eq!((free(turns), pool.in_force()), (0, 1));
        turns.give_back(2_000);
        assert_eq!((free(turns), pool.in_force()), (1, 1));
        assert!((pool.used_seconds() - 3e-6).abs() < 1e-12);
        pool.allow(3);
        assert_eq!((free(turns), pool.in_force()), (3, 3));
        pool.allow(9);
        assert_eq!((free(turns), pool.in_force()), (3, 3), "no more than there are");
    }

    #[tokio::test]
    async fn a_raise_before_all_came_back_gives_no_more_than_all() {
        let pool = ConnectionPool::new(2);
        let turns = &pool.0;
        turns.take().await;
        turns.take().await;
        pool.allow(1);
        pool.allow(2);
        turns.give_back(0);
        turns.give_back(0);
        assert_eq!((free(turns), pool.in_force()), (2, 2));
    }
}
