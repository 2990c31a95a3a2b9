//! The twelve consistency conditions of clause 3.3.2, on every warehouse. The SQL is the suite's; this module has the
//! rules in words and the form in which offenders are reported.

use crate::workload::ProgressSink;
use crate::workloads::blocking_session::{BlockingSession, integer};
use crate::workloads::tprocc::dialect::Dialect;
use crate::workloads::tprocc::settings::TproccSettings;
use proofload_engine::{OwnedRow, OwnedValue, Value};
use proofload_gen::tprocc::population::Hundredths;
use proofload_model::error::Error;
use proofload_model::samples::{Check, CheckOutcome};
use proofload_model::step_count::{StepCount, StepUnit};

/// Warehouses that are examined together: bounds the intermediate results.
const WAREHOUSES_TOGETHER: i32 = 100;

/// Offenders that are named; the rest is counted.
const OFFENDERS_TOLD: usize = 10;

/// Form in which a column of an offender is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConditionForm {
    Count,
    Money,
}

use ConditionForm::{Count, Money};

/// One condition: the suite has a statement `condition_<number>` that returns the number of offenders, then these
/// columns.
#[derive(Debug)]
pub(crate) struct Condition {
    number: usize,
    name: &'static str,
    rule: &'static str,
    columns: &'static [(&'static str, ConditionForm)],
}

const fn condition(
    number: usize,
    name: &'static str,
    rule: &'static str,
    columns: &'static [(&'static str, ConditionForm)],
) -> Condition {
    Condition { number, name, rule, columns }
}

/// All of them, and a thirteenth of our own.
#[rustfmt::skip]
const CONDITIONS: &[Condition] = &[
    condition(1, "condition 1", "w_ytd is the sum of d_ytd, per warehouse",
        &[("w_id", Count), ("w_ytd", Money), ("sum of d_ytd", Money)]),
    condition(2, "condition 2", "d_next_o_id - 1 is the largest o_id and the largest no_o_id, per district",
        &[("w_id", Count), ("d_id", Count), ("d_next_o_id - 1", Count), ("max o_id", Count), ("max no_o_id", Count)]),
    condition(3, "condition 3", "the numbers in new_order have no gap, per district",
        &[("w_id", Count), ("d_id", Count), ("max - min + 1", Count), ("rows", Count)]),
    condition(4, "condition 4", "the sum of o_ol_cnt is the number of order lines, per district",
        &[("w_id", Count), ("d_id", Count), ("sum of o_ol_cnt", Count), ("lines", Count)]),
    condition(5, "condition 5", "o_carrier_id is null exactly for orders in new_order",
        &[("w_id", Count), ("d_id", Count), ("o_id", Count), ("o_carrier_id", Count), ("rows in new_order", Count)]),
    condition(6, "condition 6", "o_ol_cnt is the number of lines, per order",
        &[("w_id", Count), ("d_id", Count), ("o_id", Count), ("o_ol_cnt", Count), ("lines", Count)]),
    condition(7, "condition 7", "ol_delivery_d is null exactly for lines of orders without o_carrier_id",
        &[("w_id", Count), ("d_id", Count), ("o_id", Count), ("o_carrier_id", Count), ("dated lines", Count), ("lines", Count)]),
    condition(8, "condition 8", "w_ytd is the sum of h_amount, per warehouse",
        &[("w_id", Count), ("w_ytd", Money), ("sum of h_amount", Money)]),
    condition(9, "condition 9", "d_ytd is the sum of h_amount, per district",
        &[("w_id", Count), ("d_id", Count), ("d_ytd", Money), ("sum of h_amount", Money)]),
    condition(10, "condition 10", "c_balance is the sum of delivered ol_amount less the sum of h_amount, per customer",
        &[("w_id", Count), ("d_id", Count), ("c_id", Count), ("c_balance", Money), ("delivered - paid", Money)]),
    condition(11, "condition 11", "orders less rows of new_order are those delivered at load and since, per district",
        &[("w_id", Count), ("d_id", Count), ("orders - new_order", Count), ("delivered", Count)]),
    condition(12, "condition 12", "c_balance + c_ytd_payment is the sum of delivered ol_amount, per customer",
        &[("w_id", Count), ("d_id", Count), ("c_id", Count), ("c_balance + c_ytd_payment", Money), ("delivered", Money)]),
    condition(13, "payment counts", "c_payment_cnt is the number of rows in history, per customer",
        &[("w_id", Count), ("d_id", Count), ("c_id", Count), ("c_payment_cnt", Count), ("rows in history", Count)]),
];

