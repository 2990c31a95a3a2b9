//! The one who makes connections for all pools: dials every host at once, so that no wait for one delays another. May not know what connections
//! are for.

use super::hosts::{NoConnection, ProbeConnection, ProbeHosts};
use super::pool::ProbePool;
use super::tries::Tries;
use proofload_engine::AnySession;
use proofload_model::time::Moment;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinSet;

/// Maker of connections, one at a time.
pub(super) struct Dialler {
    hosts: Rc<ProbeHosts>,
    pools: Vec<Rc<ProbePool>>,
    wanted: Rc<Notify>,
    tries: RefCell<Tries>,
    /// A session of each host that was a standby when it was last asked; locked while it is asked.
    standbys: Vec<Mutex<Option<AnySession>>>,
}

/// A try that has ended: its host, its begin, what it gave.
type TryEnded = (usize, Moment, Result<ProbeConnection, NoConnection>);

impl Dialler {
    /// A dialler for pools that tell it by `wanted`.
    pub(super) fn new(hosts: Rc<ProbeHosts>, pools: Vec<Rc<ProbePool>>, wanted: Rc<Notify>) -> Rc<Self> {
        let tries = RefCell::new(Tries::of(hosts.targets.len()));
        let standbys = hosts.targets.iter().map(|_| Mutex::new(None)).collect();
        Rc::new(Self { hosts, pools, wanted, tries, standbys })
    }

    /// Dials while a pool wants a connection; never ends.
    pub(super) async fn keep_dialling(self: Rc<Self>) {
        loop {
            if !self.wants_any() {
                self.wanted.notified().await;
            }
            // Who has a connection drops the tries that are still under way.
            let mut under_way = JoinSet::new();
            while self.wants_any() {
                self.begin(&mut under_way);
                let pause = tokio::time::sleep(self.tries.borrow().pause(self.hosts.clock.now()));
                let ended = tokio::select! {
                    Some(ended) = under_way.join_next() => ended.ok(),
                    () = pause => None,
                };
                if ended.is_some_and(|ended| self.has_connected(ended)) {
                    break;
                }
                if self.tries.borrow().all_failed() {
                    self.pools.iter().for_each(|pool| pool.goes_away());
                }
                self.note_silence();
            }
            self.tries.borrow_mut().ended();
            self.note_silence();
        }
    }

    /// Tells which hosts say nothing.
    fn note_silence(&self) {
        let (tries, now) = (self.tries.borrow(), self.hosts.clock.now());
        (0..self.hosts.targets.len()).for_each(|node| self.hosts.silence.note(node, tries.is_silent(node, now)));
    }

    /// Tells whether a pool wants a connection.
    fn wants_any(&self) -> bool {
        (0..self.hosts.targets.len()).any(|node| self.wants_one_to(node).is_some())
    }

    /// The pool that wants a connection to a host; of several the one that has fewest.
    fn wants_one_to(&self, node: usize) -> Option<&Rc<ProbePool>> {
        self.pools.iter().filter(|pool| pool.wants_one_to(node)).min_by_key(|pool| pool.open_now())
    }

    /// Begins the tries that are due.
    fn begin(self: &Rc<Self>, under_way: &mut JoinSet<TryEnded>) {
        let begun = self.hosts.clock.now();
        for (node, limit) in self.tries.borrow_mut().due(begun, |node| self.wants_one_to(node).is_some()) {
            let dialler = Rc::clone(self);
            under_way.spawn_local(async move { (node, begun, dialler.one_try(node, limit).await) });
        }
    }

    /// Connects to a host; where that is a standby, waits over the one session that stays until it takes writes.
    async fn one_try(self: &Rc<Self>, node: usize, limit: Duration) -> Result<ProbeConnection, NoConnection> {
        let kept = self.standbys[node].try_lock().ok().and_then(|mut place| place.take());
        let answered = || self.tries.borrow_mut().answered_as_standby(node);
        let (session, takes_writes) = match kept {
            // It has not said anything yet in this outage.
            Some(session) => (session, false),
            None => {
                let dialler = Rc::clone(self);
                let reached = move || dialler.tries.borrow_mut().reached(node, dialler.hosts.clock.now());
                let connected = self.hosts.connect(node, limit, reached).await?;
                if !connected.1 {
                    answered();
                }
                connected
            }
        };
        if takes_writes {
            return self.hosts.ready(session, node).await;
        }
        // Another session stays and is asked.
        let Ok(mut place) = self.standbys[node].try_lock() else { return Err(NoConnection::Refused) };
        let answered = self.hosts.until_it_takes_writes(place.insert(session), answered).await;
        match (answered, place.take()) {
            (Ok(()), Some(session)) => self.hosts.ready(session, node).await,
            (Ok(()), None) => Err(NoConnection::Refused),
            (Err(why), _) => Err(why),
        }
    }

    /// Hands a connection to a pool that wants one, or notes that there is none; tells whether there is.
    fn has_connected(&self, (node, begun, opened): TryEnded) -> bool {
        let now = self.hosts.clock.now();
        match opened {
            Ok(connection) => {
                // Nobody may want it by now; then it is closed.
                if let Some(pool) = self.wants_one_to(node) {
                    pool.add(connection);
                }
                return true;
            }
            Err(NoConnection::Refused) => self.tries.borrow_mut().refused(node, now, now.since(begun)),
            Err(NoConnection::Silent) => self.tries.borrow_mut().silent(node),
            Err(NoConnection::Unreached) => self.tries.borrow_mut().unreached(node, begun),
        }
        false
    }
}
