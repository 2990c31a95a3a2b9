//! Two transactions brought together: a third session holds a lock that the first waits for, so that it stands still
//! with its work done and not committed. The order of events is seen in the server and not hoped for.

use super::case::Case;
use crate::workloads::blocking_session::{BlockingSession, integer};
use crate::workloads::tprocc::session_work::SessionWork;
use tokio::runtime::Runtime;

/// Sessions of the server that wait for a lock.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

/// Ends the statement of the one that has waited longest.
const END_THE_FIRST: &str = "SELECT pg_cancel_backend((SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                                ORDER BY xact_start LIMIT 1))";

/// Fate of the first transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// It goes on when the lock is released.
    GoesOn,
    /// The server ends it while the second waits.
    IsEnded,
}

/// Holds the rows that `lock` locks until both transactions wait, the second after the first; returns what they gave
/// back.
pub(super) fn meet<A: Send, B: Send>(
    case: &Case,
    lock: &str,
    fate: First,
    first: impl FnOnce(&Runtime, &mut SessionWork) -> A + Send,
    second: impl FnOnce(&Runtime, &mut SessionWork) -> B + Send,
) -> (A, B) {
    let mut watcher = case.session();
    std::thread::scope(|scope| {
        let mut holder = hold(case, lock);
        let first = scope.spawn(|| with_terminal(case, first));
        wait_for(&mut watcher, 1);
        let second = scope.spawn(|| with_terminal(case, second));
        wait_for(&mut watcher, 2);
        if fate == First::IsEnded {
            watcher.script(END_THE_FIRST).unwrap();
            wait_for(&mut watcher, 1);
        }
        holder.script("COMMIT").unwrap();
        (first.join().unwrap(), second.join().unwrap())
    })
}

/// Holds the rows that `lock` locks until the first transaction waits and `meanwhile` has run to its end.
pub(super) fn beside<A: Send, B>(
    case: &Case,
    lock: &str,
    first: impl FnOnce(&Runtime, &mut SessionWork) -> A + Send,
    meanwhile: impl FnOnce() -> B,
) -> (A, B) {
    let mut watcher = case.session();
    std::thread::scope(|scope| {
        let mut holder = hold(case, lock);
        let first = scope.spawn(|| with_terminal(case, first));
        wait_for(&mut watcher, 1);
        let seen = meanwhile();
        holder.script("COMMIT").unwrap();
        (first.join().unwrap(), seen)
    })
}

/// A session that holds what `lock` locks until it commits.
fn hold(case: &Case, lock: &str) -> BlockingSession {
    let mut holder = case.session();
    holder.script(&format!("BEGIN; {lock}")).unwrap();
    holder
}

/// Work on a session of its own.
pub(super) fn with_terminal<T>(case: &Case, task: impl FnOnce(&Runtime, &mut SessionWork) -> T) -> T {
    let (runtime, mut work) = case.work();
    task(&runtime, &mut work)
}

/// Returns when so many sessions wait for locks.
fn wait_for(watcher: &mut BlockingSession, sessions: i64) {
    while integer(&watcher.one_row(WAITING).unwrap(), 0).unwrap() != sessions {
        std::thread::yield_now();
    }
}

/// Runs a check on PostgreSQL, on data built anew for each form.
pub(super) fn in_both_forms(check: impl Fn(&Case)) {
    for form in ["statements", "procedures"] {
        let Some(case) = Case::built("postgresql", &[("form", form)]) else { return };
        check(&case);
    }
}
