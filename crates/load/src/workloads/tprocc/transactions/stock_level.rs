//! Stock-Level (clause 2.8): read only; as statements one flight.

use super::by_procedure;
use crate::workloads::tprocc::settings::Form;
use crate::workloads::tprocc::statements as sql;
use crate::workloads::tprocc::terminal::{Columns as _, Terminal, int, only};
use proofload_engine::{Control, Error};
use proofload_gen::tprocc::inputs::StockLevel;

/// Runs one Stock-Level; returns how many items run short.
pub(in crate::workloads::tprocc) async fn run(terminal: &mut Terminal, input: &StockLevel) -> Result<i32, Error> {
    match terminal.form {
        Form::Statements => by_statements(terminal, input).await,
        Form::Procedures => by_procedure::stock_level(terminal, input).await,
    }
}

async fn by_statements(terminal: &mut Terminal, input: &StockLevel) -> Result<i32, Error> {
    let flight = &mut terminal.first;
    flight.clear();
    flight.control(Control::BeginReadOnly);
    let call = flight.call(sql::STOCK_LEVEL, &[int(input.w_id), int(input.d_id), int(input.threshold)]);
    flight.control(Control::Commit);
    terminal.fly_first().await?;
    let found = only(&terminal.first, call, "district")?;
    found.present(0)?;
    found.int(1)
}
