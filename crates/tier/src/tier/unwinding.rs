//! What a panic of a device's call leaves: blocks that are held for ever, and others that wait for them.

use super::front::Tier;

/// Lets the pool fail when it is dropped, which is done in unwinding alone: what the work did is not known, and others must not wait for it.
///
/// It costs nothing where nobody panics.
#[must_use]
pub(super) struct PanicGuard<'a>(&'a Tier);

impl PanicGuard<'_> {
    /// Ends the part that must not panic.
    pub(super) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.first_error.get_or_insert_with(|| "a call of a device panicked".to_owned());
        state.machine.fail_pool();
        self.0.changed.notify_all();
    }
}

impl Tier {
    /// Begins a part whose panic lets the pool fail. The state must not be locked by this thread.
    pub(super) fn guard_panics(&self) -> PanicGuard<'_> {
        PanicGuard(self)
    }
}
