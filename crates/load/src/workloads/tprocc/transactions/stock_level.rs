//! Stock-Level (clause 2.8): read only; as statements one flight.

use super::by_procedure;
use crate::workloads::tprocc::session_work::{Columns as _, SessionWork, int, only};
use crate::workloads::tprocc::settings::Form;
use crate::workloads::tprocc::statements as sql;
use proofload_engine::{Control, Error};
use proofload_gen::tprocc::inputs::StockLevel;

/// Runs one Stock-Level; returns how many items run short.
pub(crate) async fn run(work: &mut SessionWork, input: &StockLevel) -> Result<i32, Error> {
    match work.form {
        Form::Statements => by_statements(work, input).await,
        Form::Procedures => by_procedure::stock_level(work, input).await,
    }
}

async fn by_statements(work: &mut SessionWork, input: &StockLevel) -> Result<i32, Error> {
    let flight = &mut work.first;
    flight.clear();
    flight.control(Control::BeginReadOnly);
    let call = flight.call(sql::STOCK_LEVEL, &[int(input.w_id), int(input.d_id), int(input.threshold)]);
    flight.control(Control::Commit);
    work.fly_first().await?;
    let found = only(&work.first, call, "district")?;
    found.present(0)?;
    found.int(1)
}
