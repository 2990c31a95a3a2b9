//! Work on many items by several sessions at the same time, each taking the next item. May not know what the work is.

use proofload_model::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Most times that one item is tried again. The transaction of a client that was killed ends when its server notices, at the latest
/// after the server's own wait for a lock (MariaDB 50 s); the pauses of all tries together are longer.
const RETRIES: u32 = 24;

/// Longest pause before a try.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Does work on all items, each session on a thread of its own; the first error ends all sessions after their item. Work that met a
/// conflict is done again: it has to leave no transaction open then.
pub(in crate::workloads) fn side_by_side<T: Sync, S>(
    sessions: usize,
    items: &[T],
    open: impl Fn() -> Result<S, Error> + Sync,
    work: impl Fn(&mut S, &T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let outcome = Mutex::new(Ok(()));
    let failed = || outcome.lock().is_ok_and(|outcome| outcome.is_err());
    let session = || -> Result<(), Error> {
        let mut session = open()?;
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !failed()) {
            tried_again(std::thread::sleep, || work(&mut session, item))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        for _ in 0..sessions.min(items.len()) {
            scope.spawn(|| {
                let ended = session();
                if let Ok(mut outcome) = outcome.lock()
                    && outcome.is_ok()
                {
                    *outcome = ended;
                }
            });
        }
    });
    outcome.into_inner().unwrap_or_else(|_| Err(Error::new("a session of the load failed")))
}

/// Does one item's work, again after each conflict, with pauses that double.
fn tried_again(pause: impl Fn(Duration), mut work: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let mut next = Duration::from_millis(20);
    for _ in 0..RETRIES {
        match work() {
            Err(error) if error.is_conflict() => pause(next),
            ended => return ended,
        }
        next = (next * 2).min(LONGEST_PAUSE);
    }
    work().map_err(|error| match error.is_conflict() {
        true => error.context(format!("tried {} times", RETRIES + 1)),
        false => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::error::ErrorKind;
    use std::cell::{Cell, RefCell};

    fn conflict() -> Error {
        Error::of(ErrorKind::Conflict, "deadlock")
    }

    #[test]
    fn a_conflict_is_tried_again_and_nothing_else_is() {
        let (tries, pauses) = (Cell::new(0), RefCell::new(Vec::new()));
        let met = |errors: &[Error]| {
            tries.set(0);
            tried_again(
                |pause| pauses.borrow_mut().push(pause),
                || {
                    let error = errors.get(tries.get()).cloned();
                    tries.set(tries.get() + 1);
                    error.map_or(Ok(()), Err)
                },
            )
        };
        assert!(met(&[conflict(), conflict()]).is_ok());
        assert_eq!(tries.get(), 3);
        assert_eq!(met(&[conflict(), Error::new("no such table")]), Err(Error::new("no such table")));
        pauses.borrow_mut().clear();
        assert_eq!(met(&vec![conflict(); 100]).unwrap_err().to_string(), "tried 25 times: deadlock");
        let all: Duration = pauses.borrow().iter().sum();
        assert!(all > Duration::from_secs(60) && all < Duration::from_secs(120), "{all:?}");
    }
}
