//! Work on many items by several sessions at the same time, each taking the next item. May not know what the work is.

use proofload_model::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does work on all items, each session on a thread of its own; the first error ends all sessions after their item.
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
            work(&mut session, item)?;
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
