//! The five transactions by procedures stored in the server: each one call, outside a transaction, hence one round
//! trip. The procedures are in the suite; this module has only inputs and answers. May not decide anything that a
//! procedure must.

use super::delivery::{DISTRICTS, DeliveryOutput};
use super::new_order::NewOrderOutput;
use super::order_status::OrderStatusOutput;
use super::payment::PaymentOutput;
use crate::workloads::tprocc::session_work::{Columns as _, SessionWork, int, only, wrong};
use crate::workloads::tprocc::statements as sql;
use proofload_engine::{Decimal, Error, Row, StatementId, Value};
use proofload_gen::tprocc::Departure;
use proofload_gen::tprocc::inputs::{CustomerBy, Delivery, MAX_LINES, NewOrder, OrderStatus, Payment, StockLevel};

/// Calls one procedure; its answer is call 0 of the first flight.
async fn call(work: &mut SessionWork, procedure: StatementId, parameters: &[Value<'_>]) -> Result<(), Error> {
    work.first.clear();
    work.first.call(procedure, parameters);
    work.fly_first().await
}

/// The customer's number and last name as procedures take them: one of them is null.
fn named(customer: &CustomerBy) -> [Value<'_>; 2] {
    match customer {
        CustomerBy::Id(c_id) => [int(*c_id), Value::Null],
        CustomerBy::LastName(last) => [Value::Null, Value::Text(last.as_str())],
    }
}

/// Items, suppliers and quantities of the lines of an order.
pub(super) fn lists(input: &NewOrder) -> [[i32; MAX_LINES]; 3] {
    let [mut items, mut suppliers, mut quantities] = [[0; MAX_LINES]; 3];
    for (place, line) in input.lines().iter().enumerate() {
        (items[place], suppliers[place], quantities[place]) = (line.ol_i_id, line.ol_supply_w_id, line.ol_quantity);
    }
    [items, suppliers, quantities]
}

/// New-Order. The procedure has committed, or rolled back because a line has no item.
pub(super) async fn new_order(work: &mut SessionWork, input: &NewOrder) -> Result<NewOrderOutput, Error> {
    let lists = lists(input);
    let [items, suppliers, quantities] = lists.each_ref().map(|list| Value::Integers(&list[..input.lines().len()]));
    let (w_id, d_id, c_id, date) = (int(input.w_id), int(input.d_id), int(input.c_id), work.date());
    call(work, sql::CALL_NEW_ORDER, &[w_id, d_id, c_id, date, items, suppliers, quantities]).await?;
    let answer = only(&work.first, 0, "tprocc_new_order")?;
    answer.present(0)?;
    let missing = input.ol_cnt - answer.int(6)?;
    if missing != i32::from(input.rolls_back) {
        return Err(wrong(format!(
            "{missing} of {} lines have no item or stock, but {} are expected",
            input.ol_cnt,
            i32::from(input.rolls_back)
        )));
    }
    let (o_id, total) = (answer.int(0)?, Decimal { units: answer.units(7, 10)?, scale: 10 });
    // Brands come as the text of an array, such as {G,B,G}.
    let branded = answer.text(10)?.bytes().filter(|letter| *letter == b'B').count();
    let branded_lines = u32::try_from(branded).expect("at most one for each line");
    let rolled_back = missing > 0 && !work.departures.has(Departure::UnusedItemKept);
    Ok(NewOrderOutput { o_id, total, branded_lines, rolled_back })
}

/// Payment.
pub(super) async fn payment(work: &mut SessionWork, input: &Payment) -> Result<PaymentOutput, Error> {
    let [c_id, c_last] = named(&input.customer);
    let amount = Value::Decimal(Decimal { units: input.h_amount.0, scale: 2 });
    let [w_id, d_id, c_w_id, c_d_id] = [input.w_id, input.d_id, input.c_w_id, input.c_d_id].map(int);
    let date = work.date();
    call(work, sql::CALL_PAYMENT, &[w_id, d_id, c_w_id, c_d_id, c_id, c_last, amount, date]).await?;
    let answer = only(&work.first, 0, "tprocc_payment")?;
    // c_data comes for bad credit only.
    answer.present(4)?;
    if answer.text(2)? == "BC" {
        answer.text(3)?;
    }
    Ok(PaymentOutput { c_id: answer.int(0)?, c_balance: answer.units(1, 2)? })
}

/// Order-Status.
pub(super) async fn order_status(work: &mut SessionWork, input: &OrderStatus) -> Result<OrderStatusOutput, Error> {
    let [c_id, c_last] = named(&input.customer);
    call(work, sql::CALL_ORDER_STATUS, &[int(input.w_id), int(input.d_id), c_id, c_last]).await?;
    let line = only(&work.first, 0, "customer with an order and its lines")?;
    let c_id = line.int(0)?;
    line.units(1, 2)?;
    line.text(4)?;
    if work.departures.has(Departure::CustomersLost) && line.value(5) == Value::Null {
        return Ok(OrderStatusOutput { c_id, o_id: None, lines: 0 });
    }
    Ok(OrderStatusOutput { c_id, o_id: Some(line.int(5)?), lines: work.first.rows(0) })
}

/// Delivery.
pub(super) async fn delivery(work: &mut SessionWork, input: &Delivery) -> Result<DeliveryOutput, Error> {
    let date = work.date();
    call(work, sql::CALL_DELIVERY, &[int(input.w_id), int(input.o_carrier_id), date]).await?;
    let mut orders = [None; DISTRICTS];
    for (place, order) in orders.iter_mut().enumerate() {
        *order = delivered(work.first.row(0, place), place)?;
    }
    Ok(DeliveryOutput { orders })
}

/// The order delivered of a district, from the row at the district's index.
fn delivered(row: Option<Row<'_>>, place: usize) -> Result<Option<i32>, Error> {
    let row = row.ok_or_else(|| wrong(format!("tprocc_delivery returned nothing for district {}", place + 1)))?;
    if usize::try_from(row.int(0)?) != Ok(place + 1) {
        return Err(wrong(format!("tprocc_delivery returned district {} at position {}", row.int(0)?, place + 1)));
    }
    if row.value(1) == Value::Null { Ok(None) } else { row.int(1).map(Some) }
}

/// Stock-Level; returns how many items run short.
pub(super) async fn stock_level(work: &mut SessionWork, input: &StockLevel) -> Result<i32, Error> {
    call(work, sql::CALL_STOCK_LEVEL, &[input.w_id, input.d_id, input.threshold].map(int)).await?;
    let answer = only(&work.first, 0, "district")?;
    answer.present(0)?;
    answer.int(1)
}
