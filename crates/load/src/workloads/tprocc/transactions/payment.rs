//! Payment (clause 2.5): as statements two flights, the second with the history row and, for bad credit, the rewritten
//! c_data, or one in dialects that have the texts for it.

use super::{by_procedure, in_one_flight};
use crate::workloads::tprocc::session_work::{Columns as _, SessionWork, int, only};
use crate::workloads::tprocc::settings::Form;
use crate::workloads::tprocc::statements as sql;
use proofload_engine::{Control, Decimal, Error, Flight, Value};
use proofload_gen::tprocc::inputs::{CustomerBy, Payment};
use std::fmt::Write as _;

/// Characters that c_data holds at most.
const C_DATA_LIMIT: usize = 500;

/// Result of a Payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PaymentOutput {
    /// The customer who paid.
    pub(crate) c_id: i32,
    /// Hundredths, after the payment.
    pub(crate) c_balance: i64,
}

/// Places of the calls of the first flight, or of the one.
pub(super) const WAREHOUSE: usize = 1;
pub(super) const DISTRICT: usize = 2;
pub(super) const CUSTOMER: usize = 3;

/// Runs one Payment.
pub(crate) async fn run(work: &mut SessionWork, input: &Payment) -> Result<PaymentOutput, Error> {
    match work.form {
        Form::Statements if work.in_one_flight => in_one_flight::payment(work, input).await,
        Form::Statements => by_statements(work, input).await,
        Form::Procedures => by_procedure::payment(work, input).await,
    }
}

async fn by_statements(work: &mut SessionWork, input: &Payment) -> Result<PaymentOutput, Error> {
    ask(&mut work.first, input);
    work.fly_first().await?;
    let date = work.date();
    let output = book(work, input, date)?;
    work.fly_second().await?;
    Ok(output)
}

/// Amount of a Payment, as a parameter.
pub(super) fn amount(input: &Payment) -> Value<'static> {
    Value::Decimal(Decimal { units: input.h_amount.0, scale: 2 })
}

/// Fills the first flight: the three relative updates and what they return.
fn ask(flight: &mut Flight, input: &Payment) {
    let amount = amount(input);
    flight.clear();
    flight.control(Control::Begin);
    flight.call(sql::PAYMENT_WAREHOUSE, &[int(input.w_id), amount]);
    flight.call(sql::PAYMENT_DISTRICT, &[int(input.w_id), int(input.d_id), amount]);
    let (w_id, d_id) = (int(input.c_w_id), int(input.c_d_id));
    match &input.customer {
        CustomerBy::Id(c_id) => flight.call(sql::PAYMENT_CUSTOMER_BY_ID, &[w_id, d_id, int(*c_id), amount]),
        CustomerBy::LastName(last) => {
            flight.call(sql::PAYMENT_CUSTOMER_BY_NAME, &[w_id, d_id, Value::Text(last.as_str()), amount])
        }
    };
}

/// Reads the first flight and fills the second.
fn book(work: &mut SessionWork, input: &Payment, date: Value<'_>) -> Result<PaymentOutput, Error> {
    let SessionWork { first, second, c_data, h_data, .. } = work;
    let warehouse = only(first, WAREHOUSE, "warehouse")?;
    let district = only(first, DISTRICT, "district")?;
    let customer = only(first, CUSTOMER, "customer")?;
    warehouse.present(0)?;
    district.present(0)?;
    customer.present(3)?;
    let c_id = customer.int(0)?;
    let bad_credit = customer.text(1)? == "BC";

    second.clear();
    if bad_credit {
        rewrite(c_data, c_id, input, customer.text(2)?);
        let key = [int(input.c_w_id), int(input.c_d_id), int(c_id)];
        second.call(sql::PAYMENT_CUSTOMER_DATA, &[key[0], key[1], key[2], Value::Text(c_data)]);
    }
    h_data.clear();
    for part in [warehouse.text(0)?, "    ", district.text(0)?] {
        h_data.push_str(part);
    }
    let customer_key = [int(c_id), int(input.c_d_id), int(input.c_w_id)];
    let paid = [int(input.d_id), int(input.w_id), date, amount(input), Value::Text(h_data)];
    let [c_id_value, c_d_id, c_w_id] = customer_key;
    let [d_id, w_id, date, amount, data] = paid;
    second.call(sql::PAYMENT_HISTORY, &[c_id_value, c_d_id, c_w_id, d_id, w_id, date, amount, data]);
    second.control(Control::Commit);
    Ok(PaymentOutput { c_id, c_balance: customer.units(15, 2)? })
}

/// Puts the payment at the left of c_data and cuts the whole to its limit (clause 2.5.2.2).
fn rewrite(c_data: &mut String, c_id: i32, input: &Payment, before: &str) {
    c_data.clear();
    let Payment { c_d_id, c_w_id, d_id, w_id, h_amount, .. } = input;
    write!(c_data, "{c_id} {c_d_id} {c_w_id} {d_id} {w_id} {h_amount} ").expect("a string takes all text");
    let room = before.len().min(C_DATA_LIMIT - c_data.len());
    let cut = (0..=room).rev().find(|place| before.is_char_boundary(*place)).unwrap_or(0);
    c_data.push_str(&before[..cut]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_gen::tprocc::population::Hundredths;

    fn check(before: &str, expected_start: &str, expected_length: usize) {
        let input = Payment {
            w_id: 3,
            d_id: 4,
            c_w_id: 5,
            c_d_id: 6,
            customer: CustomerBy::Id(7),
            h_amount: Hundredths(12_345),
        };
        let mut c_data = "left over".to_owned();
        rewrite(&mut c_data, 7, &input, before);
        assert!(c_data.starts_with(expected_start), "{c_data}");
        assert_eq!(c_data.len(), expected_length);
    }

    #[test]
    fn the_payment_stands_at_the_left_of_at_most_500_characters() {
        check("old", "7 6 5 4 3 123.45 old", 20);
        check(&"x".repeat(500), "7 6 5 4 3 123.45 xxx", 500);
        // A character of two bytes that does not fit whole is left out.
        check(&"ä".repeat(250), "7 6 5 4 3 123.45 ä", 499);
    }
}
