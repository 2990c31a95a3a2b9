//! The official kit's answers at scale factor 1, which the generator crate carries, against ours. Bounds are those of
//! clause 2.1.3.5 of the specification.

use crate::workloads::warehouse::answers::Answer;
use crate::workloads::warehouse::suite::{Exactness, Query};
use tpchgen::q_and_a::QueryAndAnswer;

/// Rows of the official answer, without the padding of its columns.
fn official(place: usize) -> Vec<Vec<String>> {
    let answer = QueryAndAnswer::new(i32::try_from(place + 1).unwrap(), 1.0).unwrap();
    let lines = answer.answer().lines().filter(|line| !line.trim().is_empty()).skip(1);
    lines.map(|line| line.split('|').map(|value| value.trim_end().to_owned()).collect()).collect()
}

/// Whether a value is right within the specification's bounds.
fn agrees(exactness: Exactness, official: &str, ours: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>();
    match (exactness, number(official), number(ours)) {
        (Exactness::Text | Exactness::Date, _, _) => official == ours,
        (Exactness::Sum, Ok(one), Ok(other)) => (one - other).abs() <= 100.0,
        (Exactness::Average | Exactness::Ratio, Ok(one), Ok(other)) => {
            let rounded = (other * 100.0).round() / 100.0;
            (one - rounded).abs() <= 0.01 * one.abs() + 1e-9
        }
        (_, Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// The kit's answer of this query shows the first four of six places of its part keys, and its rows have an order
/// without ties.
const CUT: (&str, usize) = ("q11", 4);

/// Rows in one order: those of queries with ties by the columns that are equal; part keys as the kit shows them.
fn prepared(query: &Query, mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    if query.name == CUT.0 {
        for row in &mut rows {
            row[0] = format!("{:>6}", row[0]);
            row[0].truncate(CUT.1);
        }
        return rows;
    }
    let exact = |row: &Vec<String>| {
        let equal = |exactness| matches!(exactness, Exactness::Text | Exactness::Integer | Exactness::Date);
        let columns = query.columns.iter().zip(row).filter(|(column, _)| equal(column.exactness));
        columns.map(|(_, value)| value.trim().to_owned()).collect::<Vec<_>>()
    };
    rows.sort_by_key(exact);
    rows
}

/// Queries that the kit has answers of; the others of the suite are our own.
pub(super) const QUERIES: usize = 22;

/// Where answers at scale factor 1 differ from the kit's.
pub(super) fn differences(queries: &[Query], answers: &[Answer]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (place, (query, answer)) in queries.iter().zip(answers).enumerate().take(QUERIES) {
        let ours = prepared(query, answer.clone());
        let theirs = if query.name == CUT.0 { official(place) } else { prepared(query, official(place)) };
        let mut rows = theirs.iter().zip(&ours);
        let differs = rows.find(|(one, other)| {
            let values = query.columns.iter().zip(one.iter().zip(*other));
            !values.into_iter().all(|(column, (one, other))| agrees(column.exactness, one, other))
        });
        if ours.len() != theirs.len() || differs.is_some() {
            let (found, right) = (ours.len(), theirs.len());
            wrong.push(format!("{}, official kit: {found} rows, but {right} are expected; {differs:?}", query.name));
        }
    }
    wrong
}
