//! Connections to the hosts of a database: to one that takes writes, or kept to a standby until it does. May not know what they are for, or when
//! to try again.

use super::tries::{ANSWERS_WITHIN, LONGEST_TRY};
use proofload_engine::{AnySession, Engine, Error, ErrorClass, Session as _, Statement, Target, noting_reached};
use proofload_model::time::{Clock, Moment};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Pause between two questions to a standby whether it takes writes by now. They go over a connection that stays: a new one each time would make
/// a process at the standby, and what it spends on them delays its promotion.
const ASK_EVERY: Duration = Duration::from_millis(10);

/// Time for which the host that took writes last is tried alone by a connect. Each connection makes a process at a server, so that to dial standbys
/// as well all the time takes from the load what it measures.
const HEAD_START: Duration = Duration::from_millis(20);

/// Place of connections: the engine, each host, the script that makes what the statements need, and the statements.
pub(super) struct ProbeHosts {
    pub(super) engine: &'static dyn Engine,
    /// Each host, in whatever role.
    pub(super) targets: Vec<Target>,
    /// Whether a host may be one that does not take writes.
    pub(super) role_moves: bool,
    pub(super) script: &'static str,
    pub(super) statements: Vec<Statement>,
    pub(super) clock: Arc<dyn Clock>,
    /// Number of the host that took writes last.
    pub(super) last: Cell<usize>,
    /// Hosts that say nothing to tries that are under way.
    pub(super) silence: Silence,
}

/// Hosts that say nothing: more connections to them would only wait there.
pub(super) struct Silence {
    silent: Vec<Cell<bool>>,
    ended: Notify,
}

impl Silence {
    /// Silence of none of so many hosts.
    pub(super) fn of_none(hosts: usize) -> Self {
        Self { silent: vec![Cell::new(false); hosts], ended: Notify::new() }
    }

    /// Notes whether a host says nothing.
    pub(super) fn note(&self, node: usize, is_silent: bool) {
        if self.silent[node].replace(is_silent) && !is_silent {
            self.ended.notify_waiters();
        }
    }

    /// Waits while a host says nothing.
    pub(super) async fn until_it_ends(&self, node: usize) {
        while self.silent[node].get() {
            self.ended.notified().await;
        }
    }
}

/// A connection and the number of its host.
pub(super) struct ProbeConnection {
    pub(super) session: AnySession,
    pub(super) node: usize,
    /// When it was made.
    pub(super) made: Moment,
}

/// Why a try gave no connection.
pub(super) enum NoConnection {
    /// The host refused it, or ended it.
    Refused,
    /// The server did not answer in time.
    Silent,
    /// The system of the host did not accept it in time.
    Unreached,
}

impl ProbeHosts {
    /// Connects to a host that takes writes.
    async fn open(&self, node: usize) -> Result<ProbeConnection, Error> {
        let (session, takes_writes) = self.in_any_role(node).await?;
        if !takes_writes {
            return Err(Error::new(ErrorClass::ConnectionLost, "", "the database does not take writes"));
        }
        Ok(ProbeConnection { session, node, made: self.clock.now() })
    }

    /// Connects to a host whatever its role; the session, and whether the host takes writes.
    async fn in_any_role(&self, node: usize) -> Result<(AnySession, bool), Error> {
        let mut session = self.engine.connect(&self.targets[node]).await?;
        let takes_writes = self.takes_writes(&mut session).await?;
        Ok((session, takes_writes))
    }

    /// Connects to a host whatever its role, within a time; calls `reached` as soon as the system of the host has accepted the connection.
    pub(super) async fn connect(
        &self,
        node: usize,
        limit: Duration,
        reached: impl Fn() + 'static,
    ) -> Result<(AnySession, bool), NoConnection> {
        let is_reached = Rc::new(Cell::new(false));
        let noted = Rc::clone(&is_reached);
        let note = Rc::new(move || {
            noted.set(true);
            reached();
        });
        let begun = self.clock.now();
        let connected = within(limit, noting_reached(note, self.in_any_role(node))).await;
        connected.map_err(|why| match why {
            _ if is_reached.get() => why,
            NoConnection::Refused if self.clock.now().since(begun) < ANSWERS_WITHIN => why,
            // A late refusal is the network's.
            _ => NoConnection::Unreached,
        })
    }

