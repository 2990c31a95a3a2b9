//! Acknowledged orders: each is in the database with its customer and number of lines, and no other has come.

use super::verify::Evidence;
use crate::workloads::blocking_session::{BlockingSession, integer};
use crate::workloads::tprocc::acknowledged::AcknowledgedOrder;
use crate::workloads::tprocc::dialect::Dialect;
use crate::workloads::tprocc::workload_run::CountsBefore;
use proofload_engine::Value;
use proofload_gen::tprocc::inputs::Transaction;
use proofload_model::error::Error;
use proofload_model::samples::{Check, CheckOutcome};
use std::cmp::Ordering;

/// Keys that are named; the rest is counted.
const TOLD: usize = 10;

/// Orders that are not as they must be: how many, and the first of them.
#[derive(Default)]
struct Faults {
    count: u64,
    first: Vec<String>,
}

impl Faults {
    fn add(&mut self, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push(text());
        }
    }
}

/// Result of the comparison.
#[derive(Default)]
struct OrderComparison {
    acknowledged: u64,
    lost: Faults,
    other: Faults,
    unasked: Faults,
}

/// Compares warehouse by warehouse, both sides sorted by key.
pub(super) fn checks(
    session: &mut BlockingSession,
    dialect: &Dialect,
    before: &CountsBefore,
    evidence: &Evidence<'_>,
) -> Result<Vec<Check>, Error> {
    let words = evidence.acknowledged.sorted();
    let mut words = words.into_iter().map(AcknowledgedOrder::unpack).peekable();
    let mut compared = OrderComparison::default();
    for w_id in 1..=evidence.settings.warehouses {
        let acknowledged: Vec<AcknowledgedOrder> =
            std::iter::from_fn(|| words.next_if(|order| order.w_id == w_id)).collect();
        compared.acknowledged += acknowledged.len() as u64;
        let found = orders_since(session, dialect, before, w_id)?;
        compared.merge(&acknowledged, &found);
    }
    let left: Vec<AcknowledgedOrder> = words.collect();
    compared.merge(&left, &[]);
    Ok(compared.checks(evidence.tally.unknown[Transaction::NewOrder as usize], evidence.acknowledged.unfit))
}

/// The orders of a warehouse that are younger than the run's start.
fn orders_since(
    session: &mut BlockingSession,
    dialect: &Dialect,
    before: &CountsBefore,
    w_id: i32,
) -> Result<Vec<AcknowledgedOrder>, Error> {
    let start = before.next_o_ids.partition_point(|next| next.0 < w_id);
    let next: Vec<(i32, i32, i32)> =
        before.next_o_ids[start..].iter().copied().take_while(|next| next.0 == w_id).collect();
    let next_of = |d_id: i32| next.iter().find(|next| next.1 == d_id).map_or(0, |next| next.2);
    let least = next.iter().map(|next| next.2).min().unwrap_or(0);
    let values = [("w_id", Value::Integer(w_id.into())), ("least_o_id", Value::Integer(least.into()))];
    let rows = session.query(&dialect.suite.with_values("orders_of_warehouse", &values)?)?;
    let narrow = |value: i64| i32::try_from(value).map_err(|_| Error::new("a column of orders does not fit 32 bits"));
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let [d_id, o_id, c_id, ol_cnt] = [0, 1, 2, 3].map(|column| integer(row, column).and_then(narrow));
        let order = AcknowledgedOrder { w_id, d_id: d_id?, o_id: o_id?, ol_cnt: ol_cnt?, c_id: c_id? };
        if order.o_id >= next_of(order.d_id) {
            found.push(order);
        }
    }
    Ok(found)
}

