//! Answers: all golden ones are met on every engine, and engines agree where values are drawn.

use super::case::Case;
use crate::workloads::warehouse::answers::{Answer, compare, read_csv};
use crate::workloads::warehouse::suite::{Draw, golden};
use proofload_gen::Seed;
use std::time::Instant;

/// Every golden answer is met.
pub(super) fn check_golden(case: &Case) {
    let engine = &case.request.spec.place.engine;
    let mut session = case.session();
    let mut wrong = Vec::new();
    for (place, query) in case.dialect.queries.iter().enumerate() {
        let text = golden(0.01, query.name).expect("every query has a golden answer");
        let right = read_csv(query, text).unwrap();
        let started = Instant::now();
        let found = case.answer(&mut session, place, Draw::Validation);
        eprintln!("{engine} {} {:.1} ms, {} rows", query.name, started.elapsed().as_secs_f64() * 1e3, found.len());
        if let Err(what) = compare(query, &right, &found) {
            wrong.push(format!("{}: {what}", query.name));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// All answers of an engine.
fn answers(case: &Case, draw: Draw) -> Vec<Answer> {
    let mut session = case.session();
    (0..case.dialect.queries.len()).map(|place| case.answer(&mut session, place, draw)).collect()
}

/// The engines that can be had, with data; the first is PostgreSQL if it is there.
fn engines(changes: &[(&str, &str)]) -> Vec<Case> {
    ["postgresql", "sqlite", "duckdb"].into_iter().filter_map(|name| Case::built(name, changes)).collect()
}

/// An error unless all engines give the first one's answers.
fn check_agreement(cases: &[Case], draw: Draw) -> Vec<Answer> {
    let first = answers(&cases[0], draw);
    for case in &cases[1..] {
        for (query, (one, other)) in case.dialect.queries.iter().zip(first.iter().zip(answers(case, draw))) {
            assert_eq!(
                compare(query, one, &other),
                Ok(()),
                "{} {draw:?} {}",
                query.name,
                case.request.spec.place.engine
            );
        }
    }
    first
}

#[test]
fn engines_agree_on_drawn_values() {
    let cases = engines(&[]);
    for seed in 0..5 {
        check_agreement(&cases, Draw::Seeded(Seed(seed)));
    }
}
