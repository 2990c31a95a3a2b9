//! Writes at once by threads that last as long as these: for devices whose calls return when they are done.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::contract::{Device, DeviceWrite, WriteFailure};

/// Writes that threads take one after the other.
struct WriteQueue<'a> {
    writes: &'a [DeviceWrite<'a>],
    next: AtomicUsize,
    /// The first in the order of the writes that failed so far.
    failure: Mutex<Option<WriteFailure>>,
}

impl WriteQueue<'_> {
    fn lock(&self) -> MutexGuard<'_, Option<WriteFailure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes writes until none is left or one has failed.
    fn work(&self, device: &(impl Device + ?Sized)) {
        while self.lock().is_none() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(write) = self.writes.get(index) else { return };
            if let Err(error) = device.write_at(write.at, write.bytes) {
                let mut failure = self.lock();
                if failure.as_ref().is_none_or(|before| index < before.index) {
                    *failure = Some(WriteFailure { index, error });
                }
            }
        }
    }
}

/// Writes several buffers by this thread and as many others as the depth asks for; as many as can be had.
pub(super) fn write_by_threads(
    device: &(impl Device + ?Sized),
    writes: &[DeviceWrite<'_>],
    depth: usize,
) -> Result<(), WriteFailure> {
    let queue = WriteQueue { writes, next: AtomicUsize::new(0), failure: Mutex::new(None) };
    let others = depth.min(writes.len()).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..others {
            // A system without room for another thread writes fewer at once.
            if thread::Builder::new().spawn_scoped(scope, || queue.work(device)).is_err() {
                break;
            }
        }
        queue.work(device);
    });
    queue.failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Condvar;
    use std::time::Duration;

    use super::*;

    /// A device whose writes wait for each other until so many are under way, and fail at some positions.
    struct WaitingDevice {
        wanted: usize,
        fails: fn(u64) -> bool,
        begun: Mutex<Vec<u64>>,
        changed: Condvar,
    }

    impl WaitingDevice {
        fn new(wanted: usize, fails: fn(u64) -> bool) -> Self {
            Self { wanted, fails, begun: Mutex::new(Vec::new()), changed: Condvar::new() }
        }

        /// Gives writes at the positions 0, 1 and so on; returns what became of them and the positions in the order in which they began.
        fn write(&self, count: u64, depth: usize) -> (Option<usize>, Vec<u64>) {
            let writes: Vec<_> = (0..count).map(|at| DeviceWrite { at, bytes: &[1] }).collect();
            let outcome = self.write_several(&writes, depth);
            (outcome.err().map(|failure| failure.index), self.begun.lock().unwrap().clone())
        }
    }

    impl Device for WaitingDevice {
        fn bytes(&self) -> u64 {
            1 << 20
        }

        fn read_at(&self, _at: u64, _into: &mut [u8]) -> io::Result<()> {
            Ok(())
        }

        fn write_at(&self, at: u64, _from: &[u8]) -> io::Result<()> {
            let mut begun = self.begun.lock().unwrap();
            begun.push(at);
            self.changed.notify_all();
            let limit = Duration::from_secs(60);
            let (begun, waited) =
                self.changed.wait_timeout_while(begun, limit, |begun| begun.len() < self.wanted).unwrap();
            drop(begun);
            assert!(!waited.timed_out(), "{} were never under way at once", self.wanted);
            if (self.fails)(at) { Err(io::Error::other("made to fail")) } else { Ok(()) }
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn up_to(count: u64) -> Vec<u64> {
        (0..count).collect()
    }

    #[test]
    fn as_many_writes_as_the_depth_are_under_way_at_once_and_each_is_done_once() {
        let (failed, mut begun) = WaitingDevice::new(4, |_| false).write(40, 4);
        begun.sort_unstable();
        assert_eq!((failed, begun), (None, up_to(40)));
    }

    #[test]
    fn writes_one_at_a_time_keep_their_order_and_end_at_the_first_failure() {
        for depth in [0, 1] {
            assert_eq!(WaitingDevice::new(1, |_| false).write(9, depth), (None, up_to(9)));
            assert_eq!(WaitingDevice::new(1, |at| at == 3).write(9, depth), (Some(3), up_to(4)));
        }
        assert_eq!(WaitingDevice::new(0, |_| true).write(0, 8), (None, Vec::new()));
    }

    #[test]
    fn the_first_of_several_that_failed_is_told_and_none_is_begun_afterwards() {
        // All four are under way before the first of them fails.
        let (failed, begun) = WaitingDevice::new(4, |_| true).write(40, 4);
        assert_eq!((failed, begun.len()), (Some(0), 4));
    }
}
