//! The writers of one database inside this process, in the order in which they came. SQLite itself lets a writer that meets another sleep and
//! try again, up to 100 ms at a time, so that one of them may wait for seconds while others pass it.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::Thread;

/// Queues of the databases that sessions of this process have open.
static QUEUES: LazyLock<Mutex<HashMap<PathBuf, Weak<WriterQueue>>>> = LazyLock::new(Mutex::default);

/// Writers that can wait without memory being allocated.
const EXPECTED: usize = 256;

/// The writers of one database.
#[derive(Debug, Default)]
struct WriterQueue {
    state: Mutex<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    is_taken: bool,
    waiting: VecDeque<(Arc<AtomicBool>, Thread)>,
}

/// A session's place in the queue of its database. Dropping it ends its turn.
#[derive(Debug)]
pub(super) struct WriterTurn {
    queue: Arc<WriterQueue>,
    /// Set by whoever hands the turn on to this session.
    called: Arc<AtomicBool>,
    has_turn: bool,
}

impl WriterTurn {
    /// A place in the queue of a database file.
    pub(super) fn of(file: &Path) -> Self {
        let mut queues = lock(&QUEUES);
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = queues.get(file).and_then(Weak::upgrade).unwrap_or_else(|| {
            let queue = Arc::new(WriterQueue::default());
            lock(&queue.state).waiting.reserve(EXPECTED);
            queues.insert(file.to_owned(), Arc::downgrade(&queue));
            queue
        });
        Self { queue, called: Arc::default(), has_turn: false }
    }

    /// Waits for the turn of this session.
    pub(super) fn take(&mut self) {
        if self.has_turn {
            return;
        }
        let mut state = lock(&self.queue.state);
        self.has_turn = true;
        if !state.is_taken {
            state.is_taken = true;
            return;
        }
        self.called.store(false, Ordering::Relaxed);
        state.waiting.push_back((Arc::clone(&self.called), std::thread::current()));
        drop(state);
        while !self.called.load(Ordering::Acquire) {
            std::thread::park();
        }
    }

    /// Hands the turn on to the session that waits longest.
    pub(super) fn end(&mut self) {
        if !std::mem::take(&mut self.has_turn) {
            return;
        }
        let mut state = lock(&self.queue.state);
        match state.waiting.pop_front() {
            Some((called, thread)) => {
                called.store(true, Ordering::Release);
                drop(state);
                thread.unpark();
            }
            None => state.is_taken = false,
        }
    }
}

impl Drop for WriterTurn {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn writers_come_in_their_order_and_one_at_a_time() {
        let file = Path::new("/tests/writers.sqlite");
        let mut first = WriterTurn::of(file);
        first.take();
        first.take();
        let (told, order) = std::sync::mpsc::channel();
        let mut handles = Vec::new();
        for number in 0..4 {
            let told = told.clone();
            let queue = Arc::clone(&first.queue);
            handles.push(std::thread::spawn(move || {
                let mut turn = WriterTurn::of(file);
                turn.take();
                told.send(number).unwrap();
            }));
            while lock(&queue.state).waiting.len() <= number {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        assert!(order.try_recv().is_err(), "the first has the turn");
        drop(first);
        let found: Vec<usize> = order.iter().take(4).collect();
        assert_eq!(found, [0, 1, 2, 3]);
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        assert!(!lock(&WriterTurn::of(file).queue.state).is_taken, "the last has ended its turn");
    }

    #[test]
    fn databases_have_queues_of_their_own() {
        let (mut one, mut other) = (WriterTurn::of(Path::new("/tests/a")), WriterTurn::of(Path::new("/tests/b")));
        one.take();
        other.take();
        assert!(one.has_turn && other.has_turn);
    }
}
