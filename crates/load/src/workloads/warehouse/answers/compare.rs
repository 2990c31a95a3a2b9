//! Compares an answer with the golden one. Rows come in the order of the columns that order them; rows that agree in
//! those are a set. Numbers keep to bounds that are narrower than the specification's (clause 2.1.3.5: sums within
//! $100, averages and ratios within 1 %), since every engine here computes in exact decimals: sums and averages may
//! differ by one hundredth, ratios by one ten-thousandth, everything else not at all.

use super::write::Answer;
use crate::workloads::warehouse::suite::{Exactness, Query};

/// An error that names the first difference.
pub(crate) fn compare(query: &Query, golden: &Answer, found: &Answer) -> Result<(), String> {
    // Almost every answer, and soon said: this runs between queries of a stream.
    if golden == found {
        return Ok(());
    }
    if golden.len() != found.len() {
        return Err(format!("{} rows, but {} are expected", found.len(), golden.len()));
    }
    let mut start = 0;
    while start < golden.len() {
        let end = end_of_tie(query, golden, start);
        compare_tie(query, &golden[start..end], &found[start..end])
            .map_err(|difference| format!("rows {}..={end}: {difference}", start + 1))?;
        start = end;
    }
    Ok(())
}

/// End of the rows that agree in the ordering columns; without such columns all rows are one set.
fn end_of_tie(query: &Query, golden: &Answer, start: usize) -> usize {
    let key = |row: &[String]| query.order.iter().map(|column| row[*column].clone()).collect::<Vec<_>>();
    let first = key(&golden[start]);
    start + golden[start..].iter().take_while(|row| key(row) == first).count()
}

/// Compares rows whatever their order: each right row takes one of those found.
fn compare_tie(query: &Query, golden: &[Vec<String>], found: &[Vec<String>]) -> Result<(), String> {
    let mut left: Vec<&Vec<String>> = found.iter().collect();
    for right in golden {
        let place = left.iter().position(|row| first_difference(query, right, row).is_none());
        match place {
            Some(place) => drop(left.swap_remove(place)),
            None => return Err(told(query, right, left.first().copied())),
        }
    }
    Ok(())
}

/// The first column in which rows differ.
fn first_difference(query: &Query, golden: &[String], found: &[String]) -> Option<usize> {
    let columns = query.columns.iter().zip(golden.iter().zip(found));
    let mut equal = columns.map(|(column, (golden, found))| equal(column.exactness, golden, found));
    equal.position(|equal| !equal)
}

fn told(query: &Query, golden: &[String], found: Option<&Vec<String>>) -> String {
    let Some(found) = found else { return "a row is missing".to_owned() };
    let place = first_difference(query, golden, found).unwrap_or(0);
    format!("{} is {:?}, but {:?} is expected", query.columns[place].name, found[place], golden[place])
}

/// Whether written values are equal within the column's bound.
fn equal(exactness: Exactness, golden: &str, found: &str) -> bool {
    if golden == found {
        return true;
    }
    match exactness {
        Exactness::Text | Exactness::Integer | Exactness::Date | Exactness::Decimal => false,
        Exactness::Sum | Exactness::Average | Exactness::Ratio => {
            matches!((units(golden), units(found)), (Some(one), Some(other)) if one.abs_diff(other) <= 1)
        }
    }
}

/// Written decimals of equal length after the point as whole numbers of their last digit.
fn units(text: &str) -> Option<i128> {
    text.replacen('.', "", 1).parse().ok()
}
