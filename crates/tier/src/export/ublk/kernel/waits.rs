//! Which errors of a wait pass by themselves.

use std::io;

use rustix::io::Errno;

/// Whether a wait ended without its reason being one to give up: a signal, the end of its time, or a kernel that is busy.
pub(super) fn goes_on(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INTR | Errno::TIME | Errno::AGAIN | Errno::BUSY))
}
