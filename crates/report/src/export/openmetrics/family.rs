//! Lines of OpenMetrics text: the head of a family, samples with escaped labels, the end.

use super::super::time::seconds_text;
use std::io::{Result, Write};

/// Endings that mean something in other types, so that no name of ours may have them.
const RESERVED: &[&str] = &["_total", "_count", "_sum", "_bucket", "_created", "_info", "_gcount", "_gsum"];

/// A family of series.
pub(super) struct Family<'n> {
    /// Its name, which ends in its unit.
    pub(super) name: &'n str,
    /// `gauge`, `counter`, `summary` or `info`.
    pub(super) kind: &'n str,
    /// Its unit; empty for none.
    pub(super) unit: &'n str,
    /// What it is.
    pub(super) help: &'n str,
}

/// Labels of a sample, in order.
#[derive(Clone, Default)]
pub(super) struct Labels(String);

impl Labels {
    /// Makes labels from names and values.
    pub(super) fn of(pairs: &[(&str, &str)]) -> Self {
        let mut labels = Self::default();
        pairs.iter().for_each(|(name, value)| labels.add(name, value));
        labels
    }

    /// One more.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        let comma = if self.0.is_empty() { "" } else { "," };
        self.0.push_str(&format!("{comma}{}=\"{}\"", clean(name), escaped(value)));
    }

    /// The same and one more.
    pub(super) fn with(&self, name: &str, value: &str) -> Self {
        let mut labels = self.clone();
        labels.add(name, value);
        labels
    }
}

/// The text as it is written. The head of a family is written with its first sample: one without samples does not appear.
pub(super) struct Page<'w> {
    to: &'w mut dyn Write,
    head: String,
}

impl<'w> Page<'w> {
    pub(super) fn new(to: &'w mut dyn Write) -> Self {
        Self { to, head: String::new() }
    }

    /// The head of a family; its samples follow.
    pub(super) fn family(&mut self, family: &Family<'_>) {
        let Family { name, kind, unit, help } = family;
        let unit = if unit.is_empty() { String::new() } else { format!("# UNIT {name} {unit}\n") };
        self.head = format!("# TYPE {name} {kind}\n{unit}# HELP {name} {}\n", escaped(help));
    }

    /// One sample; a value that is no number is left out.
    pub(super) fn sample(&mut self, name: &str, labels: &Labels, value: f64, at_us: i64) -> Result<()> {
        if !value.is_finite() {
            return Ok(());
        }
        let head = std::mem::take(&mut self.head);
        writeln!(self.to, "{head}{name}{{{}}} {value} {}", labels.0, seconds_text(at_us))
    }

    /// The end.
    pub(super) fn end(self) -> Result<()> {
        writeln!(self.to, "# EOF")
    }
}

/// A name of letters, digits and underscores.
pub(super) fn clean(name: &str) -> String {
    let mut clean: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if clean.starts_with(|letter: char| letter.is_ascii_digit()) || clean.is_empty() {
        clean.insert(0, '_');
    }
    clean
}

/// The name of a family: clean, and without an ending that belongs to another type.
pub(super) fn family_name(name: &str) -> String {
    let name = clean(name);
    if RESERVED.iter().any(|ending| name.ends_with(ending)) { format!("{name}_value") } else { name }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_clean_and_values_escaped() {
        assert_eq!(clean("limits.memory"), "limits_memory");
        assert_eq!(clean("5 s"), "_5_s");
        assert_eq!(family_name("proofload_probe_rows_total"), "proofload_probe_rows_total_value");
        assert_eq!(Labels::of(&[("a.b", "x\"\\\ny")]).with("c", "").0, "a_b=\"x\\\"\\\\\\ny\",c=\"\"");
    }
}
