//! How figures of a pool look in text. It computes none.

use std::time::Duration;

/// A count with commas between thousands.
pub(super) fn count(value: impl Into<u64>) -> String {
    let digits = value.into().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with what is counted: `1 line`, `1,024 lines`.
pub(super) fn counted(value: impl Into<u64>, noun: &str) -> String {
    let value = value.into();
    format!("{} {noun}{}", count(value), if value == 1 { "" } else { "s" })
}

/// Bytes in the largest binary unit of which there is one at least.
pub(super) fn bytes(value: u64) -> String {
    let units = [("TiB", 1_u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| value >= *unit) {
        Some((name, unit)) if value.is_multiple_of(unit) => format!("{} {name}", value / unit),
        Some((name, unit)) => format!("{:.1} {name}", value as f64 / unit as f64),
        None => format!("{value} B"),
    }
}

/// A share in per cent; a dash when there is nothing to share.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "—".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// A time with three digits.
pub(super) fn time(value: Duration) -> String {
    let seconds = value.as_secs_f64();
    let (value, unit) = match seconds {
        _ if seconds >= 1.0 => (seconds, "s"),
        _ if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    let places = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.places$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_their_units() {
        assert_eq!(["1", "999", "1,000", "12,345,678"], [1_u64, 999, 1_000, 12_345_678].map(count));
        assert_eq!(["0 lines", "1 line", "1,024 lines"], [0_u64, 1, 1_024].map(|lines| counted(lines, "line")));
        assert_eq!(["512 B", "8 KiB", "1.5 MiB"], [512, 8192, 3 << 19].map(bytes));
        assert_eq!([percent(None), percent(Some(0.716))], ["—", "71.6 %"]);
        let times = [12, 123_000, 12_300_000, 61_000_000_000].map(|nanos| time(Duration::from_nanos(nanos)));
        assert_eq!(times, ["0.01 µs", "123 µs", "12.3 ms", "61.0 s"]);
    }
}
