//! The isolation tests of clause 3.4.2, by its numbers, at the isolation that every run uses. Where the clause has a transaction read twice
//! to show that nothing came between, ours reads once: shown is that what it read is what it wrote. Number 4 is
//! [`super::races::an_order_rolled_back`].

use super::super::session_work::SessionWork;
use super::super::transactions::new_order::NewOrderOutput;
use super::super::transactions::order_status::OrderStatusOutput;
use super::super::transactions::{delivery, new_order, order_status, payment};
use super::OltpBench;
use super::meeting::{First, Held, beside, meet, panicked, with_terminal};
use super::races::equal;
use crate::workloads::blocking_session::{hundredths, integer};
use proofload_gen::tprocc::inputs::{CustomerBy, Delivery, Line, MAX_LINES, NewOrder, OrderStatus, Payment};
use proofload_gen::tprocc::population::Hundredths;
use proofload_model::error::Error;
use tokio::runtime::Runtime;

/// District of warehouse 1 in which orders of customer 9 meet.
const DISTRICT: i32 = 4;
const CUSTOMER: i32 = 9;
/// The item whose row of stock is held, so that an order of it stands still before its end.
const ITEM: i32 = 77;
const HELD_STOCK: Held<'_> = ("stock", "s_w_id = 1 AND s_i_id = 77");

/// Enters an order of that customer: so many lines of one item; the last of an unused one where it is to be rolled
/// back.
fn enter(
    d_id: i32,
    lines: i32,
    rolls_back: bool,
) -> impl FnOnce(&Runtime, &mut SessionWork) -> Result<NewOrderOutput, Error> + Send {
    move |runtime, work| {
        let mut all_lines = [Line { ol_i_id: ITEM, ol_supply_w_id: 1, ol_quantity: 2 }; MAX_LINES];
        let last = all_lines.get_mut(usize::try_from(lines - 1).unwrap_or(0)).filter(|_| rolls_back);
        if let Some(last) = last {
            last.ol_i_id = 1001;
        }
        let input = NewOrder { w_id: 1, d_id, c_id: CUSTOMER, ol_cnt: lines, all_lines, rolls_back };
        Ok(runtime.block_on(new_order::run(work, &input))?)
    }
}

fn status(bench: &OltpBench) -> Result<OrderStatusOutput, Error> {
    with_terminal(bench, |runtime, work| {
        let input = OrderStatus { w_id: 1, d_id: DISTRICT, customer: CustomerBy::Id(CUSTOMER) };
        Ok(runtime.block_on(order_status::run(work, &input))?)
    })
}

fn number(bench: &OltpBench, sql: &str) -> Result<i64, Error> {
    integer(&bench.session()?.one_row(sql)?, 0)
}

/// 1 and 2: the customer's last order is the one before, until a new one is committed; never one that is rolled back.
pub(in crate::workloads::tprocc) fn orders_are_seen_when_committed(bench: &OltpBench) -> Result<(), Error> {
    for rolls_back in [true, false] {
        let before = status(bench)?;
        let (entered, seen) = beside(bench, HELD_STOCK, enter(DISTRICT, 5, rolls_back), || status(bench))?;
        equal("the last order while another is entered", seen, before)?;
        equal("whether it was rolled back", entered.rolled_back, rolls_back)?;
        let after = status(bench)?;
        if rolls_back {
            equal("the last order after one that was rolled back", after, before)?;
        } else {
            equal("the last order after its commit", (after.o_id, after.lines), (Some(entered.o_id), 5))?;
        }
    }
    Ok(())
}

/// 3: of two orders of one district the second waits, and has the next number.
pub(in crate::workloads::tprocc) fn two_orders_of_one_district(bench: &OltpBench) -> Result<(), Error> {
    let enter = || enter(DISTRICT, 5, false);
    let (first, second) = meet(bench, HELD_STOCK, First::GoesOn, enter(), enter())?;
    equal("the number of the second order", second.o_id, first.o_id + 1)
}

/// The customer of the order that is delivered next in district 1, and its amount in hundredths.
fn next_delivered(bench: &OltpBench) -> Result<(i32, i64), Error> {
    let sql = "SELECT o_c_id, (SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = o_id) \
               FROM orders WHERE o_w_id = 1 AND o_d_id = 1 \
               AND o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = 1 AND no_d_id = 1)";
    let row = bench.session()?.one_row(sql)?;
    let customer = i32::try_from(integer(&row, 0)?).map_err(|_| Error::new("o_c_id is out of range"))?;
    Ok((customer, hundredths(&row, 1)?))
}

