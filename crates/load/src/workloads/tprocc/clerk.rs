//! Runs transactions on a session and counts what came of them. May not draw inputs.

use super::acknowledged::{Acknowledged, AcknowledgedOrder};
use super::drawn::Drawn;
use super::tally::Tally;
use super::terminal::Terminal;
use super::transactions::delivery::DeliveryOutput;
use super::transactions::{delivery, new_order, order_status, payment, stock_level};
use crate::drive::Completed;
use proofload_engine::{Error, ErrorClass, Session as _};
use proofload_gen::tprocc::inputs::{Delivery, Input, NewOrder};
use proofload_model::samples::Reading;
use std::cell::RefCell;
use std::rc::Rc;

/// A session at work.
pub(super) struct Clerk {
    pub(super) terminal: Terminal,
    /// What has completed.
    pub(super) tally: Tally,
    /// What was drawn for it, together with the client thread's other sessions.
    pub(super) drawn: Rc<RefCell<Drawn>>,
    /// Orders that were acknowledged as committed.
    pub(super) acknowledged: Acknowledged,
}

impl Clerk {
    /// A clerk whose session has its statements prepared.
    pub(super) fn new(terminal: Terminal, warehouses: i32, drawn: Rc<RefCell<Drawn>>) -> Self {
        Self { terminal, tally: Tally::new(warehouses), drawn, acknowledged: Acknowledged::default() }
    }

    /// Runs one transaction, a Delivery in line.
    pub(super) async fn transact(&mut self, input: &Input) -> Result<Completed, Error> {
        let ended = self.run(input).await;
        if matches!(&ended, Err(error) if error.class() == ErrorClass::ConnectionLost) {
            self.tally.unknown(input.transaction());
        }
        ended
    }

    /// Runs one Delivery.
    pub(super) async fn deliver(&mut self, input: &Delivery) -> Result<DeliveryOutput, Error> {
        let output = delivery::run(&mut self.terminal, input).await?;
        self.tally.delivery(input, &output);
        Ok(output)
    }

    async fn run(&mut self, input: &Input) -> Result<Completed, Error> {
        match input {
            Input::NewOrder(input) => return self.enter(input).await,
            Input::Payment(input) => {
                payment::run(&mut self.terminal, input).await?;
                self.tally.payment(input);
                self.drawn.borrow_mut().customer(&input.customer);
            }
            Input::OrderStatus(input) => {
                order_status::run(&mut self.terminal, input).await?;
                self.tally.order_status(input);
                self.drawn.borrow_mut().customer(&input.customer);
            }
            Input::Delivery(input) => {
                self.deliver(input).await?;
            }
            Input::StockLevel(input) => {
                stock_level::run(&mut self.terminal, input).await?;
                self.tally.stock_levels += 1;
            }
        }
        Ok(Completed::Done)
    }

    async fn enter(&mut self, input: &NewOrder) -> Result<Completed, Error> {
        let output = new_order::run(&mut self.terminal, input).await?;
        self.tally.new_order(input, output.rolled_back);
        self.drawn.borrow_mut().new_order(input);
        if output.rolled_back {
            return Ok(Completed::RolledBack);
        }
        if self.terminal.keeps_data {
            self.acknowledged.push(AcknowledgedOrder {
                w_id: input.w_id,
                d_id: input.d_id,
                o_id: output.o_id,
                ol_cnt: input.ol_cnt,
                c_id: input.c_id,
            });
        }
        Ok(Completed::Done)
    }

    /// Rolls back what an error has left open.
    pub(super) async fn recover(&mut self) -> Result<(), Error> {
        self.terminal.roll_back().await
    }

    /// Opens a session in the place of one that was lost.
    pub(super) async fn reconnect(&mut self) -> Result<(), Error> {
        self.terminal.reconnect().await
    }

    /// Counters of an embedded engine since the last call.
    pub(super) fn counters(&mut self, into: &mut Vec<Reading>) {
        self.terminal.session.counters(into);
    }
}
