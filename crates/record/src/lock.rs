//! One writer at a time. The lock is a file beside the record, because closing any handle of the record itself
//! would drop SQLite's own locks of this process.

use crate::error::Error;
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tries to take a lock: a look whether it is taken holds it for an instant, and another writer may just be removing the file.
const TRIES: u32 = 3;

/// Time between two tries.
const BETWEEN: Duration = Duration::from_millis(50);

/// A held lock; released and removed when dropped. The kernel releases it when the process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of a record.
    pub(crate) fn take(record: &Path) -> Result<Self, Error> {
        let path = lock_path(record);
        for try_number in 1..=TRIES {
            let open = File::options().create(true).truncate(false).write(true).open(&path);
            let file =
                open.map_err(|error| Error::other(format!("failed to create the lock {}: {error}", path.display())))?;
            match file.try_lock() {
                // A file that its last holder removed in the meantime locks nothing.
                Ok(()) if is_at(&file, &path) => return Ok(Self { file, path }),
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(Error::other(format!("failed to lock {}: {error}", path.display())));
                }
            }
            if try_number < TRIES {
                std::thread::sleep(BETWEEN);
            }
        }
        Err(Error::in_use(format!(
            "another process is writing the record {}; wait for it or stop it, or watch it with `proofload status`",
            record.display()
        )))
    }
}

impl Drop for Lock {
    /// Removes the file while it is still locked, and only the one that was locked.
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            let _removed = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether this is the file that the path names now.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |about: std::fs::Metadata| (about.dev(), about.ino());
    let (held, named) = (file.metadata().map(identity), std::fs::metadata(path).map(identity));
    held.ok().zip(named.ok()).is_some_and(|(held, named)| held == named)
}

/// Whether a process is writing this record now. Looks do not keep each other, and a writer for an instant only.
pub(crate) fn is_taken(record: &Path) -> bool {
    let Ok(file) = File::options().read(true).open(lock_path(record)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn lock_path(record: &Path) -> PathBuf {
    let mut name = record.as_os_str().to_owned();
    name.push("-lock");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        (folder, path)
    }

    #[test]
    fn a_look_tells_a_writer_and_no_other_look() {
        let (_folder, record) = record();
        assert!(!is_taken(&record));
        let lock = Lock::take(&record).expect("it is free");
        assert!(is_taken(&record));
        assert!(Lock::take(&record).expect_err("it is held").is_in_use());
        drop(lock);
        assert!(!is_taken(&record) && !lock_path(&record).exists());
        // What a killed writer left, while another process looks.
        std::fs::write(lock_path(&record), "").expect("it is written");
        let look = File::open(lock_path(&record)).expect("it is there");
        look.try_lock_shared().expect("it is free");
        assert!(!is_taken(&record), "two looks at once");
    }

    #[test]
    fn a_writer_waits_for_a_look_to_end() {
        let (_folder, record) = record();
        std::fs::write(lock_path(&record), "").expect("it is written");
        let (name, (sender, held)) = (lock_path(&record), std::sync::mpsc::channel());
        // The look ends in its own time: on a busy machine later than a writer tries, which then asks again.
        let look = std::thread::spawn(move || {
            let file = File::open(name).expect("it is there");
            file.try_lock_shared().expect("it is free");
            sender.send(()).expect("the test waits");
            std::thread::sleep(BETWEEN / 2);
        });
        held.recv().expect("the look holds it");
        let lock = std::iter::repeat_with(|| Lock::take(&record)).take(200).find_map(Result::ok);
        look.join().expect("it ends");
        assert!(lock.is_some());
    }

    #[test]
    fn a_removed_file_is_no_lock_and_a_new_one_is_left_to_its_holder() {
        let (_folder, record) = record();
        let first = Lock::take(&record).expect("it is free");
        std::fs::remove_file(lock_path(&record)).expect("somebody removes it");
        let second = Lock::take(&record).expect("a new file");
        assert!(is_at(&second.file, &second.path) && !is_at(&first.file, &first.path));
        drop(first);
        assert!(lock_path(&record).exists() && is_taken(&record), "the holder's file stays");
        drop(second);
        assert!(!lock_path(&record).exists());
    }
}
