//! A session that serves terminals: what they have keyed it runs; Deliveries it puts into their queue and answers at once.

use super::deliveries::Counter;
use super::floor::Floor;
use super::waits::WaitTally;
use crate::drive::{self, Completed, VirtualUser};
use crate::workloads::tprocc::clerk::Clerk;
use proofload_engine::Error;
use proofload_gen::tprocc::inputs::Input;
use proofload_model::samples::Reading;
use std::rc::Rc;
use std::time::Duration;

/// A server.
pub(in crate::workloads::tprocc) struct Server {
    pub(in crate::workloads::tprocc) clerk: Clerk,
    pub(in crate::workloads::tprocc) waits: WaitTally,
    floor: Rc<Floor>,
    deliveries: Counter,
    terminal: u32,
    input: Input,
}

impl Server {
    /// A server of the terminals of a floor, which must have one at least.
    pub(in crate::workloads::tprocc) fn new(clerk: Clerk, floor: Rc<Floor>, deliveries: Counter) -> Self {
        let input = floor.keyed(0);
        Self { clerk, waits: WaitTally::default(), floor, deliveries, terminal: 0, input }
    }
}

impl drive::Server for Server {
    fn sit(&mut self, terminal: u32) -> usize {
        self.terminal = terminal;
        self.input = self.floor.keyed(terminal);
        self.input.transaction() as usize
    }

    fn stand_up(&mut self) -> Duration {
        self.floor.next(self.terminal, &mut self.waits)
    }
}

impl VirtualUser for Server {
    fn draw(&mut self) -> usize {
        self.input.transaction() as usize
    }

    async fn run(&mut self) -> Result<Completed, Error> {
        match &self.input {
            Input::Delivery(delivery) => {
                self.deliveries.put(*delivery, self.clerk.terminal.clock.now())?;
                self.clerk.tally.deliveries_queued += 1;
                Ok(Completed::Done)
            }
            input => self.clerk.transact(input).await,
        }
    }

    async fn recover(&mut self) -> Result<(), Error> {
        self.clerk.recover().await
    }

    async fn reconnect(&mut self) -> Result<(), Error> {
        self.clerk.reconnect().await
    }

    fn counters(&mut self, into: &mut Vec<Reading>) {
        self.clerk.counters(into);
    }
}
