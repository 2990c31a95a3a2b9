//! Answers: all golden ones are met on every engine, and engines agree where values are drawn.
//!
//! With `PROOFLOAD_BLESS` set, the golden answers are written anew from SQLite's, provided that PostgreSQL's agree.

use super::case::Case;
use crate::workloads::warehouse::answers::{Answer, compare, read_csv, write_csv};
use crate::workloads::warehouse::suite::{Draw, golden};
use proofload_gen::Seed;
use std::path::Path;
use std::time::Instant;

fn check_golden(engine: &str) {
    let Some(case) = Case::built(engine, &[]) else { return };
    let mut desk = case.desk();
    let mut wrong = Vec::new();
    for (place, query) in case.dialect.queries.iter().enumerate() {
        let text = golden(0.01, query.name).expect("every query has a golden answer");
        let right = read_csv(query, text).unwrap();
        let started = Instant::now();
        let found = case.answer(&mut desk, place, Draw::Validation);
        eprintln!("{engine} {} {:.1} ms, {} rows", query.name, started.elapsed().as_secs_f64() * 1e3, found.len());
        if let Err(what) = compare(query, &right, &found) {
            wrong.push(format!("{}: {what}", query.name));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn golden_answers_are_met_on_sqlite() {
    check_golden("sqlite");
}

#[test]
fn golden_answers_are_met_on_postgresql() {
    check_golden("postgresql");
}

#[test]
fn golden_answers_are_met_on_duckdb() {
    check_golden("duckdb");
}

/// All answers of an engine.
fn answers(case: &Case, draw: Draw) -> Vec<Answer> {
    let mut desk = case.desk();
    (0..case.dialect.queries.len()).map(|place| case.answer(&mut desk, place, draw)).collect()
}

#[test]
fn engines_agree_on_drawn_values() {
    let Some(other) = Case::built("postgresql", &[]) else { return };
    let case = Case::built("sqlite", &[]).expect("SQLite is built in");
    for seed in 0..5 {
        let draw = Draw::Seeded(Seed(seed));
        let pairs = answers(&case, draw).into_iter().zip(answers(&other, draw));
        for (query, (one, two)) in case.dialect.queries.iter().zip(pairs) {
            assert_eq!(compare(query, &one, &two), Ok(()), "{} with seed {seed}", query.name);
        }
    }
}

#[test]
fn golden_answers_are_blessed_when_asked() {
    let Some(scale) = std::env::var_os("PROOFLOAD_BLESS") else { return };
    let scale = scale.to_str().unwrap().to_owned();
    let changes = [("scale_factor", scale.as_str())];
    let other = Case::built("postgresql", &changes).expect("two engines must agree");
    let case = Case::built("sqlite", &changes).expect("SQLite is built in");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../suites/warehouse/answers/sf{scale}"));
    std::fs::create_dir_all(&folder).unwrap();
    let pairs = answers(&case, Draw::Validation).into_iter().zip(answers(&other, Draw::Validation));
    for (query, (one, two)) in case.dialect.queries.iter().zip(pairs) {
        compare(query, &two, &one).unwrap_or_else(|what| panic!("{}: {what}", query.name));
        std::fs::write(folder.join(format!("{}.csv", query.name)), write_csv(query, &two)).unwrap();
    }
}
