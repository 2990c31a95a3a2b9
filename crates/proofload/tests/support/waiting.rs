//! Waiting until something holds. What is waited for comes within seconds; the bound is only reached where it never comes.

use std::process::Child;
use std::time::{Duration, Instant};

/// How long a test waits on a host that gives it little.
const PATIENCE: Duration = Duration::from_secs(180);

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Looks until there is something, and returns it; without it the test fails and says what did not come.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Looks until something holds.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Looks until there is something; the program must not end before.
#[track_caller]
pub(crate) fn wait_beside<T>(program: &mut Child, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    wait_for(what, || {
        let ended = program.try_wait().expect("it is ours");
        let found = look();
        assert!(found.is_some() || ended.is_none(), "the program ended before: {what}");
        found
    })
}
