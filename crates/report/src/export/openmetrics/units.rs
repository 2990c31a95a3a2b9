//! Units as OpenMetrics wants them: base units, in words, at the end of the name.

/// Unit as the record or a quantity prints it, in words, and the factor to the base unit.
const UNITS: &[(&str, &str, f64)] = &[
    ("ns", "seconds", 1e-9),
    ("us", "seconds", 1e-6),
    ("ms", "seconds", 1e-3),
    ("s", "seconds", 1.0),
    ("1", "", 1.0),
    ("1/s", "per_second", 1.0),
    ("1/min", "per_minute", 1.0),
    ("1/h", "per_hour", 1.0),
    ("%", "ratio", 0.01),
    ("ratio", "ratio", 1.0),
    ("B", "bytes", 1.0),
    ("B/s", "bytes_per_second", 1.0),
    ("MB/s", "bytes_per_second", 1e6),
    ("W", "watts", 1.0),
];

/// Endings of names that say a unit, which the base unit replaces.
const ENDINGS: &[&str] = &["_mb_s", "_percent", "_bytes", "_per_second", "_s", "_w", "_ns"];

/// The unit in words and the factor to it; a unit that is not known stands for itself.
pub(super) fn base(unit: &str) -> (String, f64) {
    match UNITS.iter().find(|(known, ..)| *known == unit) {
        Some((_, words, factor)) => ((*words).to_owned(), *factor),
        None => (words(unit), 1.0),
    }
}

/// `queries/h × TB` as `queries_per_h_tb`.
fn words(unit: &str) -> String {
    let text = unit.to_lowercase().replace('/', " per ");
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// A name that ends in its unit, once.
pub(super) fn named(name: &str, unit: &str) -> String {
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    match unit {
        "" => name.to_owned(),
        unit if stem.ends_with(unit) => stem.to_owned(),
        unit => format!("{stem}_{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_in_their_base_unit_once() {
        for (name, unit, expected) in [
            ("device_read_mb_s", "MB/s", "device_read_bytes_per_second"),
            ("cpu_percent", "%", "cpu_ratio"),
            ("tpm", "1/min", "tpm_per_minute"),
            ("throughput", "1/s", "throughput_per_second"),
            ("queries_per_hour", "1/h", "queries_per_hour"),
            ("compression", "ratio", "compression_ratio"),
            ("sorts", "1", "sorts"),
            ("in_flight", "requests", "in_flight_requests"),
            ("read_bytes", "B/s", "read_bytes_per_second"),
            ("queries_per_hour_per_tb", "queries/h × TB", "queries_per_hour_per_tb_queries_per_h_tb"),
        ] {
            assert_eq!(named(name, &base(unit).0), expected, "{name} in {unit}");
        }
    }
}
