//! The log of a database on a volume, held in memory as the page cache of an operating system would hold it: reads cost nothing, and a sync
//! writes what has changed, in order.

use crate::contract::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that are written whole.
const BLOCK: usize = 4096;
/// Bytes of one write at most.
const RUN: usize = 1 << 20;

/// What a log is written to.
pub(super) trait LogVolume {
    /// Writes bytes of the log.
    fn write(&self, at: u64, from: &[u8]) -> Result<(), Error>;

    /// Makes what was written durable.
    fn flush(&self) -> Result<(), Error>;
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// Whether each block has changed since it was written.
    changed: Vec<bool>,
    /// Why an earlier sync failed: what it left out is lost, so that no later one may succeed.
    failed: Option<String>,
}

/// A log. Several connections may use it at once.
#[derive(Debug, Default)]
pub(super) struct LogFile {
    content: Mutex<Content>,
    /// Held through a sync: one that comes meanwhile returns after what the other writes.
    syncing: Mutex<()>,
}

impl LogFile {
    /// A log with content that is durable.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let changed = vec![false; bytes.len().div_ceil(BLOCK)];
        Self { content: Mutex::new(Content { bytes, changed, failed: None }), syncing: Mutex::default() }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of the log.
    pub(super) fn len(&self) -> u64 {
        self.content().bytes.len() as u64
    }

    /// Fills a buffer as far as the log goes; returns how far.
    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> usize {
        let content = self.content();
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(content.bytes.len());
        let count = into.len().min(content.bytes.len() - from);
        into[..count].copy_from_slice(&content.bytes[from..from + count]);
        count
    }

    /// Takes bytes, which are durable after the next sync.
    pub(super) fn write(&self, at: u64, bytes: &[u8]) {
        let (mut content, at) = (self.content(), at as usize);
        let end = at + bytes.len();
        if content.bytes.len() < end {
            content.bytes.resize(end, 0);
            content.changed.resize(end.div_ceil(BLOCK), true);
        }
        content.bytes[at..end].copy_from_slice(bytes);
        content.changed[at / BLOCK..end.div_ceil(BLOCK)].fill(true);
    }

    /// Cuts the log, or lengthens it by zeros.
    pub(super) fn truncate(&self, length: u64) {
        let (mut content, length) = (self.content(), length as usize);
        content.bytes.resize(length, 0);
        content.changed.resize(length.div_ceil(BLOCK), true);
        if let Some(last) = content.changed.last_mut() {
            *last = true;
        }
    }

    /// Writes what has changed and makes it durable.
    ///
    /// # Errors
    /// When the volume fails, now or at an earlier sync.
    pub(super) fn sync(&self, volume: &impl LogVolume) -> Result<(), Error> {
        let _turn = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        let (runs, failed) = {
            let mut content = self.content();
            (content.take_changed(), content.failed.clone())
        };
        let outcome = match failed {
            Some(reason) => {
                Err(Error::other(format!("failed to sync the log: data of an earlier sync are lost: {reason}")))
            }
            None => runs.iter().try_for_each(|(at, bytes)| volume.write(*at, bytes)).and_then(|()| volume.flush()),
        };
        if let Err(error) = &outcome {
            self.content().failed.get_or_insert_with(|| error.to_string());
        }
        outcome
    }
}

impl Content {
    /// The runs of blocks that have changed, filled up with zeros; afterwards none has.
    fn take_changed(&mut self) -> Vec<(u64, Vec<u8>)> {
        let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
        for (number, changed) in self.changed.iter_mut().enumerate().filter(|(_, changed)| **changed) {
            *changed = false;
            let from = number * BLOCK;
            let block = &self.bytes[from..self.bytes.len().min(from + BLOCK)];
            match runs.last_mut() {
                Some((at, run)) if *at as usize + run.len() == from && run.len() < RUN => run.extend_from_slice(block),
                _ => runs.push((from as u64, block.to_vec())),
            }
        }
        for (_, run) in &mut runs {
            run.resize(run.len().next_multiple_of(BLOCK), 0);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A volume that notes what it is asked, and may fail.
    #[derive(Default)]
    struct Noted {
        calls: RefCell<Vec<(u64, usize)>>,
        flushes: RefCell<u32>,
        fails: bool,
    }

    impl LogVolume for Noted {
        fn write(&self, at: u64, from: &[u8]) -> Result<(), Error> {
            self.calls.borrow_mut().push((at, from.len()));
            if self.fails { Err(Error::other("no space")) } else { Ok(()) }
        }

        fn flush(&self) -> Result<(), Error> {
            *self.flushes.borrow_mut() += 1;
            Ok(())
        }
    }

    #[test]
    fn frames_are_written_at_a_sync_in_whole_blocks_and_in_order() {
        let (log, volume) = (LogFile::default(), Noted::default());
        log.write(0, &[1; 32]);
        log.write(32, &[2; 4120]);
        log.write(4152, &[3; 4120]);
        assert!(volume.calls.borrow().is_empty(), "nothing before a sync");
        log.sync(&volume).expect("syncs");
        assert_eq!(*volume.calls.borrow(), [(0, 3 * BLOCK)], "one write for neighbours");
        log.sync(&volume).expect("syncs");
        assert_eq!((volume.calls.borrow().len(), *volume.flushes.borrow()), (1, 2), "nothing has changed");
        log.write(5000, &[9; 10]);
        log.sync(&volume).expect("syncs");
        assert_eq!(volume.calls.borrow()[1], (BLOCK as u64, BLOCK));
        let mut read = [0; 20];
        assert_eq!((log.read(4995, &mut read), read[4], read[5], read[14], read[15]), (20, 3, 9, 9, 3));
        assert_eq!((log.len(), log.read(8270, &mut read), log.read(9000, &mut read)), (8272, 2, 0));
    }

    #[test]
    fn what_was_cut_does_not_come_back() {
        let (log, volume) = (LogFile::of(vec![7; 10_000]), Noted::default());
        log.truncate(100);
        log.truncate(5_000);
        let mut read = [1; 200];
        assert_eq!((log.read(0, &mut read), read[99], read[100]), (200, 7, 0));
        log.sync(&volume).expect("syncs");
        assert_eq!(*volume.calls.borrow(), [(0, 2 * BLOCK)], "the cut block and the new one");
    }

    #[test]
    fn after_a_failed_sync_none_succeeds() {
        let log = LogFile::default();
        log.write(0, &[1; 10]);
        assert!(log.sync(&Noted { fails: true, ..Noted::default() }).is_err());
        let error = log.sync(&Noted::default()).expect_err("what the first left out is lost").to_string();
        assert!(error.contains("no space"), "{error}");
    }
}
