//! Connections of one kind of operations: kept open, and dialled anew at every host at once, so that no wait for one host delays
//! another. May not know what the operations are.

use super::tries::{LONGEST_TRY, TRY_EVERY, Tries};
use proofload_engine::{AnySession, Engine, Error, ErrorClass, Session as _, Statement, Target};
use proofload_model::time::{Clock, Moment};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Place of connections: the engine, each host, the script that makes what the statements need, and the statements.
pub(super) struct ProbeHosts {
    pub(super) engine: &'static dyn Engine,
    pub(super) targets: Vec<Target>,
    pub(super) script: &'static str,
    pub(super) statements: Vec<Statement>,
    pub(super) clock: Arc<dyn Clock>,
}

/// A connection and the number of its host.
pub(super) struct ProbeConnection {
    pub(super) session: AnySession,
    pub(super) node: usize,
}

impl ProbeHosts {
    /// Opens a connection to a host.
    async fn open(&self, node: usize) -> Result<ProbeConnection, Error> {
        let mut session = self.engine.connect(&self.targets[node]).await?;
        if session.prepare(&self.statements).await.is_err() {
            session.script(self.script).await?;
            session.prepare(&self.statements).await?;
        }
        Ok(ProbeConnection { session, node })
    }

    /// Dials every host at once; the first that takes writes.
    pub(super) async fn dial(self: &Rc<Self>, within: Duration) -> Result<ProbeConnection, Error> {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        for node in 0..self.targets.len() {
            let (hosts, tell) = (Rc::clone(self), tell.clone());
            tokio::task::spawn_local(async move {
                let opened = tokio::time::timeout(within.min(LONGEST_TRY), hosts.open(node)).await;
                // Who has another connection by now closes this one.
                let _closed = tell.send(opened.unwrap_or_else(|_| Err(silent(within))));
            });
        }
        drop(tell);
        let mut outcome = Err(silent(within));
        while let Some(opened) = told.recv().await {
            outcome = opened;
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }
}

fn silent(within: Duration) -> Error {
    Error::new(ErrorClass::ConnectionLost, "", format!("no host answered within {within:?}"))
}

/// Connections of one kind.
pub(super) struct ProbePool {
    hosts: Rc<ProbeHosts>,
    idle: RefCell<Vec<ProbeConnection>>,
    /// Connections that are open, in use or idle.
    open: Cell<usize>,
    most: usize,
    /// Operations that wait for a connection.
    waiting: Cell<usize>,
    /// Whether the last try found no host that takes writes. One that is only slow to answer is waited for.
    away: Cell<bool>,
    wanted: Notify,
    changed: Notify,
}

impl ProbePool {
    /// A pool with so many connections, and at most so many.
    pub(super) async fn open(hosts: Rc<ProbeHosts>, first: usize, most: usize) -> Result<Rc<Self>, Error> {
        let mut idle = Vec::with_capacity(most);
        for _ in 0..first {
            idle.push(hosts.dial(LONGEST_TRY).await?);
        }
        let pool = Self {
            hosts,
            open: Cell::new(idle.len()),
            idle: RefCell::new(idle),
            most,
            waiting: Cell::default(),
            away: Cell::default(),
            wanted: Notify::new(),
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
            self.forget();
        }
    }

    /// Gives a connection back.
    pub(super) fn give_back(&self, connection: ProbeConnection) {
        self.idle.borrow_mut().push(connection);
        self.away.set(false);
        self.changed.notify_one();
    }

    /// Notes that a connection was closed.
    pub(super) fn forget(&self) {
        self.open.set(self.open.get().saturating_sub(1));
    }

    /// Dials while operations wait and there is room; never ends.
    pub(super) async fn keep_dialling(self: Rc<Self>) {
        let mut tries = Tries::of(self.hosts.targets.len());
        loop {
            if self.waiting.get() == 0 && !self.away.get() || self.open.get() >= self.most {
                self.wanted.notified().await;
            }
            // Who has a connection drops the tries that are still under way.
            let mut under_way = tokio::task::JoinSet::new();
            while self.open.get() < self.most && (self.waiting.get() > 0 || self.away.get()) {
                let begun = self.hosts.clock.now();
                for (node, limit) in tries.due(begun) {
                    let hosts = Rc::clone(&self.hosts);
                    let opened = async move { tokio::time::timeout(limit, hosts.open(node)).await };
                    under_way.spawn_local(async move { (node, begun, opened.await) });
                }
                if under_way.is_empty() {
                    tokio::time::sleep(TRY_EVERY).await;
                    continue;
                }
                let Ok(Some(Ok((node, begun, opened)))) = tokio::time::timeout(TRY_EVERY, under_way.join_next()).await
                else {
                    continue;
                };
                let now = self.hosts.clock.now();
                match opened {
                    Ok(Ok(connection)) => {
                        self.open.set(self.open.get() + 1);
                        self.give_back(connection);
                        break;
                    }
                    Ok(Err(_)) => tries.refused(node, now, now.since(begun)),
                    Err(_) => tries.silent(node),
                }
                if tries.all_failed() {
                    self.away.set(true);
                    self.changed.notify_waiters();
                }
            }
            tries.ended();
        }
    }
}
