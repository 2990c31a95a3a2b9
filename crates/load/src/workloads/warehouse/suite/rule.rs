//! What a parameter's value may be: the words after `from` in a query's header.

use crate::workloads::warehouse::data::{Date, parse_date};

/// The values of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ParameterRule {
    /// A whole number, both ends included.
    Integer(i64, i64),
    /// Hundredths, written with two digits after the point, both ends included.
    Decimal(i64, i64),
    /// A day, both ends included.
    Day(Date, Date),
    /// The first day of a month: months since year 0, both ends included.
    Month(i64, i64),
    /// The first day of a year, both ends included.
    Year(i64, i64),
    /// One value of each list, with blanks between.
    Lists(Vec<String>),
    /// What a list of pairs gives for the value of another parameter.
    Pair { of: String, list: String },
    /// A number divided by the scale factor.
    OverScale,
}

/// Reads a rule; `None` when it is not understood.
pub(super) fn read(text: &str) -> Option<ParameterRule> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let whole = |text: &str| text.parse::<i64>().ok();
    Some(match words.as_slice() {
        ["integer", low, "to", high] => ParameterRule::Integer(whole(low)?, whole(high)?),
        ["decimal", low, "to", high] => ParameterRule::Decimal(hundredths(low)?, hundredths(high)?),
        ["day", low, "to", high] => ParameterRule::Day(parse_date(low)?, parse_date(high)?),
        ["month", low, "to", high] => ParameterRule::Month(month(low)?, month(high)?),
        ["year", low, "to", high] => ParameterRule::Year(whole(low)?, whole(high)?),
        ["list", name] => ParameterRule::Lists(vec![(*name).to_owned()]),
        ["lists", names @ ..] if !names.is_empty() => {
            ParameterRule::Lists(names.iter().map(|name| (*name).to_owned()).collect())
        }
        ["pair", of, "in", list] => ParameterRule::Pair { of: (*of).to_owned(), list: (*list).to_owned() },
        _ => return None,
    })
}

fn hundredths(text: &str) -> Option<i64> {
    let (whole, part) = text.split_once('.')?;
    (part.len() == 2).then_some(100 * whole.parse::<i64>().ok()? + part.parse::<i64>().ok()?)
}

fn month(text: &str) -> Option<i64> {
    let (year, month) = text.split_once('-')?;
    Some(12 * year.parse::<i64>().ok()? + month.parse::<i64>().ok()? - 1)
}
