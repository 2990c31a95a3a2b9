//! New-Order and Payment as statements in one flight, of dialects that have the texts for it. The end is sent with the
//! rest, so that no answer can decide it: what must not be committed has to fail in the server.

use super::by_procedure::lists;
use super::new_order::{NewOrderOutput, Supplies};
use super::payment::{self, PaymentOutput};
use crate::workloads::tprocc::session_work::{Columns as _, SessionWork, int, only, wrong};
use crate::workloads::tprocc::statements as sql;
use proofload_engine::{Control, Decimal, Error, Flight, Value};
use proofload_gen::tprocc::inputs::{CustomerBy, NewOrder, Payment};
use proofload_gen::tprocc::{Departure, Departures};

/// Place of the call that enters an order; those of its stock rows and its lines follow.
const ENTRY: usize = 1;

/// New-Order. Whether it is rolled back is known from the input; its valid lines are entered all the same.
pub(super) async fn new_order(work: &mut SessionWork, input: &NewOrder) -> Result<NewOrderOutput, Error> {
    let (date, departures) = (work.date(), work.departures);
    let lines = enter(&mut work.first, input, date, departures);
    work.fly_first().await?;
    let output = entered(&work.first, lines, input)?;
    Ok(NewOrderOutput { rolled_back: end(input, departures) == Control::Rollback, ..output })
}

/// How an order ends.
fn end(input: &NewOrder, departures: Departures) -> Control {
    if input.rolls_back && !departures.has(Departure::UnusedItemKept) { Control::Rollback } else { Control::Commit }
}

/// Fills the flight of a New-Order; returns the place of the call that enters its lines.
fn enter(flight: &mut Flight, input: &NewOrder, date: Value<'_>, departures: Departures) -> usize {
    let [w_id, d_id, c_id, ol_cnt] = [input.w_id, input.d_id, input.c_id, input.ol_cnt].map(int);
    flight.clear();
    flight.control(Control::Begin);
    let all_local = int(i32::from(input.is_all_local()));
    flight.call(sql::NEW_ORDER_ENTRY, &[w_id, d_id, c_id, date, ol_cnt, all_local]);
    for supply in Supplies::of(input).rows() {
        let remote_lines = if supply.w_id == input.w_id { 0 } else { supply.lines };
        let all = [supply.w_id, supply.i_id, supply.quantity, supply.lines, remote_lines].map(int);
        // Counters that are not kept are not told.
        let told = if departures.has(Departure::CountersNotKept) { &all[..3] } else { &all[..] };
        flight.call(sql::NEW_ORDER_SUPPLY, told);
    }
    let lists = lists(input);
    let [items, suppliers, quantities] = lists.each_ref().map(|list| Value::Integers(&list[..input.lines().len()]));
    let unused = if input.rolls_back { ol_cnt } else { int(0) };
    let all = [w_id, d_id, items, suppliers, quantities, unused, c_id];
    // The customer is needed where the amounts have his discount.
    let told = if departures.has(Departure::SumsAndTexts) { &all[..] } else { &all[..6] };
    let lines = flight.call(sql::NEW_ORDER_LINES, told);
    flight.control(end(input, departures));
    lines
}

/// Reads the flight of a New-Order, which has ended already. Only the unused item may be missing, and must be.
fn entered(answers: &Flight, lines: usize, input: &NewOrder) -> Result<NewOrderOutput, Error> {
    let entry = only(answers, ENTRY, "warehouse, district and customer")?;
    let (w_tax, d_tax, o_id) = (entry.units(0, 4)?, entry.units(1, 4)?, entry.int(2)?);
    let (c_discount, _c_last, _c_credit) = (entry.units(3, 4)?, entry.text(4)?, entry.text(5)?);
    let (mut prices, mut branded_lines) = (0, 0);
    for (index, line) in input.lines().iter().enumerate() {
        let found = answers.row(lines, index).ok_or_else(|| wrong(format!("line {} did not come back", index + 1)))?;
        let is_unused = input.rolls_back && index + 1 == input.lines().len();
        match (found.value(0) == Value::Null, is_unused) {
            (true, true) => continue,
            (true, false) => return Err(wrong(format!("no such item: {}", line.ol_i_id))),
            (false, true) => return Err(wrong("the item with the reserved unused number exists".to_owned())),
            (false, false) => {}
        }
        let (i_price, _i_name, i_data) = (found.units(0, 2)?, found.text(1)?, found.text(2)?);
        let (_s_quantity, _dist_info, s_data) = (found.int(3)?, found.text(4)?, found.text(5)?);
        prices += i_price * i64::from(line.ol_quantity);
        branded_lines += u32::from(i_data.contains("ORIGINAL") && s_data.contains("ORIGINAL"));
    }
    let units = prices * (10_000 - c_discount) * (10_000 + w_tax + d_tax);
    Ok(NewOrderOutput { o_id, total: Decimal { units, scale: 10 }, branded_lines, rolled_back: false })
}

/// Payment.
pub(super) async fn payment(work: &mut SessionWork, input: &Payment) -> Result<PaymentOutput, Error> {
    let date = work.date();
    pay(&mut work.first, input, date);
    work.fly_first().await?;
    paid(&work.first)
}

