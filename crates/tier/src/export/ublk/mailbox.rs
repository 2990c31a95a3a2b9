//! Answers on their way from the threads that carry requests out to the thread of their queue.
//!
//! A request that is handed over is owed an answer: if its thread fails, it is answered as failed, since the kernel would wait for ever.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use super::request::FAILED;

/// The answer of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TagAnswer {
    pub(super) tag: u16,
    pub(super) result: i32,
}

/// Answers that wait for the thread of a queue.
pub(super) struct Mailbox {
    answers: Mutex<Vec<TagAnswer>>,
    bell: OwnedFd,
    is_closed: AtomicBool,
}

impl Mailbox {
    pub(super) fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { answers: Mutex::default(), bell, is_closed: AtomicBool::new(false) })
    }

    /// Becomes readable when there is something.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    fn deliver(&self, answer: TagAnswer) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push(answer);
        let is_first = answers.len() == 1;
        drop(answers);
        // Who has not emptied the box yet has heard the bell of the first.
        if is_first {
            self.ring();
        }
    }

    fn ring(&self) {
        // It can only fail when it has been rung 2^64 times without an ear, and then it is readable.
        let _rung = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Takes all answers, and quiets the bell before.
    pub(super) fn take(&self) -> Vec<TagAnswer> {
        let _not_rung = rustix::io::read(&self.bell, &mut [0; 8]);
        std::mem::take(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells the thread of the queue to leave, whatever the kernel has not ended.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.ring();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }
}

/// An answer that is owed.
pub(super) struct OwedAnswer {
    mailbox: Arc<Mailbox>,
    tag: u16,
    result: i32,
}

impl OwedAnswer {
    pub(super) fn new(mailbox: Arc<Mailbox>, tag: u16) -> Self {
        Self { mailbox, tag, result: FAILED }
    }

    /// Delivers it.
    pub(super) fn deliver(mut self, result: i32) {
        self.result = result;
    }
}

impl Drop for OwedAnswer {
    fn drop(&mut self) {
        self.mailbox.deliver(TagAnswer { tag: self.tag, result: self.result });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_rung(mailbox: &Mailbox) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&mailbox.bell(), PollFlags::IN)], Some(&now)).unwrap() == 1
    }

    #[test]
    fn answers_ring_and_a_request_whose_thread_fails_is_answered() {
        let mailbox = Arc::new(Mailbox::new().unwrap());
        assert!(!is_rung(&mailbox) && mailbox.take().is_empty());
        OwedAnswer::new(Arc::clone(&mailbox), 3).deliver(4096);
        let failing = OwedAnswer::new(Arc::clone(&mailbox), 4);
        let failed = std::thread::spawn(move || {
            let _owed = failing;
            std::panic::resume_unwind(Box::new("a disk that panics"));
        });
        assert!(failed.join().is_err() && is_rung(&mailbox));
        assert_eq!(mailbox.take(), [TagAnswer { tag: 3, result: 4096 }, TagAnswer { tag: 4, result: FAILED }]);
        assert!(!is_rung(&mailbox) && !mailbox.is_closed());
        // The box was emptied, so the next answer rings again.
        OwedAnswer::new(Arc::clone(&mailbox), 5).deliver(0);
        assert!(is_rung(&mailbox));
        mailbox.take();
        mailbox.close();
        assert!(is_rung(&mailbox) && mailbox.is_closed());
    }
}
