//! Keeps a server of a block device from waiting for itself under memory pressure, as far as the system lets it.

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, configure_io_flusher_behavior, geteuid, getrlimit};

/// Takes both measures before any thread is started; returns what is in force, with its name.
pub(super) fn guard() -> Vec<(&'static str, String)> {
    vec![("locked", locked()), ("flusher", flusher())]
}

/// Keeps memory that was touched from being swapped out.
fn locked() -> String {
    // Under a limit a later allocation would fail, which is worse than to be swapped out.
    if !geteuid().is_root() && getrlimit(Resource::Memlock).current.is_some() {
        return "memory is not locked: this user may lock only part of it; root may lock all".to_owned();
    }
    match mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT) {
        Ok(()) => "memory stays in memory".to_owned(),
        Err(error) => format!("memory is not locked: {error}"),
    }
}

/// Tells the kernel that this process writes back dirty memory: it must not be made to wait for that.
fn flusher() -> String {
    match configure_io_flusher_behavior(true) {
        Ok(()) => "the kernel frees memory for this process without writing to its volumes".to_owned(),
        Err(Errno::PERM) => {
            "not set in the kernel, because it needs CAP_SYS_RESOURCE; under memory pressure writes may wait".to_owned()
        }
        Err(error) => format!("not set in the kernel: {error}; under memory pressure writes may wait"),
    }
}
