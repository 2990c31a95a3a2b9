//! The state of one attempt: what its load has shown so far. May not know where it comes from.

use super::quiet_window::HostSeconds;
use super::state_seconds::StateSeconds;
use proofload_load::intervals::Merger;
use proofload_model::error::Error;
use proofload_model::samples::{IntervalSample, LostSession, OperationCounts, UserRound};
use proofload_model::time::{Moment, Offset};
use std::time::Duration;

/// Load of one attempt since its start.
#[derive(Default)]
pub(crate) struct RunState {
    /// Merges the seconds of all load agents.
    pub(super) merger: Merger,
    /// How each load agent that has ended by itself, or was stopped, came to its end.
    agent_ends: Vec<Option<LoadEnd>>,
    /// Index below which each load agent's operations have ended, where they tell it.
    ended_below: Vec<Option<u64>>,
    /// Time zero on the conductor's clock; `None` before the start.
    pub(crate) origin: Option<Moment>,
    /// Completed operations of each second; one that is missing, or in which an agent stood still, is not a number.
    pub(crate) throughput: Vec<f64>,
    /// The processor of the host under test since time zero.
    pub(crate) host: HostSeconds,
    /// Cache tier and standbys since time zero.
    pub(crate) observed: StateSeconds,
    /// Rounds that virtual users have ended, where the workload deals operations in rounds.
    pub(crate) rounds: Vec<UserRound>,
    /// Sessions whose connection was lost.
    pub(crate) lost: Vec<LostSession>,
    /// Longest time without a second of load before the run counts as hanging; `None`: operations have no bound.
    pub(crate) patience: Option<Duration>,
    /// How the load came to the end of its operations; `None` while it runs, and for loads that have no end.
    pub(crate) end: Option<LoadEnd>,
    /// Whether a load agent was lost, and with it what its prober knew.
    pub(super) loader_lost: bool,
    /// Why the run cannot go on.
    pub(crate) trouble: Option<Error>,
}

/// End of a load that has done all its operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadEnd {
    /// Seconds reported.
    pub(crate) intervals: u64,
    /// Time from time zero to the first user without work.
    pub(crate) first_without_work: Offset,
    /// Time from time zero to the end of the last operation.
    pub(crate) ran: Offset,
}

impl RunState {
    /// The state before a load of `agents` agents.
    pub(crate) fn before(agents: usize, patience: Option<Duration>) -> Self {
        Self { merger: Merger::new(agents), ended_below: vec![None; agents], patience, ..Self::default() }
    }

    /// Adds a second of the whole load.
    pub(super) fn add(&mut self, sample: &IntervalSample) {
        let index = usize::try_from(sample.index).unwrap_or(usize::MAX);
        while self.throughput.len() < index {
            self.throughput.push(f64::NAN);
        }
        let completed = sample.counts.iter().map(OperationCounts::completed).sum::<u64>() as f64;
        self.throughput.push(if sample.client.has_paused() { f64::NAN } else { completed });
    }

    /// Notes the index below which the operations of a load agent have ended.
    pub(super) fn set_ended_below(&mut self, agent: usize, index: u64) {
        if let Some(below) = self.ended_below.get_mut(agent) {
            *below = Some(index);
        }
    }

    /// Index below which the operations of all load agents have ended; `None` until all have told it.
    pub(super) fn ended_below(&self) -> Option<u64> {
        self.ended_below.iter().copied().min().flatten()
    }

    /// Notes how one of `agents` load agents came to its end.
    pub(super) fn add_end(&mut self, end: Option<LoadEnd>, agents: usize) {
        self.agent_ends.push(end);
        if self.agent_ends.len() == agents {
            self.end = all_ended(&self.agent_ends);
        }
    }

    /// Notes why the run cannot go on; the first reason counts.
    pub(super) fn set_trouble(&mut self, error: Error) {
        self.trouble.get_or_insert(error);
    }
}

/// A load has come to the end of its operations when all agents have; users were without work from the first agent's on.
fn all_ended(ends: &[Option<LoadEnd>]) -> Option<LoadEnd> {
    let ends = ends.iter().copied().collect::<Option<Vec<LoadEnd>>>()?;
    Some(LoadEnd {
        intervals: ends.iter().map(|end| end.intervals).max()?,
        first_without_work: ends.iter().map(|end| end.first_without_work).min()?,
        ran: ends.iter().map(|end| end.ran).max().unwrap_or(Offset(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_agent_says_how_far_all_are_once_each_has_told() {
        let mut state = RunState::before(2, None);
        state.set_ended_below(0, 40);
        assert_eq!(state.ended_below(), None);
        state.set_ended_below(1, 30);
        assert_eq!(state.ended_below(), Some(30));
    }

    #[test]
    fn a_load_has_ended_when_all_its_agents_have() {
        let end = |seconds: i64| LoadEnd {
            intervals: seconds as u64,
            first_without_work: Offset(seconds * 1_000_000_000 - 5),
            ran: Offset(seconds * 1_000_000_000),
        };
        assert!(all_ended(&[Some(end(3)), None]).is_none());
        let all = all_ended(&[Some(end(3)), Some(end(7))]).expect("all have ended");
        assert_eq!((all.intervals, all.first_without_work, all.ran), (7, Offset(2_999_999_995), Offset(7_000_000_000)));
    }
}
