//! Ctrl-C and SIGTERM as a flag that long work looks at. May not end the process, except on a third signal.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether someone has asked us to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs the handlers. A second signal after the first was seen ends the process at once.
    pub(crate) fn install() -> std::io::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_conditional_shutdown(
                signal,
                i32::from(crate::exit::Exit::Interrupted.number()),
                Arc::clone(&interrupt.0),
            )?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))?;
        }
        Ok(interrupt)
    }

    /// Whether someone has asked us to stop.
    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
