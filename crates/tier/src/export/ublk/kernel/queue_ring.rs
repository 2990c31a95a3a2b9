//! The ring of a queue: commands that hold no address, and a bell that other threads ring.

#![expect(unsafe_code, reason = "entries are put into the kernel's ring")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use io_uring::types::Fd;
use io_uring::{IoUring, opcode, squeue};

use super::super::abi::QueueCommand;
use super::waits::goes_on;

/// Number of the bell among completions; tags are smaller.
const BELL: u64 = u64::MAX;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum QueueEvent {
    /// A tag has a request.
    Request(u16),
    /// A tag is over: the device ends.
    Over(u16),
    /// The bell was rung, and must be watched again.
    Bell,
}

/// The ring. Only the thread that made it may use it: the driver takes commands of a queue from one thread.
pub(in super::super) struct QueueRing {
    ring: IoUring,
    characters: File,
    queue: u16,
}

impl QueueRing {
    /// A ring for a queue of an opened character device, with room for a command of each tag and the bell.
    pub(in super::super) fn new(characters: File, queue: u16, depth: u16) -> io::Result<Self> {
        let entries = (u32::from(depth) + 1).next_power_of_two();
        let ring = IoUring::builder().setup_coop_taskrun().setup_single_issuer().build(entries)?;
        Ok(Self { ring, characters, queue })
    }

    /// Puts a command behind the others; it is sent with the next wait.
    pub(in super::super) fn put(&mut self, command: QueueCommand) -> io::Result<()> {
        let (number, bytes) = (command.number(), command.bytes(self.queue));
        let entry = opcode::UringCmd16::new(Fd(self.characters.as_raw_fd()), number).cmd(bytes).build();
        self.push(&entry.user_data(command.tag().into()))
    }

    /// Watches a bell once.
    pub(in super::super) fn watch(&mut self, bell: BorrowedFd<'_>) -> io::Result<()> {
        let readable = u32::from(rustix::event::PollFlags::IN.bits());
        let entry = opcode::PollAdd::new(Fd(bell.as_raw_fd()), readable).build();
        self.push(&entry.user_data(BELL))
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: neither kind of entry holds an address, so that nothing must outlive it; a file that were closed is an error of the entry.
        if unsafe { self.ring.submission().push(entry) }.is_ok() {
            return Ok(());
        }
        self.ring.submit()?;
        // SAFETY: as above.
        unsafe { self.ring.submission().push(entry) }.map_err(|_| io::ErrorKind::WouldBlock.into())
    }

    /// Sends what was put, waits until something has happened, and adds it to a list.
    pub(in super::super) fn wait(&mut self, events: &mut Vec<QueueEvent>) -> io::Result<()> {
        let waited = self.ring.submit_and_wait(1).map(drop);
        waited.or_else(|error| if goes_on(&error) { Ok(()) } else { Err(error) })?;
        let happened = self.ring.completion().map(|completion| match u16::try_from(completion.user_data()) {
            Err(_) => QueueEvent::Bell,
            Ok(tag) if completion.result() == 0 => QueueEvent::Request(tag),
            Ok(tag) => QueueEvent::Over(tag),
        });
        events.extend(happened);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};
    use std::os::fd::AsFd as _;

    #[test]
    fn a_rung_bell_is_heard_and_a_file_that_serves_nothing_ends_its_tags() {
        let file = tempfile::tempfile().unwrap();
        let mut ring = match QueueRing::new(file, 0, 4) {
            Ok(ring) => ring,
            Err(error) => return println!("SKIPPED: io_uring: {error}"),
        };
        let bell = eventfd(0, EventfdFlags::empty()).unwrap();
        ring.watch(bell.as_fd()).unwrap();
        rustix::io::write(&bell, &1_u64.to_ne_bytes()).unwrap();
        let mut events = Vec::new();
        ring.wait(&mut events).unwrap();
        assert_eq!(events, [QueueEvent::Bell]);
        for tag in 0..12 {
            ring.put(QueueCommand::Fetch { tag }).unwrap();
        }
        events.clear();
        while events.len() < 12 {
            ring.wait(&mut events).unwrap();
        }
        assert!((0..12).all(|tag| events.contains(&QueueEvent::Over(tag))), "{events:?}");
    }
}
