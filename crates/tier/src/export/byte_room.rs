//! Room for the bytes of requests that are not answered yet: who wants more than is left waits.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The room, shared by those who have taken some of it.
pub(super) struct ByteRoom {
    most: u64,
    taken: Mutex<u64>,
    freed: Condvar,
}

impl ByteRoom {
    /// Makes room for so many bytes.
    pub(super) fn of(most: u64) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::new(0), freed: Condvar::new() })
    }

    /// Takes some of it until it is dropped; waits until there is enough. More than all of it is had alone.
    pub(super) fn take(self: &Arc<Self>, bytes: u64) -> TakenBytes {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |taken: &mut u64| *taken > 0 && *taken + bytes > self.most;
        let mut taken = self.freed.wait_while(taken, is_full).unwrap_or_else(PoisonError::into_inner);
        *taken += bytes;
        TakenBytes { room: Arc::clone(self), bytes }
    }
}

/// Some bytes of the room.
pub(super) struct TakenBytes {
    room: Arc<ByteRoom>,
    bytes: u64,
}

impl Drop for TakenBytes {
    fn drop(&mut self) {
        *self.room.taken.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.room.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn who_wants_more_than_is_left_waits_until_enough_is_given_back() {
        let room = ByteRoom::of(100);
        let (first, second) = (room.take(60), room.take(40));
        let none = room.take(0);
        let (said, heard) = mpsc::channel();
        let waiting = std::thread::spawn({
            let room = Arc::clone(&room);
            move || {
                let taken = room.take(50);
                said.send(()).expect("heard");
                drop(taken);
            }
        });
        drop((second, none));
        assert!(heard.recv_timeout(Duration::from_millis(100)).is_err(), "40 of 50 are free");
        drop(first);
        heard.recv_timeout(Duration::from_secs(60)).expect("it has its room");
        waiting.join().expect("it ends");
        drop(room.take(1_000));
        assert_eq!(*room.taken.lock().expect("nobody panicked"), 0);
    }
}
