//! A table of the paper as CSV: a quantity takes four columns, the reasons of gaps a last one. Quoting as in RFC 4180.

use super::csv::row;
use super::plain::plain;
use crate::blocks::{Cell, Column, Table};

/// Significant digits of numbers: more than any interval supports, fewer than a spreadsheet shows by itself.
const DIGITS: usize = 7;

/// Renders a table.
pub(crate) fn table_csv(table: &Table) -> String {
    let measured: Vec<bool> = (0..table.columns.len()).map(|index| is_measured(table, index)).collect();
    let with_notes = table.rows.iter().flatten().any(|cell| matches!(cell, Cell::Gap(_)));
    let mut heads: Vec<String> =
        table.columns.iter().zip(&measured).flat_map(|(column, measured)| heads_of(column, *measured)).collect();
    heads.extend(with_notes.then(|| "not measured".to_owned()));
    let mut text = row(heads.into_iter());
    for cells in &table.rows {
        let values = cells.iter().zip(&measured).flat_map(|(cell, measured)| values_of(cell, *measured));
        text.push_str(&row(values.chain(with_notes.then(|| notes(table, cells)))));
    }
    text
}

fn is_measured(table: &Table, index: usize) -> bool {
    table.rows.iter().filter_map(|row| row.get(index)).any(|cell| matches!(cell, Cell::Quantity(_)))
}

fn heads_of(column: &Column, measured: bool) -> Vec<String> {
    let title = plain(&column.title);
    let named = match &column.unit {
        Some(unit) => format!("{title} ({unit})"),
        None => title.clone(),
    };
    if measured {
        vec![named, format!("{title}, low"), format!("{title}, high"), format!("{title}, n")]
    } else {
        vec![named]
    }
}

fn values_of(cell: &Cell, measured: bool) -> Vec<String> {
    let mut values = match cell {
        Cell::Quantity(quantity) => {
            let (low, high) = quantity.interval().bounds().unzip();
            let high = high.filter(|_| !quantity.is_unbounded_above());
            let bound = |bound: Option<f64>| bound.map(number).unwrap_or_default();
            vec![number(quantity.value()), bound(low), bound(high), quantity.n().to_string()]
        }
        Cell::Empty | Cell::Gap(_) => vec![String::new()],
        Cell::Prose(pieces) => vec![plain(pieces)],
        Cell::Count(count) => vec![count.to_string()],
        Cell::Verdict(_, word) => vec![(*word).to_owned()],
    };
    values.resize(if measured { 4 } else { 1 }, String::new());
    values
}

/// Why cells of a row are empty, by column.
fn notes(table: &Table, cells: &[Cell]) -> String {
    let gap = |(column, cell): (&Column, &Cell)| match cell {
        Cell::Gap(why) => Some(format!("{}: {why}", plain(&column.title))),
        _ => None,
    };
    table.columns.iter().zip(cells).filter_map(gap).collect::<Vec<_>>().join("; ")
}

/// A number with [`DIGITS`] significant digits, without an exponent where spreadsheets do not need one.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_analysis::quantity::{Interval, Quantity, Unit};

    #[test]
    fn quantities_take_four_columns_and_gaps_say_why() {
        let known = Interval::Known { low: 1.0, high: 3.0, method: "test".into() };
        let table = Table {
            columns: vec![Column::words("Point"), Column::quantities("Throughput", "1/s")],
            rows: vec![
                vec![Cell::datum("64 MiB, slow"), Cell::Quantity(Quantity::new(2.000_000_049, Unit::RATIO, 9, known))],
                vec![Cell::datum("128 MiB"), Cell::Gap("the point is void".to_owned())],
            ],
            ..Table::default()
        };
        assert_eq!(
            table_csv(&table),
            "Point,Throughput (1/s),\"Throughput, low\",\"Throughput, high\",\"Throughput, n\",not measured\r\n\
             \"64 MiB, slow\",2,1,3,9,\r\n128 MiB,,,,,Throughput: the point is void\r\n"
        );
    }

    #[test]
    fn numbers_have_few_digits() {
        let told = [52.895_596_797_329_72, 1e-9, 123_456_789.0, 0.0].map(number);
        assert_eq!(told, ["52.8956", "0.000000001", "123456800", "0"]);
    }
}
