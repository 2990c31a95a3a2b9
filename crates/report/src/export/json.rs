//! Tables as one JSON document: objects with the columns as keys, a row on a line, so that it can be written and read in pieces.

use super::Selection;
use super::cell::Cell;
use super::column::ExportColumn;
use super::table::ExportTable;
use proofload_record::Record;
use serde_json::{Value as Json, json};
use std::io::{Result, Write};

/// Version of the tables, in every form; raised when a table or a column changes its meaning or goes.
pub(super) const FORM: u32 = 1;

/// Writes tables as one JSON document, a row on a line.
///
/// # Errors
/// Those of the writer.
pub fn write_json(record: &Record, selection: &Selection, tables: &[&ExportTable], to: &mut dyn Write) -> Result<()> {
    let study = json!({ "name": record.study.name(), "title": record.study.title(), "created_us": record.created.0 });
    write!(to, "{{\"form\":{FORM},\"study\":{study},\"tables\":{{")?;
    for (place, table) in tables.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(to, "{comma}\n{}:[", json!(table.name))?;
        let mut first = true;
        (table.rows)(record, selection, &mut |cells| {
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            write!(to, "{comma}\n{}", object(table, cells))
        })?;
        write!(to, "]")?;
    }
    writeln!(to, "\n}}}}")
}

fn object(table: &ExportTable, cells: &[Cell<'_>]) -> String {
    let pair = |(column, cell): (&ExportColumn, &Cell<'_>)| format!("{}:{}", json!(column.name), value(cell));
    let pairs: Vec<String> = table.columns.iter().zip(cells).map(pair).collect();
    format!("{{{}}}", pairs.join(","))
}

fn value(cell: &Cell<'_>) -> Json {
    match cell {
        Cell::Empty => Json::Null,
        Cell::Text(text) => json!(text),
        Cell::Made(text) => json!(text),
        Cell::Integer(number) => json!(number),
        Cell::Number(number) => json!(number),
        Cell::Boolean(value) => json!(value),
    }
}
