//! A session that serves terminals: what they have keyed it runs; Deliveries it puts into their queue and answers at
//! once.

use super::deliveries::DeliverySender;
use super::thread_terminals::ThreadTerminals;
use super::waits::WaitTally;
use crate::drive::{self, VirtualUser};
use crate::operation::Completion;
use crate::workloads::tprocc::transaction_runner::TransactionRunner;
use proofload_engine::Error;
use proofload_gen::tprocc::inputs::Input;
use proofload_model::samples::Reading;
use std::rc::Rc;
use std::time::Duration;

/// A server.
pub(crate) struct PacedSession {
    pub(crate) runner: TransactionRunner,
    pub(crate) waits: WaitTally,
    floor: Rc<ThreadTerminals>,
    deliveries: DeliverySender,
    terminal: u32,
    input: Input,
}

impl PacedSession {
    /// A session of a thread's terminals, of which there must be at least one.
    pub(crate) fn new(runner: TransactionRunner, floor: Rc<ThreadTerminals>, deliveries: DeliverySender) -> Self {
        let input = floor.keyed(0);
        Self { runner, waits: WaitTally::default(), floor, deliveries, terminal: 0, input }
    }
}

impl drive::SharedSession for PacedSession {
    fn take_terminal(&mut self, terminal: u32) -> usize {
        self.terminal = terminal;
        self.input = self.floor.keyed(terminal);
        self.input.transaction() as usize
    }

    fn answer_terminal(&mut self) -> Duration {
        self.floor.next(self.terminal, &mut self.waits)
    }
}

impl VirtualUser for PacedSession {
    fn draw(&mut self) -> usize {
        self.input.transaction() as usize
    }

    async fn run(&mut self) -> Result<Completion, Error> {
        match &self.input {
            Input::Delivery(delivery) => {
                self.deliveries.put(*delivery, self.runner.work.clock.now())?;
                self.runner.tally.deliveries_queued += 1;
                Ok(Completion::Done)
            }
            input => self.runner.transact(input).await,
        }
    }

    fn lost(&mut self) {
        self.runner.tally.unknown(self.input.transaction());
    }

    async fn recover(&mut self) -> Result<(), Error> {
        self.runner.recover().await
    }

    async fn reconnect(&mut self) -> Result<(), Error> {
        self.runner.reconnect().await
    }

    fn counters(&mut self, into: &mut Vec<Reading>) {
        self.runner.counters(into);
    }
}