    /// Waits until the host of a session takes writes; calls `answered` each time it says that it does not.
    pub(super) async fn until_it_takes_writes(
        &self,
        session: &mut AnySession,
        answered: impl Fn(),
    ) -> Result<(), NoConnection> {
        while !within(LONGEST_TRY, self.takes_writes(session)).await? {
            answered();
            tokio::time::sleep(ASK_EVERY).await;
        }
        Ok(())
    }

    async fn takes_writes(&self, session: &mut AnySession) -> Result<bool, Error> {
        if self.role_moves { session.takes_writes().await } else { Ok(true) }
    }

    /// Prepares the statements within a time.
    pub(super) async fn ready(&self, session: AnySession, node: usize) -> Result<ProbeConnection, NoConnection> {
        within(LONGEST_TRY, self.prepare(session, node)).await
    }

    async fn prepare(&self, mut session: AnySession, node: usize) -> Result<ProbeConnection, Error> {
        if session.prepare(&self.statements).await.is_err() {
            session.script(self.script).await?;
            session.prepare(&self.statements).await?;
        }
        self.last.set(node);
        Ok(ProbeConnection { session, node, made: self.clock.now() })
    }

    /// Dials every host at once and prepares the statements at the first that takes writes.
    pub(super) async fn dial(self: &Rc<Self>, within: Duration) -> Result<ProbeConnection, Error> {
        let ProbeConnection { session, node, .. } = self.first_of(None, within).await?;
        let prepared = tokio::time::timeout(within.min(LONGEST_TRY), self.prepare(session, node)).await;
        prepared.unwrap_or_else(|_late| Err(silent(within)))
    }

    /// Connects as a client that knows all hosts: to the one that took writes last, and to the others too where that one fails or says nothing
    /// for a moment. While tries show that a host says nothing, no further connection is left to wait there.
    pub(super) async fn reach(self: &Rc<Self>, within: Duration) -> Result<ProbeConnection, Error> {
        let reached = self.first_of(Some(self.last.get()), within).await?;
        self.last.set(reached.node);
        Ok(reached)
    }

    /// The first connection to a host that takes writes, where one host may be tried before the others.
    async fn first_of(self: &Rc<Self>, ahead: Option<usize>, within: Duration) -> Result<ProbeConnection, Error> {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let begin = |node: usize| {
            let (hosts, tell) = (Rc::clone(self), tell.clone());
            tokio::task::spawn_local(async move {
                let try_one = async {
                    if ahead.is_some() {
                        hosts.silence.until_it_ends(node).await;
                    }
                    hosts.open(node).await
                };
                let opened = tokio::time::timeout(within.min(LONGEST_TRY), try_one).await;
                // Who has another connection by now closes this one.
                let _closed = tell.send(opened.unwrap_or_else(|_| Err(silent(within))));
            });
        };
        let mut outcome = Err(silent(within));
        if let Some(node) = ahead {
            begin(node);
            if let Ok(Some(opened)) = tokio::time::timeout(HEAD_START, told.recv()).await {
                outcome = opened;
            }
            if outcome.is_ok() {
                return outcome;
            }
        }
        (0..self.targets.len()).filter(|node| ahead != Some(*node)).for_each(begin);
        drop(tell);
        while let Some(opened) = told.recv().await {
            outcome = opened;
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }
}

/// What a step of a try gave within a time.
async fn within<T>(limit: Duration, step: impl Future<Output = Result<T, Error>>) -> Result<T, NoConnection> {
    match tokio::time::timeout(limit, step).await {
        Ok(given) => given.map_err(|_refused| NoConnection::Refused),
        Err(_late) => Err(NoConnection::Silent),
    }
}

fn silent(within: Duration) -> Error {
    Error::new(ErrorClass::ConnectionLost, "", format!("no host answered within {within:?}"))
}
