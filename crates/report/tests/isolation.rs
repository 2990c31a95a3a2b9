//! The isolation level of transactions beside what was tested, where the engine tells it.

use crate::support::{KeyValue, Shape, key_value, record};
use proofload_model::facts::engine;
use proofload_record::Record;
use proofload_report::findings::comparison::{ComparisonFilter, NamedRecord, compare};
use proofload_report::{Format, render};

/// The record with the level that each run tells in turn.
fn told(mut record: Record, levels: &[&str]) -> Record {
    for (attempt, level) in record.attempts.iter_mut().zip(levels) {
        attempt.facts.push(engine::ISOLATION.observed(*level, "a session"));
    }
    record
}

/// The line of it in the Markdown report's section on what was tested.
fn line(record: Record, levels: &[&str]) -> Option<String> {
    let text = render(&told(record, levels), Format::Markdown).expect("the record has points").replace('\u{a0}', " ");
    let suffixes = ["read back in a session", "where the engine tells it"];
    let mut lines = text.lines().filter(|line| suffixes.iter().any(|suffix| line.ends_with(suffix)));
    let found = lines.next().map(str::to_owned);
    assert_eq!(lines.next(), None, "it is told twice");
    found
}

#[track_caller]
fn check(levels: &[&str], expected: &str) {
    let line = line(record(&Shape::memory(2)), levels).expect("the engine tells it");
    assert!(line.contains("Isolation of transactions") && line.contains(expected), "{line}");
}

#[test]
fn a_report_tells_the_level_that_the_engine_told() {
    check(&["READ COMMITTED", "READ COMMITTED"], "READ COMMITTED, read back in a session");
    check(&["READ COMMITTED", "SERIALIZABLE"], "READ COMMITTED or SERIALIZABLE, by run (");
    check(&["REPEATABLE READ"], "REPEATABLE READ, where the engine tells it");
}

#[test]
fn a_report_is_silent_where_no_engine_tells_it_and_where_operations_are_single_statements() {
    assert_eq!(line(record(&Shape::memory(2)), &[]), None);
    assert_eq!(line(key_value(&KeyValue::plain()), &["READ COMMITTED", "READ COMMITTED"]), None);
}

/// The engine's own setting says it already.
#[test]
fn records_from_before_engines_told_it_do_not_differ_by_it() {
    let (before, after) = (record(&Shape::memory(2)), told(record(&Shape::memory(2)), &["READ COMMITTED"; 2]));
    let chosen = ComparisonFilter { metrics: vec!["tpm".to_owned()], levels: Vec::new() };
    let found = compare(named("a", &before), named("b", &after), &chosen).expect("they are of one study");
    let names: Vec<&str> = found.differences.iter().map(|difference| difference.name.as_str()).collect();
    assert!(names.iter().all(|name| !name.contains("isolation")), "{names:?}");
}

fn named<'r>(file: &str, record: &'r Record) -> NamedRecord<'r> {
    NamedRecord { file: file.to_owned(), sha256: file.to_owned(), record }
}
