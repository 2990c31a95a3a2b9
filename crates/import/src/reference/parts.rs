//! Reading the parts of a reference file, with every fault and its line. May not decide what a figure means.

use super::types::PublishedFigure;
use toml_edit::{Item, TableLike};

/// A file while it is read: where its text is, and what is wrong with it so far.
pub(super) struct Reader<'t> {
    text: &'t str,
    faults: Vec<(usize, String)>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, faults: Vec::new() }
    }

    /// Line of a byte of the text, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    /// Notes a fault at a place; without a place it is the file's first line.
    pub(super) fn fault(&mut self, at: Option<std::ops::Range<usize>>, text: impl Into<String>) {
        let line = self.line(at.map_or(0, |range| range.start));
        self.faults.push((line, text.into()));
    }

    /// All faults in the order of the text, each with its line; nothing when there is none.
    pub(super) fn finish(mut self, file: &str) -> Result<(), String> {
        if self.faults.is_empty() {
            return Ok(());
        }
        self.faults.sort_by_key(|(line, _)| *line);
        let lines: Vec<String> = self.faults.iter().map(|(line, text)| format!("{file}:{line}: {text}")).collect();
        Err(lines.join("\n"))
    }

    /// Faults for keys that nobody reads, with those that are known.
    pub(super) fn only(&mut self, table: &dyn TableLike, place: &str, known: &[&str], also: impl Fn(&str) -> bool) {
        for (key, item) in table.iter().filter(|(key, _)| !known.contains(key) && !also(key)) {
            let at = item.span().or_else(|| table.key(key).and_then(toml_edit::Key::span));
            self.fault(at, format!("{place}: unknown key {key}; known: {}", known.join(", ")));
        }
    }

    /// Words under a key; empty when there are none.
    pub(super) fn text(&mut self, table: &dyn TableLike, place: &str, key: &str) -> String {
        match table.get(key) {
            None => String::new(),
            Some(item) => item.as_str().map(str::to_owned).unwrap_or_else(|| {
                self.fault(item.span(), format!("{place}: {key} must be a quoted string"));
                String::new()
            }),
        }
    }

    /// Words that must be there.
    pub(super) fn needed(
        &mut self,
        table: &dyn TableLike,
        at: Option<std::ops::Range<usize>>,
        place: &str,
        key: &str,
    ) -> String {
        let found = self.text(table, place, key);
        if found.is_empty() && table.get(key).is_none_or(|item| item.is_str()) {
            self.fault(at, format!("{place}: {key} is missing"));
        }
        found
    }

    /// A list of words.
    pub(super) fn texts(&mut self, table: &dyn TableLike, place: &str, key: &str) -> Vec<String> {
        let Some(item) = table.get(key) else { return Vec::new() };
        let words = item.as_array().map(|list| list.iter().map(|word| word.as_str().map(str::to_owned)));
        words.and_then(Iterator::collect).unwrap_or_else(|| {
            self.fault(item.span(), format!("{place}: {key} must be a list of strings"));
            Vec::new()
        })
    }

    /// A figure: `{ value = 5.54, unit = "ms", from = "…" }`.
    pub(super) fn figure(&mut self, item: &Item, place: &str) -> Option<PublishedFigure> {
        let Some(table) = item.as_table_like() else {
            self.fault(item.span(), format!("{place} must be a figure such as {{ value = 5.54, unit = \"ms\" }}"));
            return None;
        };
        self.only(table, place, &["value", "unit", "from"], |_| false);
        let value = table.get("value").and_then(number);
        if value.is_none_or(|value| !value.is_finite() || value < 0.0) {
            self.fault(item.span(), format!("{place} needs a value that is a number from 0"));
        }
        let from = Some(self.text(table, place, "from")).filter(|from| !from.is_empty());
        Some(PublishedFigure { value: value?, unit: self.text(table, place, "unit"), from })
    }
}

/// A whole or a decimal number.
pub(super) fn number(item: &Item) -> Option<f64> {
    item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64))
}
