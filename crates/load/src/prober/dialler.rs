//! The one who makes connections for all pools: dials every host at once, so that no wait for one delays another. May not know what connections
//! are for.

use super::hosts::{NoConnection, ProbeConnection, ProbeHosts};
use super::pool::ProbePool;
use super::tries::Tries;
use proofload_model::time::Moment;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// Maker of connections, one at a time.
pub(super) struct Dialler {
    hosts: Rc<ProbeHosts>,
    pools: Vec<Rc<ProbePool>>,
    wanted: Rc<Notify>,
    tries: RefCell<Tries>,
}

/// A try that has ended: its host, its begin, what it gave.
type TryEnded = (usize, Moment, Result<ProbeConnection, NoConnection>);

impl Dialler {
    /// A dialler for pools that tell it by `wanted`.
    pub(super) fn new(hosts: Rc<ProbeHosts>, pools: Vec<Rc<ProbePool>>, wanted: Rc<Notify>) -> Rc<Self> {
        let tries = RefCell::new(Tries::of(hosts.targets.len()));
        Rc::new(Self { hosts, pools, wanted, tries })
    }

    /// Dials while a pool wants a connection; never ends.
    pub(super) async fn keep_dialling(self: Rc<Self>) {
        loop {
            if self.wants_one().is_none() {
                self.wanted.notified().await;
            }
            // Who has a connection drops the tries that are still under way.
            let mut under_way = JoinSet::new();
            while self.wants_one().is_some() {
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
                    self.pools.iter().for_each(|pool| pool.is_away());
                }
            }
            self.tries.borrow_mut().ended();
        }
    }

    /// The pool that wants a connection; of several the one that has fewest.
    fn wants_one(&self) -> Option<&Rc<ProbePool>> {
        self.pools.iter().filter(|pool| pool.wants_one()).min_by_key(|pool| pool.open_now())
    }

    /// Begins the tries that are due.
    fn begin(self: &Rc<Self>, under_way: &mut JoinSet<TryEnded>) {
        let begun = self.hosts.clock.now();
        for (node, limit) in self.tries.borrow_mut().due(begun) {
            under_way.spawn_local(Rc::clone(self).one_try(node, begun, limit));
        }
    }

    async fn one_try(self: Rc<Self>, node: usize, begun: Moment, limit: Duration) -> TryEnded {
        let stays = Cell::new(false);
        let may_stay = || {
            stays.set(self.tries.borrow_mut().standby_answers(node));
            stays.get()
        };
        let opened = self.hosts.open_when_it_takes_writes(node, limit, may_stay).await;
        if stays.get() {
            self.tries.borrow_mut().standby_left(node);
        }
        (node, begun, opened)
    }

    /// Hands a connection to a pool that wants one, or notes that there is none; tells whether there is.
    fn has_connected(&self, (node, begun, opened): TryEnded) -> bool {
        let now = self.hosts.clock.now();
        match opened {
            Ok(connection) => {
                // Nobody may want it by now; then it is closed.
                if let Some(pool) = self.wants_one() {
                    pool.add(connection);
                }
                return true;
            }
            Err(NoConnection::Refused) => self.tries.borrow_mut().refused(node, now, now.since(begun)),
            Err(NoConnection::Silent) => self.tries.borrow_mut().silent(node),
        }
        false
    }
}
