//! Connections of one kind of operations, kept open. May not know what the operations are, or how connections are made.

use super::hosts::{ProbeConnection, ProbeHosts};
use super::tries::LONGEST_TRY;
use proofload_engine::{Error, Session as _};
use proofload_model::time::Moment;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tokio::sync::Notify;

/// Connections of one kind.
pub(super) struct ProbePool {
    hosts: Rc<ProbeHosts>,
    idle: RefCell<Vec<ProbeConnection>>,
    /// Connections to each host that are open, in use or idle.
    open: RefCell<Vec<usize>>,
    /// Most connections to a host. Those to one that hangs leave room for others.
    most: usize,
    /// Operations that wait for a connection.
    waiting: Cell<usize>,
    /// Whether the last try found no host that takes writes. One that is only slow to answer is waited for.
    away: Cell<bool>,
    /// Tells who makes connections that one may be wanted.
    wanted: Rc<Notify>,
    changed: Notify,
}

impl ProbePool {
    /// A pool with so many connections, and at most so many to each host.
    pub(super) async fn open(
        hosts: Rc<ProbeHosts>,
        (first, most): (usize, usize),
        wanted: Rc<Notify>,
    ) -> Result<Rc<Self>, Error> {
        let mut open = vec![0; hosts.targets.len()];
        let mut idle = Vec::with_capacity(most);
        for _ in 0..first {
            let connection = hosts.dial(LONGEST_TRY).await?;
            open[connection.node] += 1;
            idle.push(connection);
        }
        let pool = Self {
            hosts,
            idle: RefCell::new(idle),
            open: RefCell::new(open),
            most,
            waiting: Cell::default(),
            away: Cell::default(),
            wanted,
            changed: Notify::new(),
        };
        Ok(Rc::new(pool))
    }

    /// A connection that has not ended, until a moment; `None` where there is none, at once while the database is away.
    pub(super) async fn take(&self, until: Moment) -> Option<ProbeConnection> {
        self.waiting.set(self.waiting.get() + 1);
        let taken = self.wait_for_one(until).await;
        self.waiting.set(self.waiting.get() - 1);
        taken
    }

    async fn wait_for_one(&self, until: Moment) -> Option<ProbeConnection> {
        loop {
            if let Some(connection) = self.alive() {
                return Some(connection);
            }
            let left = until.since(self.hosts.clock.now());
            self.wanted.notify_one();
            if self.away.get() || left.is_zero() {
                return None;
            }
            let _late = tokio::time::timeout(left, self.changed.notified()).await;
        }
    }

    /// An idle connection that has not ended.
    fn alive(&self) -> Option<ProbeConnection> {
        loop {
            let mut connection = self.idle.borrow_mut().pop()?;
            if !connection.session.has_ended() {
                return Some(connection);
            }
            self.forget(connection.node);
        }
    }

    /// Gives a connection back.
    pub(super) fn give_back(&self, connection: ProbeConnection) {
        self.idle.borrow_mut().push(connection);
        self.away.set(false);
        self.changed.notify_one();
    }

    /// Notes that a connection to a host was closed.
    pub(super) fn forget(&self, node: usize) {
        let open = &mut self.open.borrow_mut()[node];
        *open = open.saturating_sub(1);
    }

    /// Connections that are open.
    pub(super) fn open_now(&self) -> usize {
        self.open.borrow().iter().sum()
    }

    /// Tells whether operations wait for a connection, or the next will, and there is room for one to a host.
    pub(super) fn wants_one_to(&self, node: usize) -> bool {
        self.open.borrow()[node] < self.most && (self.waiting.get() > 0 || self.away.get())
    }

    /// Takes in a new connection.
    pub(super) fn add(&self, connection: ProbeConnection) {
        self.open.borrow_mut()[connection.node] += 1;
        self.give_back(connection);
    }

    /// Notes that no host takes writes: nobody waits any more.
    pub(super) fn goes_away(&self) {
        self.away.set(true);
        self.changed.notify_waiters();
    }
}
