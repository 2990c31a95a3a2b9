//! One saturated virtual user of TPROC-C: draws inputs and runs them.

use super::transaction_runner::TransactionRunner;
use crate::drive::VirtualUser;
use crate::operation::Completion;
use proofload_engine::Error;
use proofload_gen::tprocc::inputs::{Input, UserInputs};
use proofload_model::samples::Reading;

/// Kinds of operations, in the order of `Transaction`'s numbers.
pub(super) const KINDS: &[&str] = &["new_order", "payment", "order_status", "delivery", "stock_level"];

/// A virtual user.
pub(super) struct User {
    pub(super) runner: TransactionRunner,
    inputs: UserInputs,
    input: Input,
}

impl User {
    /// A user before its first transaction.
    pub(super) fn new(runner: TransactionRunner, inputs: UserInputs) -> Self {
        // Stands in until the first draw, which draws it again.
        let input = inputs.clone().next_input();
        Self { runner, inputs, input }
    }
}

impl VirtualUser for User {
    fn draw(&mut self) -> usize {
        self.input = self.inputs.next_input();
        self.input.transaction() as usize
    }

    async fn run(&mut self) -> Result<Completion, Error> {
        self.runner.transact(&self.input).await
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
