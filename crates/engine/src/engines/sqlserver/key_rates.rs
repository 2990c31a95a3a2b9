//! Rates of what the server adds up by keys that come and go: plans of procedures, sets of sessions. Differences are formed key by key,
//! over the server's own clock; what is not known is a gap and never a zero. Untested on a real server. Sources: Microsoft's documentation,
//! "`sys.dm_exec_procedure_stats`", "`sys.dm_exec_session_wait_stats`", "`sys.dm_os_sys_info`".

use crate::contract::{Observation, OwnedValue, Value};
use proofload_model::samples::Reading;
use std::collections::BTreeMap;

/// Columns before the numbers: component, key, milliseconds of the server's clock, and milliseconds since the key has begun.
const COLUMNS_BEFORE: usize = 4;
/// How much older than the reading before it a key may be and still be new since: a `datetime` is as exact as 1/300 s.
const INEXACT_MS: i64 = 10;

/// A series: name, unit of its rate, and what one of the server's numbers is in it.
type SeriesOfKeys = (&'static str, &'static str, f64);

/// A text whose rows are numbers by key, and the series that they come to.
#[derive(Debug)]
pub(super) struct KeyText {
    pub(super) sql: &'static str,
    series: &'static [SeriesOfKeys],
    /// Series of the keys whose difference is not known, and the word for them.
    gaps: (&'static str, &'static str),
}

/// Procedures of the study's database by plan. Times are microseconds there.
pub(super) const PROCEDURES: KeyText = KeyText {
    sql: include_str!("procedures.sql"),
    series: &[
        ("procedure_executions", "1/s", 1.0),
        ("procedure_cpu", "CPU s/s", 1e-6),
        ("procedure_elapsed", "s/s", 1e-6),
        ("procedure_logical_reads", "1/s", 1.0),
        ("procedure_physical_reads", "1/s", 1.0),
    ],
    gaps: ("procedure_gaps", "plans"),
};

/// Waits of the load's sessions by kind. The server sums them up, and tells of which set of sessions: a row for each session and kind would
/// be too many of a thousand users.
pub(super) const SESSION_WAITS: KeyText = KeyText {
    sql: include_str!("session_waits.sql"),
    series: &[("session_waits", "1/s", 1.0), ("session_wait_time", "ms/s", 1.0)],
    gaps: ("session_wait_gaps", "kinds"),
};

/// What a key was at a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyNumbers {
    age_ms: i64,
    numbers: Vec<i64>,
}

impl KeyNumbers {
    /// What has come since the reading before, `span_ms` ago; `None` where it is not known.
    fn since(&self, before: Option<&Self>, span_ms: i64) -> Option<Vec<i64>> {
        match before {
            Some(before) => {
                let added = self.numbers.iter().zip(&before.numbers).map(|(now, before)| now - before);
                Some(added.collect::<Vec<i64>>()).filter(|added| added.iter().all(|number| *number >= 0))
            }
            // All that a key counts is new where the key is.
            None => (self.age_ms <= span_ms + INEXACT_MS).then(|| self.numbers.clone()),
        }
    }
}

/// The keys of a text over all readings.
#[derive(Debug)]
pub(super) struct KeyRates {
    text: &'static KeyText,
    seen: BTreeMap<(String, String), KeyNumbers>,
    /// Milliseconds of the server's clock at the last reading; `None` before the first, and after one that is missing or empty.
    clock_ms: Option<i64>,
}

impl KeyRates {
    /// Keys of a text, none of which has been read.
    pub(super) fn new(text: &'static KeyText) -> Self {
        Self { text, seen: BTreeMap::new(), clock_ms: None }
    }

    /// The text to read.
    pub(super) fn sql(&self) -> &'static str {
        self.text.sql
    }

    /// Takes a reading; gives the rates since the one before. A component of which one key is not known has none.
    pub(super) fn take(&mut self, rows: &[Vec<OwnedValue>]) -> Vec<Observation> {
        let (mut now, mut clock_ms) = (BTreeMap::new(), None);
        for (key, at, numbers) in rows.iter().filter_map(|row| key_of(row, self.text.series.len())) {
            clock_ms = Some(at);
            now.insert(key, numbers);
        }
        let before = std::mem::replace(&mut self.seen, now);
        let Some(from) = std::mem::replace(&mut self.clock_ms, clock_ms) else { return Vec::new() };
        let span_ms = clock_ms.map_or(0, |now| now - from);
        let mut sums: BTreeMap<&str, Option<Vec<i64>>> = BTreeMap::new();
        let mut gaps = 0_u32;
        for ((component, _), _) in before.iter().filter(|(key, _)| !self.seen.contains_key(*key)) {
            sums.insert(component, None);
            gaps += 1;
        }
        for (key, numbers) in &self.seen {
            let added = numbers.since(before.get(key), span_ms).filter(|_| span_ms > 0);
            gaps += u32::from(added.is_none());
            let sum = sums.entry(&key.0).or_insert_with(|| Some(vec![0; self.text.series.len()]));
            *sum = sum
                .take()
                .zip(added)
                .map(|(sum, added)| sum.iter().zip(&added).map(|(one, more)| one + more).collect());
        }
        let mut found = vec![level(self.text.gaps.0, "", self.text.gaps.1, f64::from(gaps))];
        for (component, sum) in sums {
            for ((name, unit, factor), number) in self.text.series.iter().zip(sum.into_iter().flatten()) {
                found.push(level(name, component, unit, number as f64 * factor * 1000.0 / span_ms as f64));
            }
        }
        found
    }

    /// Notes that a reading is missing: the next one is a base anew, so that no second has the work of two.
    pub(super) fn miss(&mut self) {
        self.seen.clear();
        self.clock_ms = None;
    }
}

