//! Names that YCSB gives its measurements, as kinds of operations and clocks.

use proofload_model::samples::LatencyClock;

/// What a measurement's name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Measurement {
    /// Completed operations of a kind.
    Operation(String, LatencyClock),
    /// Operations of a kind that ended in an error.
    Failed(String),
    /// Every kind together.
    Total,
    /// Nothing that belongs to the load: cleaning up, garbage collection, memory.
    Other,
}

/// `READ`, `Intended-READ`, `READ-FAILED`, `READ_ERROR`, `CLEANUP`, `TOTAL_GCs`.
pub(super) fn measurement(name: &str) -> Measurement {
    let (name, clock) = match name.strip_prefix("Intended-") {
        Some(rest) => (rest, LatencyClock::Response),
        None => (name, LatencyClock::Service),
    };
    if name == "TOTAL" {
        return Measurement::Total;
    }
    if name == "OVERALL" || OTHERS.iter().any(|other| name.starts_with(other)) {
        return Measurement::Other;
    }
    if name == "READ-MODIFY-WRITE" || name == "READ_MODIFY_WRITE" {
        return Measurement::Operation("read_modify_write".to_owned(), clock);
    }
    if let Some(kind) = name.strip_suffix("_ERROR") {
        return Measurement::Failed(kind.to_lowercase());
    }
    match name.split_once('-') {
        Some((kind, _)) => Measurement::Failed(kind.to_lowercase()),
        None => Measurement::Operation(name.to_lowercase(), clock),
    }
}

/// Beginnings of names that are no operations of the load.
const OTHERS: &[&str] = &["CLEANUP", "TOTAL_GC", "MAX_", "MIN_", "VERIFY"];

/// The order in which YCSB's workloads list their operations; other kinds follow by name.
const ORDER: &[&str] = &["read", "update", "insert", "scan", "read_modify_write"];

/// Where a kind stands in tables: service times first, since they are what YCSB prints by default.
pub(super) fn place(kind: &str, clock: LatencyClock) -> (usize, String, bool) {
    let known = ORDER.iter().position(|known| *known == kind);
    (known.unwrap_or(ORDER.len()), kind.to_owned(), clock == LatencyClock::Response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let service = |kind: &str| Measurement::Operation(kind.to_owned(), LatencyClock::Service);
        let response = |kind: &str| Measurement::Operation(kind.to_owned(), LatencyClock::Response);
        assert_eq!(measurement("READ"), service("read"));
        assert_eq!(measurement("Intended-UPDATE"), response("update"));
        assert_eq!(measurement("READ-MODIFY-WRITE"), service("read_modify_write"));
        assert_eq!(measurement("READ-FAILED"), Measurement::Failed("read".to_owned()));
        assert_eq!(measurement("SCAN_ERROR"), Measurement::Failed("scan".to_owned()));
        for other in ["CLEANUP", "Intended-CLEANUP", "TOTAL_GCs", "TOTAL_GC_TIME_%", "MAX_MEM_USED", "OVERALL"] {
            assert_eq!(measurement(other), Measurement::Other, "{other}");
        }
        assert_eq!(measurement("TOTAL"), Measurement::Total);
    }
}
