//! One writer at a time. The lock is a file beside the record, because closing any handle of the record itself
//! would drop SQLite's own locks of this process.

use crate::error::Error;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// A held lock; released and removed when dropped. The kernel releases it when the process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of a record.
    pub(crate) fn take(record: &Path) -> Result<Self, Error> {
        let path = lock_path(record);
        let open = File::options().create(true).truncate(false).write(true).open(&path);
        let file =
            open.map_err(|error| Error::other(format!("failed to create the lock {}: {error}", path.display())))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file, path }),
            Err(TryLockError::WouldBlock) => Err(Error::in_use(format!(
                "another process is writing the record {}; wait for it or stop it, or watch it with `proofload status`",
                record.display()
            ))),
            Err(TryLockError::Error(error)) => Err(Error::other(format!("failed to lock {}: {error}", path.display()))),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _removed = std::fs::remove_file(&self.path);
    }
}

/// Whether a process is writing this record now.
pub(crate) fn is_taken(record: &Path) -> bool {
    let Ok(file) = File::options().write(true).open(lock_path(record)) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

fn lock_path(record: &Path) -> PathBuf {
    let mut name = record.as_os_str().to_owned();
    name.push("-lock");
    PathBuf::from(name)
}