/// 5 and 6: a Delivery and a Payment of one customer, the Delivery first: both are booked, or the Payment alone when
/// the Delivery is ended.
pub(in crate::workloads::tprocc) fn a_payment_and_a_delivery(bench: &OltpBench) -> Result<(), Error> {
    for ended in [true, false] {
        let (c_id, amount) = next_delivered(bench)?;
        let key = format!("c_w_id = 1 AND c_d_id = 1 AND c_id = {c_id}");
        let balance = || {
            let row = bench.session()?.one_row(&format!("SELECT c_balance FROM customer WHERE {key}"))?;
            hundredths(&row, 0)
        };
        let before = balance()?;
        let deliver = |runtime: &Runtime, work: &mut SessionWork| {
            Ok(runtime.block_on(delivery::run(work, &Delivery { w_id: 1, o_carrier_id: 3 })).is_ok())
        };
        let pay = |runtime: &Runtime, work: &mut SessionWork| {
            let (customer, h_amount) = (CustomerBy::Id(c_id), Hundredths(250));
            let input = Payment { w_id: 1, d_id: 1, c_w_id: 1, c_d_id: 1, customer, h_amount };
            Ok(runtime.block_on(payment::run(work, &input)).is_ok())
        };
        let fate = if ended { First::IsEnded } else { First::GoesOn };
        equal("who was booked", meet(bench, ("customer", &key), fate, deliver, pay)?, (!ended, true))?;
        equal("the balance", balance()?, before - 250 + if ended { 0 } else { amount })?;
        let is_left = next_delivered(bench)?.0 == c_id;
        equal("whether the order is left in the queue", is_left, ended)?;
    }
    Ok(())
}

/// 7: the price changes while an order of several lines is entered: all its lines and its total have one price.
pub(in crate::workloads::tprocc) fn one_price_of_an_item(bench: &OltpBench) -> Result<(), Error> {
    let raise = || bench.session()?.script(&format!("UPDATE item SET i_price = i_price + 1 WHERE i_id = {ITEM}"));
    let (entered, ()) = beside(bench, HELD_STOCK, enter(DISTRICT, 7, false), raise)?;
    let of_order = format!("ol_w_id = 1 AND ol_d_id = {DISTRICT} AND ol_o_id = {}", entered.o_id);
    let prices = format!("SELECT count(DISTINCT ol_amount), count(*) FROM order_line WHERE {of_order}");
    let row = bench.session()?.one_row(&prices)?;
    equal("prices and lines", (integer(&row, 0)?, integer(&row, 1)?), (1, 7))
}

/// 8: a Delivery that found a queue empty does not deliver what is entered before it ends.
pub(in crate::workloads::tprocc) fn a_delivery_that_found_no_order(bench: &OltpBench) -> Result<(), Error> {
    bench.session()?.script("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1")?;
    let last = ("customer", "c_w_id = 1 AND c_d_id = 10");
    let deliver = |runtime: &Runtime, work: &mut SessionWork| {
        Ok(runtime.block_on(delivery::run(work, &Delivery { w_id: 1, o_carrier_id: 3 }))?)
    };
    let (delivered, entered) = beside(bench, last, deliver, || with_terminal(bench, enter(1, 5, false)))?;
    equal("what was delivered", (delivered.orders[0], delivered.delivered()), (None, 9))?;
    let waits = format!(
        "SELECT count(*) FROM new_order JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id \
         WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = {} AND o_carrier_id IS NULL",
        entered.o_id
    );
    equal("orders that wait", number(bench, &waits)?, 1)
}

/// 9: while orders are entered, an Order-Status has a whole one, and never one before what it had.
pub(in crate::workloads::tprocc) fn whole_orders(bench: &OltpBench) -> Result<(), Error> {
    let mut seen: Vec<OrderStatusOutput> = std::thread::scope(|scope| {
        let entering = scope.spawn(|| {
            with_terminal(bench, |runtime, work| {
                (0..120).try_for_each(|round| enter(DISTRICT, 5 + round % 11, false)(runtime, work).map(drop))
            })
        });
        let seen = with_terminal(bench, |runtime, work| {
            let input = OrderStatus { w_id: 1, d_id: DISTRICT, customer: CustomerBy::Id(CUSTOMER) };
            let mut seen = Vec::new();
            while !entering.is_finished() {
                seen.push(runtime.block_on(order_status::run(work, &input))?);
            }
            seen.push(runtime.block_on(order_status::run(work, &input))?);
            Ok(seen)
        });
        entering.join().map_err(panicked)??;
        seen
    })?;
    equal("orders that were seen in turn", seen.iter().map(|one| one.o_id).is_sorted(), true)?;
    equal("whether nothing new was seen", seen.first() == seen.last(), false)?;
    seen.dedup();
    for one in seen {
        let o_id = one.o_id.ok_or_else(|| Error::new("a customer has no order"))?;
        let lines = format!("SELECT o_ol_cnt FROM orders WHERE o_w_id = 1 AND o_d_id = {DISTRICT} AND o_id = {o_id}");
        equal("lines of an order", i64::try_from(one.lines).unwrap_or(-1), number(bench, &lines)?)?;
    }
    Ok(())
}
