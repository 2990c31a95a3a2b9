//! What New-Order and Payment in one flight must not commit: the end is sent before an answer has come, so the server has to refuse it.

use super::case::Case;
use crate::workloads::tprocc::session_work::SessionWork;
use crate::workloads::tprocc::transactions::{new_order, payment};
use proofload_engine::{Error, ErrorClass};
use proofload_gen::tprocc::inputs::{CustomerBy, Line, MAX_LINES, NewOrder, Payment};
use proofload_gen::tprocc::population::Hundredths;
use tokio::runtime::Runtime;

/// Runs what must fail on data that are not whole; afterwards they are as before.
fn check(spoil: &str, says: &str, run: impl FnOnce(&Runtime, &mut SessionWork) -> Result<(), Error>) {
    let Some(case) = Case::built("postgresql", &[("form", "statements")]) else { return };
    if !spoil.is_empty() {
        case.session().script(spoil).unwrap();
    }
    let before = case.content();
    let (runtime, mut work) = case.work();
    let error = run(&runtime, &mut work).unwrap_err();
    assert!(error.class() == ErrorClass::Data && error.to_string().contains(says), "{error}");
    runtime.block_on(work.roll_back()).unwrap();
    assert_eq!(case.content(), before);
}

/// An order of customer 3 of district (1, 2) for five lines, the last of this item.
fn order(item: i32) -> impl FnOnce(&Runtime, &mut SessionWork) -> Result<(), Error> {
    let mut all_lines = [Line::default(); MAX_LINES];
    for (place, line) in all_lines[..5].iter_mut().enumerate() {
        *line = Line { ol_i_id: if place == 4 { item } else { 77 }, ol_supply_w_id: 1, ol_quantity: 5 };
    }
    let input = NewOrder { w_id: 1, d_id: 2, c_id: 3, ol_cnt: 5, all_lines, rolls_back: false };
    move |runtime, work| runtime.block_on(new_order::run(work, &input)).map(drop)
}

fn pay(c_id: i32) -> impl FnOnce(&Runtime, &mut SessionWork) -> Result<(), Error> {
    let (customer, h_amount) = (CustomerBy::Id(c_id), Hundredths(1_250));
    let input = Payment { w_id: 1, d_id: 2, c_w_id: 1, c_d_id: 2, customer, h_amount };
    move |runtime, work| runtime.block_on(payment::run(work, &input)).map(drop)
}

#[test]
fn an_order_of_an_item_that_is_missing_is_not_committed() {
    check("", "ol_amount", order(1001));
}

#[test]
fn an_order_without_stock_district_customer_or_warehouse_is_not_committed() {
    check("DELETE FROM stock WHERE s_w_id = 1 AND s_i_id = 78", "ol_dist_info", order(78));
    check("DELETE FROM district WHERE d_w_id = 1 AND d_id = 2", "o_id", order(78));
    check("DELETE FROM customer WHERE c_w_id = 1 AND c_d_id = 2 AND c_id = 3", "o_c_id", order(78));
    check("DELETE FROM warehouse WHERE w_id = 1", "o_w_id", order(78));
}

#[test]
fn a_payment_without_customer_district_or_warehouse_is_not_committed() {
    check("", "h_c_id", pay(999));
    check("DELETE FROM district WHERE d_w_id = 1 AND d_id = 2", "h_data", pay(3));
    check("DELETE FROM warehouse WHERE w_id = 1", "h_data", pay(3));
}
