//! A table as CSV after RFC 4180: a head, then a row a line. Empty cells are nothing; an empty text is nothing too.

use super::Selection;
use super::cell::Cell;
use super::table::ExportTable;
use crate::render::quoted_field;
use proofload_record::Record;
use std::io::{Result, Write};

/// Writes one table as CSV. Equal records give equal bytes, as in the other forms.
///
/// # Errors
/// Those of the writer.
pub fn write_csv(record: &Record, selection: &Selection, table: &ExportTable, to: &mut dyn Write) -> Result<()> {
    let head: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    write!(to, "{}\r\n", head.join(","))?;
    (table.rows)(record, selection, &mut |cells| {
        for (place, cell) in cells.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(to, "{comma}{}", field(cell))?;
        }
        write!(to, "\r\n")
    })
}

fn field(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => quoted_field(text),
        Cell::Made(text) => quoted_field(text),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) if number.is_finite() => number.to_string(),
        Cell::Number(_) => String::new(),
        Cell::Boolean(value) => value.to_string(),
    }
}