/// Result of examining one condition.
#[derive(Debug)]
pub(crate) struct ConditionResult {
    condition: &'static Condition,
    /// Number of offenders.
    pub(crate) count: u64,
    offenders: Vec<String>,
}

/// Examines all warehouses while nothing is in flight.
pub(crate) fn examine(
    session: &mut BlockingSession,
    dialect: &Dialect,
    settings: &TproccSettings,
    progress: &ProgressSink,
) -> Result<Vec<ConditionResult>, Error> {
    let mut found: Vec<ConditionResult> =
        CONDITIONS.iter().map(|condition| ConditionResult { condition, count: 0, offenders: Vec::new() }).collect();
    for low_w in (1..=settings.warehouses).step_by(WAREHOUSES_TOGETHER.unsigned_abs() as usize) {
        let high_w = settings.warehouses.min(low_w + WAREHOUSES_TOGETHER - 1);
        let (done, all) = (u64::from(low_w.unsigned_abs()) - 1, u64::from(settings.warehouses.unsigned_abs()));
        progress("checking consistency, warehouses", Some(StepCount::of(done, all, StepUnit::Warehouses)));
        let numbers = [
            ("low_w", Value::Integer(low_w.into())),
            ("high_w", Value::Integer(high_w.into())),
            ("delivered_at_load", Value::Integer(settings.scale.last_delivered_order().into())),
        ];
        for name in ["check_orders", "check_customers", "check_districts", "check_warehouses"] {
            let script = dialect.suite.with_values(name, &numbers)?;
            session.script(&script).map_err(|error| error.context(name))?;
        }
        for found in &mut found {
            found.examine(session, dialect, &numbers)?;
        }
        session.script(&dialect.suite.statement("check_end")?.sql)?;
    }
    Ok(found)
}

impl ConditionResult {
    /// Adds the offenders of the warehouses at hand.
    fn examine(
        &mut self,
        session: &mut BlockingSession,
        dialect: &Dialect,
        numbers: &[(&str, Value<'_>)],
    ) -> Result<(), Error> {
        let name = format!("condition_{}", self.condition.number);
        let rows = session.query(&dialect.suite.with_values(&name, numbers)?).map_err(|error| error.context(name))?;
        let Some(first) = rows.first() else { return Ok(()) };
        self.count += integer(first, 0)?.unsigned_abs();
        let room = OFFENDERS_TOLD.saturating_sub(self.offenders.len());
        self.offenders.extend(rows.iter().take(room).map(|row| self.condition.tell(row)));
        Ok(())
    }
}

impl Condition {
    /// `w_id 1, d_id 2, d_ytd 30000.00, sum of h_amount 29990.00`.
    fn tell(&self, row: &OwnedRow) -> String {
        let told = self.columns.iter().zip(row.iter().skip(1)).map(|((label, form), value)| {
            let value = value.as_value();
            let text = match (form, value.integer(), value.units(2)) {
                (Count, Some(count), _) => count.to_string(),
                (Money, _, Some(units)) => Hundredths(units).to_string(),
                _ if value == OwnedValue::Null.as_value() => "null".to_owned(),
                _ => format!("{value:?}"),
            };
            format!("{label} {text}")
        });
        told.collect::<Vec<_>>().join(", ")
    }
}

/// The results as checks of a run.
pub(crate) fn checks(found: &[ConditionResult]) -> Vec<Check> {
    let check = |found: &ConditionResult| Check {
        group: "consistency".to_owned(),
        name: found.condition.name.to_owned(),
        rule: found.condition.rule.to_owned(),
        found: match found.count {
            0 => "holds everywhere".to_owned(),
            count => format!("{count} offenders, first: {}", found.offenders.first().map_or("", String::as_str)),
        },
        outcome: if found.count == 0 { CheckOutcome::Met } else { CheckOutcome::Failed },
        offenders: found.offenders.clone(),
        sample: None,
        lost: None,
    };
    found.iter().map(check).collect()
}
