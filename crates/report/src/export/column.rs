//! What a column of an exported table is: its name, what stands in it, and its unit, which ends the name.

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportColumn {
    /// Its name; a unit ends it.
    pub name: &'static str,
    /// What its cells hold where they are not empty.
    pub kind: CellKind,
}

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Text in UTF-8.
    Text,
    /// Whole numbers of 64 bits with a sign.
    Integer,
    /// Floating-point numbers of 64 bits.
    Number,
    /// Yes or no.
    Boolean,
}

/// Endings of names and the units that they say; the first that fits holds.
const UNITS: &[(&str, &str)] = &[
    ("_ns", "ns"),
    ("_us", "us since 1970-01-01T00:00:00Z"),
    ("_ms", "ms"),
    ("per_s", "1/s"),
    ("_s", "s"),
    ("_bytes", "byte"),
];

impl ExportColumn {
    /// The unit of its numbers; `None` for text, counts and numbers whose unit stands in another column.
    #[must_use]
    pub fn unit(&self) -> Option<&'static str> {
        if self.name == "second" {
            return Some("s");
        }
        let fits = |(ending, _): &&(&str, &str)| self.name.ends_with(ending);
        UNITS.iter().find(fits).map(|(_, unit)| *unit)
    }
}

pub(super) const fn text(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: CellKind::Text }
}

pub(super) const fn integer(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: CellKind::Integer }
}

pub(super) const fn number(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: CellKind::Number }
}

pub(super) const fn boolean(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: CellKind::Boolean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_the_ending_of_a_name() {
        for (column, unit) in [
            (integer("p99_ns"), Some("ns")),
            (integer("at_us"), Some("us since 1970-01-01T00:00:00Z")),
            (number("before_per_s"), Some("1/s")),
            (number("fault_at_s"), Some("s")),
            (integer("second"), Some("s")),
            (integer("resident_bytes"), Some("byte")),
            (integer("retries"), None),
            (number("value"), None),
        ] {
            assert_eq!(column.unit(), unit, "{}", column.name);
        }
    }
}
