//! Numbers of a server's statistics, as rows of a table. May not know any engine by name.

use crate::contract::Observation;
use proofload_model::samples::Reading;

/// One number of a server's statistics.
#[derive(Debug, Clone, Copy)]
pub(in crate::engines) struct Counter {
    /// Name by which the server tells it.
    pub(in crate::engines) source: &'static str,
    /// Name of the series.
    name: &'static str,
    /// Unit; of the rate where the number is a total.
    unit: &'static str,
    /// Whether it is a total since the start of the server.
    cumulative: bool,
}

impl Counter {
    /// A reading of it, of this part of the server; empty for the whole.
    pub(in crate::engines) fn observation(&self, component: &str, value: f64) -> Observation {
        let (name, component, unit) = (self.name.to_owned(), component.to_owned(), self.unit.to_owned());
        Observation { reading: Reading { name, component, unit, value }, cumulative: self.cumulative }
    }
}

/// A total since the start, with the unit of its rate.
pub(in crate::engines) const fn total(source: &'static str, name: &'static str, unit: &'static str) -> Counter {
    Counter { source, name, unit, cumulative: true }
}

/// A number of events since the start.
pub(in crate::engines) const fn events(source: &'static str, name: &'static str) -> Counter {
    total(source, name, "1/s")
}

/// Bytes since the start.
pub(in crate::engines) const fn bytes(source: &'static str, name: &'static str) -> Counter {
    total(source, name, "B/s")
}

/// Milliseconds spent, since the start.
pub(in crate::engines) const fn busy(source: &'static str, name: &'static str) -> Counter {
    total(source, name, "ms/s")
}

/// What is there now.
pub(in crate::engines) const fn level(source: &'static str, name: &'static str, unit: &'static str) -> Counter {
    Counter { source, name, unit, cumulative: false }
}
