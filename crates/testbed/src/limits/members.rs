//! The living processes and threads under the limits of an instance. Changes nothing itself.

use super::limit::LimitState;
use crate::sys;
use proofload_model::error::Error;
use std::collections::BTreeSet;

/// Rounds over a process's threads until no new one shows up: a thread born meanwhile has what its maker had.
const ROUNDS: u32 = 20;

/// Every living process of the members' trees.
pub(super) fn trees(state: &LimitState) -> Vec<u32> {
    state.members.iter().flat_map(|root| sys::descendants(*root)).collect()
}

/// Changes every thread of a process and of its children, also of those that are made meanwhile.
pub(super) fn each_thread(process: u32, change: impl Fn(u32) -> Result<(), Error>) -> Result<(), Error> {
    let mut done = BTreeSet::new();
    for _ in 0..ROUNDS {
        let all = sys::descendants(process).into_iter().flat_map(sys::threads);
        let new: Vec<u32> = all.filter(|thread| !done.contains(thread)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for thread in new {
            match change(thread) {
                // A thread may end between being listed and being changed.
                Err(error) if sys::start_time(thread).is_some() => return Err(error),
                _ => done.insert(thread),
            };
        }
    }
    Err(Error::new(format!("process {process} creates threads faster than they can be limited")))
}