impl OrderComparison {
    /// Compares two lists that are sorted by key.
    fn merge(&mut self, acknowledged: &[AcknowledgedOrder], found: &[AcknowledgedOrder]) {
        let key = |order: &AcknowledgedOrder| (order.w_id, order.d_id, order.o_id);
        let (mut left, mut right) = (acknowledged, found);
        loop {
            match (left.split_first(), right.split_first()) {
                (None, None) => return,
                (Some((asked, rest)), have) if have.is_none_or(|(have, _)| key(asked) < key(have)) => {
                    self.lost.add(|| tell(asked));
                    left = rest;
                }
                (Some((asked, asked_rest)), Some((have, rest))) if key(asked).cmp(&key(have)) == Ordering::Equal => {
                    if asked != have {
                        self.other.add(|| format!("{}; in the database {}", tell(asked), tell(have)));
                    }
                    (left, right) = (asked_rest, rest);
                }
                (_, Some((have, rest))) => {
                    self.unasked.add(|| tell(have));
                    right = rest;
                }
                (Some(_), None) => unreachable!("an order without a counterpart is lost, see above"),
            }
        }
    }

    fn checks(self, unknown: u64, unfit: u64) -> Vec<Check> {
        let (acknowledged, lost) = (self.acknowledged, self.lost.count);
        let check = |name: &str, rule: &str, faults: Faults, allowed: u64, words: &str| Check {
            group: "acknowledged".to_owned(),
            name: name.to_owned(),
            rule: rule.to_owned(),
            found: format!("{acknowledged} acknowledged, {} {words}", faults.count),
            outcome: if faults.count <= allowed { CheckOutcome::Met } else { CheckOutcome::Failed },
            offenders: faults.first,
            sample: None,
            lost: None,
        };
        let mut checks = vec![
            check("orders lost", "every acknowledged order is in the database", self.lost, 0, "lost"),
            check(
                "orders changed",
                "every acknowledged order has its customer and number of lines",
                self.other,
                0,
                "different from what was sent",
            ),
            check(
                "orders unasked",
                "unacknowledged orders are at most the New-Orders of unknown outcome",
                self.unasked,
                unknown,
                &format!("more in the database, {unknown} with unknown outcome"),
            ),
        ];
        checks[0].lost = Some(lost);
        if unfit > 0 {
            for check in &mut checks {
                check.outcome = CheckOutcome::Failed;
                check.found.push_str(&format!("; {unfit} acknowledged orders have keys that are too large to store"));
            }
        }
        checks
    }
}

fn tell(order: &AcknowledgedOrder) -> String {
    let AcknowledgedOrder { w_id, d_id, o_id, ol_cnt, c_id } = order;
    format!("w_id {w_id}, d_id {d_id}, o_id {o_id}, c_id {c_id}, o_ol_cnt {ol_cnt}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: AcknowledgedOrder = AcknowledgedOrder { w_id: 1, d_id: 2, o_id: 3, ol_cnt: 5, c_id: 7 };

    #[track_caller]
    fn check(acknowledged: &[AcknowledgedOrder], found: &[AcknowledgedOrder], unknown: u64, failed: &[&str]) {
        let mut compared = OrderComparison::default();
        compared.merge(acknowledged, found);
        let checks = compared.checks(unknown, 0);
        let names: Vec<&str> = checks
            .iter()
            .filter(|check| check.outcome == CheckOutcome::Failed)
            .map(|check| check.name.as_str())
            .collect();
        assert_eq!(names, failed);
    }

    /// A commit whose outcome was lost with its connection may be there or not; anything else must be as it was
    /// acknowledged.
    #[test]
    fn orders_of_unknown_outcome_are_allowed_for_and_no_others() {
        check(&[ORDER], &[ORDER], 0, &[]);
        check(&[], &[ORDER], 1, &[]);
        check(&[], &[], 1, &[]);
        check(&[], &[ORDER], 0, &["orders unasked"]);
        check(&[ORDER], &[], 1, &["orders lost"]);
        check(&[ORDER], &[AcknowledgedOrder { c_id: 8, ..ORDER }], 1, &["orders changed"]);
    }

    #[test]
    fn lost_orders_are_counted_by_the_check_that_looks_for_them_alone() {
        let orders: Vec<AcknowledgedOrder> = (1..=12).map(|o_id| AcknowledgedOrder { o_id, ..ORDER }).collect();
        let mut compared = OrderComparison::default();
        compared.merge(&orders, &orders[..1]);
        let checks = compared.checks(0, 0);
        let lost: Vec<Option<u64>> = checks.iter().map(|check| check.lost).collect();
        assert_eq!((lost, checks[0].offenders.len()), (vec![Some(11), None, None], TOLD));
    }
}
