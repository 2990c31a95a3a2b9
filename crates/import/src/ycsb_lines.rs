//! Lines of YCSB's result text: `[READ], AverageLatency(us), 1132.9`. May not know what a measurement means.
//!
//! Source: `TextMeasurementsExporter` of YCSB 0.17.0, which joins three values by a comma and a space.

use super::cleanse::quoted;
use super::source::Faults;
use crate::reference::percentile_key;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line<'t> {
    /// Number of the line, from 1.
    pub(super) number: usize,
    /// Name in brackets.
    pub(super) measurement: &'t str,
    /// What is said about it.
    pub(super) says: Says,
    /// The number.
    pub(super) value: f64,
}

/// What a line says of its measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Says {
    /// `RunTime(ms)`.
    RunTime,
    /// `Throughput(ops/sec)`.
    Throughput,
    /// Number of operations.
    Count,
    /// A latency: its name in a reference, and its unit.
    Latency(String, &'static str),
    /// `LatencyVariance(us)`, which only the measurement type `histogram` prints.
    Variance,
    /// `Return=OK` and others: how often operations ended so.
    Return(String),
    /// A bucket, or an interval of a time series.
    Bucket,
    /// Anything else.
    Other,
}

/// The lines of a result; lines that are not in brackets belong to other programs and are left out.
pub(super) fn lines<'t>(text: &'t str, faults: &mut Faults<'_>) -> Vec<Line<'t>> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with('[')) {
        match parse(index + 1, line) {
            Some(line) => found.push(line),
            None if is_torn(line) => faults.at(
                index + 1,
                format!("`{}` is not a complete line of a result; was the file cut off or changed?", quoted(line)),
            ),
            None => {}
        }
    }
    found
}

/// A name in brackets with a comma behind it, or with nothing more; log lines in brackets go on with a space.
fn is_torn(line: &str) -> bool {
    let parts = line.split_once(']');
    parts.is_some_and(|(name, rest)| name[1..].bytes().all(is_name) && (rest.is_empty() || rest.starts_with(',')))
}

/// Names of measurements: letters, digits and a few signs; log lines in brackets have spaces and colons.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-%".contains(&byte)
}

fn parse(number: usize, line: &str) -> Option<Line<'_>> {
    let (measurement, rest) = line[1..].split_once("], ")?;
    let (name, value) = rest.rsplit_once(", ")?;
    let value: f64 = value.trim().parse().ok()?;
    measurement.bytes().all(is_name).then(|| Line { number, measurement, says: says(name), value })
}

fn says(name: &str) -> Says {
    match name {
        "RunTime(ms)" => Says::RunTime,
        "Throughput(ops/sec)" => Says::Throughput,
        "Operations" | "Total Operations" => Says::Count,
        "AverageLatency(us)" | "Average" => Says::Latency("mean".to_owned(), "us"),
        "MinLatency(us)" | "Min" => Says::Latency("min".to_owned(), "us"),
        "MaxLatency(us)" | "Max" => Says::Latency("max".to_owned(), "us"),
        "LatencyVariance(us)" => Says::Variance,
        other => says_more(other),
    }
}

fn says_more(name: &str) -> Says {
    if let Some(status) = name.strip_prefix("Return=") {
        return Says::Return(status.to_owned());
    }
    if name.trim_start_matches('>').bytes().all(|byte| byte.is_ascii_digit()) {
        return Says::Bucket;
    }
    if let Some(key) = name.strip_prefix('p').and_then(percentile_key) {
        return Says::Latency(key, "us");
    }
    let percentile = |unit: &str| {
        let ordinal = name.strip_suffix(&format!("PercentileLatency({unit})"))?;
        percentile_key(ordinal.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()))
    };
    match (percentile("us"), percentile("ms")) {
        (Some(key), _) => Says::Latency(key, "us"),
        (None, Some(key)) => Says::Latency(key, "ms"),
        (None, None) => Says::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_what_they_say() {
        let latency = |key: &str, unit| Says::Latency(key.to_owned(), unit);
        assert_eq!(says("95thPercentileLatency(us)"), latency("p95", "us"));
        assert_eq!(says("99.9PercentileLatency(us)"), latency("p999", "us"));
        assert_eq!(says("99thPercentileLatency(ms)"), latency("p99", "ms"));
        assert_eq!(says("p99.99"), latency("p9999", "us"));
        assert_eq!(says("Return=NOT_FOUND"), Says::Return("NOT_FOUND".to_owned()));
        assert_eq!(
            [says("17"), says(">1000"), says("LatencyVariance(us)")],
            [Says::Bucket, Says::Bucket, Says::Variance]
        );
        assert_eq!([says("Count"), says("p1"), says("Time(%)")], [Says::Other, Says::Other, Says::Other]);
    }

    #[test]
    fn a_torn_line_is_a_fault_and_a_strangers_line_is_none() {
        let mut faults = Faults::of("a.txt");
        let text = "[main] INFO driver: connected\n[READ], Operations, 5\n[READ], AverageLat\n[READ], Min, 5x\nother\n";
        assert_eq!(lines(text, &mut faults).len(), 1);
        let found = faults.or(()).unwrap_err();
        let expected =
            "a.txt:3: `[READ], AverageLat` is not a complete line of a result; was the file cut off or changed?";
        assert_eq!(found[0].to_string(), expected);
        assert_eq!(found.iter().map(|fault| fault.line).collect::<Vec<_>>(), [Some(3), Some(4)]);
    }
}
