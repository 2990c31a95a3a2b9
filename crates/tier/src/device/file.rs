//! Files and block devices by positioned input and output.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::contract::{Device, write_zeros};
use crate::error::Error;

/// `O_DIRECT` of Linux, whose value depends on the processor. Source: the kernel's `fcntl.h` of each.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
const DIRECT: i32 = 0o40_000;
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
const DIRECT: i32 = 0o200_000;

/// Alignment of direct input and output that every device takes.
const ALIGNMENT: usize = 4096;

/// Whether the page cache of the operating system takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCache {
    /// Reads and writes go through it.
    Used,
    /// Reads and writes go to the device, by `O_DIRECT`.
    Bypassed,
}

/// A file or a block device.
#[derive(Debug)]
pub struct FileDevice {
    path: PathBuf,
    file: File,
    bytes: u64,
    page_cache: PageCache,
}

impl FileDevice {
    /// Opens a file or block device that exists, for reading and writing.
    ///
    /// # Errors
    ///
    /// When it does not exist or cannot be opened so.
    pub fn open(path: &Path, page_cache: PageCache) -> Result<Self, Error> {
        let failed = |error| Error::device("opened", path.display().to_string(), 0, error);
        let flags = if page_cache == PageCache::Bypassed { DIRECT } else { 0 };
        let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
        let mut file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::missing(path.display().to_string()),
            _ => failed(error),
        })?;
        let bytes = file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file, bytes, page_cache })
    }

    /// Makes a sparse file of so many bytes, which must not exist yet, and opens it: for origins.
    ///
    /// # Errors
    ///
    /// When it exists or cannot be made.
    pub fn create(path: &Path, bytes: u64, page_cache: PageCache) -> Result<Self, Error> {
        let failed = |error| Error::device("made", path.display().to_string(), 0, error);
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        file.set_len(bytes).map_err(failed)?;
        drop(file);
        Self::open(path, page_cache)
    }

    /// Makes a file of so many bytes with room for all of them, which must not exist yet, and opens it: for caches, which would fail in the
    /// middle of a run where a file system has no room left.
    ///
    /// # Errors
    ///
    /// As [`FileDevice::allocate`], and nothing is left of it then. When it exists, which stays as it is.
    pub fn create_whole(path: &Path, bytes: u64, page_cache: PageCache) -> Result<Self, Error> {
        let failed = |error| Error::device("made", path.display().to_string(), 0, error);
        drop(OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?);
        let made = Self::allocate(path, bytes).and_then(|()| Self::open(path, page_cache));
        if made.is_err() {
            drop(std::fs::remove_file(path));
        }
        made
    }

    /// Gives a file that exists at least so many bytes, and room on its file system for these; its content stays. Where a file system gives no room
    /// ahead, the file is as long and sparse.
    ///
    /// # Errors
    ///
    /// When bytes are missing on the file system, whose number is told, or the file cannot be opened or grown; then it is as long as before.
    pub fn allocate(path: &Path, bytes: u64) -> Result<(), Error> {
        let failed = |error| Error::device("made room for", path.display().to_string(), 0, error);
        let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        let before = file.metadata().map_err(failed)?.len();
        let missing = missing(&file, bytes).map_err(failed)?;
        // A first piece tells whether the file system can, before it is asked for all.
        let done = match reserve(&file, bytes.min(ALIGNMENT as u64)) {
            Ok(false) if before < bytes => file.set_len(bytes),
            Ok(false) => Ok(()),
            _ if missing > 0 => {
                drop(file.set_len(before));
                return Err(Error::no_room(path.display().to_string(), bytes, missing));
            }
            Ok(true) => reserve(&file, bytes).map(drop),
            Err(error) => Err(error),
        };
        if done.is_err() {
            drop(file.set_len(before));
        }
        done.map_err(failed)
    }

    /// The aligned piece around a range: its position, its length, and where the range begins in it.
    fn aligned(at: u64, length: usize) -> (u64, usize, usize) {
        let from = at / ALIGNMENT as u64 * ALIGNMENT as u64;
        let inside = usize::try_from(at - from).expect("below 4096");
        (from, (inside + length).next_multiple_of(ALIGNMENT), inside)
    }
}

