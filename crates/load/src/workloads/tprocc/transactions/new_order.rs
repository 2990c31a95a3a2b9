//! New-Order (clause 2.4): as statements two flights, or one in dialects that have the texts for it. Nothing of the first
//! needs the order's number, which the second uses.

use super::{by_procedure, in_one_flight};
use crate::workloads::tprocc::session_work::{Columns as _, SessionWork, int, only, wrong};
use crate::workloads::tprocc::settings::Form;
use crate::workloads::tprocc::statements as sql;
use proofload_engine::{Control, Decimal, Error, Flight, Value};
use proofload_gen::tprocc::inputs::{Line, MAX_LINES, NewOrder};
use proofload_gen::tprocc::{Departure, Departures};

/// Result of a New-Order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewOrderOutput {
    /// Number of the order; taken back when it was rolled back.
    pub(crate) o_id: i32,
    /// Ten digits after the point; of the lines that were found.
    pub(crate) total: Decimal,
    /// Lines whose item and stock are both marked as original: brand "B".
    pub(crate) branded_lines: u32,
    /// An item was unused, so that the order was rolled back by design.
    pub(crate) rolled_back: bool,
}

/// The lines of one item of one supplier: one stock row, updated once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Supply {
    /// First, because stock rows are locked in the order of warehouse and item.
    pub(super) w_id: i32,
    pub(super) i_id: i32,
    pub(super) quantity: i32,
    pub(super) lines: i32,
}

/// The stock rows of an order, sorted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Supplies {
    all: [Supply; MAX_LINES],
    count: usize,
}

impl Supplies {
    pub(super) fn of(input: &NewOrder) -> Self {
        let mut supplies = Self { all: [Supply::default(); MAX_LINES], count: 0 };
        for line in input.lines() {
            match supplies.place(line.ol_supply_w_id, line.ol_i_id) {
                Some(place) => {
                    supplies.all[place].quantity += line.ol_quantity;
                    supplies.all[place].lines += 1;
                }
                None => {
                    let (w_id, i_id) = (line.ol_supply_w_id, line.ol_i_id);
                    supplies.all[supplies.count] = Supply { w_id, i_id, quantity: line.ol_quantity, lines: 1 };
                    supplies.count += 1;
                }
            }
        }
        supplies.all[..supplies.count].sort_unstable();
        supplies
    }

    /// Stock rows in the order in which they are locked.
    pub(super) fn rows(&self) -> &[Supply] {
        &self.all[..self.count]
    }

    fn place(&self, w_id: i32, i_id: i32) -> Option<usize> {
        self.rows().iter().position(|supply| (supply.w_id, supply.i_id) == (w_id, i_id))
    }
}

/// Places of the calls of the first flight; items and stock rows follow each other.
const WAREHOUSE: usize = 1;
const DISTRICT: usize = 2;
const CUSTOMER: usize = 3;
const FIRST_ITEM: usize = 4;

/// ol_dist_info of a line without a stock row.
const NO_DIST_INFO: &str = "------------------------";

/// Runs one New-Order.
pub(crate) async fn run(work: &mut SessionWork, input: &NewOrder) -> Result<NewOrderOutput, Error> {
    match work.form {
        Form::Statements if work.in_one_flight => in_one_flight::new_order(work, input).await,
        Form::Statements => by_statements(work, input).await,
        Form::Procedures => by_procedure::new_order(work, input).await,
    }
}

async fn by_statements(work: &mut SessionWork, input: &NewOrder) -> Result<NewOrderOutput, Error> {
    let (supplies, departures) = (Supplies::of(input), work.departures);
    ask(&mut work.first, (input, &supplies), departures);
    work.fly_first().await?;
    let date = work.date();
    let (mut output, missing) = enter(&work.first, &mut work.second, (input, &supplies), date, departures)?;
    if input.rolls_back && !missing && work.keeps_data {
        return Err(wrong("the item with the reserved unused number exists".to_owned()));
    }
    output.rolled_back = input.rolls_back && !departures.has(Departure::UnusedItemKept);
    work.second.control(if output.rolled_back { Control::Rollback } else { Control::Commit });
    work.fly_second().await?;
    Ok(output)
}

/// Fills the first flight: everything that is read, the order's number, and the stock updates.
fn ask(flight: &mut Flight, (input, supplies): (&NewOrder, &Supplies), departures: Departures) {
    let (w_id, d_id) = (int(input.w_id), int(input.d_id));
    flight.clear();
    flight.control(Control::Begin);
    flight.call(sql::NEW_ORDER_WAREHOUSE, &[w_id]);
    flight.call(sql::NEW_ORDER_DISTRICT, &[w_id, d_id]);
    flight.call(sql::NEW_ORDER_CUSTOMER, &[w_id, d_id, int(input.c_id)]);
    for line in input.lines() {
        flight.call(sql::NEW_ORDER_ITEM, &[int(line.ol_i_id)]);
    }
    for supply in supplies.rows() {
        let remote_lines = if supply.w_id == input.w_id { 0 } else { supply.lines };
        let all =
            [int(supply.w_id), int(supply.i_id), d_id, int(supply.quantity), int(supply.lines), int(remote_lines)];
        // Counters that are not kept are not told.
        let told = if departures.has(Departure::CountersNotKept) { &all[..4] } else { &all[..] };
        flight.call(sql::NEW_ORDER_STOCK, told);
    }
}

