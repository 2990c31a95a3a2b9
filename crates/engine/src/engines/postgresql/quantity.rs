//! Values of PostgreSQL's settings in base units, so that `64MiB` asked and 8192 pages of 8 kB in force are seen to be equal.
//! Source of units: PostgreSQL manual, "Parameter Names and Values".

use crate::engines::switch::switch;

/// Units of memory in bytes and of time in microseconds, as the server writes them; the longest match comes first.
const UNITS: &[(&str, Dimension, f64)] = &[
    ("kB", Dimension::Memory, 1024.0),
    ("MB", Dimension::Memory, 1_048_576.0),
    ("GB", Dimension::Memory, 1_073_741_824.0),
    ("TB", Dimension::Memory, 1_099_511_627_776.0),
    ("B", Dimension::Memory, 1.0),
    ("us", Dimension::Time, 1.0),
    ("ms", Dimension::Time, 1e3),
    ("min", Dimension::Time, 6e7),
    ("s", Dimension::Time, 1e6),
    ("h", Dimension::Time, 3.6e9),
    ("d", Dimension::Time, 8.64e10),
];

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Memory,
    Time,
}

/// The kind of a setting, from `pg_settings`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    /// `vartype`: `bool`, `integer`, `real`, `enum`, `string`.
    pub(super) kind: &'a str,
    /// `unit`, such as `8kB`; `None` for plain numbers.
    pub(super) unit: Option<&'a str>,
}

/// A study's value as the server reads it: sizes with binary suffixes become the server's, whose `kB`, `MB`, `GB`, `TB` are binary.
pub(super) fn server_text(value: &str) -> String {
    let replaced = [("KiB", "kB"), ("MiB", "MB"), ("GiB", "GB"), ("TiB", "TB")].iter().find_map(|(ours, theirs)| {
        let number = value.trim().strip_suffix(ours)?.trim_end();
        number.parse::<f64>().is_ok().then(|| format!("{number}{theirs}"))
    });
    replaced.unwrap_or_else(|| value.trim().to_owned())
}

/// Whether the value in force (`pg_settings.setting`, in base units) fulfils what was asked. The server rounds to whole
/// base units.
pub(super) fn fulfils(asked: &str, in_force: &str, shape: Shape<'_>) -> bool {
    let asked = server_text(asked);
    match shape.kind {
        "bool" => switch(&asked) == switch(in_force) && switch(in_force).is_some(),
        "integer" | "real" => match (in_base_units(&asked, shape.unit), in_force.parse::<f64>()) {
            (Some(wanted), Ok(found)) if shape.kind == "integer" => (wanted - found).abs() < 1.0,
            (Some(wanted), Ok(found)) => (wanted - found).abs() <= wanted.abs() * 1e-6,
            _ => false,
        },
        "enum" => {
            asked.eq_ignore_ascii_case(in_force) || (switch(&asked).is_some() && switch(&asked) == switch(in_force))
        }
        _ => asked == in_force,
    }
}

/// A number with or without a unit, in the setting's base unit.
fn in_base_units(text: &str, base: Option<&str>) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return Some(number);
    }
    let (number, dimension, factor) = split(text)?;
    let base = base?;
    let (count, base_dimension, base_factor) = split(base).or_else(|| split(&format!("1{base}")))?;
    (dimension == base_dimension).then_some(number * factor / (count * base_factor))
}

/// Number, dimension and factor of a text such as `8kB`.
fn split(text: &str) -> Option<(f64, Dimension, f64)> {
    UNITS.iter().find_map(|(unit, dimension, factor)| {
        let number = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some((number, *dimension, *factor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &str, in_force: &str, kind: &str, unit: Option<&str>, expected: bool) {
        assert_eq!(fulfils(asked, in_force, Shape { kind, unit }), expected, "{asked} {in_force} {unit:?}");
    }

    #[test]
    fn values_are_compared_in_base_units() {
        check("64MiB", "8192", "integer", Some("8kB"), true);
        check("64MB", "8192", "integer", Some("8kB"), true);
        check("65MB", "8192", "integer", Some("8kB"), false);
        check("8192", "8192", "integer", Some("8kB"), true);
        check("1GiB", "1024", "integer", Some("MB"), true);
        check("5min", "300", "integer", Some("s"), true);
        check("250ms", "250", "integer", Some("ms"), true);
        check("64MiB", "64", "integer", None, false);
        check("64MiB", "64", "integer", Some("ms"), false);
        check("0.9", "0.9", "real", None, true);
        check("true", "on", "bool", None, true);
        check("off", "on", "bool", None, false);
        check("TRY", "try", "enum", None, true);
        check("on", "on", "enum", None, true);
        check("a", "A", "string", None, false);
    }
}