thread_local! {
    /// Memory of each thread for direct input and output, of which an aligned part is used.
    static DIRECT_BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Works with so many aligned bytes of this thread, which hold anything.
fn with_buffer<T>(length: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    DIRECT_BUFFER.with_borrow_mut(|buffer| {
        if buffer.len() < length + ALIGNMENT {
            buffer.resize(length + ALIGNMENT, 0);
        }
        let start = buffer.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        work(&mut buffer[start..start + length])
    })
}

impl Device for FileDevice {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn name(&self) -> Option<String> {
        Some(self.path.display().to_string())
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        if self.page_cache == PageCache::Used {
            return self.file.read_exact_at(into, at);
        }
        let (from, length, inside) = Self::aligned(at, into.len());
        with_buffer(length, |buffer| {
            self.file.read_exact_at(buffer, from)?;
            into.copy_from_slice(&buffer[inside..inside + into.len()]);
            Ok(())
        })
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        if self.page_cache == PageCache::Used {
            return self.file.write_all_at(from, at);
        }
        let (first, length, inside) = Self::aligned(at, from.len());
        with_buffer(length, |buffer| {
            if inside != 0 || !from.len().is_multiple_of(ALIGNMENT) {
                self.file.read_exact_at(buffer, first)?;
            }
            buffer[inside..inside + from.len()].copy_from_slice(from);
            self.file.write_all_at(buffer, first)
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn discard(&self, at: u64, length: u64) -> io::Result<()> {
        if length == 0 || punch(&self.file, at, length) { Ok(()) } else { write_zeros(self, at, length) }
    }
}

/// Makes a hole, which reads as zeros and takes no room, of a file or, by its own discards or writes of zeros, of a block device; false where
/// that cannot be done. Source: fallocate(2), `FALLOC_FL_PUNCH_HOLE`; that a device gets no data to write then, and reads as zeros, is the
/// kernel's `blkdev_fallocate`.
#[cfg(target_os = "linux")]
fn punch(file: &File, at: u64, length: u64) -> bool {
    use rustix::fs::{FallocateFlags, fallocate};
    // Refused without holes, for a part of a device's block, and while a device has dirty pages there: zeros that are written tell what is wrong.
    fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, at, length).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn punch(_file: &File, _at: u64, _length: u64) -> bool {
    false
}

/// Gives the first so many bytes of a file room, and the file that length if it is shorter; false where the file system cannot. Source:
/// fallocate(2): content stays, and `EOPNOTSUPP` comes from a file system without it.
#[cfg(target_os = "linux")]
fn reserve(file: &File, bytes: u64) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::{Errno, retry_on_intr};
    if bytes == 0 {
        return Ok(true);
    }
    match retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, bytes)) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_file: &File, _bytes: u64) -> io::Result<bool> {
    Ok(false)
}

/// Bytes that the file system of a file lacks to hold so many of it.
#[cfg(target_os = "linux")]
fn missing(file: &File, bytes: u64) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let system = rustix::fs::fstatvfs(file)?;
    if system.f_blocks == 0 {
        // A file system that does not tell its size.
        return Ok(0);
    }
    let has = file.metadata()?.blocks().saturating_mul(512);
    Ok(bytes.saturating_sub(has).saturating_sub(system.f_bavail.saturating_mul(system.f_frsize)))
}