/// Reads the first flight and fills the second: the order, its place in the queue and its lines. The transaction's end
/// is left to the caller. The line of the unused item, which is the last, is left out, or is kept by a departure;
/// returned besides is whether its item is missing.
fn enter(
    answers: &Flight,
    flight: &mut Flight,
    (input, supplies): (&NewOrder, &Supplies),
    date: Value<'_>,
    departures: Departures,
) -> Result<(NewOrderOutput, bool), Error> {
    let w_tax = only(answers, WAREHOUSE, "warehouse")?.units(0, 4)?;
    let district = only(answers, DISTRICT, "district")?;
    let (d_tax, o_id) = (district.units(0, 4)?, district.int(1)?);
    let customer = only(answers, CUSTOMER, "customer")?;
    let (c_discount, _c_last, _c_credit) = (customer.units(0, 4)?, customer.text(1)?, customer.text(2)?);

    let (w_id, d_id, order) = (int(input.w_id), int(input.d_id), int(o_id));
    flight.clear();
    let all_local = int(i32::from(input.is_all_local()));
    flight.call(sql::NEW_ORDER_ORDER, &[w_id, d_id, order, int(input.c_id), date, int(input.ol_cnt), all_local]);
    flight.call(sql::NEW_ORDER_QUEUE, &[w_id, d_id, order]);
    let mut output =
        NewOrderOutput { o_id, total: Decimal { units: 0, scale: 10 }, branded_lines: 0, rolled_back: false };
    let (mut prices, mut missing) = (0, false);
    let taxed = departures.has(Departure::SumsAndTexts).then_some((10_000 - c_discount) * (10_000 + w_tax + d_tax));
    let line_of = |flight: &mut Flight, number: i32, line: &Line, amount: i64, dist_info: &str| {
        let (i_id, supplier, quantity) = (int(line.ol_i_id), int(line.ol_supply_w_id), int(line.ol_quantity));
        let amount = Value::Decimal(Decimal { units: amount, scale: 2 });
        let values = [w_id, d_id, order, int(number), i_id, supplier, quantity, amount, Value::Text(dist_info)];
        flight.call(sql::NEW_ORDER_LINE, &values);
    };
    for (index, (number, line)) in (1..).zip(input.lines()).enumerate() {
        let Some(item) = answers.row(FIRST_ITEM + index, 0) else {
            if input.rolls_back && index + 1 == input.lines().len() {
                missing = true;
                if departures.has(Departure::UnusedItemKept) {
                    line_of(flight, number, line, 0, NO_DIST_INFO);
                }
                continue;
            }
            return Err(wrong(format!("no such item: {}", line.ol_i_id)));
        };
        let supply = supplies.place(line.ol_supply_w_id, line.ol_i_id).expect("every line has its stock row");
        let stock = only(answers, FIRST_ITEM + input.lines().len() + supply, "stock")?;
        let (_s_quantity, dist_info, s_data) = (stock.int(0)?, stock.text(1)?, stock.text(2)?);
        let (i_price, _i_name, i_data) = (item.units(0, 2)?, item.text(1)?, item.text(2)?);
        let price = i_price * i64::from(line.ol_quantity);
        prices += price;
        output.branded_lines += u32::from(i_data.contains("ORIGINAL") && s_data.contains("ORIGINAL"));
        line_of(flight, number, line, taxed.map_or(price, |factor| rounded(price * factor)), dist_info);
    }
    output.total.units = prices * (10_000 - c_discount) * (10_000 + w_tax + d_tax);
    Ok((output, missing))
}

/// Hundredths of ten digits after the point, halves rounded up, as `round` of SQL does with what is not negative.
fn rounded(units: i64) -> i64 {
    (units + 50_000_000) / 100_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_of_one_supplier_are_one_stock_row_in_lock_order() {
        let line = |ol_i_id, ol_supply_w_id, ol_quantity| Line { ol_i_id, ol_supply_w_id, ol_quantity };
        let mut all_lines = [Line::default(); MAX_LINES];
        all_lines[..5].copy_from_slice(&[line(7, 2, 1), line(9, 1, 2), line(7, 2, 3), line(3, 2, 4), line(7, 1, 5)]);
        let input = NewOrder { w_id: 1, d_id: 1, c_id: 1, ol_cnt: 5, all_lines, rolls_back: false };
        let supplies = Supplies::of(&input);
        let found: Vec<_> = supplies.rows().iter().map(|s| (s.w_id, s.i_id, s.quantity, s.lines)).collect();
        assert_eq!(found, [(1, 7, 5, 1), (1, 9, 2, 1), (2, 3, 4, 1), (2, 7, 4, 2)]);
    }
}
