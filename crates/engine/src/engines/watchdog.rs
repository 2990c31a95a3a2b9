//! Interrupts statements that take longer than they may: a thread for each session that has a limit. Knows no engine.
//! Reads no clock: it waits on a condition for as long as a statement may take.

use crate::contract::Error;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the session and the watching thread tell each other.
#[derive(Debug, Default)]
struct WatchdogState {
    /// A statement runs.
    running: bool,
    /// Number of the statement.
    turn: u64,
    /// The statement was interrupted.
    fired: bool,
    /// The session ends.
    closing: bool,
}

#[derive(Debug, Default)]
struct SharedState {
    state: Mutex<WatchdogState>,
    changed: Condvar,
}

impl SharedState {
    fn lock(&self) -> MutexGuard<'_, WatchdogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches the statements of one session.
#[derive(Debug)]
pub(super) struct Watchdog {
    limit: Duration,
    shared: Arc<SharedState>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts to watch where there is a limit; an error where the system has no thread left.
    pub(super) fn start(limit: Option<Duration>, interrupt: impl Fn() + Send + 'static) -> Result<Option<Self>, Error> {
        let Some(limit) = limit else { return Ok(None) };
        let shared = Arc::new(SharedState::default());
        let watched = shared.clone();
        let name = "statement-timeout".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || watch(&watched, limit, &interrupt));
        let none_left = |error| Error::other(format!("failed to start the thread of statement_timeout: {error}"));
        Ok(Some(Self { limit, shared, thread: Some(thread.map_err(none_left)?) }))
    }

    /// How long a statement may take.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// A statement begins.
    pub(super) fn begin(&self) {
        let mut state = self.shared.lock();
        (state.running, state.fired, state.turn) = (true, false, state.turn + 1);
        drop(state);
        self.shared.changed.notify_one();
    }

    /// Ends the statement; whether it was interrupted. No interrupt comes after this, so the next statement is safe.
    pub(super) fn end(&self) -> bool {
        let mut state = self.shared.lock();
        state.running = false;
        let fired = state.fired;
        drop(state);
        self.shared.changed.notify_one();
        fired
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked: it only waits and sets a flag.
            let _ = thread.join();
        }
    }
}

/// Waits for statements, and for each of them to end in time. Interrupts again after another limit: engines forget an interrupt
/// that comes before the statement has really begun.
fn watch(shared: &SharedState, limit: Duration, interrupt: &impl Fn()) {
    let mut state = shared.lock();
    while !state.closing {
        let turn = state.turn;
        let same = |state: &mut WatchdogState| state.running && state.turn == turn && !state.closing;
        if !same(&mut state) {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let waited = shared.changed.wait_timeout_while(state, limit, same);
        let (guard, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
        state = guard;
        if outcome.timed_out() {
            state.fired = true;
            interrupt();
        }
    }
}