#[cfg(not(target_os = "linux"))]
fn missing(_file: &File, _bytes: u64) -> io::Result<u64> {
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page_cache: PageCache) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device");
        let device = match FileDevice::create(&path, 64 << 10, page_cache) {
            Ok(device) => device,
            // File systems in memory have no direct input and output.
            Err(_) if page_cache == PageCache::Bypassed => return,
            Err(error) => panic!("{error}"),
        };
        device.write_at(5_000, &[7; 9_000]).unwrap();
        device.sync().unwrap();
        let mut bytes = vec![1; 10_000];
        device.read_at(4_500, &mut bytes).unwrap();
        assert!(bytes[..500].iter().all(|byte| *byte == 0) && bytes[500..9_500].iter().all(|byte| *byte == 7));
        device.discard(6_000, 100).unwrap();
        device.read_at(5_999, &mut bytes[..102]).unwrap();
        assert_eq!((bytes[0], bytes[1], bytes[100], bytes[101]), (7, 0, 0, 7));
        assert!(device.read_at(60 << 10, &mut bytes).is_err(), "a read beyond the end");
        assert_eq!(device.bytes(), 64 << 10);
    }

    #[test]
    fn bytes_are_where_they_were_put() {
        check(PageCache::Used);
        check(PageCache::Bypassed);
    }

    /// Room is the disk's, so that a large origin is not written in full by the discard with which a file system is made.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_discard_gives_room_back_and_reads_as_zeros() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device");
        let device = FileDevice::create(&path, 2 << 20, PageCache::Used).unwrap();
        device.write_at(0, &vec![7; 2 << 20]).unwrap();
        device.sync().unwrap();
        let room = || std::fs::metadata(&path).unwrap().blocks() * 512;
        let before = room();
        device.discard(100, 1 << 20).unwrap();
        device.sync().unwrap();
        assert!(room() + (1 << 20) <= before + 65_536, "{before} bytes before, {} after", room());
        let mut bytes = vec![1; 2 << 20];
        device.read_at(0, &mut bytes).unwrap();
        let (first, rest) = bytes.split_at(100);
        let (hole, last) = rest.split_at(1 << 20);
        assert!(first.iter().chain(last).all(|byte| *byte == 7) && hole.iter().all(|byte| *byte == 0));
        assert_eq!(device.bytes(), 2 << 20);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_cache_has_its_room_and_one_that_is_too_large_is_refused_by_what_is_missing() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let room = |name: &str| std::fs::metadata(path(name)).unwrap().blocks() * 512;
        let length = |name: &str| std::fs::metadata(path(name)).unwrap().len();
        let whole = FileDevice::create_whole(&path("whole"), 1 << 20, PageCache::Used).unwrap();
        assert_eq!(whole.bytes(), 1 << 20);
        let sparse = FileDevice::create(&path("sparse"), 1 << 20, PageCache::Used).unwrap();
        sparse.write_at(0, &[7; 4096]).unwrap();
        sparse.sync().unwrap();
        if !reserve(&whole.file, 4096).unwrap() {
            return;
        }
        assert!(room("whole") >= 1 << 20 && room("sparse") < 1 << 20);
        FileDevice::allocate(&path("sparse"), 2 << 20).unwrap();
        assert!(room("sparse") >= 2 << 20 && length("sparse") == 2 << 20);
        FileDevice::allocate(&path("sparse"), 4096).unwrap();
        let mut bytes = [0; 4096];
        sparse.read_at(0, &mut bytes).unwrap();
        assert_eq!((bytes, length("sparse")), ([7; 4096], 2 << 20), "what it holds stays");
        let refused = FileDevice::create_whole(&path("large"), 1 << 60, PageCache::Used).unwrap_err().to_string();
        assert!(refused.contains("lacks") && refused.contains(&(1_u64 << 60).to_string()), "{refused}");
        assert!(!path("large").exists());
        FileDevice::allocate(&path("sparse"), 1 << 60).unwrap_err();
        assert_eq!(length("sparse"), 2 << 20);
    }

    #[test]
    fn what_is_missing_is_named_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device");
        let error = FileDevice::open(&path, PageCache::Used).unwrap_err();
        assert!(error.is_mismatch() && error.to_string().contains("device"), "{error}");
        FileDevice::create(&path, 4096, PageCache::Used).unwrap();
        assert!(FileDevice::create(&path, 4096, PageCache::Used).is_err());
    }
}
