//! Two transactions that meet, held at the worst place by a lock of a third session: the order of events is seen in the
//! server and not hoped for. In both forms.

use super::meeting::{First, in_both_forms, meet};
use crate::workloads::blocking_session::{hundredths, integer};
use crate::workloads::tprocc::session_work::SessionWork;
use crate::workloads::tprocc::transactions::{delivery, new_order, payment};
use proofload_gen::tprocc::inputs::{CustomerBy, Delivery, Line, MAX_LINES, NewOrder, Payment};
use proofload_gen::tprocc::population::Hundredths;
use tokio::runtime::Runtime;

/// The first Delivery has taken the heads of all queues and waits for a customer of the last district; the second comes
/// to the same heads. It must deliver the next order of each district.
#[test]
fn two_deliveries_of_one_warehouse_deliver_different_orders() {
    in_both_forms(|case| {
        let last = "SELECT 1 FROM customer WHERE c_w_id = 1 AND c_d_id = 10 FOR UPDATE";
        let deliver = |runtime: &Runtime, work: &mut SessionWork| {
            runtime.block_on(delivery::run(work, &Delivery { w_id: 1, o_carrier_id: 3 })).unwrap()
        };
        let (first, second) = meet(case, last, First::GoesOn, deliver, deliver);
        assert_eq!((first.delivered(), second.delivered()), (10, 10));
        for (first, second) in first.orders.iter().zip(second.orders) {
            assert_eq!(first.map(|o_id| o_id + 1), second);
        }
    });
}

/// Both pay for one customer from different warehouses; the first waits for the row of the customer and the second
/// behind it.
#[test]
fn two_payments_of_one_customer_are_both_booked() {
    in_both_forms(|case| {
        let key = "c_w_id = 2 AND c_d_id = 3 AND c_id = 5";
        let balance = || {
            let sql = format!("SELECT c_balance, c_ytd_payment, c_payment_cnt FROM customer WHERE {key}");
            let row = case.session().one_row(&sql).unwrap();
            [hundredths(&row, 0).unwrap(), hundredths(&row, 1).unwrap(), integer(&row, 2).unwrap()]
        };
        let [owed, paid, payments] = balance();
        let pay = |w_id: i32, cents: i64| {
            move |runtime: &Runtime, work: &mut SessionWork| {
                let (customer, h_amount) = (CustomerBy::Id(5), Hundredths(cents));
                let input = Payment { w_id, d_id: 3, c_w_id: 2, c_d_id: 3, customer, h_amount };
                runtime.block_on(payment::run(work, &input)).unwrap()
            }
        };
        let lock = format!("SELECT 1 FROM customer WHERE {key} FOR UPDATE");
        let (first, second) = meet(case, &lock, First::GoesOn, pay(1, 1_000), pay(2, 250));
        assert_eq!((first.c_id, second.c_id), (5, 5));
        assert_eq!(balance(), [owed - 1_250, paid + 1_250, payments + 2]);
    });
}

/// Both enter an order in one district, and the first has an unused item: it waits for a row of stock, the second for
/// the district. The number that the first gives back goes to the second.
#[test]
fn an_order_that_is_rolled_back_leaves_its_number_to_the_next() {
    in_both_forms(|case| {
        let enter = |rolls_back: bool| {
            move |runtime: &Runtime, work: &mut SessionWork| {
                let mut all_lines = [Line { ol_i_id: 77, ol_supply_w_id: 1, ol_quantity: 2 }; MAX_LINES];
                if rolls_back {
                    all_lines[4].ol_i_id = 1001;
                }
                let input = NewOrder { w_id: 1, d_id: 4, c_id: 9, ol_cnt: 5, all_lines, rolls_back };
                runtime.block_on(new_order::run(work, &input)).unwrap()
            }
        };
        let stock = || {
            integer(&case.session().one_row("SELECT s_ytd FROM stock WHERE s_w_id = 1 AND s_i_id = 77").unwrap(), 0)
                .unwrap()
        };
        let before = stock();
        let lock = "SELECT 1 FROM stock WHERE s_w_id = 1 AND s_i_id = 77 FOR UPDATE";
        let (first, second) = meet(case, lock, First::GoesOn, enter(true), enter(false));
        assert!(first.rolled_back && !second.rolled_back);
        assert_eq!(first.o_id, second.o_id);
        assert_eq!(stock() - before, 10);
    });
}
