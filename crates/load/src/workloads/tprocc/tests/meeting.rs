//! Transactions that meet, on data built anew for each form: the races, then the isolation tests of clause 3.4.2. The checks are those of the
//! self-test.

use super::case::Case;
use crate::workloads::tprocc::selftest::{
    OltpBench, a_delivery_that_found_no_order, a_payment_and_a_delivery, an_order_rolled_back, one_price_of_an_item,
    orders_are_seen_when_committed, two_deliveries, two_orders_of_one_district, two_payments, whole_orders,
};
use proofload_model::error::Error;

/// Checks it on PostgreSQL; the test of the self-test does the same on MariaDB.
fn in_both_forms(check: impl Fn(&OltpBench) -> Result<(), Error>) {
    for form in ["statements", "procedures"] {
        let Some(case) = Case::built("postgresql", &[("form", form)]) else { return };
        check(&case).unwrap_or_else(|error| panic!("by {form}: {error}"));
    }
}

#[test]
fn two_deliveries_of_one_warehouse_deliver_different_orders() {
    in_both_forms(two_deliveries);
}

#[test]
fn two_payments_of_one_customer_are_both_booked() {
    in_both_forms(two_payments);
}

#[test]
fn an_order_that_is_rolled_back_leaves_its_number_to_the_next() {
    in_both_forms(an_order_rolled_back);
}

#[test]
fn an_order_is_seen_when_it_is_committed_and_not_before() {
    in_both_forms(orders_are_seen_when_committed);
}

#[test]
fn two_orders_of_one_district_have_numbers_in_turn() {
    in_both_forms(two_orders_of_one_district);
}

#[test]
fn a_payment_waits_for_the_delivery_to_its_customer() {
    in_both_forms(a_payment_and_a_delivery);
}

#[test]
fn an_order_has_one_price_of_an_item() {
    in_both_forms(one_price_of_an_item);
}

#[test]
fn a_delivery_that_found_no_order_delivers_none() {
    in_both_forms(a_delivery_that_found_no_order);
}

#[test]
fn an_order_status_has_the_lines_of_the_order_it_found() {
    in_both_forms(whole_orders);
}
