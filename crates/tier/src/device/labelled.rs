//! A file that its user goes on using as it is: it ends where its content ends, and the pool's label lies in another file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::contract::Device;
use crate::error::Error;
use crate::layout::LABEL_BYTES;

/// A volume in a file of any length, with room to grow.
///
/// Bytes beyond its end read as zeros. Everything goes through the page cache of the operating system.
#[derive(Debug)]
pub struct LabelledFile {
    content: File,
    label: File,
    /// Whether writes to the label may not be durable. Held while it is synced, so that no other sync returns before that.
    label_is_dirty: Mutex<bool>,
    /// Bytes that the volume may have.
    room: u64,
}

impl LabelledFile {
    /// Opens a file with room for so many bytes, which is rounded up to whole labels, and its label's file, which is made where it is missing.
    ///
    /// # Errors
    ///
    /// When one of them cannot be opened for reading and writing.
    pub fn open(content: &Path, label: &Path, room: u64) -> Result<Self, Error> {
        let failed = |path: &Path, error| Error::device("opened", path.display().to_string(), 0, error);
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let opened = options.open(content).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::missing(content.display().to_string()),
            _ => failed(content, error),
        })?;
        let label_file = options.create(true).truncate(false).open(label).map_err(|error| failed(label, error))?;
        label_file.set_len(LABEL_BYTES).map_err(|error| failed(label, error))?;
        // Who wrote it before may not have synced it.
        let label_is_dirty = Mutex::new(true);
        Ok(Self { content: opened, label: label_file, label_is_dirty, room: room.next_multiple_of(LABEL_BYTES) })
    }

    fn label_state(&self) -> MutexGuard<'_, bool> {
        self.label_is_dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The part of a range that lies in the content, as a length.
    fn inside(&self, at: u64, length: usize) -> usize {
        let left = self.room.saturating_sub(at);
        length.min(usize::try_from(left).unwrap_or(usize::MAX))
    }

    fn label_place(&self, at: u64, done: usize, length: usize) -> io::Result<u64> {
        let from = at + done as u64 - self.room;
        if from + length as u64 > LABEL_BYTES {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(from)
    }
}

impl Device for LabelledFile {
    fn bytes(&self) -> u64 {
        self.room + LABEL_BYTES
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let (content, label) = into.split_at_mut(self.inside(at, into.len()));
        let mut done = 0;
        while done < content.len() {
            match self.content.read_at(&mut content[done..], at + done as u64) {
                Ok(0) => {
                    content[done..].fill(0);
                    break;
                }
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if label.is_empty() {
            return Ok(());
        }
        let from = self.label_place(at, content.len(), label.len())?;
        self.label.read_exact_at(label, from)
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        let (content, label) = from.split_at(self.inside(at, from.len()));
        if !content.is_empty() {
            self.content.write_all_at(content, at)?;
        }
        if label.is_empty() {
            return Ok(());
        }
        let place = self.label_place(at, content.len(), label.len())?;
        let outcome = self.label.write_all_at(label, place);
        // Also where a part of it was written.
        *self.label_state() = true;
        outcome
    }

    fn sync(&self) -> io::Result<()> {
        self.content.sync_data()?;
        let mut is_dirty = self.label_state();
        if *is_dirty {
            self.label.sync_data()?;
            *is_dirty = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ends_where_it_ended_and_the_label_is_not_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let (content, label) = (folder.path().join("content"), folder.path().join("label"));
        std::fs::write(&content, [7; 6_000]).unwrap();
        let device = LabelledFile::open(&content, &label, 100_000).unwrap();
        assert_eq!(device.bytes(), 102_400 + 4_096);
        let mut bytes = vec![1; 8_192];
        device.read_at(0, &mut bytes).unwrap();
        assert!(bytes[..6_000].iter().all(|byte| *byte == 7) && bytes[6_000..].iter().all(|byte| *byte == 0));
        device.write_at(102_400 - 4_096, &[5; 8_192]).unwrap();
        device.sync().unwrap();
        assert_eq!(std::fs::read(&label).unwrap(), [5; 4_096]);
        assert_eq!(std::fs::metadata(&content).unwrap().len(), 102_400);
        device.read_at(102_400 - 4_096, &mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 5));
        assert!(device.read_at(102_400, &mut bytes).is_err(), "a read beyond the label");
        assert!(device.write_at(102_400 + 1, &[0; 4_096]).is_err(), "a write beyond the label");
    }

    #[test]
    fn a_label_is_synced_only_after_a_write_to_it() {
        // A file that can be written and not synced tells whether it is.
        let folder = tempfile::tempdir().unwrap();
        let content = folder.path().join("content");
        std::fs::write(&content, [7; 4_096]).unwrap();
        let file = |path: &Path| OpenOptions::new().read(true).write(true).open(path).unwrap();
        let (content, label) = (file(&content), file(Path::new("/dev/null")));
        let device = LabelledFile { content, label, label_is_dirty: Mutex::new(false), room: 4_096 };
        device.write_at(0, &[1; 4_096]).unwrap();
        device.sync().unwrap();
        device.write_at(4_096, &[2; 4_096]).unwrap();
        assert!(device.sync().is_err(), "the label was written");
        assert!(device.sync().is_err(), "a sync that failed leaves it to be synced");
    }

    #[test]
    fn what_is_missing_is_named_and_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let (content, label) = (folder.path().join("content"), folder.path().join("label"));
        let error = LabelledFile::open(&content, &label, 4_096).unwrap_err();
        assert!(error.is_mismatch() && error.to_string().contains("content"), "{error}");
        assert!(!content.exists() && !label.exists());
    }
}
