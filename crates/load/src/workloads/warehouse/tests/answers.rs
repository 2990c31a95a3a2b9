//! Answers: all golden ones are met on every engine, and engines agree where values are drawn.

use super::case::Case;
use crate::workloads::warehouse::answers::{Answer, compare};
use crate::workloads::warehouse::selftest::wrong_answers;
use crate::workloads::warehouse::suite::Draw;
use proofload_gen::Seed;

/// Every golden answer is met.
pub(super) fn check_golden(case: &Case) {
    let wrong = wrong_answers(&case.dialect, case.settings.scale, &mut case.session()).unwrap();
    assert_eq!(wrong, [""; 0], "{}", case.request.spec.place.engine);
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
    for seed in 0..3 {
        check_agreement(&cases, Draw::Seeded(Seed(seed)));
    }
}
