//! Which runs of a record are written.

use proofload_record::{Attempt, Record, State};

/// Which runs of the plan to write, by their index; all when empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Indices of runs.
    pub runs: Vec<u32>,
}

impl Selection {
    /// Attempts of these runs, in order.
    pub(super) fn attempts<'r>(&'r self, record: &'r Record) -> impl Iterator<Item = &'r Attempt> {
        record.attempts.iter().filter(|attempt| self.runs.is_empty() || self.runs.contains(&attempt.run.index))
    }

    /// Experiments with the points of these runs, in order.
    pub(super) fn experiments<'r>(&'r self, record: &'r Record) -> impl Iterator<Item = &'r Attempt> {
        record.experiments.iter().filter(|attempt| self.runs.is_empty() || self.runs.contains(&attempt.run.index))
    }

    /// Attempts of these runs that finished: one for each run.
    pub(super) fn finished<'r>(&'r self, record: &'r Record) -> impl Iterator<Item = &'r Attempt> {
        self.attempts(record).filter(|attempt| attempt.state == State::Finished)
    }
}

/// A record with the runs of it that are written.
#[derive(Clone, Copy)]
pub(super) struct Extract<'r> {
    pub(super) record: &'r Record,
    pub(super) selection: &'r Selection,
}

impl<'r> Extract<'r> {
    /// Attempts of these runs, in order.
    pub(super) fn attempts(self) -> impl Iterator<Item = &'r Attempt> {
        self.selection.attempts(self.record)
    }

    /// Experiments with the points of these runs, in order.
    pub(super) fn experiments(self) -> impl Iterator<Item = &'r Attempt> {
        self.selection.experiments(self.record)
    }
}
