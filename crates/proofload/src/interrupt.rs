//! Ctrl-C and SIGTERM as a flag that long work looks at. May not end the process, except on a further signal.

use crate::clock::SystemClock;
use proofload_model::time::Clock;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Signals that ask to stop.
const SIGNALS: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

/// Time after the first signal in which others are the same request: `timeout` of GNU signals its child, then the child's group, within
/// microseconds.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// Whether someone has asked us to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Makes a flag and installs its handlers.
    pub(crate) fn install() -> std::io::Result<Self> {
        let interrupt = Self::default();
        interrupt.listen()?;
        Ok(interrupt)
    }

    /// Installs the handlers; before, a signal ends the process. One that comes later than a second after the first ends it at once.
    pub(crate) fn listen(&self) -> std::io::Result<()> {
        let is_over = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS {
            signal_hook::flag::register_conditional_shutdown(
                signal,
                i32::from(crate::exit::Exit::Interrupted.number()),
                Arc::clone(&is_over),
            )?;
            signal_hook::flag::register(signal, Arc::clone(&self.0))?;
        }
        let mut signals = Signals::new(SIGNALS)?;
        // Sleeps until the first signal, and ends soon after it.
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if signals.forever().next().is_some() {
                SystemClock.sleep(SAME_REQUEST);
                is_over.store(true, Ordering::Relaxed);
            }
        })?;
        Ok(())
    }

    /// Asks to stop, as a signal does.
    #[cfg(test)]
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether someone has asked us to stop.
    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
