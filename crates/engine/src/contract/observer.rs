//! Observing a server from its host, beside the load: statistics views and wait events.

use super::error::Error;
use proofload_model::samples::Reading;
use proofload_model::session_state::SessionSample;
use std::time::Duration;

/// Reads a server's statistics. Owns its connection and its runtime; blocking.
pub trait Observer: Send {
    /// Reads once. Counters come as totals; `cumulative` readings are turned into rates by the probe.
    fn observe(&mut self) -> Result<Vec<Observation>, Error>;

    /// Roles of the server's threads by their numbers at the kernel, as of the last reading; nothing where processes or threads tell their
    /// roles by their names.
    fn thread_roles(&self) -> &[(u32, String)] {
        &[]
    }

    /// CPU time of the server's threads by role, where the server itself tells it: for servers whose host nobody looks at.
    fn role_times(&self) -> &[RoleCpu] {
        &[]
    }
}

/// CPU time of all threads of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleCpu {
    /// Role.
    pub role: String,
    /// Total since the first reading.
    pub time: Duration,
    /// Number of threads at the last reading.
    pub threads: u32,
}

/// One number of a server's statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Name, instance, unit and value. For a counter the unit is that of its rate (`1/s`, `B/s`).
    pub reading: Reading,
    /// Whether the value is a total since some start, to be turned into a rate.
    pub cumulative: bool,
}

/// Looks what the sessions of the load do at one moment, many times a second. Owns its connection and its runtime; blocking.
pub trait SessionSampler: Send {
    /// Looks once. Sessions of observers do not count.
    fn sample(&mut self) -> Result<SessionSample, Error>;
}
