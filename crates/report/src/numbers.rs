//! How numbers and words look: digits from the interval, thousands separated, readable units, capitals. May not compute statistics.

use proofload_analysis::quantity::{NO_UPPER_BOUND, Quantity, Unit};

/// Change in per cent from which the end of an interval bounds nothing: as many times as an upper end of a value. Ours.
const UNBOUNDED_PERCENT: f64 = 100_000.0;

/// A quantity ready to be printed, in a readable unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrintedQuantity {
    /// The value, digits grouped by commas.
    pub(crate) value: String,
    /// Lower and upper bound of the 95 % interval in the same unit, where there is one; words in the place of an upper bound that bounds
    /// nothing.
    pub(crate) interval: Option<(String, String)>,
    /// Why there is no interval, where there is none.
    pub(crate) missing: Option<String>,
    /// Unit, in the field's symbols; empty for a ratio.
    pub(crate) unit: String,
    /// Number of samples, grouped.
    pub(crate) n: String,
}

/// Readable units of a printed unit, smallest first: name and how many of the printed unit it is.
fn scales(unit: &str) -> &'static [(&'static str, f64)] {
    match unit {
        "ns" => &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
        "B" => &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)],
        "B/s" => &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)],
        _ => &[],
    }
}

/// The quantity in the largest unit in which its value is at least one.
pub(crate) fn readable(quantity: &Quantity) -> Quantity {
    let size = quantity.value().abs();
    let chosen = scales(&quantity.unit().0).iter().rev().find(|(_, factor)| size >= *factor);
    match chosen {
        Some((name, factor)) => quantity.scaled(1.0 / factor, Unit::named(name)),
        None => quantity.clone(),
    }
}

/// A quantity in a readable unit, with as many digits as its interval supports.
pub(crate) fn shown(quantity: &Quantity) -> PrintedQuantity {
    shown_as_is(&readable(quantity))
}

/// The same without changing the unit, for columns that state theirs.
pub(crate) fn shown_as_is(quantity: &Quantity) -> PrintedQuantity {
    let places = decimals(quantity);
    let missing = match quantity.interval() {
        proofload_analysis::quantity::Interval::None { why } => Some(why.clone()),
        proofload_analysis::quantity::Interval::Known { .. } => None,
    };
    PrintedQuantity {
        value: grouped(quantity.value(), places),
        interval: printed_interval(quantity, places),
        missing,
        unit: printed_unit(&quantity.unit().0),
        n: count(quantity.n()),
    }
}

/// A quantity in a readable unit for the first screen: at most three digits below 100, whole above.
pub(crate) fn shown_roughly(quantity: &Quantity) -> PrintedQuantity {
    let quantity = readable(quantity);
    let most = match quantity.value().abs() {
        size if size >= 99.5 => 0,
        size if size >= 9.95 => 1,
        size => places(size, 3),
    };
    let places = decimals(&quantity).min(most);
    let interval = printed_interval(&quantity, places);
    PrintedQuantity { value: grouped(quantity.value(), places), interval, ..shown_as_is(&quantity) }
}

/// Both ends of the interval with so many places.
fn printed_interval(quantity: &Quantity, places: usize) -> Option<(String, String)> {
    let (low, high) = quantity.interval().bounds()?;
    let high = if quantity.is_unbounded_above() { NO_UPPER_BOUND.to_owned() } else { grouped(high, places) };
    Some((grouped(low, places), high))
}

/// The end of an interval of a change in per cent; words for one that bounds nothing.
pub(crate) fn percent_end(percent: f64) -> String {
    match percent {
        percent if percent >= UNBOUNDED_PERCENT => NO_UPPER_BOUND.to_owned(),
        percent if percent <= -UNBOUNDED_PERCENT => "no lower bound".to_owned(),
        percent => short(percent),
    }
}

/// A quantity without its interval, two digits below 100.
pub(crate) fn shown_alone(quantity: &Quantity) -> PrintedQuantity {
    let quantity = readable(quantity);
    let places = if quantity.value().abs() >= 99.5 { 0 } else { places(quantity.value(), 2) };
    PrintedQuantity { value: grouped(quantity.value(), places), ..shown_as_is(&quantity) }
}

/// A unit as it is printed after a number.
pub(crate) fn printed_unit(unit: &str) -> String {
    match unit {
        "ratio" => String::new(),
        "1/min" => "per minute".to_owned(),
        "1/s" => "per second".to_owned(),
        other => other.to_owned(),
    }
}

