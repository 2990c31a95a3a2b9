//! Quantities that carry their unit: bytes, rates, ratios, and the text forms of sizes and durations. May not print.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A number of bytes. Text: an integer with `B`, `KiB`, `MiB`, `GiB`, `TiB` (1024) or `kB`, `MB`, `GB`, `TB` (1000).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Bytes(pub u64);

/// Binary and decimal suffixes, longest match first within a base.
const SIZE_SUFFIXES: &[(&str, u64)] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

impl Bytes {
    /// A number of mebibytes.
    pub const fn mebi(count: u64) -> Self {
        Self(count << 20)
    }

    /// Reads a size such as `"64MiB"` or `"1.5GiB"`; fails on a missing unit or a fraction of a byte.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let trimmed = text.trim();
        let wrong =
            || Error::new(format!("{text:?} is not a size; use a number with a unit, such as \"64MiB\" or \"1.5GB\""));
        let (suffix, factor) = SIZE_SUFFIXES.iter().find(|(suffix, _)| trimmed.ends_with(suffix)).ok_or_else(wrong)?;
        let number = trimmed[..trimmed.len() - suffix.len()].trim();
        scaled(number, *factor).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Bytes {
    /// The largest binary unit that divides the number, or bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = SIZE_SUFFIXES[..4].iter().find(|(_, factor)| self.0 != 0 && self.0.is_multiple_of(*factor));
        match unit {
            Some((suffix, factor)) => write!(f, "{}{suffix}", self.0 / factor),
            None => write!(f, "{}B", self.0),
        }
    }
}

/// Writes a size for people: the largest binary unit that it fills, one decimal at most, `256 GiB`, `77.3 MiB`, `512 B`.
pub fn size_words(size: Bytes) -> String {
    // What would be rounded to 1,024 of a unit is 1 of the next.
    let fills = |factor: u64| size.0 >= factor || factor > 1024 && size.0 as f64 / (factor / 1024) as f64 >= 1023.95;
    match SIZE_SUFFIXES[..4].iter().find(|(_, factor)| fills(*factor)) {
        Some((suffix, factor)) => {
            let number = format!("{:.1}", size.0 as f64 / *factor as f64);
            format!("{} {suffix}", number.strip_suffix(".0").unwrap_or(&number))
        }
        None => format!("{} B", size.0),
    }
}

/// `number` (digits, optionally a fraction) times `factor`, when that is a whole number that fits.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || (number.contains('.') && !digits(fraction)) || fraction.len() > 15 {
        return None;
    }
    let whole = u128::from(whole.parse::<u64>().ok()?) * u128::from(factor);
    let fraction_value = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().ok()? * u128::from(factor) };
    let power = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    if fraction_value % power != 0 {
        return None;
    }
    u64::try_from(whole + fraction_value / power).ok()
}

/// Suffixes of durations and their nanoseconds.
const TIME_SUFFIXES: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// Reads a duration such as `"30s"`, `"5m"`, `"250ms"`, `"1.5h"`.
pub fn parse_duration(text: &str) -> Result<Duration, Error> {
    let trimmed = text.trim();
    let wrong = || {
        Error::new(format!(
            "{text:?} is not a duration; use a number with a unit, such as \"30s\", \"5m\" or \"250ms\""
        ))
    };
    let (suffix, factor) = TIME_SUFFIXES.iter().find(|(suffix, _)| trimmed.ends_with(suffix)).ok_or_else(wrong)?;
    let number = trimmed[..trimmed.len() - suffix.len()].trim();
    scaled(number, *factor).map(Duration::from_nanos).ok_or_else(wrong)
}

/// Writes a duration as [`parse_duration`] reads it: the largest unit that gives a whole number.
pub fn duration_text(time: Duration) -> String {
    let nanos = time.as_nanos();
    let unit =
        [("h", 3_600_000_000_000u128), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)]
            .into_iter()
            .find(|(_, factor)| nanos != 0 && nanos.is_multiple_of(*factor));
    match unit {
        Some((suffix, factor)) => format!("{}{suffix}", nanos / factor),
        None if nanos == 0 => "0s".to_owned(),
        None => format!("{nanos}ns"),
    }
}

/// Writes a duration for people: two units at most, `1 h 36 min`, `2 min 20 s`, `45 s`, `1.5 s`, `250 ms`.
pub fn duration_words(time: Duration) -> String {
    let (seconds, milliseconds) = (time.as_secs(), time.as_millis());
    let pair = |large: u64, unit: &str, small: u64, part: &str| {
        if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {part}") }
    };
    match seconds {
        0 if milliseconds > 0 => format!("{milliseconds} ms"),
        0 if !time.is_zero() => format!("{} µs", time.as_micros()),
        0..10 if milliseconds % 1_000 >= 50 => format!("{:.1} s", time.as_secs_f64()),
        0..60 => format!("{seconds} s"),
        60..3_600 => pair(seconds / 60, "min", seconds % 60, "s"),
        _ => {
            let minutes = (seconds + 30) / 60;
            pair(minutes / 60, "h", minutes % 60, "min")
        }
    }
}

