//! A process that is not mistaken for a later one of the same number.

use crate::sys;

/// SIGKILL.
pub(super) const KILL: i32 = 9;
/// SIGCONT.
const CONTINUE: i32 = 18;
/// SIGSTOP.
const STOP: i32 = 19;

/// The process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    number: u32,
    started: Option<u64>,
}

impl Process {
    /// A process and all that descend from it.
    pub(crate) fn family(root: u32) -> Vec<Self> {
        let known = |number: u32| Self { number, started: sys::start_time(number) };
        sys::descendants(root).into_iter().map(known).collect()
    }

    /// Tells whether it runs.
    pub(crate) fn is_running(self) -> bool {
        sys::is_running(self.number) && sys::start_time(self.number) == self.started
    }

    /// Tells whether it stands still.
    pub(super) fn is_stopped(self) -> bool {
        sys::is_stopped(self.number)
    }

    /// Kills it.
    pub(crate) fn kill(self) {
        self.tell(KILL);
    }

    /// Stops it, or lets it go on.
    pub(super) fn halt(self, halted: bool) {
        self.tell(if halted { STOP } else { CONTINUE });
    }

    fn tell(self, signal: i32) {
        if sys::start_time(self.number) == self.started {
            sys::signal(self.number, signal);
        }
    }
}
