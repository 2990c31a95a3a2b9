//! A reference from the text of its file: everything that is wrong with it at once, each with its line.

use super::parts::{Reader, number};
use super::types::{Origin, PublishedFigure, Reference, ReferenceOperation, ReferencePoint, TIMES, percentile_title};
use proofload_model::samples::LatencyClock;
use std::collections::BTreeMap;
use toml_edit::{Document, Item, Table, TableLike};

/// The largest file that is read as a reference, bytes.
pub const REFERENCE_FILE_MOST: u64 = 4 << 20;

const HEAD: &[&str] = &[
    "id",
    "title",
    "publisher",
    "year",
    "url",
    "workload",
    "compare",
    "relative_to",
    "origin",
    "record_sha256",
    "software",
    "hardware",
    "procedure",
    "notes",
];
const POINT: &[&str] = &["name", "levels", "relative_percent", "metrics", "operation", "notes"];
const OPERATION: &[&str] = &["kind", "time", "count", "failed", "share", "mean", "min", "max", "notes"];

/// Reads a reference. `file` is its name, for the error, which lists every fault with its line.
pub fn read_reference(file: &str, text: &str) -> Result<Reference, String> {
    let document =
        Document::parse(text).map_err(|error| format!("{file} is not TOML: {}", error.to_string().trim()))?;
    let mut reader = Reader::new(text);
    reader.only(document.as_table(), "the file", &["reference", "point", "context"], |_| false);
    let reference = match document.get("reference").and_then(Item::as_table) {
        Some(head) => head_of(&mut reader, head, &document),
        None => {
            reader.fault(
                None,
                "there is no [reference]; is this a study file or a result of another program (`proofload import`)?",
            );
            None
        }
    };
    reader.finish(file)?;
    reference.ok_or_else(|| format!("{file}: nothing was read"))
}

fn head_of(reader: &mut Reader<'_>, head: &Table, document: &Document<&str>) -> Option<Reference> {
    let place = "[reference]";
    reader.only(head, place, HEAD, |_| false);
    let span = head.span();
    let needed = |reader: &mut Reader<'_>, key| reader.needed(head, span.clone(), place, key);
    let (id, title, publisher) = (needed(reader, "id"), needed(reader, "title"), needed(reader, "publisher"));
    let mut points = Vec::new();
    for (index, table) in document.get("point").and_then(Item::as_array_of_tables).into_iter().flatten().enumerate() {
        points.push(point(reader, table, &format!("point {}", index + 1)));
    }
    if points.is_empty() {
        reader.fault(span, "there is no [[point]], so there is nothing to show");
    }
    let workload = reader.text(head, place, "workload");
    Some(Reference {
        id,
        title,
        publisher,
        year: head.get("year").and_then(Item::as_integer),
        workload: Some(workload).filter(|workload| !workload.is_empty()),
        compare: reader.text(head, place, "compare"),
        relative_to: reader.text(head, place, "relative_to"),
        origin: origin(reader, head),
        record_sha256: Some(reader.text(head, place, "record_sha256")).filter(|hash| !hash.is_empty()),
        hardware: reader.texts(head, place, "hardware"),
        software: reader.texts(head, place, "software"),
        procedure: reader.texts(head, place, "procedure"),
        notes: reader.texts(head, place, "notes"),
        points,
    })
}

fn origin(reader: &mut Reader<'_>, head: &Table) -> Origin {
    match reader.text(head, "[reference]", "origin").as_str() {
        "" | "published" => Origin::Published,
        "imported" => Origin::Imported,
        "recorded" => Origin::Recorded,
        other => {
            let text = format!("[reference]: origin {other} must be published, imported or recorded");
            reader.fault(head.get("origin").and_then(Item::span), text);
            Origin::Published
        }
    }
}

fn point(reader: &mut Reader<'_>, table: &Table, place: &str) -> ReferencePoint {
    reader.only(table, place, POINT, |_| false);
    let relative_percent = table.get("relative_percent").and_then(|item| {
        let found = number(item).filter(|percent| percent.is_finite() && *percent >= 0.0);
        if found.is_none() {
            reader.fault(item.span(), format!("{place}: relative_percent must be a number from 0"));
        }
        found
    });
    let mut metrics = BTreeMap::new();
    for (name, item) in table.get("metrics").and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter) {
        let place = format!("{place}, metric {name}");
        metrics.extend(reader.figure(item, &place).map(|figure| (name.to_owned(), figure)));
    }
    let mut operations = Vec::new();
    for table in table.get("operation").and_then(Item::as_array_of_tables).into_iter().flatten() {
        operations.extend(operation(reader, table, place));
    }
    ReferencePoint {
        name: reader.text(table, place, "name"),
        levels: levels(reader, table, place),
        relative_percent,
        metrics,
        operations,
        notes: reader.texts(table, place, "notes"),
    }
}

fn levels(reader: &mut Reader<'_>, table: &Table, place: &str) -> Vec<(String, String)> {
    let mut levels = Vec::new();
    for (setting, item) in table.get("levels").and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter) {
        match item.as_str().map(str::to_owned).or_else(|| item.as_integer().map(|whole| whole.to_string())) {
            Some(level) => levels.push((setting.to_owned(), level)),
            None => {
                reader.fault(item.span(), format!("{place}: the level of {setting} must be text or a whole number"))
            }
        }
    }
    levels
}

fn operation(reader: &mut Reader<'_>, table: &Table, point: &str) -> Option<ReferenceOperation> {
    let kind = reader.needed(table, table.span(), &format!("{point}, operation"), "kind");
    let place = format!("{point}, operation {kind}");
    reader.only(table, &place, OPERATION, |key| percentile_title(key).is_some());
    let clock = match reader.text(table, &place, "time").as_str() {
        "" | "service" => LatencyClock::Service,
        "response" => LatencyClock::Response,
        other => {
            reader.fault(
                table.get("time").and_then(Item::span),
                format!("{place}: time {other} must be service or response"),
            );
            return None;
        }
    };
    let mut figures = BTreeMap::new();
    for (name, item) in table.iter().filter(|(name, _)| is_figure(name)) {
        let place = format!("{place}: {name}");
        if let Some(figure) = reader.figure(item, &place) {
            unit_fits(reader, item, &place, name, &figure);
            figures.insert(name.to_owned(), figure);
        }
    }
    Some(ReferenceOperation { kind, clock, figures, notes: reader.texts(table, &place, "notes") })
}

fn is_figure(name: &str) -> bool {
    matches!(name, "count" | "failed" | "share" | "mean" | "min" | "max") || percentile_title(name).is_some()
}

fn unit_fits(reader: &mut Reader<'_>, item: &Item, place: &str, name: &str, figure: &PublishedFigure) {
    let wanted = match name {
        "count" | "failed" if figure.unit.is_empty() && figure.value.fract() == 0.0 => return,
        "count" | "failed" => "a whole number without a unit".to_owned(),
        "share" if figure.unit == "%" => return,
        "share" => "in %".to_owned(),
        _ if figure.seconds().is_some() => return,
        _ => format!("a time in one of {}", TIMES.iter().map(|(unit, _)| *unit).collect::<Vec<_>>().join(", ")),
    };
    reader.fault(item.span(), format!("{place} must be {wanted}"));
}
