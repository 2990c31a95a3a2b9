//! Keeps a device for one process of ours. It reads and writes nothing, and holds off no other program.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::error::Error;

/// `O_EXCL` of Linux: a block device that is mounted or in use by the kernel is refused. Source: the kernel's `fcntl.h`.
const EXCLUSIVE: i32 = 0o200;

/// A lock on a device, until it is dropped or its process ends.
#[derive(Debug)]
pub struct DeviceClaim {
    _file: File,
}

impl DeviceClaim {
    /// Claims a file or block device that exists.
    ///
    /// # Errors
    ///
    /// When it is missing, another process has claimed it, or it is a block device that is mounted.
    pub fn take(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Error::missing(&*name),
            io::ErrorKind::ResourceBusy => Error::taken(&*name, "it is mounted or in use by the system"),
            _ => Error::device("claimed", &*name, 0, error),
        };
        let is_block = std::fs::metadata(path).map_err(failed)?.file_type().is_block_device();
        let flags = if is_block { EXCLUSIVE } else { 0 };
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::taken(&*name, "another process has it open as part of a pool")),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_claimed_once_and_free_again_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device");
        assert!(DeviceClaim::take(&path).unwrap_err().is_mismatch());
        std::fs::write(&path, b"content").unwrap();
        let claim = DeviceClaim::take(&path).unwrap();
        let refused = DeviceClaim::take(&path).unwrap_err().to_string();
        assert!(refused.contains("device") && refused.contains("another process"), "{refused}");
        drop(claim);
        DeviceClaim::take(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"content");
    }
}
