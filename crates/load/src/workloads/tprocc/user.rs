//! One virtual user of TPROC-C: draws inputs, runs transactions, counts what came of them.

use super::acknowledged::{Acknowledged, AcknowledgedOrder};
use super::tally::Tally;
use super::terminal::Terminal;
use super::transactions::{delivery, new_order, order_status, payment, stock_level};
use crate::drive::{Completed, VirtualUser};
use proofload_engine::{Error, ErrorClass, Session as _};
use proofload_gen::tprocc::inputs::{Input, UserInputs};
use proofload_model::samples::Reading;

/// Kinds of operations, in the order of `Transaction`'s numbers.
pub(super) const KINDS: &[&str] = &["new_order", "payment", "order_status", "delivery", "stock_level"];

/// A virtual user.
pub(super) struct User {
    terminal: Terminal,
    inputs: UserInputs,
    input: Input,
    /// What has completed.
    pub(super) tally: Tally,
    /// Orders that were acknowledged as committed.
    pub(super) acknowledged: Acknowledged,
}

impl User {
    /// A user whose session has its statements prepared.
    pub(super) fn new(terminal: Terminal, inputs: UserInputs, warehouses: i32) -> Self {
        // Stands in until the first draw, which draws it again.
        let input = inputs.clone().next_input();
        Self { terminal, inputs, input, tally: Tally::new(warehouses), acknowledged: Acknowledged::default() }
    }

    async fn transact(&mut self) -> Result<Completed, Error> {
        let Self { terminal, input, tally, acknowledged, .. } = self;
        match input {
            Input::NewOrder(input) => {
                let output = new_order::run(terminal, input).await?;
                tally.new_order(input, output.rolled_back);
                if output.rolled_back {
                    return Ok(Completed::RolledBack);
                }
                if terminal.keeps_data {
                    let (o_id, ol_cnt) = (output.o_id, input.ol_cnt);
                    acknowledged.push(AcknowledgedOrder {
                        w_id: input.w_id,
                        d_id: input.d_id,
                        o_id,
                        ol_cnt,
                        c_id: input.c_id,
                    });
                }
            }
            Input::Payment(input) => {
                payment::run(terminal, input).await?;
                tally.payment(input);
            }
            Input::OrderStatus(input) => {
                order_status::run(terminal, input).await?;
                tally.order_status(input);
            }
            Input::Delivery(input) => {
                let output = delivery::run(terminal, input).await?;
                tally.delivery(input, &output);
            }
            Input::StockLevel(input) => {
                stock_level::run(terminal, input).await?;
                tally.stock_levels += 1;
            }
        }
        Ok(Completed::Done)
    }
}

impl VirtualUser for User {
    fn draw(&mut self) -> usize {
        self.input = self.inputs.next_input();
        self.input.transaction() as usize
    }

    async fn run(&mut self) -> Result<Completed, Error> {
        let ended = self.transact().await;
        if matches!(&ended, Err(error) if error.class() == ErrorClass::ConnectionLost) {
            self.tally.unknown(self.input.transaction());
        }
        ended
    }

    async fn recover(&mut self) -> Result<(), Error> {
        self.terminal.roll_back().await
    }

    fn counters(&mut self, into: &mut Vec<Reading>) {
        self.terminal.session.counters(into);
    }
}
