//! One agent at a time works in a study's folder. A killed conductor's agent may still be copying when the next one starts: that one waits.

use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

/// How long an agent whose conductor has gone may take to end, generously.
const PATIENCE: Duration = Duration::from_secs(30);

/// A held lock. The kernel releases it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

/// Takes the lock of a study's folder, waiting for an agent that is about to end.
pub(crate) fn hold(folder: &Path, clock: &dyn Clock) -> Result<FolderLock, Error> {
    let failed =
        |error: &std::io::Error| Error::new(format!("failed to lock the folder {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(".proofload-lock"));
    let file = file.map_err(|error| failed(&error))?;
    let begun = clock.now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(FolderLock { _file: file }),
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
            Err(TryLockError::WouldBlock) if clock.now().since(begun) < PATIENCE => {
                clock.sleep(Duration::from_millis(50))
            }
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(format!(
                    "another Proofload is using the folder {}; wait for it, or choose another study.name or storage.path",
                    folder.display()
                )));
            }
        }
    }
}