/// Decimal places: two significant digits of the interval's half width, else three digits of the value.
fn decimals(quantity: &Quantity) -> usize {
    let half = quantity
        .interval()
        .bounds()
        .map(|(low, high)| if quantity.is_unbounded_above() { quantity.value() - low } else { (high - low) / 2.0 });
    match half {
        Some(half) if half > 0.0 && half.is_finite() => places(half, 2).min(places(quantity.value(), 5)),
        _ => places(quantity.value(), 3),
    }
}

/// Places after the point that give so many significant digits.
fn places(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let magnitude = value.abs().log10().floor() as i32;
    usize::try_from(digits - 1 - magnitude).unwrap_or(0).min(6)
}

/// A number with at most three significant digits, for ticks and labels.
pub(crate) fn short(value: f64) -> String {
    let text = grouped(value, places(value, 3));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A share in per cent: `4 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{}\u{a0}%", short(100.0 * share))
}

/// The text with a capital first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A count with its word: `1 run`, `12 runs`.
pub(crate) fn counted(number: usize, word: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {word}{ending}", count(number as u64))
}

/// A number of cores, as settings and facts write it, with its word: `1 core`, `8 cores`.
pub(crate) fn cores(number: &str) -> String {
    format!("{number} {}", if number == "1" { "core" } else { "cores" })
}

/// A whole number with commas.
pub(crate) fn count(value: u64) -> String {
    group(&value.to_string())
}

/// A number with so many places and commas between thousands; "not a number" is a dash.
pub fn grouped(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{:.places$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(whole, part)| (whole, Some(part)));
    let zero = text.bytes().all(|byte| !(b'1'..=b'9').contains(&byte));
    let sign = if value < 0.0 && !zero { "−" } else { "" };
    match fraction {
        Some(part) => format!("{sign}{}.{part}", group(whole)),
        None => format!("{sign}{}", group(whole)),
    }
}

fn group(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_analysis::quantity::Interval;

    #[track_caller]
    fn check(value: f64, unit: Unit, interval: Option<(f64, f64)>, expected: &str) {
        let interval =
            interval.map_or_else(|| Interval::none("one sample"), |(low, high)| Interval::known(low, high, "test"));
        let shown = shown(&Quantity::new(value, unit, 1200, interval));
        let bounds = shown.interval.map_or_else(String::new, |(low, high)| format!(" [{low}, {high}]"));
        assert_eq!(format!("{} {}{bounds} n={}", shown.value, shown.unit, shown.n), expected);
    }

    #[test]
    fn one_core_is_no_cores() {
        assert_eq!(["1", "8", "1, 2"].map(cores), ["1 core", "8 cores", "1, 2 cores"]);
    }

    #[test]
    fn digits_follow_the_interval() {
        check(31_240.3, Unit::PER_MINUTE, Some((30_910.0, 31_570.0)), "31,240 per minute [30,910, 31,570] n=1,200");
        check(72.431, Unit::PERCENT, Some((71.9, 73.0)), "72.43 % [71.90, 73.00] n=1,200");
        check(0.18234, Unit::RATIO, Some((0.15, 0.21)), "0.182  [0.150, 0.210] n=1,200");
    }

    #[test]
    fn an_upper_end_that_bounds_nothing_is_told_in_words_and_takes_no_digits() {
        check(1.2345, Unit::RATIO, Some((0.41, 8e10)), "1.23  [0.41, no upper bound] n=1,200");
        check(2e6, Unit::NANOSECONDS, Some((5e5, 1e20)), "2.0 ms [0.5, no upper bound] n=1,200");
        check(0.001, Unit::PERCENT, Some((0.0, 2.0)), "0.0 % [0.0, 2.0] n=1,200");
        let ends = [21.4, 247e9, f64::INFINITY, -100.0, -3e6].map(percent_end);
        assert_eq!(ends, ["21.4", "no upper bound", "no upper bound", "−100", "no lower bound"]);
    }

    #[test]
    fn without_an_interval_three_digits_and_a_readable_unit() {
        check(1_234_567.0, Unit::NANOSECONDS, None, "1.23 ms n=1,200");
        check(999.0, Unit::NANOSECONDS, None, "999 ns n=1,200");
        check(98_765.4, Unit::PER_MINUTE, None, "98,765 per minute n=1,200");
        check(f64::NAN, Unit::PERCENT, None, "– % n=1,200");
    }

    #[test]
    fn signs_and_groups() {
        assert_eq!([1, 0, 1_200].map(|number| counted(number, "run")), ["1 run", "0 runs", "1,200 runs"]);
        assert_eq!(grouped(-0.001, 1), "0.0");
        assert_eq!(grouped(-1234.5, 1), "−1,234.5");
        assert_eq!(grouped(312_000.0, 0), "312,000");
        assert_eq!(short(0.25), "0.25");
        assert_eq!(short(1500.0), "1,500");
        assert_eq!(short(100.0), "100");
    }
}
