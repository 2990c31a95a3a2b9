//! Series that the study names: kept as they are, counters as rates. May not know what they mean.

use super::super::probe::reading;
use super::super::rates::Rates;
use super::exposition::{is_counter, samples};
use proofload_model::samples::Reading;
use std::collections::HashMap;
use std::time::Duration;

/// Series named by the study.
#[derive(Debug, Default)]
pub(super) struct SelectedSeries {
    patterns: Vec<String>,
    counters: HashMap<String, bool>,
    rates: Rates,
}

impl SelectedSeries {
    /// Names, or beginnings of names with a `*` after them.
    pub(super) fn new(patterns: &[String]) -> Self {
        Self { patterns: patterns.to_vec(), ..Self::default() }
    }

    /// Readings of a text.
    pub(super) fn read(&mut self, text: &str, span: Option<Duration>) -> Vec<Reading> {
        let mut readings = Vec::new();
        if self.patterns.is_empty() {
            return readings;
        }
        let Self { patterns, counters, rates } = self;
        rates.turn(span);
        for sample in samples(text).filter(|sample| patterns.iter().any(|pattern| fits(pattern, sample.name))) {
            let counter = *counters
                .entry(sample.name.to_owned())
                .or_insert_with(|| is_counter(text, sample.name) || sample.name.ends_with("_total"));
            let key = || format!("{}{{{}}}", sample.name, sample.labels());
            let (value, unit) = match counter {
                true => (rates.per_second(&key(), sample.value), "1/s"),
                false => (Some(sample.value), ""),
            };
            readings.extend(value.map(|value| reading(sample.name, sample.labels(), unit, value)));
        }
        readings
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_series_are_kept_and_counters_become_rates() {
        let mut kept = SelectedSeries::new(&["pg_blks_*".to_owned(), "load".to_owned()]);
        let text =
            |reads: u32| format!("# TYPE pg_blks_read counter\npg_blks_read{{db=\"a\"}} {reads}\nload 0.5\nloads 3\n");
        let first = kept.read(&text(10), None);
        assert_eq!(first, [reading("load", "", "", 0.5)]);
        let second = kept.read(&text(30), Some(Duration::from_secs(2)));
        assert_eq!(second, [reading("pg_blks_read", "db=\"a\"", "1/s", 10.0), reading("load", "", "", 0.5)]);
    }
}
