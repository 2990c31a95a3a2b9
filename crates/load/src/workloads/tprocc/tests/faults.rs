//! Faults injected alone into the data after a clean run: each is found, by the checks that it breaks and by no other.

use super::case::{Case, failed};
use crate::workloads::blocking_session::BlockingSession;
use crate::workloads::tprocc::checks::{self, Evidence};
use crate::workloads::tprocc::user::User;
use proofload_model::samples::{CheckOutcome, OperationCounts};

/// A fault, and the checks that must fail.
struct Fault {
    name: &'static str,
    sql: &'static str,
    broken: &'static [&'static str],
}

/// The youngest order of the run in (1, 1): undelivered. And a customer of (2, 3) who had no delivery.
#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    Fault { name: "an order loses all its lines",
        sql: "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = (SELECT max(o_id) FROM orders WHERE o_w_id = 1 AND o_d_id = 1)",
        broken: &["condition 4", "condition 6", "order lines", "ol_quantity"] },
    Fault { name: "an order loses one line",
        sql: "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_number = 1 AND ol_o_id = (SELECT max(o_id) FROM orders WHERE o_w_id = 1 AND o_d_id = 1)",
        broken: &["condition 4", "condition 6", "order lines", "ol_quantity"] },
    Fault { name: "lines lose their order",
        sql: "DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 5",
        broken: &["condition 4", "condition 6", "condition 7", "condition 11", "orders"] },
    Fault { name: "a balance is changed for a customer without deliveries",
        sql: "UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 2 AND c_d_id = 3 AND c_id = (SELECT min(c_id) FROM customer WHERE c_w_id = 2 AND c_d_id = 3 AND c_delivery_cnt = 0)",
        broken: &["condition 10", "condition 12"] },
    Fault { name: "an order is delivered twice",
        sql: "UPDATE customer SET c_balance = c_balance + 100, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        broken: &["condition 10", "condition 11", "condition 12", "c_delivery_cnt"] },
    Fault { name: "an acknowledged order is lost without a trace",
        sql: "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = (SELECT max(o_id) FROM orders WHERE o_w_id = 1 AND o_d_id = 1);
              DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = (SELECT max(o_id) FROM orders WHERE o_w_id = 1 AND o_d_id = 1);
              DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = (SELECT d_next_o_id - 1 FROM district WHERE d_w_id = 1 AND d_id = 1);
              UPDATE district SET d_next_o_id = d_next_o_id - 1 WHERE d_w_id = 1 AND d_id = 1",
        broken: &["orders", "d_next_o_id", "order lines", "ol_quantity", "new_order", "orders lost", "new orders"] },
    Fault { name: "somebody else enters an order",
        sql: "INSERT INTO orders SELECT d_next_o_id, 1, 1, 1, entered, NULL, 1, 1 FROM district, (SELECT max(o_entry_d) AS entered FROM orders) AS youngest WHERE d_w_id = 1 AND d_id = 1;
              INSERT INTO new_order SELECT d_next_o_id, 1, 1 FROM district WHERE d_w_id = 1 AND d_id = 1;
              INSERT INTO order_line SELECT d_next_o_id, 1, 1, 1, 1, 1, NULL, 5, 100, 'x' FROM district WHERE d_w_id = 1 AND d_id = 1;
              UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 1",
        broken: &["orders", "d_next_o_id", "order lines", "ol_quantity", "new_order", "orders unasked", "new orders"] },
    Fault { name: "an acknowledged order has another customer",
        sql: "UPDATE orders SET o_c_id = o_c_id % 30 + 1 WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = (SELECT max(o_id) FROM orders WHERE o_w_id = 1 AND o_d_id = 1)",
        broken: &["orders changed"] },
    Fault { name: "a warehouse loses a payment's update",
        sql: "UPDATE warehouse SET w_ytd = w_ytd - 100 WHERE w_id = 2",
        broken: &["condition 1", "condition 8", "w_ytd"] },
    Fault { name: "warehouse and district lose a payment's update",
        sql: "UPDATE warehouse SET w_ytd = w_ytd - 100 WHERE w_id = 2; UPDATE district SET d_ytd = d_ytd - 100 WHERE d_w_id = 2 AND d_id = 7",
        broken: &["condition 8", "condition 9", "w_ytd", "d_ytd"] },
    Fault { name: "a payment's history is missing",
        sql: "DELETE FROM history WHERE h_date = (SELECT max(h_date) FROM history)",
        broken: &["condition 8", "condition 9", "condition 10", "payment counts", "history", "h_amount"] },
    Fault { name: "a customer's payments are not counted",
        sql: "UPDATE customer SET c_payment_cnt = 1 WHERE c_payment_cnt > 1",
        broken: &["payment counts", "c_payment_cnt"] },
    Fault { name: "a queue has a hole",
        sql: "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 2 AND no_o_id = (SELECT min(no_o_id) + 1 FROM new_order WHERE no_w_id = 1 AND no_d_id = 2)",
        broken: &["condition 3", "condition 5", "condition 11", "new_order"] },
    Fault { name: "an order is queued that does not exist",
        sql: "INSERT INTO new_order SELECT d_next_o_id, 1, 1 FROM district WHERE d_w_id = 1 AND d_id = 1",
        broken: &["condition 2", "condition 5", "condition 11", "new_order"] },
    Fault { name: "a number is skipped",
        sql: "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 2 AND d_id = 10",
        broken: &["condition 2", "d_next_o_id", "new orders"] },
    Fault { name: "a queued order has a carrier",
        sql: "UPDATE orders SET o_carrier_id = 5 WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = (SELECT max(no_o_id) FROM new_order WHERE no_w_id = 1 AND no_d_id = 3)",
        broken: &["condition 5", "condition 7"] },
    Fault { name: "a delivered line has no date",
        sql: "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 3 AND ol_number = 2",
        broken: &["condition 7"] },
    Fault { name: "a delivered amount is changed",
        sql: "UPDATE order_line SET ol_amount = ol_amount + 1 WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 3 AND ol_number = 2",
        broken: &["condition 10", "condition 12"] },
    Fault { name: "a customer is missing",
        sql: "DELETE FROM customer WHERE c_w_id = 2 AND c_d_id = 3 AND c_id = (SELECT min(c_id) FROM customer WHERE c_w_id = 2 AND c_d_id = 3 AND c_delivery_cnt = 0 AND c_payment_cnt = 1)",
        broken: &["condition 10", "payment counts", "c_payment_cnt", "c_ytd_payment"] },
    Fault { name: "a district is missing",
        sql: "DELETE FROM district WHERE d_w_id = 1 AND d_id = 9",
        broken: &["condition 1", "condition 2", "condition 9", "d_next_o_id", "d_ytd", "new orders"] },
    Fault { name: "stock is not counted as HammerDB does not",
        sql: "UPDATE stock SET s_ytd = 0, s_order_cnt = 0, s_remote_cnt = 0",
        broken: &["s_order_cnt", "s_ytd", "s_remote_cnt"] },
    Fault { name: "stock is taken at home",
        sql: "UPDATE stock SET s_remote_cnt = 0",
        broken: &["s_remote_cnt"] },
    Fault { name: "remote orders are marked as local",
        sql: "UPDATE orders SET o_all_local = 1",
        broken: &["o_all_local"] },
];

