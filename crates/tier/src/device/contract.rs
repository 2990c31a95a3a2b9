//! What a device and a clock must do. Tests put faulty ones in their place.

use std::io;
use std::time::Duration;

use super::several::write_by_threads;

/// One of several writes that a device is given together.
#[derive(Clone, Copy, Debug)]
pub struct DeviceWrite<'a> {
    /// Position of its first byte.
    pub at: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Failure of one of several writes.
#[derive(Debug)]
pub struct WriteFailure {
    /// Place among the writes, from 0, of the first one that failed.
    pub index: usize,
    /// Its error.
    pub error: io::Error,
}

/// Storage with positions, shared by threads.
///
/// A write may be lost or torn by a crash until a later `sync` has returned without an error. A failed call may have
/// had any part of its effect.
pub trait Device: Send + Sync {
    /// Size in bytes.
    fn bytes(&self) -> u64;

    /// Its name for errors, such as a path; `None` when it has none.
    fn name(&self) -> Option<String> {
        None
    }

    /// Fills a buffer from a position on.
    ///
    /// # Errors
    ///
    /// When the device fails or ends before the buffer is full.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of a buffer from a position on.
    ///
    /// # Errors
    ///
    /// When the device fails.
    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()>;

    /// Writes several buffers that do not overlap: begun in their order, at most so many under way at once, 0 as 1.
    ///
    /// They are done in any order. None is under way any more when it returns, and none is begun after one has failed.
    ///
    /// # Errors
    ///
    /// When the device fails: any of the writes may have been done.
    fn write_several(&self, writes: &[DeviceWrite<'_>], depth: usize) -> Result<(), WriteFailure> {
        write_by_threads(self, writes, depth)
    }

    /// Returns when everything that was written before is durable.
    ///
    /// # Errors
    ///
    /// When the device fails: what was written since the last sync may be lost.
    fn sync(&self) -> io::Result<()>;

    /// Makes bytes read as zeros. It writes zeros where a device has nothing better.
    ///
    /// # Errors
    ///
    /// When the device fails.
    fn discard(&self, at: u64, length: u64) -> io::Result<()> {
        write_zeros(self, at, length)
    }
}

/// Writes zeros, a mebibyte at a time.
pub(crate) fn write_zeros(device: &(impl Device + ?Sized), at: u64, length: u64) -> io::Result<()> {
    const PIECE: u64 = 1 << 20;
    let zeros = vec![0; usize::try_from(length.min(PIECE)).expect("a mebibyte")];
    let mut done = 0;
    while done < length {
        let piece = usize::try_from((length - done).min(PIECE)).expect("a mebibyte");
        device.write_at(at + done, &zeros[..piece])?;
        done += piece as u64;
    }
    Ok(())
}

/// A clock that never goes back.
pub trait Clock: Send + Sync {
    /// Time since an instant of the clock's choice.
    fn now(&self) -> Duration;

    /// Returns not before a time of this clock has come.
    fn sleep_until(&self, time: Duration);
}
