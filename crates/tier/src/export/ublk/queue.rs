//! The thread of a queue: takes requests from the driver, serves those that wait for no slow device, hands over the others, and gives
//! every answer back. It ends when the driver has ended every tag, or the mailbox is closed.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::abi::{QueueCommand, place_of_data};
use super::kernel::{Descriptors, QueueEvent, QueueRing};
use super::mailbox::{Mailbox, OwedAnswer};
use super::request::{BlockRequest, RequestData, answer};
use crate::export::BlockService;
use crate::export::workers::Workers;

/// What a queue serves, and by whom.
pub(super) struct QueueParts {
    pub(super) service: Arc<dyn BlockService>,
    pub(super) characters: Arc<File>,
    pub(super) workers: Arc<Workers>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) queue: u16,
    pub(super) depth: u16,
}

/// A queue on its thread.
pub(super) struct ServedQueue {
    parts: QueueParts,
    ring: QueueRing,
    descriptors: Descriptors,
    /// Tags that the driver has not ended.
    open: u16,
    buffer: Vec<u8>,
}

impl ServedQueue {
    /// Prepares a queue on the thread that will serve it.
    pub(super) fn new(parts: QueueParts) -> io::Result<Self> {
        let mut ring = QueueRing::new(parts.characters.try_clone()?, parts.queue, parts.depth)?;
        let descriptors = Descriptors::map(&parts.characters, parts.queue, parts.depth)?;
        for tag in 0..parts.depth {
            ring.put(QueueCommand::Fetch { tag })?;
        }
        ring.watch(parts.mailbox.bell())?;
        Ok(Self { open: parts.depth, parts, ring, descriptors, buffer: Vec::new() })
    }

    /// Serves to the end.
    ///
    /// # Errors
    ///
    /// When the kernel refuses the ring; then it also fails what is under way.
    pub(super) fn serve(mut self) -> io::Result<()> {
        let mut events = Vec::new();
        while self.open > 0 && !self.parts.mailbox.is_closed() {
            events.clear();
            self.ring.wait(&mut events)?;
            for event in &events {
                match *event {
                    QueueEvent::Request(tag) => self.take(tag)?,
                    QueueEvent::Over(_) => self.open -= 1,
                    QueueEvent::Bell => self.give_back()?,
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, tag: u16) -> io::Result<()> {
        let Some(descriptor) = self.descriptors.of(tag) else { return Ok(()) };
        let request = BlockRequest::of(descriptor);
        let at = place_of_data(self.parts.queue, tag);
        if request.is_quick(&*self.parts.service) {
            let data = RequestData { file: &self.parts.characters, at };
            let result = answer(request, &*self.parts.service, &data, &mut self.buffer);
            return self.ring.put(QueueCommand::Commit { tag, result });
        }
        let owed = OwedAnswer::new(Arc::clone(&self.parts.mailbox), tag);
        let (service, characters) = (Arc::clone(&self.parts.service), Arc::clone(&self.parts.characters));
        self.parts.workers.hand_over(move || {
            let data = RequestData { file: &characters, at };
            owed.deliver(answer(request, &*service, &data, &mut Vec::new()));
        });
        Ok(())
    }

    fn give_back(&mut self) -> io::Result<()> {
        for given in self.parts.mailbox.take() {
            self.ring.put(QueueCommand::Commit { tag: given.tag, result: given.result })?;
        }
        self.ring.watch(self.parts.mailbox.bell())
    }
}
