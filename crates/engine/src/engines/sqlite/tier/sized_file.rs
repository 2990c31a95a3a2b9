//! A file whose length is told by itself and by no volume: a flush of the volume never touches it, so that its length is made durable here.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What is asked of a file.
pub(super) trait FileLength {
    /// Cuts the file, or lengthens it by zeros.
    fn set_len(&self, length: u64) -> io::Result<()>;

    /// Makes the file durable, its length too.
    fn sync_all(&self) -> io::Result<()>;
}

impl FileLength for File {
    fn set_len(&self, length: u64) -> io::Result<()> {
        File::set_len(self, length)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }
}

/// A file that knows whether its length is durable.
#[derive(Debug)]
pub(super) struct SizedFile<F> {
    file: F,
    /// Changes of the length.
    changes: AtomicU64,
    /// Changes that are durable; held while the file is synced.
    durable: Mutex<u64>,
}

impl<F: FileLength> SizedFile<F> {
    /// A file whose length is durable as it is.
    pub(super) fn of(file: F) -> Self {
        Self { file, changes: AtomicU64::new(0), durable: Mutex::new(0) }
    }

    /// The file itself.
    pub(super) fn file(&self) -> &F {
        &self.file
    }

    /// Cuts the file, or lengthens it by zeros.
    pub(super) fn set_len(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.changes.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Makes the length durable where it has changed; returns when every change before is.
    pub(super) fn sync_length(&self) -> io::Result<()> {
        let wanted = self.changes.load(Ordering::Acquire);
        let mut durable = self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        if *durable < wanted {
            let changes = self.changes.load(Ordering::Acquire);
            self.file.sync_all()?;
            *durable = changes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// A file that notes what it is asked.
    #[derive(Default)]
    struct NotedFile {
        calls: RefCell<Vec<String>>,
        fails: Cell<bool>,
    }

    impl FileLength for NotedFile {
        fn set_len(&self, length: u64) -> io::Result<()> {
            self.calls.borrow_mut().push(format!("length {length}"));
            if self.fails.get() { Err(io::Error::other("no space")) } else { Ok(()) }
        }

        fn sync_all(&self) -> io::Result<()> {
            self.calls.borrow_mut().push("sync".to_owned());
            if self.fails.get() { Err(io::Error::other("no medium")) } else { Ok(()) }
        }
    }

    #[test]
    fn a_new_length_is_synced_once() {
        let file = SizedFile::of(NotedFile::default());
        file.sync_length().expect("nothing to do");
        assert!(file.file().calls.borrow().is_empty());
        file.set_len(10).expect("lengthens");
        file.set_len(20).expect("lengthens");
        file.sync_length().expect("syncs");
        file.sync_length().expect("nothing to do");
        assert_eq!(*file.file().calls.borrow(), ["length 10", "length 20", "sync"]);
        file.set_len(30).expect("lengthens");
        file.sync_length().expect("syncs");
        assert_eq!(file.file().calls.borrow().len(), 5);
    }

    #[test]
    fn a_length_that_could_not_be_synced_is_synced_again() {
        let file = SizedFile::of(NotedFile::default());
        file.set_len(10).expect("lengthens");
        file.file().fails.set(true);
        assert!(file.sync_length().is_err() && file.sync_length().is_err());
        file.file().fails.set(false);
        file.sync_length().expect("syncs");
        file.sync_length().expect("nothing to do");
        assert_eq!(*file.file().calls.borrow(), ["length 10", "sync", "sync", "sync"]);
    }
}
