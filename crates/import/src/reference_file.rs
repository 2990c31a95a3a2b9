//! A reference as the text of its file, readable by [`read_reference`](crate::read_reference). May not change a figure.

use crate::reference::{Origin, PublishedFigure, Reference, ReferenceOperation, ReferencePoint};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The file's text.
pub fn reference_text(reference: &Reference) -> String {
    let mut text = String::new();
    if reference.origin == Origin::Imported {
        text.push_str(
            "# Imported. Every figure names the file and line it was read from; nothing is computed unless marked.\n",
        );
    }
    text.push_str("[reference]\n");
    for (key, value) in [("id", &reference.id), ("title", &reference.title), ("publisher", &reference.publisher)] {
        line(&mut text, key, &quoted(value));
    }
    if let Some(year) = reference.year {
        line(&mut text, "year", &year.to_string());
    }
    line(&mut text, "origin", &quoted(reference.origin.word()));
    let workload = reference.workload.clone().unwrap_or_default();
    let words = [("workload", &workload), ("compare", &reference.compare), ("relative_to", &reference.relative_to)];
    for (key, value) in words.into_iter().filter(|(_, value)| !value.is_empty()) {
        line(&mut text, key, &quoted(value));
    }
    if let Some(hash) = &reference.record_sha256 {
        line(&mut text, "record_sha256", &quoted(hash));
    }
    let lists = [
        ("software", &reference.software),
        ("hardware", &reference.hardware),
        ("procedure", &reference.procedure),
        ("notes", &reference.notes),
    ];
    lists.into_iter().for_each(|(key, words)| list(&mut text, key, words));
    reference.points.iter().for_each(|part| point(&mut text, part));
    text
}

fn point(text: &mut String, point: &ReferencePoint) {
    text.push_str("\n[[point]]\n");
    if !point.name.is_empty() {
        line(text, "name", &quoted(&point.name));
    }
    if !point.levels.is_empty() {
        let levels = point.levels.iter().map(|(setting, level)| format!("{} = {}", quoted(setting), quoted(level)));
        line(text, "levels", &format!("{{ {} }}", levels.collect::<Vec<_>>().join(", ")));
    }
    if let Some(percent) = point.relative_percent {
        line(text, "relative_percent", &number(percent));
    }
    list(text, "notes", &point.notes);
    if !point.metrics.is_empty() {
        text.push_str("\n[point.metrics]\n");
        figures(text, &point.metrics);
    }
    point.operations.iter().for_each(|part| operation(text, part));
}

fn operation(text: &mut String, operation: &ReferenceOperation) {
    text.push_str("\n[[point.operation]]\n");
    line(text, "kind", &quoted(&operation.kind));
    line(text, "time", &quoted(operation.clock.word()));
    figures(text, &operation.figures);
    list(text, "notes", &operation.notes);
}

/// Counts first, then the latencies upwards.
fn figures(text: &mut String, figures: &BTreeMap<String, PublishedFigure>) {
    const FIRST: &[&str] = &["count", "failed", "share", "mean", "min", "max"];
    let first = FIRST.iter().filter_map(|name| figures.get_key_value(*name));
    let rest = figures.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    for (name, figure) in first.chain(rest) {
        let unit = if figure.unit.is_empty() { String::new() } else { format!(", unit = {}", quoted(&figure.unit)) };
        let from = figure.from.as_ref().map_or_else(String::new, |from| format!(", from = {}", quoted(from)));
        line(text, &key(name), &format!("{{ value = {}{unit}{from} }}", number(figure.value)));
    }
}

fn line(text: &mut String, key: &str, value: &str) {
    let _never = writeln!(text, "{key} = {value}");
}

fn list(text: &mut String, key: &str, words: &[String]) {
    if words.is_empty() {
        return;
    }
    let lines: String = words.iter().map(|word| format!("    {},\n", quoted(word))).collect();
    line(text, key, &format!("[\n{lines}]"));
}

/// A key needs quotes when it is more than letters, digits, `_` and `-`.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if bare { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// All digits of a number; a whole one without a point.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9.0e15 { format!("{value:.0}") } else { format!("{value}") }
}
