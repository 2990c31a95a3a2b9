//! Two transactions that meet, held at the worst place by a lock of a third session.

use super::super::session_work::SessionWork;
use super::super::transactions::{delivery, new_order, payment};
use super::OltpBench;
use super::meeting::{First, meet};
use crate::workloads::blocking_session::{hundredths, integer};
use proofload_gen::tprocc::inputs::{CustomerBy, Delivery, Line, MAX_LINES, NewOrder, Payment};
use proofload_gen::tprocc::population::Hundredths;
use proofload_model::error::Error;
use std::fmt::Debug;
use tokio::runtime::Runtime;

/// Fails unless both are equal.
pub(super) fn equal<T: Debug + PartialEq>(what: &str, found: T, expected: T) -> Result<(), Error> {
    let wrong = || Error::new(format!("{what}: {found:?} instead of {expected:?}"));
    if found == expected { Ok(()) } else { Err(wrong()) }
}

/// The first Delivery has taken the heads of all queues and waits for a customer of the last district; the second comes
/// to the same heads. It must deliver the next order of each district.
pub(in crate::workloads::tprocc) fn two_deliveries(bench: &OltpBench) -> Result<(), Error> {
    let last = ("customer", "c_w_id = 1 AND c_d_id = 10");
    let deliver = |runtime: &Runtime, work: &mut SessionWork| {
        Ok(runtime.block_on(delivery::run(work, &Delivery { w_id: 1, o_carrier_id: 3 }))?)
    };
    let (first, second) = meet(bench, last, First::GoesOn, deliver, deliver)?;
    equal("orders delivered", (first.delivered(), second.delivered()), (10, 10))?;
    for (first, second) in first.orders.iter().zip(second.orders) {
        equal("the order of the second Delivery", second, first.map(|o_id| o_id + 1))?;
    }
    Ok(())
}

/// Both pay for one customer from different warehouses; the first waits for the row of the customer and the second
/// behind it.
pub(in crate::workloads::tprocc) fn two_payments(bench: &OltpBench) -> Result<(), Error> {
    let key = "c_w_id = 2 AND c_d_id = 3 AND c_id = 5";
    let balance = || -> Result<[i64; 3], Error> {
        let sql = format!("SELECT c_balance, c_ytd_payment, c_payment_cnt FROM customer WHERE {key}");
        let row = bench.session()?.one_row(&sql)?;
        Ok([hundredths(&row, 0)?, hundredths(&row, 1)?, integer(&row, 2)?])
    };
    let [owed, paid, payments] = balance()?;
    let pay = |w_id: i32, cents: i64| {
        move |runtime: &Runtime, work: &mut SessionWork| {
            let (customer, h_amount) = (CustomerBy::Id(5), Hundredths(cents));
            let input = Payment { w_id, d_id: 3, c_w_id: 2, c_d_id: 3, customer, h_amount };
            Ok(runtime.block_on(payment::run(work, &input))?)
        }
    };
    let (first, second) = meet(bench, ("customer", key), First::GoesOn, pay(1, 1_000), pay(2, 250))?;
    equal("customers", (first.c_id, second.c_id), (5, 5))?;
    equal("what the customer owes and paid", balance()?, [owed - 1_250, paid + 1_250, payments + 2])
}

/// Both enter an order in one district, and the first has an unused item: it waits for a row of stock, the second for
/// the district. The number that the first gives back goes to the second.
pub(in crate::workloads::tprocc) fn an_order_rolled_back(bench: &OltpBench) -> Result<(), Error> {
    let enter = |rolls_back: bool| {
        move |runtime: &Runtime, work: &mut SessionWork| {
            let mut all_lines = [Line { ol_i_id: 77, ol_supply_w_id: 1, ol_quantity: 2 }; MAX_LINES];
            if rolls_back {
                all_lines[4].ol_i_id = 1001;
            }
            let input = NewOrder { w_id: 1, d_id: 4, c_id: 9, ol_cnt: 5, all_lines, rolls_back };
            Ok(runtime.block_on(new_order::run(work, &input))?)
        }
    };
    let held = "s_w_id = 1 AND s_i_id = 77";
    let stock = || integer(&bench.session()?.one_row(&format!("SELECT s_ytd FROM stock WHERE {held}"))?, 0);
    let before = stock()?;
    let (first, second) = meet(bench, ("stock", held), First::GoesOn, enter(true), enter(false))?;
    equal("who was rolled back", (first.rolled_back, second.rolled_back), (true, false))?;
    equal("the number of the second order", second.o_id, first.o_id)?;
    equal("what was taken from stock", stock()? - before, 10)
}
