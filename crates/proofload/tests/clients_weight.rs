//! Precedence of the load generator beside a database whose CPU time is limited, as a record tells it.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_model::facts::{FactName, limit};
use proofload_record::Record;
use support::{Bench, postgresql_here, small_study, text};

/// Runs a study whose database has an allowance of CPU time; nothing, with a message, where this machine does not allow it.
fn ran(bench: &Bench, engine: &str) -> Option<Record> {
    bench.study(&small_study(engine, "[limits]\ncpu = 1.5\n", 1));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof", "--no-report"]);
    let said = text(&output.stderr);
    if output.status.code() == Some(3) || said.contains("does not allow") {
        println!("SKIPPED: {said}");
        return None;
    }
    // A host that stands still may void a window of two seconds; it was run all the same.
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{said}");
    bench.expect_no_process();
    Some(proofload_record::read(&bench.path("x.proof")).expect("the record is readable"))
}

/// Values of a fact in the first attempt.
fn values<'r>(record: &'r Record, name: &FactName) -> Vec<Option<&'r str>> {
    let facts = record.attempts[0].facts.iter().filter(|fact| name.is_of(fact));
    facts.map(|fact| fact.effective.as_deref()).collect()
}

#[test]
fn beside_a_limited_server_the_load_generator_has_its_weight() {
    if !postgresql_here("beside_a_limited_server_the_load_generator_has_its_weight") {
        return;
    }
    let bench = Bench::new("clients-weight");
    let Some(record) = ran(&bench, "postgresql") else { return };
    let (of_database, of_clients) = (values(&record, &limit::WEIGHT), values(&record, &limit::CLIENTS_WEIGHT));
    let largest = of_database.first().copied().flatten().expect("the database has a weight");
    assert!(largest.starts_with("10000 (100") || largest.starts_with("262144 (1024"), "{largest}");
    assert!(!of_clients.is_empty() && of_clients.iter().all(|weight| *weight == Some(largest)), "{of_clients:?}");
    assert_eq!(values(&record, &limit::CPU).iter().find(|rate| **rate != Some("1.5 CPU s/s")), None);
}

#[test]
fn the_load_of_an_embedded_engine_has_that_of_its_database() {
    let bench = Bench::new("embedded-weight");
    let Some(record) = ran(&bench, "sqlite") else { return };
    assert!(!values(&record, &limit::WEIGHT).is_empty());
    assert!(values(&record, &limit::CLIENTS_WEIGHT).is_empty());
}
