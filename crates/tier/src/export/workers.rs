//! Threads for requests that wait for slow devices, so that those that do not are served meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Threads: as many requests wait for the slow devices at once.
const THREADS: usize = 32;
/// Bytes of a thread's stack: a request needs few.
const STACK: usize = 256 << 10;

type Task = Box<dyn FnOnce() + Send>;

/// The threads, until it is dropped; what was handed over is done before.
pub(super) struct Workers {
    tasks: Option<SyncSender<Task>>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Workers {
    /// Starts threads of a name. `waiting`: requests that wait for a thread; who hands over waits beyond.
    pub(super) fn start(name: &str, waiting: usize) -> std::io::Result<Self> {
        let (tasks, receiver) = sync_channel::<Task>(waiting);
        let receiver = Arc::new(Mutex::new(receiver));
        let mut threads = Vec::new();
        for _ in 0..THREADS {
            let receiver = Arc::clone(&receiver);
            let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK);
            threads.push(thread.spawn(move || work(&receiver))?);
        }
        Ok(Self { tasks: Some(tasks), threads })
    }

    /// Hands a task over; waits while too many wait.
    pub(super) fn hand_over(&self, task: impl FnOnce() + Send + 'static) {
        if let Some(tasks) = &self.tasks {
            // The threads end only after the channel.
            drop(tasks.send(Box::new(task)));
        }
    }
}

fn work(tasks: &Mutex<Receiver<Task>>) {
    loop {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = next else { return };
        // The thread serves others. A panic was told by the panic hook already.
        drop(catch_unwind(AssertUnwindSafe(task)));
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.tasks = None;
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}
