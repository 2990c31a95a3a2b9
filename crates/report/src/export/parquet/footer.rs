//! The footer: the schema, where each chunk lies, and what the table is.

use super::super::column::{CellKind, ExportColumn};
use super::super::json::FORM;
use super::super::table::ExportTable;
use super::chunk::{PLAIN, RLE};
use super::compact::{Compact, WireType};
use proofload_record::Record;

/// Parquet's number for gzip.
const GZIP: i32 = 2;
/// A column whose cells may be empty.
const OPTIONAL: i32 = 1;
/// Text in UTF-8, for readers from before logical types.
const UTF8: i32 = 0;

/// A chunk that was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkPlace {
    /// Where it begins, in bytes from the beginning of the file.
    pub(super) at: u64,
    /// Its length in the file.
    pub(super) packed: u64,
    /// Its length before it was packed.
    pub(super) unpacked: u64,
}

/// A row group that was written.
#[derive(Debug)]
pub(super) struct RowGroup {
    /// Its rows.
    pub(super) rows: u64,
    /// Its chunks, in the order of the columns.
    pub(super) places: Vec<ChunkPlace>,
}

/// The footer of a file of these row groups.
pub(super) fn footer(record: &Record, table: &ExportTable, groups: &[RowGroup]) -> Vec<u8> {
    let mut out = Compact::new();
    out.i32(1, 1);
    schema(&mut out, table);
    out.i64(3, signed(groups.iter().map(|group| group.rows).sum()));
    out.list(4, WireType::Struct, groups.len());
    for group in groups {
        row_group(&mut out, table, group);
    }
    let words = words(record, table);
    out.list(5, WireType::Struct, words.len());
    words.iter().for_each(|(key, value)| pair(&mut out, key, value));
    out.text(6, concat!("proofload version ", env!("CARGO_PKG_VERSION")));
    out.end();
    out.into_bytes()
}

fn schema(out: &mut Compact, table: &ExportTable) {
    out.list(2, WireType::Struct, table.columns.len() + 1);
    out.begin_element();
    out.text(4, table.name);
    out.i32(5, table.columns.len() as i32);
    out.end();
    for column in table.columns {
        out.begin_element();
        out.i32(1, physical(column.kind));
        out.i32(3, OPTIONAL);
        out.text(4, column.name);
        if column.kind == CellKind::Text {
            out.i32(6, UTF8);
            // The logical type is a union, whose first member is the empty structure of texts.
            out.begin(10);
            out.begin(1);
            out.end();
            out.end();
        }
        out.end();
    }
}

fn row_group(out: &mut Compact, table: &ExportTable, group: &RowGroup) {
    let sum = |length: fn(&ChunkPlace) -> u64| signed(group.places.iter().map(length).sum());
    out.begin_element();
    out.list(1, WireType::Struct, group.places.len());
    for (column, place) in table.columns.iter().zip(&group.places) {
        chunk(out, column, group, place);
    }
    out.i64(2, sum(|place| place.unpacked));
    out.i64(3, signed(group.rows));
    out.i64(5, signed(group.places.first().map_or(0, |place| place.at)));
    out.i64(6, sum(|place| place.packed));
    out.end();
}

fn chunk(out: &mut Compact, column: &ExportColumn, group: &RowGroup, place: &ChunkPlace) {
    out.begin_element();
    out.i64(2, 0);
    out.begin(3);
    out.i32(1, physical(column.kind));
    out.list(2, WireType::I32, 2);
    out.i32_element(PLAIN);
    out.i32_element(RLE);
    out.list(3, WireType::Binary, 1);
    out.text_element(column.name);
    out.i32(4, GZIP);
    out.i64(5, signed(group.rows));
    out.i64(6, signed(place.unpacked));
    out.i64(7, signed(place.packed));
    if let Some(unit) = column.unit() {
        out.list(8, WireType::Struct, 1);
        pair(out, "unit", unit);
    }
    out.i64(9, signed(place.at));
    out.end();
    out.end();
}

/// What the file says of itself. Units stand here too, since not every reader shows what a chunk says.
fn words(record: &Record, table: &ExportTable) -> Vec<(String, String)> {
    let units =
        table.columns.iter().filter_map(|column| Some((format!("unit.{}", column.name), column.unit()?.to_owned())));
    let about = [
        ("form", FORM.to_string()),
        ("study", record.study.name().to_owned()),
        ("title", record.study.title().to_owned()),
        ("created_us", record.created.0.to_string()),
        ("table", table.name.to_owned()),
        ("row", table.row.to_owned()),
    ];
    about.into_iter().map(|(key, value)| (format!("proofload.{key}"), value)).chain(units).collect()
}

fn pair(out: &mut Compact, key: &str, value: &str) {
    out.begin_element();
    out.text(1, key);
    out.text(2, value);
    out.end();
}

/// Parquet's number for the type that cells of a kind are stored as.
fn physical(kind: CellKind) -> i32 {
    match kind {
        CellKind::Boolean => 0,
        CellKind::Integer => 2,
        CellKind::Number => 5,
        CellKind::Text => 6,
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