/// Verifies inside the transaction that holds the fault, then takes it back.
fn check(
    case: &Case,
    session: &mut BlockingSession,
    fault: &Fault,
    (user, counts): (&User, &[OperationCounts]),
    before: &crate::workloads::tprocc::workload_run::CountsBefore,
) {
    session.script(&format!("BEGIN; {}", fault.sql)).unwrap();
    let plan = case.settings.inputs(&case.request.spec).unwrap();
    let evidence = Evidence {
        tally: &user.runner.tally,
        draws: &user.runner.draws.borrow(),
        law: plan.settings(),
        acknowledged: &user.runner.acknowledged,
        waits: &crate::workloads::tprocc::paced::WaitTally::default(),
        before: Some(before),
        settings: &case.settings,
        dialect: &case.dialect,
        counts,
    };
    let checks = checks::all(session, &evidence, &case.request.progress).unwrap();
    assert_eq!(failed(&checks), fault.broken, "{}", fault.name);
    let silent = checks.iter().find(|check| {
        check.group == "consistency" && check.outcome == CheckOutcome::Failed && check.offenders.is_empty()
    });
    assert!(silent.is_none(), "{}: {silent:?} names no offender", fault.name);
    session.script("ROLLBACK").unwrap();
}

fn check_all(engine: &str, form: &str) {
    let mix = [("mix", "weights"), ("weights", "10/10/4/1/4"), ("all_warehouses", "true"), ("form", form)];
    let Some(case) = Case::built(engine, &mix) else { return };
    let before = case.before();
    let (user, counts) = case.run_user(0, 500);
    let mut session = case.session();
    let nothing = Fault { name: "nothing", sql: "", broken: &[] };
    for fault in [&nothing].into_iter().chain(FAULTS) {
        check(&case, &mut session, fault, (&user, &counts), &before);
    }
}

#[test]
fn every_fault_is_found_by_the_checks_that_it_breaks() {
    check_all("sqlite", "statements");
}

#[test]
fn every_fault_is_found_after_a_run_by_procedures() {
    check_all("postgresql", "procedures");
}

#[test]
fn every_fault_is_found_on_mariadb_after_a_run_by_procedures() {
    check_all("mariadb", "procedures");
}

#[test]
fn offenders_are_told_with_keys_and_both_sides() {
    let case = Case::built("sqlite", &[]).unwrap();
    case.session().script("UPDATE district SET d_ytd = d_ytd + 250 WHERE d_w_id = 2").unwrap();
    let before = case.before();
    let (user, counts) = case.run_user(0, 0);
    let checks = case.verify(&before, &user, &counts);
    let check = checks.iter().find(|check| check.name == "condition 9").unwrap();
    assert_eq!(check.offenders.len(), 10);
    assert_eq!(check.offenders[3], "w_id 2, d_id 4, d_ytd 302.50, sum of h_amount 300.00");
    assert!(check.found.starts_with("10 offenders, first: w_id 2, d_id 1"), "{}", check.found);
}
