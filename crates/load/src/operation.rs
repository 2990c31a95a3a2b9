//! What users hand to the recorder of one operation: a leaf between driving and recording.

use proofload_model::time::Moment;

/// Successful outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// Committed, or read.
    Done,
    /// Rolled back by design.
    RolledBack,
}

/// The three instants of a completed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationTimes {
    /// When it was due, or when its user was free.
    pub intended: Moment,
    /// When it began.
    pub started: Moment,
    /// When it completed.
    pub finished: Moment,
}
