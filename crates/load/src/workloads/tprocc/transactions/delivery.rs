//! Delivery (clause 2.7): one transaction for the ten districts; as statements three flights: take from the queues,
//! date orders and lines, credit the customers.

use super::by_procedure;
use crate::workloads::tprocc::session_work::{Columns as _, SessionWork, int, only, wrong};
use crate::workloads::tprocc::settings::Form;
use crate::workloads::tprocc::statements as sql;
use proofload_engine::{Control, Decimal, Error, Value};
use proofload_gen::tprocc::inputs::Delivery;

/// Districts of a warehouse.
pub(crate) const DISTRICTS: usize = proofload_gen::tprocc::DISTRICTS_PER_WAREHOUSE as usize;

/// Result of a Delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveryOutput {
    /// The order delivered of each district, by d_id from 1; `None` where the queue was empty.
    pub(crate) orders: [Option<i32>; DISTRICTS],
}

impl DeliveryOutput {
    /// Number of orders delivered.
    pub(crate) fn delivered(&self) -> usize {
        self.orders.iter().flatten().count()
    }
}

/// Runs one Delivery.
pub(crate) async fn run(work: &mut SessionWork, input: &Delivery) -> Result<DeliveryOutput, Error> {
    match work.form {
        Form::Statements => by_statements(work, input).await,
        Form::Procedures => by_procedure::delivery(work, input).await,
    }
}

async fn by_statements(work: &mut SessionWork, input: &Delivery) -> Result<DeliveryOutput, Error> {
    let date = work.date();
    let output = take(work, input).await?;
    if output.delivered() > 0 {
        date_orders(work, input, date, &output).await?;
    }
    credit(work, input, &output)?;
    work.fly_first().await?;
    match (0..output.delivered()).find(|call| work.first.answer(*call).affected() != 1) {
        Some(call) => {
            Err(wrong(format!("the customer of delivered order {:?} does not exist", taken(&output).nth(call))))
        }
        None => Ok(output),
    }
}

/// The d_id and order of each district that had one.
fn taken(output: &DeliveryOutput) -> impl Iterator<Item = (i32, i32)> {
    (1..).zip(output.orders).filter_map(|(d_id, order)| Some((d_id, order?)))
}

/// Takes the oldest order from each queue.
async fn take(work: &mut SessionWork, input: &Delivery) -> Result<DeliveryOutput, Error> {
    let flight = &mut work.first;
    flight.clear();
    flight.control(Control::Begin);
    for d_id in (1..).take(DISTRICTS) {
        flight.call(sql::DELIVERY_TAKE, &[int(input.w_id), int(d_id)]);
    }
    work.fly_first().await?;
    let mut orders = [None; DISTRICTS];
    for (index, order) in orders.iter_mut().enumerate() {
        *order = work.first.row(index + 1, 0).map(|row| row.int(0)).transpose()?;
    }
    Ok(DeliveryOutput { orders })
}

/// Gives the orders their carrier and the lines their date.
async fn date_orders(
    work: &mut SessionWork,
    input: &Delivery,
    date: Value<'_>,
    output: &DeliveryOutput,
) -> Result<(), Error> {
    let flight = &mut work.second;
    flight.clear();
    for (d_id, o_id) in taken(output) {
        let key = [int(input.w_id), int(d_id), int(o_id)];
        flight.call(sql::DELIVERY_ORDER, &[key[0], key[1], key[2], int(input.o_carrier_id)]);
        flight.call(sql::DELIVERY_LINES, &[key[0], key[1], key[2], date]);
    }
    work.fly_second().await
}

/// Fills the last flight: each customer is credited with the sum of the order's lines.
fn credit(work: &mut SessionWork, input: &Delivery, output: &DeliveryOutput) -> Result<(), Error> {
    let SessionWork { first, second, .. } = work;
    first.clear();
    for (index, (d_id, o_id)) in taken(output).enumerate() {
        let (order, lines) = (2 * index, 2 * index + 1);
        let c_id = only(second, order, "orders for the head of a queue")?.int(0)?;
        if second.rows(lines) == 0 {
            return Err(wrong(format!("order ({}, {d_id}, {o_id}) has no lines", input.w_id)));
        }
        let mut units = 0;
        for row in 0..second.rows(lines) {
            units += second.row(lines, row).expect("the row is counted").units(0, 2)?;
        }
        let amount = Value::Decimal(Decimal { units, scale: 2 });
        first.call(sql::DELIVERY_CUSTOMER, &[int(input.w_id), int(d_id), int(c_id), amount]);
    }
    first.control(Control::Commit);
    Ok(())
}
