//! CPU time of the threads that relay a direction: they are threads of the agent, and count apart from the rest of it.

use crate::sys;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The account of them.
#[derive(Debug, Default)]
pub(super) struct RelayThreads(Mutex<Account>);

#[derive(Debug, Default)]
struct Account {
    running: BTreeSet<u32>,
    /// CPU time of those that have ended, ns.
    ended: u64,
}

impl RelayThreads {
    /// Does the work of the calling thread on this account.
    pub(super) fn run(&self, work: impl FnOnce()) {
        let thread = sys::this_thread();
        // A relay that waits for a core is late. Where that is refused it competes like any other thread, and how late it is is read anyway.
        let _refused = sys::set_real_time(thread);
        self.account().running.insert(thread);
        work();
        let used = sys::thread_time(thread).unwrap_or(0);
        let mut account = self.account();
        account.running.remove(&thread);
        account.ended += used;
    }

    /// CPU time of all of them until now.
    pub(super) fn used(&self) -> Duration {
        let account = self.account();
        let running: u64 = account.running.iter().filter_map(|thread| sys::thread_time(*thread)).sum();
        Duration::from_nanos(account.ended + running)
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_a_thread_counts_while_it_runs_and_after_it_has_ended() {
        let threads = RelayThreads::default();
        let until = Duration::from_millis(30);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                threads.run(|| {
                    while threads.used() < until {
                        std::hint::black_box(0);
                    }
                });
            });
            worker.join().unwrap();
        });
        assert!(threads.used() >= until, "{:?}", threads.used());
        assert_eq!(threads.used(), threads.used(), "nobody runs any more");
    }
}
