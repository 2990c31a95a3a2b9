//! No corrupted answer passes: 200 seeded corruptions of each golden answer, each a fault that engines or workloads are
//! known to make.

use super::compare::compare;
use super::csv::read_csv;
use super::write::Answer;
use crate::workloads::warehouse::suite::{Dialect, Exactness, Query, golden};
use proofload_gen::{Rng, Seed};

/// Corruptions of each answer.
const EACH: u64 = 200;

/// Changes an answer so that it is wrong; `None` when this corruption does not apply to it.
fn corrupt(query: &Query, right: &Answer, rng: &mut Rng) -> Option<Answer> {
    let mut answer = right.clone();
    let any = |rng: &mut Rng, count: usize| (count > 0).then(|| rng.below(count as u64) as usize);
    match rng.below(7) {
        0 => drop(answer.remove(any(rng, right.len())?)),
        1 => answer.push(right.get(any(rng, right.len())?)?.clone()),
        2 => {
            let (one, other) = (any(rng, right.len())?, any(rng, right.len())?);
            answer.swap(one, other);
            let same_place = query.order.iter().all(|column| right[one][*column] == right[other][*column]);
            return (!query.order.is_empty() && !same_place).then_some(answer);
        }
        3 => {
            let (row, column) = (any(rng, right.len())?, any(rng, query.columns.len())?);
            (answer[row][column] != "NULL").then(|| answer[row][column] = "NULL".to_owned())?;
        }
        _ => {
            let (row, column) = (any(rng, right.len())?, any(rng, query.columns.len())?);
            answer[row][column] = altered(query.columns[column].exactness, &right[row][column], rng)?;
        }
    }
    Some(answer)
}

/// Another value than the right one, by more than the column's bound.
fn altered(exactness: Exactness, value: &str, rng: &mut Rng) -> Option<String> {
    match exactness {
        Exactness::Text | Exactness::Date => {
            let place = rng.below(value.len().max(1) as u64) as usize;
            let letters = value.char_indices().map(|(at, letter)| if at == place { '~' } else { letter });
            Some(if value.is_empty() { "~".to_owned() } else { letters.collect() })
        }
        Exactness::Integer => {
            value.parse::<i64>().ok().map(|number| (number + 1 - 2 * rng.below(2) as i64).to_string())
        }
        Exactness::Decimal | Exactness::Sum | Exactness::Average | Exactness::Ratio => {
            let (whole, part) = value.split_once('.')?;
            let units: i128 = format!("{whole}{part}").parse().ok()?;
            let wrong = units + 2 + i128::from(rng.below(10_000));
            let one = 10i128.pow(part.len() as u32);
            let sign = if wrong < 0 { "-" } else { "" };
            Some(format!("{sign}{}.{:0width$}", wrong.abs() / one, wrong.abs() % one, width = part.len()))
        }
    }
}

#[test]
fn no_corrupted_answer_passes() {
    let dialect = Dialect::of(proofload_engine::engine("sqlite").expect("SQLite is built in")).expect("a dialect");
    let mut tried = 0;
    for query in &dialect.queries {
        let text = golden(0.01, query.name).expect("every query has a golden answer");
        let right = read_csv(query, text).expect("it fits");
        assert_eq!(compare(query, &right, &right), Ok(()), "{}", query.name);
        for seed in 0..EACH {
            let Some(wrong) = corrupt(query, &right, &mut Seed(seed).rng()) else { continue };
            assert!(compare(query, &right, &wrong).is_err(), "{} seed {seed}: {wrong:?}", query.name);
            tried += 1;
        }
    }
    assert!(tried > 200 * dialect.queries.len() / 2, "{tried} corruptions");
}
