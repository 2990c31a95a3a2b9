//! Runs transactions on a session and counts them. May not draw inputs.

use super::acknowledged::{AcknowledgedOrder, AcknowledgedOrders};
use super::draw_counts::DrawCounts;
use super::session_work::SessionWork;
use super::tally::Tally;
use super::transactions::delivery::DeliveryOutput;
use super::transactions::{delivery, new_order, order_status, payment, stock_level};
use crate::operation::Completion;
use proofload_engine::{Error, Session as _};
use proofload_gen::tprocc::inputs::{Delivery, Input, NewOrder};
use proofload_model::samples::Reading;
use std::cell::RefCell;
use std::rc::Rc;

/// A session at work.
pub(super) struct TransactionRunner {
    pub(super) work: SessionWork,
    /// Counts of completed transactions.
    pub(super) tally: Tally,
    /// Counts of draws, shared with the client thread's other sessions.
    pub(super) draws: Rc<RefCell<DrawCounts>>,
    /// Orders that were acknowledged as committed.
    pub(super) acknowledged: AcknowledgedOrders,
}

impl TransactionRunner {
    /// A runner on a session whose statements are prepared.
    pub(super) fn new(work: SessionWork, warehouses: i32, draws: Rc<RefCell<DrawCounts>>) -> Self {
        Self { work, tally: Tally::new(warehouses), draws, acknowledged: AcknowledgedOrders::default() }
    }

    /// Runs one Delivery.
    pub(super) async fn deliver(&mut self, input: &Delivery) -> Result<DeliveryOutput, Error> {
        let output = delivery::run(&mut self.work, input).await?;
        self.tally.delivery(input, &output);
        Ok(output)
    }

    /// Runs one transaction, a Delivery in line.
    pub(super) async fn transact(&mut self, input: &Input) -> Result<Completion, Error> {
        match input {
            Input::NewOrder(input) => return self.enter(input).await,
            Input::Payment(input) => {
                payment::run(&mut self.work, input).await?;
                self.tally.payment(input);
                self.draws.borrow_mut().customer(&input.customer);
            }
            Input::OrderStatus(input) => {
                order_status::run(&mut self.work, input).await?;
                self.tally.order_status(input);
                self.draws.borrow_mut().customer(&input.customer);
            }
            Input::Delivery(input) => {
                self.deliver(input).await?;
            }
            Input::StockLevel(input) => {
                stock_level::run(&mut self.work, input).await?;
                self.tally.stock_levels += 1;
            }
        }
        Ok(Completion::Done)
    }

    async fn enter(&mut self, input: &NewOrder) -> Result<Completion, Error> {
        let output = new_order::run(&mut self.work, input).await?;
        self.tally.new_order(input, output.rolled_back);
        self.draws.borrow_mut().new_order(input);
        if output.rolled_back {
            return Ok(Completion::RolledBack);
        }
        if self.work.keeps_data {
            self.acknowledged.push(AcknowledgedOrder {
                w_id: input.w_id,
                d_id: input.d_id,
                o_id: output.o_id,
                ol_cnt: input.ol_cnt,
                c_id: input.c_id,
            });
        }
        Ok(Completion::Done)
    }

    /// Rolls back what an error has left open.
    pub(super) async fn recover(&mut self) -> Result<(), Error> {
        self.work.roll_back().await
    }

    /// Opens a session in the place of one that was lost.
    pub(super) async fn reconnect(&mut self) -> Result<(), Error> {
        self.work.reconnect().await
    }

    /// Counters of an embedded engine since the last call.
    pub(super) fn counters(&mut self, into: &mut Vec<Reading>) {
        self.work.session.counters(into);
    }
}
