//! The connection of a user: its own for the whole run, or one of a pool for each operation.

use super::live::PoolTurn;
use super::store::Store;
use crate::drive::UserWait;
use proofload_engine::Error;
use proofload_model::time::Moment;

/// A user's connection, where it has one just now.
pub(super) struct UserConnection {
    store: Option<Store>,
    /// Its place at a pool; `None`: the connection is its own.
    pool: Option<PoolTurn>,
    /// When it was taken.
    since: Moment,
}

impl UserConnection {
    /// A connection of its own.
    pub(super) fn own(store: Store) -> Self {
        Self { store: Some(store), pool: None, since: Moment(0) }
    }

    /// A place at a pool.
    pub(super) fn of_pool(turn: PoolTurn) -> Self {
        Self { store: None, pool: Some(turn), since: Moment(0) }
    }

    /// The session.
    pub(super) fn store(&mut self) -> Result<&mut Store, Error> {
        self.store.as_mut().ok_or_else(none)
    }

    /// Whether it has a session now.
    pub(super) fn is_held(&self) -> bool {
        self.store.is_some()
    }

    /// Takes a session, waiting for one of the pool.
    pub(super) async fn take(&mut self, wait: &UserWait) -> Result<(), Error> {
        let Some(turn) = self.pool.as_ref().filter(|_| self.store.is_none()) else { return Ok(()) };
        self.store = turn.take().await;
        self.since = wait.now();
        self.store().map(drop)
    }

    /// Gives the session back to the pool, where it is one of it.
    pub(super) fn give_back(&mut self, wait: &UserWait) {
        let Some(turn) = &self.pool else { return };
        if let Some(store) = self.store.take() {
            turn.give_back(store, self.since, wait.now());
        }
    }

    /// Rolls back what is open, and gives the session back.
    pub(super) async fn recover(&mut self, wait: &UserWait) -> Result<(), Error> {
        if let Some(store) = &mut self.store {
            store.recover().await?;
        }
        self.give_back(wait);
        Ok(())
    }

    /// Puts a new session into the place of a lost one.
    pub(super) fn replace(&mut self, store: Store, wait: &UserWait) {
        self.store = Some(store);
        self.give_back(wait);
    }
}

impl Drop for UserConnection {
    /// A user that ends inside an operation leaves its place to the others.
    fn drop(&mut self) {
        if let (Some(turn), Some(store)) = (&self.pool, self.store.take()) {
            turn.give_back(store, self.since, self.since);
        }
    }
}

#[cold]
fn none() -> Error {
    Error::other("the pool has lost this connection")
}
