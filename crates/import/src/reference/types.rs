//! What a reference holds: published or imported figures with their units and where each was read.

use proofload_model::samples::LatencyClock;
use std::collections::BTreeMap;

/// A study of somebody else, or an older one of one's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Its file's name without the ending.
    pub id: String,
    /// Title.
    pub title: String,
    /// Publisher; of imported results the program that wrote them.
    pub publisher: String,
    /// Year of publication, where it is known.
    pub year: Option<i64>,
    /// The workload, as in a study, where it is known.
    pub workload: Option<String>,
    /// The metric whose relative values are compared.
    pub compare: String,
    /// What 100 % is.
    pub relative_to: String,
    /// Published by somebody, imported from files, or a record of our own.
    pub origin: Origin,
    /// SHA-256 of the record's file that it comes from, as `sha256sum` prints it.
    pub record_sha256: Option<String>,
    /// Hardware, as published.
    pub hardware: Vec<String>,
    /// Software.
    pub software: Vec<String>,
    /// What was done.
    pub procedure: Vec<String>,
    /// Remarks, such as what was inferred.
    pub notes: Vec<String>,
    /// Points of the curve.
    pub points: Vec<ReferencePoint>,
}

/// Where results come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A publication.
    Published,
    /// Files that another program wrote.
    Imported,
    /// A record of Proofload.
    Recorded,
}

impl Origin {
    /// The word in a sentence and in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Imported => "imported",
            Self::Recorded => "recorded",
        }
    }
}

/// A point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReferencePoint {
    /// Its name; empty when it has none.
    pub name: String,
    /// Level of each setting as a study writes it.
    pub levels: Vec<(String, String)>,
    /// Percentage of the compared metric; `None` when it was not published.
    pub relative_percent: Option<f64>,
    /// Figures of the whole point by name, such as `throughput` and `run_time`.
    pub metrics: BTreeMap<String, PublishedFigure>,
    /// Figures by kind of operation, in the order of the file.
    pub operations: Vec<ReferenceOperation>,
    /// Remarks on this point.
    pub notes: Vec<String>,
}

/// One kind of operation of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceOperation {
    /// Kind, such as `read`.
    pub kind: String,
    /// Instant from which its latencies count.
    pub clock: LatencyClock,
    /// Figures by name: `count`, `failed`, `share`, `mean`, `min`, `max`, and percentiles such as `p95` and `p999`.
    pub figures: BTreeMap<String, PublishedFigure>,
    /// Remarks on these figures.
    pub notes: Vec<String>,
}

/// One number as it was published or read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedFigure {
    /// The number.
    pub value: f64,
    /// Its unit; empty for a count.
    pub unit: String,
    /// File and line, or what it was computed from; `None` where the publication as a whole is the source.
    pub from: Option<String>,
}

/// Units of time and how many seconds each has.
pub(super) const TIMES: &[(&str, f64)] =
    &[("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];

impl PublishedFigure {
    /// The number in seconds; `None` when its unit is no unit of time.
    pub(crate) fn seconds(&self) -> Option<f64> {
        TIMES.iter().find(|(unit, _)| *unit == self.unit).map(|(_, seconds)| self.value * seconds)
    }
}

impl ReferenceOperation {
    /// A latency in milliseconds: `mean`, `min`, `max` or a percentile.
    pub fn milliseconds(&self, name: &str) -> Option<f64> {
        self.figures.get(name)?.seconds().map(|seconds| seconds * 1e3)
    }

    /// A count, such as `count` or `failed`.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.figures.get(name).map(|figure| figure.value as u64)
    }
}

impl ReferencePoint {
    /// Level of a setting.
    pub fn level(&self, setting: &str) -> Option<&str> {
        self.levels.iter().find(|(known, _)| known == setting).map(|(_, level)| level.as_str())
    }

    /// Its name, else its levels.
    pub fn label(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        self.levels.iter().map(|(_, level)| level.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// The name of a percentile in a file: `99.9` as `p999`, since keys have no point in them. Percentiles below 10 do not fit
/// and have none.
pub fn percentile_key(percent: &str) -> Option<String> {
    let number: f64 = percent.parse().ok()?;
    let (whole, fraction) = percent.split_once('.').unwrap_or((percent, ""));
    let fraction = fraction.trim_end_matches('0');
    ((10.0..100.0).contains(&number) && whole.len() == 2).then(|| format!("p{whole}{fraction}"))
}

/// A percentile's name as papers write it: `p999` as `p99.9`; `None` for other names.
pub fn percentile_title(key: &str) -> Option<String> {
    let digits =
        key.strip_prefix('p').filter(|digits| digits.len() >= 2 && digits.bytes().all(|b| b.is_ascii_digit()))?;
    let (whole, fraction) = digits.split_at(2);
    Some(if fraction.is_empty() { format!("p{whole}") } else { format!("p{whole}.{fraction}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_percentiles_go_there_and_back() {
        for (percent, key) in [("50", "p50"), ("99", "p99"), ("99.9", "p999"), ("99.99", "p9999"), ("97.50", "p975")] {
            assert_eq!(percentile_key(percent).as_deref(), Some(key));
        }
        assert_eq!(percentile_title("p999").as_deref(), Some("p99.9"));
        assert_eq!(percentile_title("p50").as_deref(), Some("p50"));
        assert_eq!([percentile_key("100"), percentile_key("5"), percentile_key("x")], [None, None, None]);
        assert_eq!([percentile_title("mean"), percentile_title("p5"), percentile_title("p9x")], [None, None, None]);
    }
}
