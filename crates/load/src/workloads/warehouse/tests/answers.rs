//! Answers: all golden ones are met on every engine, and engines agree where values are drawn.

use super::case::Case;
use crate::workloads::warehouse::answers::{Answer, compare, written};
use crate::workloads::warehouse::selftest::wrong_answers;
use crate::workloads::warehouse::suite::Draw;
use proofload_gen::Seed;

/// Every golden answer is met.
pub(super) fn check_golden(case: &Case) {
    let wrong = wrong_answers(&case.dialect, case.settings.scale, &mut case.session()).unwrap();
    assert_eq!(wrong, [""; 0], "{}", case.request.spec.place.engine);
}

/// Ten lines whose charges, with the six digits of their three factors, leave 64 bits together: as a sum does from a scale factor of 84 on.
/// Each of them has 18 digits, which is what DuckDB multiplies into.
const LARGE_LINES: &str = "(SELECT 'A' AS l_returnflag, 'F' AS l_linestatus, CAST(1 AS DECIMAL(15, 2)) AS l_quantity, \
    CAST(950000000000.37 AS DECIMAL(15, 2)) AS l_extendedprice, CAST(0.01 AS DECIMAL(15, 2)) AS l_discount, \
    CAST(0.02 AS DECIMAL(15, 2)) AS l_tax, CAST('1995-03-15' AS DATE) AS l_shipdate \
    FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 \
    UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10) AS ten) AS lineitem";

/// The widest sum of the queries is read where the engine has decimals.
pub(super) fn check_large_sums(case: &Case) {
    let (dialect, scale) = (&case.dialect, case.settings.scale);
    let query = dialect.queries.iter().find(|query| query.name == "q01").unwrap();
    let sql = dialect.sql(query, Draw::Validation, scale).unwrap();
    let large = sql.replace("FROM lineitem", &format!("FROM {LARGE_LINES}"));
    assert_ne!(large, sql, "the query reads the table");
    let found = written(query, &case.session().query(&large).unwrap()).unwrap();
    let expected =
        ["A", "F", "10.00", "9500000000003.70", "9405000000003.66", "9593100000003.74", "1.00", "950000000000.37"];
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0][..expected.len()], expected, "{}", case.request.spec.place.engine);
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
