//! Order-Status (clause 2.6): read only; as statements one flight by number, two by last name.

use super::by_procedure;
use crate::workloads::tprocc::session_work::{Columns as _, SessionWork, int, only};
use crate::workloads::tprocc::settings::Form;
use crate::workloads::tprocc::statements as sql;
use proofload_engine::{Control, Error, Flight, Value};
use proofload_gen::tprocc::inputs::{CustomerBy, OrderStatus};
use proofload_gen::tprocc::{Departure, Departures};

/// Result of an Order-Status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderStatusOutput {
    /// The customer.
    pub(crate) c_id: i32,
    /// The customer's last order; `None` only where the data may have customers without orders.
    pub(crate) o_id: Option<i32>,
    /// Its lines.
    pub(crate) lines: usize,
}

/// Runs one Order-Status.
pub(crate) async fn run(work: &mut SessionWork, input: &OrderStatus) -> Result<OrderStatusOutput, Error> {
    match work.form {
        Form::Statements => by_statements(work, input).await,
        Form::Procedures => by_procedure::order_status(work, input).await,
    }
}

async fn by_statements(work: &mut SessionWork, input: &OrderStatus) -> Result<OrderStatusOutput, Error> {
    let (w_id, d_id) = (int(input.w_id), int(input.d_id));
    let flight = &mut work.first;
    flight.clear();
    flight.control(Control::BeginReadOnly);
    let customer = match &input.customer {
        CustomerBy::Id(c_id) => {
            flight.call(sql::ORDER_STATUS_CUSTOMER_BY_ID, &[w_id, d_id, int(*c_id)]);
            Some(*c_id)
        }
        CustomerBy::LastName(last) => {
            flight.call(sql::ORDER_STATUS_CUSTOMER_BY_NAME, &[w_id, d_id, Value::Text(last.as_str())]);
            None
        }
    };
    if let Some(c_id) = customer {
        flight.call(sql::ORDER_STATUS_ORDER, &[w_id, d_id, int(c_id)]);
        flight.control(Control::Commit);
        work.fly_first().await?;
        let found = only(&work.first, 1, "customer")?;
        found.present(0)?;
        return read_order(&work.first, 2, found.int(0)?, work.departures);
    }
    work.fly_first().await?;
    let found = only(&work.first, 1, "customer")?;
    found.present(0)?;
    let c_id = found.int(0)?;
    work.second.clear();
    work.second.call(sql::ORDER_STATUS_ORDER, &[w_id, d_id, int(c_id)]);
    work.second.control(Control::Commit);
    work.fly_second().await?;
    read_order(&work.second, 0, c_id, work.departures)
}

/// Reads the order and its lines; carrier and delivery date may be null.
fn read_order(flight: &Flight, call: usize, c_id: i32, departures: Departures) -> Result<OrderStatusOutput, Error> {
    if departures.has(Departure::CustomersLost) && flight.rows(call) == 0 {
        return Ok(OrderStatusOutput { c_id, o_id: None, lines: 0 });
    }
    let order = only(flight, call, "orders with its lines")?;
    Ok(OrderStatusOutput { c_id, o_id: Some(order.int(0)?), lines: flight.rows(call) })
}
