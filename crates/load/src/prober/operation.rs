//! One operation of a prober, with its outcome.

use proofload_model::time::Moment;
use std::time::Duration;

/// Outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    /// Acknowledged within the deadline.
    Acknowledged,
    /// Never sent, refused or rolled back.
    Failed,
    /// Sent, and without an answer.
    Unknown,
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProbeOperation {
    /// Its number, from 0.
    pub(super) number: u64,
    /// When it was due.
    pub(super) due: Moment,
    /// How late the prober came to it.
    pub(super) lag: Duration,
    /// When it was sent; `None` where it was not.
    pub(super) sent: Option<Moment>,
    /// When it ended or was given up.
    pub(super) ended: Moment,
    /// Outcome.
    pub(super) outcome: ProbeOutcome,
    /// Whether the server warned.
    pub(super) warned: bool,
    /// Whether the server refused a write since its number is there already.
    pub(super) is_duplicate: bool,
    /// Number of the instance that it was sent to.
    pub(super) node: usize,
    /// When the connection that it was sent over was made.
    pub(super) connected: Moment,
}

impl ProbeOperation {
    /// Tells whether it was acknowledged.
    pub(super) fn is_acknowledged(&self) -> bool {
        self.outcome == ProbeOutcome::Acknowledged
    }

    /// Number as the database has it.
    pub(super) fn key(&self) -> i64 {
        i64::try_from(self.number).unwrap_or(i64::MAX)
    }

    /// Microseconds from when it was due until it ended.
    pub(super) fn took_us(&self) -> u64 {
        u64::try_from(self.ended.since(self.due).as_micros()).unwrap_or(u64::MAX)
    }
}