/// Component and key of a row, the server's clock, and its numbers, which are so many.
fn key_of(row: &[OwnedValue], numbers: usize) -> Option<((String, String), i64, KeyNumbers)> {
    let [OwnedValue::Text(component), OwnedValue::Text(key), clock_ms, age_ms, ..] = row else { return None };
    let integer = |value: &OwnedValue| Value::integer(value.as_value());
    let found: Option<Vec<i64>> = row[COLUMNS_BEFORE..].iter().map(integer).collect();
    let numbers = KeyNumbers { age_ms: integer(age_ms)?, numbers: found.filter(|found| found.len() == numbers)? };
    Some(((component.trim().to_owned(), key.trim().to_owned()), integer(clock_ms)?, numbers))
}

/// A number that is a rate already, or stands.
fn level(name: &str, component: &str, unit: &str, value: f64) -> Observation {
    let (name, component, unit) = (name.to_owned(), component.to_owned(), unit.to_owned());
    Observation { reading: Reading { name, component, unit, value }, cumulative: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of `session_waits.sql`: kind, set of sessions, clock, age, number and milliseconds of waits.
    fn row(component: &str, key: &str, [clock, age, count, time]: [i64; 4]) -> Vec<OwnedValue> {
        let texts = [component, key].map(|text| OwnedValue::Text(text.to_owned()));
        texts.into_iter().chain([clock, age, count, time].map(OwnedValue::Integer)).collect()
    }

    /// What is told of waits by number, as `component value`, with the gaps first.
    fn told(rates: &mut KeyRates, rows: &[Vec<OwnedValue>]) -> Vec<String> {
        let found = rates.take(rows);
        assert!(found.iter().all(|one| !one.cumulative), "{found:?}");
        let is_wanted = |one: &&Observation| one.reading.name != "session_wait_time";
        found.iter().filter(is_wanted).map(|one| format!("{} {}", one.reading.component, one.reading.value)).collect()
    }

    #[test]
    fn differences_are_formed_by_key_and_over_the_clock_of_the_server() {
        let mut rates = KeyRates::new(&SESSION_WAITS);
        assert_eq!(told(&mut rates, &[row("a", "1", [1_000, 9_000, 500, 7])]), [""; 0], "the base");
        // Another key of the same component is as young as the reading before.
        let rows = [row("a", "1", [3_000, 11_000, 520, 7]), row("a", "2", [3_000, 2_000, 4, 0])];
        assert_eq!(told(&mut rates, &rows), [" 0", "a 12"]);
        let times: Vec<Observation> =
            rates.take(&[row("a", "1", [3_500, 0, 520, 57]), row("a", "2", [3_500, 0, 4, 0])]);
        let time = times.iter().find(|one| one.reading.name == "session_wait_time").map(|one| one.reading.value);
        assert_eq!(time, Some(100.0), "50 ms in half a second");
    }

    #[test]
    fn what_vanished_fell_or_is_older_than_it_was_seen_is_a_gap_and_no_zero() {
        let base = [row("a", "1", [1_000, 9_000, 500, 7]), row("b", "1", [1_000, 9_000, 50, 7])];
        let check = |rows: &[Vec<OwnedValue>], expected: &[&str]| {
            let mut rates = KeyRates::new(&SESSION_WAITS);
            assert_eq!(told(&mut rates, &base), [""; 0]);
            assert_eq!(told(&mut rates, rows), expected, "{rows:?}");
        };
        let of_b = || row("b", "1", [2_000, 10_000, 53, 7]);
        check(&[of_b()], &[" 1", "b 3"]);
        check(&[], &[" 2"]);
        check(&[row("a", "1", [2_000, 10_000, 499, 9]), of_b()], &[" 1", "b 3"]);
        check(&[row("a", "1", [2_000, 10_000, 500, 6]), of_b()], &[" 1", "b 3"]);
        // Cached anew: what the old plan did last is lost.
        check(&[row("a", "2", [2_000, 300, 5, 1]), of_b()], &[" 1", "b 3"]);
        check(
            &[row("c", "1", [2_000, 10_000, 800, 1]), row("a", "1", [2_000, 0, 500, 7]), of_b()],
            &[" 1", "a 0", "b 3"],
        );
        check(&[row("a", "1", [1_000, 9_000, 500, 7]), row("b", "1", [1_000, 9_000, 50, 7])], &[" 2"]);
    }

    #[test]
    fn a_missing_reading_makes_the_next_one_the_base() {
        let mut rates = KeyRates::new(&SESSION_WAITS);
        told(&mut rates, &[row("a", "1", [1_000, 0, 5, 0])]);
        rates.miss();
        assert_eq!(told(&mut rates, &[row("a", "1", [3_000, 0, 9, 0])]), [""; 0]);
        assert_eq!(told(&mut rates, &[row("a", "1", [4_000, 0, 11, 0])]), [" 0", "a 2"]);
        assert_eq!(
            told(&mut rates, &[row("a", "1", [5_000, 0, 11, 0]).split_off(1)]),
            [" 1"],
            "a row that is not understood"
        );
    }
}