/// Fills the flight of a Payment.
fn pay(flight: &mut Flight, input: &Payment, date: Value<'_>) {
    let amount = payment::amount(input);
    let [w_id, d_id, c_w_id, c_d_id] = [input.w_id, input.d_id, input.c_w_id, input.c_d_id].map(int);
    flight.clear();
    flight.control(Control::Begin);
    flight.call(sql::PAYMENT_WAREHOUSE, &[w_id, amount]);
    flight.call(sql::PAYMENT_DISTRICT, &[w_id, d_id, amount]);
    let (booking, customer) = match &input.customer {
        CustomerBy::Id(c_id) => (sql::PAYMENT_BOOKING_BY_ID, int(*c_id)),
        CustomerBy::LastName(last) => (sql::PAYMENT_BOOKING_BY_NAME, Value::Text(last.as_str())),
    };
    flight.call(booking, &[w_id, d_id, c_w_id, c_d_id, customer, amount, date]);
    flight.control(Control::Commit);
}

/// Reads the flight of a Payment.
fn paid(answers: &Flight) -> Result<PaymentOutput, Error> {
    only(answers, payment::WAREHOUSE, "warehouse")?.present(0)?;
    only(answers, payment::DISTRICT, "district")?.present(0)?;
    let customer = only(answers, payment::CUSTOMER, "customer")?;
    customer.present(3)?;
    // c_data comes for bad credit only.
    if customer.text(1)? == "BC" {
        customer.text(2)?;
    }
    Ok(PaymentOutput { c_id: customer.int(0)?, c_balance: customer.units(15, 2)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_engine::{Action, StatementId};
    use proofload_gen::tprocc::LastName;
    use proofload_gen::tprocc::inputs::{Line, MAX_LINES};
    use proofload_gen::tprocc::population::Hundredths;

    /// Lines 9, 7 and 7 of warehouses 1, 1 and 2, the last of them unused if it rolls back.
    fn order(rolls_back: bool) -> NewOrder {
        let line = |ol_i_id, ol_supply_w_id, ol_quantity| Line { ol_i_id, ol_supply_w_id, ol_quantity };
        let mut all_lines = [Line::default(); MAX_LINES];
        all_lines[..3].copy_from_slice(&[line(9, 1, 2), line(7, 1, 3), line(7, 2, 4)]);
        NewOrder { w_id: 1, d_id: 3, c_id: 5, ol_cnt: 3, all_lines, rolls_back }
    }

    /// Each call's action and parameters as text.
    fn calls(flight: &Flight) -> Vec<(Action, String)> {
        let parameters = |call| {
            let all: Vec<Value<'_>> =
                (0..flight.parameter_count(call)).map(|place| flight.parameter(call, place)).collect();
            format!("{all:?}").replace("Integer(", "(").replace("Integers(", "(")
        };
        (0..flight.len()).map(|call| (flight.action(call), parameters(call))).collect()
    }

    fn check_order(rolls_back: bool, departures: &[Departure], expected: [&str; 5], ends: Control) {
        let mut flight = Flight::new();
        let departures = departures.iter().copied().collect();
        assert_eq!(enter(&mut flight, &order(rolls_back), Value::Time(8), departures), 5);
        let run = [
            sql::NEW_ORDER_ENTRY,
            sql::NEW_ORDER_SUPPLY,
            sql::NEW_ORDER_SUPPLY,
            sql::NEW_ORDER_SUPPLY,
            sql::NEW_ORDER_LINES,
        ];
        let middle = run.into_iter().zip(expected).map(|(id, text)| (Action::Run(id), text.to_owned()));
        let control = |control| (Action::Control(control), "[]".to_owned());
        let all: Vec<_> = [control(Control::Begin)].into_iter().chain(middle).chain([control(ends)]).collect();
        assert_eq!(calls(&flight), all);
    }

    #[test]
    fn a_new_order_is_one_flight_with_stock_rows_in_lock_order() {
        let entry = "[(1), (3), (5), Time(8), (3), (0)]";
        let supplies = ["[(1), (7), (3), (1), (0)]", "[(1), (9), (2), (1), (0)]", "[(2), (7), (4), (1), (1)]"];
        let lines = "[(1), (3), ([9, 7, 7]), ([1, 1, 2]), ([2, 3, 4]), (0)]";
        let [first, second, third] = supplies;
        check_order(false, &[], [entry, first, second, third, lines], Control::Commit);
        let lines = "[(1), (3), ([9, 7, 7]), ([1, 1, 2]), ([2, 3, 4]), (3)]";
        check_order(true, &[], [entry, first, second, third, lines], Control::Rollback);
        check_order(true, &[Departure::UnusedItemKept], [entry, first, second, third, lines], Control::Commit);
        let lines = "[(1), (3), ([9, 7, 7]), ([1, 1, 2]), ([2, 3, 4]), (0), (5)]";
        let short = ["[(1), (7), (3)]", "[(1), (9), (2)]", "[(2), (7), (4)]"];
        let departures = [Departure::CountersNotKept, Departure::SumsAndTexts];
        check_order(false, &departures, [entry, short[0], short[1], short[2], lines], Control::Commit);
    }

    /// The flight of an order whose lines have these prices, the first of them branded.
    fn answered(input: &NewOrder, prices: [Option<i64>; 3]) -> Result<NewOrderOutput, Error> {
        let mut flight = Flight::new();
        let lines = enter(&mut flight, input, Value::Time(8), Departures::NONE);
        let mut answer = |call: usize, width: usize, values: &[Value<'_>]| {
            flight.start_answer(call, width);
            values.iter().for_each(|value| flight.answer_value(call, *value));
        };
        let tax = |units| Value::Decimal(Decimal { units, scale: 4 });
        answer(ENTRY, 6, &[tax(1_000), tax(500), Value::Integer(31), tax(2_000), Value::Text("B"), Value::Text("GC")]);
        let mut rows = Vec::new();
        for (place, price) in prices.into_iter().enumerate() {
            let data = Value::Text(if place == 0 { "xORIGINALx" } else { "x" });
            rows.extend(match price {
                Some(units) => {
                    let price = Value::Decimal(Decimal { units, scale: 2 });
                    [price, Value::Text("n"), data, Value::Integer(50), Value::Text("d"), data]
                }
                None => [Value::Null; 6],
            });
        }
        answer(lines, 6, &rows);
        entered(&flight, lines, input)
    }

    #[test]
    fn an_order_is_read_from_its_lines_and_only_the_unused_item_may_be_missing() {
        let output = answered(&order(false), [Some(100), Some(200), Some(300)]).unwrap();
        // 2 × 1.00 + 3 × 2.00 + 4 × 3.00 = 20.00, with 80 % of the price and 115 % for taxes.
        assert_eq!((output.o_id, output.branded_lines, output.total.units), (31, 1, 2_000 * 8_000 * 11_500));
        let output = answered(&order(true), [Some(100), Some(200), None]).unwrap();
        assert_eq!(output.total.units, 800 * 8_000 * 11_500);
        let refused = |rolls_back, prices| answered(&order(rolls_back), prices).unwrap_err().to_string();
        assert_eq!(refused(false, [Some(100), Some(200), None]), "no such item: 7");
        assert_eq!(refused(true, [None, Some(200), None]), "no such item: 9");
        assert!(refused(true, [Some(100), Some(200), Some(300)]).contains("unused number exists"));
    }

    fn check_payment(customer: CustomerBy, booking: StatementId, named: &str) {
        let input = Payment { w_id: 3, d_id: 4, c_w_id: 5, c_d_id: 6, customer, h_amount: Hundredths(12_345) };
        let mut flight = Flight::new();
        pay(&mut flight, &input, Value::Time(8));
        let amount = "Decimal(Decimal { units: 12345, scale: 2 })";
        let expected = [
            (Action::Control(Control::Begin), "[]".to_owned()),
            (Action::Run(sql::PAYMENT_WAREHOUSE), format!("[(3), {amount}]")),
            (Action::Run(sql::PAYMENT_DISTRICT), format!("[(3), (4), {amount}]")),
            (Action::Run(booking), format!("[(3), (4), (5), (6), {named}, {amount}, Time(8)]")),
            (Action::Control(Control::Commit), "[]".to_owned()),
        ];
        assert_eq!(calls(&flight), expected);
    }

    #[test]
    fn a_payment_is_one_flight() {
        check_payment(CustomerBy::Id(7), sql::PAYMENT_BOOKING_BY_ID, "(7)");
        let last = CustomerBy::LastName(LastName::of(0));
        check_payment(last, sql::PAYMENT_BOOKING_BY_NAME, "Text(\"BARBARBAR\")");
    }

    /// The flight of a Payment whose customer has this credit and c_data.
    fn booked(credit: &str, data: Value<'_>) -> Result<PaymentOutput, Error> {
        let mut flight = Flight::new();
        let customer = CustomerBy::Id(7);
        let input = Payment { w_id: 3, d_id: 4, c_w_id: 5, c_d_id: 6, customer, h_amount: Hundredths(12_345) };
        pay(&mut flight, &input, Value::Time(8));
        let mut row = [Value::Text("x"); 16];
        let balance = Value::Decimal(Decimal { units: -12_345, scale: 2 });
        (row[0], row[1], row[2], row[15]) = (Value::Integer(7), Value::Text(credit), data, balance);
        for (call, values) in
            [(payment::WAREHOUSE, &row[3..9]), (payment::DISTRICT, &row[3..9]), (payment::CUSTOMER, &row[..])]
        {
            flight.start_answer(call, values.len());
            values.iter().for_each(|value| flight.answer_value(call, *value));
        }
        paid(&flight)
    }

    #[test]
    fn a_payment_is_read_with_the_data_of_bad_credit() {
        let expected = PaymentOutput { c_id: 7, c_balance: -12_345 };
        assert_eq!(booked("GC", Value::Null).unwrap(), expected);
        assert_eq!(booked("BC", Value::Text("7 6 5 4 3 123.45 x")).unwrap(), expected);
        assert!(booked("BC", Value::Null).is_err());
    }
}
