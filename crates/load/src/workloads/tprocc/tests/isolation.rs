//! The isolation tests of clause 3.4.2, by its numbers, on PostgreSQL at the isolation that every run uses, in both
//! forms. Where the clause has a transaction read twice to show that nothing came between, ours reads once: shown is
//! that what it read is what it wrote. Number 4 is
//! `races.rs::an_order_that_is_rolled_back_leaves_its_number_to_the_next`.

use super::case::Case;
use super::meeting::{First, beside, in_both_forms, meet, with_terminal};
use crate::workloads::blocking_session::{hundredths, integer};
use crate::workloads::tprocc::session_work::SessionWork;
use crate::workloads::tprocc::transactions::new_order::NewOrderOutput;
use crate::workloads::tprocc::transactions::order_status::OrderStatusOutput;
use crate::workloads::tprocc::transactions::{delivery, new_order, order_status, payment};
use proofload_gen::tprocc::inputs::{CustomerBy, Delivery, Line, MAX_LINES, NewOrder, OrderStatus, Payment};
use proofload_gen::tprocc::population::Hundredths;
use tokio::runtime::Runtime;

/// District of warehouse 1 in which orders of customer 9 meet.
const DISTRICT: i32 = 4;
const CUSTOMER: i32 = 9;
/// The item whose row of stock is held, so that an order of it stands still before its end.
const ITEM: i32 = 77;
const HELD_STOCK: &str = "SELECT 1 FROM stock WHERE s_w_id = 1 AND s_i_id = 77 FOR UPDATE";

/// Enters an order of that customer: so many lines of one item; the last of an unused one where it is to be rolled
/// back.
fn enter(
    d_id: i32,
    item: i32,
    lines: i32,
    rolls_back: bool,
) -> impl FnOnce(&Runtime, &mut SessionWork) -> NewOrderOutput + Send {
    move |runtime, work| {
        let mut all_lines = [Line { ol_i_id: item, ol_supply_w_id: 1, ol_quantity: 2 }; MAX_LINES];
        if rolls_back {
            all_lines[usize::try_from(lines - 1).unwrap()].ol_i_id = 1001;
        }
        let input = NewOrder { w_id: 1, d_id, c_id: CUSTOMER, ol_cnt: lines, all_lines, rolls_back };
        runtime.block_on(new_order::run(work, &input)).unwrap()
    }
}

fn status(case: &Case) -> OrderStatusOutput {
    with_terminal(case, |runtime, work| {
        let input = OrderStatus { w_id: 1, d_id: DISTRICT, customer: CustomerBy::Id(CUSTOMER) };
        runtime.block_on(order_status::run(work, &input)).unwrap()
    })
}

fn number(case: &Case, sql: &str) -> i64 {
    integer(&case.session().one_row(sql).unwrap(), 0).unwrap()
}

/// 1 and 2: the customer's last order is the one before, until a new one is committed; never one that is rolled back.
#[test]
fn an_order_is_seen_when_it_is_committed_and_not_before() {
    in_both_forms(|case| {
        for rolls_back in [true, false] {
            let before = status(case);
            let (entered, seen) = beside(case, HELD_STOCK, enter(DISTRICT, ITEM, 5, rolls_back), || status(case));
            assert_eq!(seen, before);
            assert_eq!(entered.rolled_back, rolls_back);
            let after = status(case);
            if rolls_back {
                assert_eq!(after, before);
            } else {
                assert_eq!((after.o_id, after.lines), (Some(entered.o_id), 5));
            }
        }
    });
}

/// 3: of two orders of one district the second waits, and has the next number.
#[test]
fn two_orders_of_one_district_have_numbers_in_turn() {
    in_both_forms(|case| {
        let enter = || enter(DISTRICT, ITEM, 5, false);
        let (first, second) = meet(case, HELD_STOCK, First::GoesOn, enter(), enter());
        assert_eq!(second.o_id, first.o_id + 1);
    });
}

/// The customer of the order that is delivered next in district 1, and its amount in hundredths.
fn next_delivered(case: &Case) -> (i32, i64) {
    let sql = "SELECT o_c_id, (SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = o_id) \
               FROM orders WHERE o_w_id = 1 AND o_d_id = 1 \
               AND o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = 1 AND no_d_id = 1)";
    let row = case.session().one_row(sql).unwrap();
    (i32::try_from(integer(&row, 0).unwrap()).unwrap(), hundredths(&row, 1).unwrap())
}

