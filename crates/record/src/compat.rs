//! What differs between formats of the record: which tables there are, and which columns they have. Knows of what rows mean only how
//! facts were written before they had numbers.

use crate::error::Error;
use proofload_model::facts::{Reading as FactReading, known, tier};
use proofload_model::samples::{Fact, Reading};
use proofload_model::units::Bytes;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// Format of an open record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Format(pub(crate) i32);

/// How rows of a table are read and written. The columns that a format added stand last, so that an older one takes a part of the
/// values.
#[derive(Debug)]
pub(crate) struct Statements {
    /// Reads all columns of today of the rows after one, with the empty value for those that the format does not have.
    pub(crate) select: &'static str,
    /// Writes a row.
    pub(crate) insert: &'static str,
    /// Number of columns that are written.
    pub(crate) columns: usize,
}

impl Format {
    /// Reads the format of a record.
    pub(crate) fn of(connection: &Connection) -> Result<Self, Error> {
        let format = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
        format.map(Self).map_err(|error| Error::sqlite("failed to read the record's format", &error))
    }

    /// Tells whether there are tables of load agents.
    pub(crate) fn has_agent_tables(self) -> bool {
        self.0 >= 3
    }

    /// Tells whether a chain covers every row; formats before have seals.
    pub(crate) fn has_chain(self) -> bool {
        self.0 >= 4
    }

    /// Tells whether a row of samples holds all readings of a probe at one moment; before, each reading has a row.
    pub(crate) fn has_packed_samples(self) -> bool {
        self.0 >= 5
    }

    /// Tells whether rows name the instance that they belong to.
    fn has_instances(self) -> bool {
        self.0 >= 4
    }

    /// Facts: subject, name, requested, effective, source, holds, instance, number, attempt.
    pub(crate) fn facts(self) -> Statements {
        if self.has_instances() {
            Statements {
                select: "SELECT subject, name, requested, effective, source, holds, instance, number, attempt FROM fact NOT INDEXED \
                         WHERE id > ?1 ORDER BY id",
                insert: "INSERT INTO fact (attempt, subject, name, requested, effective, source, holds, instance, number) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                columns: 9,
            }
        } else {
            Statements {
                select: "SELECT subject, name, requested, effective, source, holds, '', NULL, attempt FROM fact NOT INDEXED \
                         WHERE id > ?1 ORDER BY id",
                insert: "INSERT INTO fact (attempt, subject, name, requested, effective, source, holds) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                columns: 7,
            }
        }
    }

    /// Events: time, offset, name, detail, instance, version of the detail, attempt.
    pub(crate) fn events(self) -> Statements {
        if self.has_instances() {
            Statements {
                select: "SELECT at_us, offset_ns, name, detail, instance, version, attempt FROM event NOT INDEXED WHERE id > ?1 ORDER BY id",
                insert: "INSERT INTO event (attempt, at_us, offset_ns, name, detail, instance, version) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                columns: 7,
            }
        } else {
            Statements {
                select: "SELECT at_us, offset_ns, name, detail, '', 1, attempt FROM event NOT INDEXED WHERE id > ?1 ORDER BY id",
                insert: "INSERT INTO event (attempt, at_us, offset_ns, name, detail) VALUES (?1, ?2, ?3, ?4, ?5)",
                columns: 5,
            }
        }
    }

    /// Series: id, probe, name, component, unit, instance, attempt.
    pub(crate) fn series(self) -> Statements {
        if self.has_instances() {
            Statements {
                select: "SELECT id, probe, name, component, unit, instance, attempt FROM series NOT INDEXED WHERE id > ?1 ORDER BY id",
                insert: "INSERT INTO series (attempt, probe, name, component, unit, instance) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                columns: 6,
            }
        } else {
            Statements {
                select: "SELECT id, probe, name, instance, unit, '', attempt FROM series NOT INDEXED WHERE id > ?1 ORDER BY id",
                insert: "INSERT INTO series (attempt, probe, name, instance, unit) VALUES (?1, ?2, ?3, ?4, ?5)",
                columns: 5,
            }
        }
    }

    /// Log lines: attempt, time, level, source, text, instance.
    pub(crate) fn logs(self) -> Statements {
        if self.has_instances() {
            Statements {
                select: "SELECT attempt, at_us, level, source, text, instance FROM log NOT INDEXED WHERE id > ?1 ORDER BY id",
                insert: "INSERT INTO log (attempt, at_us, level, source, text, instance) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                columns: 6,
            }
        } else {
            Statements {
                select: "SELECT attempt, at_us, level, source, text, '' FROM log NOT INDEXED WHERE id > ?1 ORDER BY id",
                insert: "INSERT INTO log (attempt, at_us, level, source, text) VALUES (?1, ?2, ?3, ?4, ?5)",
                columns: 5,
            }
        }
    }

    /// The number of a fact, out of its text for formats whose facts are texts alone, and for those that earlier versions wrote so.
    pub(crate) fn number(self, fact: &Fact) -> Option<f64> {
        if self.has_instances() && (fact.number.is_some() || !tier::DATA.is_of(fact)) {
            return fact.number;
        }
        let text = fact.effective.as_deref()?;
        let number = match known(&fact.subject, &fact.name).map(|row| row.reading) {
            Some(FactReading::Size) => Bytes::parse(text).ok().map(|bytes| bytes.0 as f64),
            Some(FactReading::Seconds) => text.strip_suffix('s')?.parse().ok(),
            _ => text.split(' ').next()?.parse().ok(),
        };
        number.filter(|number: &f64| number.is_finite())
    }

    /// Readings of an embedded engine as the column `interval.engine` holds them.
    pub(crate) fn readings_to_json(self, readings: &[Reading]) -> String {
        let stored = |reading: &Reading| {
            let Reading { name, component, unit, value } = reading.clone();
            StoredReading { name, instance: component, unit, value }
        };
        if self.has_instances() {
            return serde_json::to_string(readings).expect("plain data serialises");
        }
        let readings: Vec<StoredReading> = readings.iter().map(stored).collect();
        serde_json::to_string(&readings).expect("plain data serialises")
    }

    /// Readings of an embedded engine from the column `interval.engine`; empty where it cannot be read.
    pub(crate) fn readings_from_json(self, json: &str) -> Vec<Reading> {
        if self.has_instances() {
            return serde_json::from_str(json).unwrap_or_default();
        }
        let stored: Vec<StoredReading> = serde_json::from_str(json).unwrap_or_default();
        let reading =
            |StoredReading { name, instance, unit, value }| Reading { name, component: instance, unit, value };
        stored.into_iter().map(reading).collect()
    }
}

/// A reading as formats 1 to 3 hold it.
#[derive(Serialize, Deserialize)]
struct StoredReading {
    name: String,
    instance: String,
    unit: String,
    value: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_an_earlier_version_wrote_as_text_has_its_number() {
        let size = tier::DATA.observed("64MiB", "a test");
        assert_eq!(size.number, None);
        for format in [1, 3, 4, 5] {
            assert_eq!(Format(format).number(&size), Some(67_108_864.0), "format {format}");
        }
        let other = tier::CACHE.observed("64MiB", "a test");
        assert_eq!(Format(5).number(&other), None, "other facts have the number that they were written with");
        assert_eq!(Format(5).number(&tier::DATA.unknown("a test")), None);
    }
}
