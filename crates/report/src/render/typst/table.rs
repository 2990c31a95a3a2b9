//! Tables as values: heads, rows of cells with their kinds, and a note with the reasons of gaps.

use super::inline::{prose, shown};
use super::layout::Layout;
use crate::blocks::{Align, Cell, Column, SampleSizes, Table};
use crate::numbers::{count, shown_as_is};
use crate::render::gaps::gaps;
use proofload_analysis::quantity::Quantity;
use serde_json::{Value, json};

/// A table with its caption and its note.
pub(super) fn table_value(table: &Table, layout: &Layout) -> Value {
    let sizes = table.sample_sizes();
    let reasons = gaps(table);
    let id = Some(table.id).filter(|id| layout.has(id));
    let mut heads: Vec<Value> = table.columns.iter().enumerate().map(|column| head(column, &sizes, layout)).collect();
    let mut rows: Vec<Vec<Value>> = table.rows.iter().map(|row| cells(row, &sizes, &reasons, layout)).collect();
    if let Some(of_rows) = &sizes.rows {
        heads.push(json!({ "title": [["text", "n"]], "right": true, "unit": "", "size": "" }));
        for (row, size) in rows.iter_mut().zip(of_rows) {
            row.push(json!({ "is": "words", "text": [["text", size.map(count).unwrap_or_default()]] }));
        }
    }
    let note = if table.note.is_empty() { Value::Null } else { prose(&table.note, layout) };
    json!({
        "is": "table", "id": id, "label": id.and_then(|id| layout.numbering.label(id)),
        "caption": prose(&table.caption, layout), "heads": heads, "rows": rows, "note": note,
        "gaps": reasons.iter().map(|why| shown(why)).collect::<Vec<_>>(),
    })
}

fn head((index, column): (usize, &Column), sizes: &SampleSizes, layout: &Layout) -> Value {
    let size = sizes.heads.get(index).copied().flatten();
    json!({
        "title": prose(&column.title, layout), "right": column.align == Align::Right,
        "unit": column.unit.as_deref().map(shown).unwrap_or_default(),
        "size": size.map(|size| format!("n\u{202f}=\u{202f}{}", count(size))).unwrap_or_default(),
    })
}

fn cells(row: &[Cell], sizes: &SampleSizes, reasons: &[&str], layout: &Layout) -> Vec<Value> {
    row.iter().enumerate().map(|(column, value)| cell(value, sizes.in_cell(column), reasons, layout)).collect()
}

fn cell(cell: &Cell, with_size: bool, reasons: &[&str], layout: &Layout) -> Value {
    match cell {
        Cell::Empty => json!({ "is": "words", "text": [] }),
        Cell::Prose(pieces) => json!({ "is": "words", "text": prose(pieces, layout) }),
        Cell::Count(number) => json!({ "is": "words", "text": [["text", count(*number)]] }),
        Cell::Gap(why) => match reasons.iter().position(|known| known == why) {
            Some(place) => json!({ "is": "gap", "text": "not measured", "reason": place + 1 }),
            None => json!({ "is": "gap", "text": format!("not measured: {}", shown(why)), "reason": null }),
        },
        Cell::Verdict(holds, word) => json!({ "is": "verdict", "holds": holds, "text": word }),
        Cell::Quantity(quantity) => quantity_cell(quantity, with_size),
    }
}

/// A number with its confidence interval, and its sample size unless that stands elsewhere.
fn quantity_cell(quantity: &Quantity, with_size: bool) -> Value {
    let shown = shown_as_is(quantity);
    let interval = match &shown.interval {
        Some((low, high)) => format!("{low}\u{2009}–\u{2009}{high}"),
        None => "no\u{a0}interval".to_owned(),
    };
    let size = if with_size { format!("n\u{202f}=\u{202f}{}", shown.n) } else { String::new() };
    json!({ "is": "quantity", "text": shown.value, "interval": interval, "size": size })
}