/// Writes a count with its noun: `1 core`, `8 cores`. For nouns whose plural ends in `s`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A rate per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct PerSecond(pub f64);

/// Bytes per second. Text: a size with `/s` behind it, such as `200MiB/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BytesPerSecond(pub u64);

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", Bytes(self.0))
    }
}

/// CPU time per time, in millionths: microseconds of CPU time per second. 500,000 is half of what one core gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CpuRate(pub u64);

impl CpuRate {
    /// A number of CPU seconds per second, 0..=10^9, to the nearest millionth.
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds.clamp(0.0, 1e9) * 1e6).round() as u64)
    }

    /// CPU seconds per second.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Display for CpuRate {
    /// `0.5 CPU s/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} CPU s/s", self.as_seconds())
    }
}

impl PerSecond {
    /// Reads a rate such as `"500/s"`, `"30000/min"` or `"2.5/h"`; fails on a missing unit.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || Error::new(format!("{text:?} is not a rate; use a number per unit of time, such as \"500/s\""));
        let (number, unit) = text.split_once('/').ok_or_else(wrong)?;
        let seconds = match unit.trim() {
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let number = number.trim();
        let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        number.parse::<f64>().ok().filter(|_| plain).map(|number| Self(number / seconds)).ok_or_else(wrong)
    }
}

/// A share: 1.0 is the whole.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Ratio(pub f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn check_size(text: &str, expected: Option<u64>) {
        assert_eq!(Bytes::parse(text).ok().map(|bytes| bytes.0), expected, "{text}");
    }

    #[test]
    fn sizes_need_a_unit_and_are_whole() {
        check_size("64MiB", Some(64 << 20));
        check_size("1.5 GiB", Some(3 << 29));
        check_size("2kB", Some(2000));
        check_size("64", None);
        check_size("0.0001KiB", None);
        check_size("-1MiB", None);
        check_size("MiB", None);
    }

    #[test]
    fn one_of_a_kind_is_singular() {
        let told = [0, 1, 2].map(|count| counted(count, "void run"));
        assert_eq!(told, ["0 void runs", "1 void run", "2 void runs"]);
    }

    #[test]
    fn sizes_are_told_in_words() {
        for (text, words) in [
            ("268437048KiB", "256 GiB"),
            ("79180KiB", "77.3 MiB"),
            ("8192B", "8 KiB"),
            ("512B", "512 B"),
            ("0B", "0 B"),
            ("3TiB", "3 TiB"),
            ("1048575B", "1 MiB"),
            ("1023B", "1023 B"),
        ] {
            assert_eq!(size_words(Bytes::parse(text).unwrap()), words, "{text}");
        }
    }

    #[test]
    fn rates_are_told_with_their_unit() {
        assert_eq!(BytesPerSecond(200 << 20).to_string(), "200MiB/s");
        for (seconds, text) in [(0.5, "0.5 CPU s/s"), (2.0, "2 CPU s/s"), (0.0100004, "0.01 CPU s/s")] {
            assert_eq!(CpuRate::from_seconds(seconds).to_string(), text);
        }
        assert_eq!(CpuRate::from_seconds(-1.0), CpuRate(0));
    }

    #[test]
    fn rates_have_a_time() {
        for (text, expected) in [("500/s", Some(500.0)), ("30000 / min", Some(500.0)), ("1.5/h", Some(1.5 / 3600.0))] {
            assert_eq!(PerSecond::parse(text).ok().map(|rate| rate.0), expected);
        }
        for text in ["500", "500/m", "-1/s", "1e3/s", "/s", "inf/s"] {
            assert!(PerSecond::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_told_in_words() {
        for (text, words) in [
            ("0s", "0 s"),
            ("30us", "30 µs"),
            ("250ms", "250 ms"),
            ("1500ms", "1.5 s"),
            ("45s", "45 s"),
            ("140s", "2 min 20 s"),
            ("5m", "5 min"),
            ("3599s", "59 min 59 s"),
            ("96m", "1 h 36 min"),
            ("120m", "2 h"),
            ("2400m", "40 h"),
            ("14317s", "3 h 59 min"),
        ] {
            assert_eq!(duration_words(parse_duration(text).unwrap()), words, "{text}");
        }
    }

    #[test]
    fn sizes_and_durations_survive_a_round_trip() {
        for text in ["64MiB", "3GiB", "1000B", "5KiB"] {
            assert_eq!(Bytes::parse(text).unwrap().to_string(), text);
        }
        for text in ["30s", "5m", "250ms", "2h", "90s", "0s"] {
            assert_eq!(duration_text(parse_duration(text).unwrap()), if text == "90s" { "90s" } else { text });
        }
        assert_eq!(parse_duration("1.5m").unwrap(), Duration::from_secs(90));
        assert!(parse_duration("5").is_err());
    }
}