/// 5 and 6: a Delivery and a Payment of one customer, the Delivery first: both are booked, or the Payment alone when
/// the Delivery is ended.
#[test]
fn a_payment_waits_for_the_delivery_to_its_customer() {
    in_both_forms(|case| {
        for ended in [true, false] {
            let (c_id, amount) = next_delivered(case);
            let key = format!("c_w_id = 1 AND c_d_id = 1 AND c_id = {c_id}");
            let balance = || {
                let row = case.session().one_row(&format!("SELECT c_balance FROM customer WHERE {key}")).unwrap();
                hundredths(&row, 0).unwrap()
            };
            let before = balance();
            let deliver = |runtime: &Runtime, work: &mut SessionWork| {
                runtime.block_on(delivery::run(work, &Delivery { w_id: 1, o_carrier_id: 3 })).is_ok()
            };
            let pay = |runtime: &Runtime, work: &mut SessionWork| {
                let (customer, h_amount) = (CustomerBy::Id(c_id), Hundredths(250));
                let input = Payment { w_id: 1, d_id: 1, c_w_id: 1, c_d_id: 1, customer, h_amount };
                runtime.block_on(payment::run(work, &input)).is_ok()
            };
            let lock = format!("SELECT 1 FROM customer WHERE {key} FOR UPDATE");
            let fate = if ended { First::IsEnded } else { First::GoesOn };
            assert_eq!(meet(case, &lock, fate, deliver, pay), (!ended, true));
            assert_eq!(balance(), before - 250 + if ended { 0 } else { amount });
            assert_eq!(next_delivered(case).0 == c_id, ended, "an ended Delivery leaves its order in the queue");
        }
    });
}

/// 7: the price changes while an order of several lines is entered: all its lines and its total have one price.
#[test]
fn an_order_has_one_price_of_an_item() {
    in_both_forms(|case| {
        let raise =
            || case.session().script(&format!("UPDATE item SET i_price = i_price + 1 WHERE i_id = {ITEM}")).unwrap();
        let (entered, ()) = beside(case, HELD_STOCK, enter(DISTRICT, ITEM, 7, false), raise);
        let of_order = format!("ol_w_id = 1 AND ol_d_id = {DISTRICT} AND ol_o_id = {}", entered.o_id);
        let prices = format!("SELECT count(DISTINCT ol_amount), count(*) FROM order_line WHERE {of_order}");
        let row = case.session().one_row(&prices).unwrap();
        assert_eq!((integer(&row, 0).unwrap(), integer(&row, 1).unwrap()), (1, 7));
    });
}

/// 8: a Delivery that found a queue empty does not deliver what is entered before it ends.
#[test]
fn a_delivery_that_found_no_order_delivers_none() {
    in_both_forms(|case| {
        case.session().script("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1").unwrap();
        let last = "SELECT 1 FROM customer WHERE c_w_id = 1 AND c_d_id = 10 FOR UPDATE";
        let deliver = |runtime: &Runtime, work: &mut SessionWork| {
            runtime.block_on(delivery::run(work, &Delivery { w_id: 1, o_carrier_id: 3 })).unwrap()
        };
        let (delivered, entered) = beside(case, last, deliver, || with_terminal(case, enter(1, ITEM, 5, false)));
        assert_eq!((delivered.orders[0], delivered.delivered()), (None, 9));
        let waits = format!(
            "SELECT count(*) FROM new_order JOIN orders ON (o_w_id, o_d_id, o_id) = (no_w_id, no_d_id, no_o_id) \
             WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = {} AND o_carrier_id IS NULL",
            entered.o_id
        );
        assert_eq!(number(case, &waits), 1);
    });
}

/// 9: while orders are entered, an Order-Status has a whole one, and never one before what it had.
#[test]
fn an_order_status_has_the_lines_of_the_order_it_found() {
    in_both_forms(|case| {
        let mut seen: Vec<OrderStatusOutput> = std::thread::scope(|scope| {
            let entering = scope.spawn(|| {
                with_terminal(case, |runtime, work| {
                    for round in 0..120 {
                        enter(DISTRICT, ITEM, 5 + round % 11, false)(runtime, work);
                    }
                });
            });
            with_terminal(case, |runtime, work| {
                let input = OrderStatus { w_id: 1, d_id: DISTRICT, customer: CustomerBy::Id(CUSTOMER) };
                let mut seen = Vec::new();
                while !entering.is_finished() {
                    seen.push(runtime.block_on(order_status::run(work, &input)).unwrap());
                }
                seen
            })
        });
        assert!(seen.iter().map(|one| one.o_id).is_sorted() && seen.first() != seen.last());
        seen.dedup();
        for one in seen {
            let o_id = one.o_id.expect("every customer has an order");
            let lines =
                format!("SELECT o_ol_cnt FROM orders WHERE o_w_id = 1 AND o_d_id = {DISTRICT} AND o_id = {o_id}");
            assert_eq!(number(case, &lines), i64::try_from(one.lines).unwrap());
        }
    });
}
