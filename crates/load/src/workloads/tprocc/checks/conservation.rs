//! Conservation: what the database gained from quiet to quiet is what the clients counted, exactly.

use super::totals::Totals;
use crate::workloads::tprocc::tally::Tally;
use proofload_gen::tprocc::population::Hundredths;
use proofload_model::samples::{Check, CheckOutcome};

/// One sum: its name, its rule, what the database gained, what the clients counted, and whether both are money.
struct Sum {
    name: &'static str,
    rule: &'static str,
    gained: i64,
    counted: i64,
    money: bool,
}

/// Compares all sums.
pub(super) fn checks(before: &Totals, after: &Totals, tally: &Tally) -> Vec<Check> {
    let unknown: u64 = tally.unknown.iter().sum();
    sums(before, after, tally).iter().map(|sum| check(sum, unknown)).collect()
}

#[rustfmt::skip]
fn sums(before: &Totals, after: &Totals, tally: &Tally) -> Vec<Sum> {
    let entered = &tally.entered;
    let [orders, lines, quantity] = [entered.orders, entered.lines, entered.quantity].map(count);
    let [payments, delivered] = [tally.payments, tally.orders_delivered].map(count);
    let not_local = count(entered.orders_not_local);
    // A line whose item is unused takes nothing from stock.
    let [taken, taken_quantity, taken_remote] = [
        entered.lines - entered.unused_lines,
        entered.quantity - entered.unused_quantity,
        entered.remote_lines - entered.unused_remote_lines,
    ].map(count);
    let of = |name, rule, field: fn(&Totals) -> i64, counted| {
        Sum { name, rule, gained: field(after) - field(before), counted, money: false }
    };
    let money = |name, rule, field: fn(&Totals) -> i64| {
        Sum { name, rule, gained: field(after) - field(before), counted: tally.amount, money: true }
    };
    vec![
        of("orders", "rows of orders are committed New-Orders", |t| t.orders, orders),
        of("d_next_o_id", "the sum of d_next_o_id grows by committed New-Orders", |t| t.d_next_o_id, orders),
        of("order lines", "rows of order_line are lines of committed New-Orders", |t| t.order_line, lines),
        of("ol_quantity", "the sum of ol_quantity grows by the quantities ordered", |t| t.ol_quantity, quantity),
        of("s_order_cnt", "the sum of s_order_cnt grows by the lines ordered", |t| t.s_order_cnt, taken),
        of("s_ytd", "the sum of s_ytd grows by the quantities ordered", |t| t.s_ytd, taken_quantity),
        of("s_remote_cnt", "the sum of s_remote_cnt grows by the remote lines ordered", |t| t.s_remote_cnt, taken_remote),
        of("o_all_local", "orders with o_all_local = 0 are those with a remote line", |t| t.orders_not_local, not_local),
        of("history", "rows of history are committed Payments", |t| t.history, payments),
        of("c_payment_cnt", "the sum of c_payment_cnt grows by committed Payments", |t| t.c_payment_cnt, payments),
        money("w_ytd", "the sum of w_ytd grows by the amounts paid", |t| t.w_ytd),
        money("d_ytd", "the sum of d_ytd grows by the amounts paid", |t| t.d_ytd),
        money("c_ytd_payment", "the sum of c_ytd_payment grows by the amounts paid", |t| t.c_ytd_payment),
        money("h_amount", "the sum of h_amount grows by the amounts paid", |t| t.h_amount),
        of("c_delivery_cnt", "the sum of c_delivery_cnt grows by the orders delivered", |t| t.c_delivery_cnt, delivered),
        of("new_order", "rows of new_order grow by orders entered less orders delivered", |t| t.new_order, orders - delivered),
    ]
}

/// A client's count, signed.
fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn check(sum: &Sum, unknown: u64) -> Check {
    let text = |value: i64| if sum.money { Hundredths(value).to_string() } else { value.to_string() };
    let mut found = format!("database {}, clients {}", text(sum.gained), text(sum.counted));
    let outcome = match (sum.gained == sum.counted, unknown) {
        (true, _) => CheckOutcome::Met,
        (false, 0) => CheckOutcome::Failed,
        (false, unknown) => {
            found.push_str(&format!(
                "; {unknown} transactions have an unknown outcome, so the sums cannot be compared exactly"
            ));
            CheckOutcome::NotApplicable
        }
    };
    Check {
        group: "conservation".to_owned(),
        name: sum.name.to_owned(),
        rule: sum.rule.to_owned(),
        found,
        outcome,
        offenders: Vec::new(),
        sample: None,
        lost: None,
    }
}
