//! Recordings of what sessions say to a server and hear from it, for engines whose session is our own. May hold no login and no value.

use proofload_model::time::Clock;
use std::sync::Arc;

/// Records the messages of this process's sessions, without logins, and with blanks for values.
pub trait WireRecorder: Sync {
    /// Begins: connections that are opened from now on are recorded.
    fn begin(&self, clock: Arc<dyn Clock>);

    /// Ends, and hands out the text of the recording; an empty text where none was begun.
    fn end(&self) -> String;
}
