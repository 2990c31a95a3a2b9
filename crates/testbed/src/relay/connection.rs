//! One connection through a link: in each direction a thread that reads and one that writes, and between them what is under way.

use super::direction::Direction;
use super::ends::Stream;
use crate::sys;
use proofload_model::time::Moment;
use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Most bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// Bytes under way in one direction from which on nothing is read, as on a wire whose window is full.
const MOST_UNDER_WAY: usize = 16 << 20;

/// A connection.
pub(super) struct RelayedConnection {
    ends: [Stream; 2],
    queues: [Arc<Queue>; 2],
    threads: Vec<JoinHandle<()>>,
}

/// Chunks under way.
#[derive(Debug, Default)]
struct Queue {
    chunks: Mutex<Chunks>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Chunks {
    /// Moment from which each may leave; empty bytes: the end of the stream.
    waiting: VecDeque<(Moment, Vec<u8>)>,
    bytes: usize,
    broken: bool,
}

impl RelayedConnection {
    /// Relays between two ends; `directions`: from the first to the second, and back.
    pub(super) fn start(ends: [Stream; 2], directions: [Arc<Direction>; 2]) -> std::io::Result<Self> {
        let queues = [Arc::<Queue>::default(), Arc::default()];
        let mut threads = Vec::new();
        for (side, direction) in directions.iter().enumerate() {
            let (mut from, mut to) = (ends[side].another()?, ends[1 - side].another()?);
            let (queue, way) = (Arc::clone(&queues[side]), Arc::clone(direction));
            threads.push(std::thread::spawn(move || way.run(|| read(&mut from, &queue, &way))));
            let (queue, way) = (Arc::clone(&queues[side]), Arc::clone(direction));
            threads.push(std::thread::spawn(move || way.run(|| write(&mut to, &queue, &way))));
        }
        Ok(Self { ends, queues, threads })
    }

    /// Whether an end was closed by its process, also behind bytes that nobody has read.
    pub(super) fn has_lost_an_end(&self) -> bool {
        self.ends.iter().any(sys::peer_has_closed)
    }

    /// Whether nothing passes any more.
    pub(super) fn has_ended(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Closes both ends; what is under way is lost.
    pub(super) fn break_off(&self) {
        self.queues.iter().for_each(|queue| queue.break_off());
        self.ends.iter().for_each(|end| end.shut(Shutdown::Both));
    }

    /// Breaks off and waits for its threads.
    pub(super) fn end(mut self) {
        self.break_off();
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

impl Queue {
    /// Puts a chunk behind the others; waits for room before. False when the connection is broken.
    fn push(&self, due: Moment, bytes: Vec<u8>) -> bool {
        let mut chunks = self.chunks();
        while chunks.bytes >= MOST_UNDER_WAY && !chunks.broken {
            chunks = self.changed.wait(chunks).unwrap_or_else(PoisonError::into_inner);
        }
        chunks.bytes += bytes.len();
        chunks.waiting.push_back((due, bytes));
        self.changed.notify_all();
        !chunks.broken
    }

    /// Takes the first chunk; waits for one. `None` when the connection is broken.
    fn pop(&self) -> Option<(Moment, Vec<u8>)> {
        let mut chunks = self.chunks();
        loop {
            if chunks.broken {
                return None;
            }
            if let Some(chunk) = chunks.waiting.pop_front() {
                chunks.bytes -= chunk.1.len();
                self.changed.notify_all();
                return Some(chunk);
            }
            chunks = self.changed.wait(chunks).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn break_off(&self) {
        self.chunks().broken = true;
        self.changed.notify_all();
    }

    fn is_broken(&self) -> bool {
        self.chunks().broken
    }

    fn chunks(&self) -> MutexGuard<'_, Chunks> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads while the direction is open, and stamps what it reads.
fn read(from: &mut Stream, queue: &Queue, way: &Direction) {
    let mut buffer = vec![0; CHUNK];
    while way.wait_until_open() {
        let count = from.read(&mut buffer).unwrap_or(0);
        if !queue.push(way.due(), buffer[..count].to_vec()) || count == 0 {
            return;
        }
    }
}

/// Writes what is due; at the end of the stream ends this direction alone.
fn write(to: &mut Stream, queue: &Queue, way: &Direction) {
    // When the end has taken all before, on a link that is never late: how slowly it takes bytes is not the link's.
    let mut taken = Moment::default();
    while let Some((due, bytes)) = queue.pop() {
        let Some(in_time) = way.pass(due, bytes.len()).filter(|_| !queue.is_broken()) else { return };
        if bytes.is_empty() {
            return to.shut(Shutdown::Write);
        }
        let in_time = in_time.max(taken);
        let begun = way.leave(in_time);
        if to.write_all(&bytes).is_err() {
            queue.break_off();
            return to.shut(Shutdown::Both);
        }
        taken = in_time + way.now().since(begun);
    }
}
