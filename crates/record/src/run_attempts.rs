//! Attempts of a record by their runs, found by one pass whatever the number of runs. May not know how a record is stored.

use crate::content::{Attempt, Record, State};
use std::collections::HashMap;

/// Attempts at each run of a plan.
#[derive(Debug, Clone, Default)]
pub struct RunAttempts<'r>(HashMap<u32, AttemptsOfRun<'r>>);

/// Attempts at one run.
#[derive(Debug, Clone)]
struct AttemptsOfRun<'r> {
    last: &'r Attempt,
    finished: Option<&'r Attempt>,
    count: u32,
}

impl<'r> RunAttempts<'r> {
    /// Attempts in the order in which they were begun.
    pub fn of(attempts: impl IntoIterator<Item = &'r Attempt>) -> Self {
        let mut runs = HashMap::new();
        for attempt in attempts {
            let of_run =
                runs.entry(attempt.run.index).or_insert(AttemptsOfRun { last: attempt, finished: None, count: 0 });
            of_run.last = attempt;
            of_run.count += 1;
            if attempt.state == State::Finished {
                of_run.finished = Some(attempt);
            }
        }
        Self(runs)
    }

    /// The last attempt that finished a run, as [`Record::finished`] finds it.
    pub fn finished(&self, run_index: u32) -> Option<&'r Attempt> {
        self.0.get(&run_index)?.finished
    }

    /// The last attempt at a run, however it stands.
    pub fn last(&self, run_index: u32) -> Option<&'r Attempt> {
        self.0.get(&run_index).map(|of_run| of_run.last)
    }

    /// Number of attempts at a run.
    pub fn count(&self, run_index: u32) -> u32 {
        self.0.get(&run_index).map_or(0, |of_run| of_run.count)
    }
}

impl Record {
    /// Attempts by their runs, for whoever asks for many of them: [`Self::finished`] looks through all attempts at each call.
    pub fn by_run(&self) -> RunAttempts<'_> {
        RunAttempts::of(&self.attempts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::plan::Run;
    use proofload_model::time::WallTime;

    fn attempt(id: i64, index: u32, state: State) -> Attempt {
        let run = Run { index, point: index, repetition: 0, sentinel: false, block: None, seed: 0 };
        Attempt { state, ..Attempt::begun(id, run, WallTime(id)) }
    }

    #[test]
    fn the_last_attempt_and_the_last_that_finished_are_found_by_one_pass() {
        let failed = || State::Failed { reason: "it broke".to_owned() };
        let states =
            [(0, failed()), (1, State::Finished), (0, State::Finished), (1, State::Finished), (0, State::Open)];
        let attempts: Vec<Attempt> = (1..).zip(states).map(|(id, (index, state))| attempt(id, index, state)).collect();
        let mut looked_at = 0;
        let runs = RunAttempts::of(attempts.iter().inspect(|_| looked_at += 1));
        let id = |attempt: Option<&Attempt>| attempt.map(|attempt| attempt.id);
        assert_eq!([0, 1, 2].map(|run| id(runs.finished(run))), [Some(3), Some(4), None]);
        assert_eq!([0, 1, 2].map(|run| id(runs.last(run))), [Some(5), Some(4), None]);
        assert_eq!([0, 1, 2].map(|run| runs.count(run)), [3, 2, 0]);
        assert_eq!(looked_at, attempts.len(), "each attempt is looked at once whatever is asked");
    }
}
