//! Seconds of load in which the load generator itself stood still. Decides nothing: it finds.

use proofload_model::samples::IntervalSample;
use std::fmt;

/// Standstill of the load generator within a window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Standstill {
    /// First second.
    pub(crate) first: u64,
    /// Seconds that hold some of it.
    pub(crate) seconds: u64,
    /// Its time in all, s.
    pub(crate) time: f64,
}

impl Standstill {
    /// Standstill within some seconds of load.
    pub(crate) fn within(inside: &[&IntervalSample]) -> Self {
        let stood: Vec<&&IntervalSample> = inside.iter().filter(|interval| interval.client.has_paused()).collect();
        Self {
            first: stood.iter().map(|interval| interval.index).min().unwrap_or(0),
            seconds: stood.len() as u64,
            time: stood.iter().map(|interval| interval.client.paused_ns as f64 / 1e9).sum(),
        }
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, seconds, time } = self;
        let many = if *seconds == 1 { "second" } else { "seconds" };
        write!(
            f,
            "the load generator stood still for {time:.1} s ({seconds} {many} from second {first}): its process or \
             this machine was stopped; the state of the database is unknown in this time"
        )
    }
}
