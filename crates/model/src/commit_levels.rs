//! What a commit costs by what it waits for, measured on one connection in random order before a load. Pure. May not know an engine.

use crate::replication::ReplicationMode;
use crate::words::words;
use serde::{Deserialize, Serialize};

words! {
    /// What one transaction waits for at its commit.
    #[derive(PartialOrd, Ord)]
    CommitLevel {
        /// Nothing, not even its own log.
        Off = "off",
        /// Its own log.
        Local = "local",
        /// A standby has written its log.
        RemoteWrite = "remote_write",
        /// A standby has flushed its log.
        RemoteFlush = "remote_flush",
        /// A standby has applied its log.
        RemoteApply = "remote_apply",
    }
}

impl From<ReplicationMode> for CommitLevel {
    /// The level of every commit under a mode.
    fn from(mode: ReplicationMode) -> Self {
        match mode {
            ReplicationMode::None | ReplicationMode::Async => Self::Local,
            ReplicationMode::RemoteWrite => Self::RemoteWrite,
            ReplicationMode::RemoteFlush => Self::RemoteFlush,
            ReplicationMode::RemoteApply => Self::RemoteApply,
        }
    }
}

/// Commits that were measured in rounds, each round with every level once in an order of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitCalibration {
    /// What it holds for: runs with an equal key share it.
    pub key: String,
    /// Levels, in the order of the times of each round.
    pub levels: Vec<CommitLevel>,
    /// Times of the commits of each round, nanoseconds; empty in a run that shares what was measured before.
    pub rounds: Vec<Vec<u64>>,
}

impl CommitCalibration {
    /// What a level took more than another in each round, nanoseconds; empty where one of them was not measured.
    pub fn differences(&self, level: CommitLevel, than: CommitLevel) -> Vec<f64> {
        let place = |wanted| self.levels.iter().position(|known| *known == wanted);
        let (Some(level), Some(than)) = (place(level), place(than)) else { return Vec::new() };
        let difference = |round: &Vec<u64>| Some(*round.get(level)? as f64 - *round.get(than)? as f64);
        self.rounds.iter().filter_map(difference).collect()
    }

    /// Times of a level, nanoseconds.
    pub fn times(&self, level: CommitLevel) -> Vec<f64> {
        let place = self.levels.iter().position(|known| *known == level);
        place.map_or_else(Vec::new, |place| {
            self.rounds.iter().filter_map(|round| round.get(place)).map(|time| *time as f64).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_a_round() {
        let levels = vec![CommitLevel::Local, CommitLevel::RemoteFlush];
        let one = CommitCalibration { key: String::new(), levels, rounds: vec![vec![10, 30], vec![500, 540], vec![7]] };
        assert_eq!(one.differences(CommitLevel::RemoteFlush, CommitLevel::Local), [20.0, 40.0]);
        assert!(one.differences(CommitLevel::Off, CommitLevel::Local).is_empty());
        assert_eq!(one.times(CommitLevel::Local), [10.0, 500.0, 7.0]);
        assert_eq!(CommitLevel::from(ReplicationMode::Async), CommitLevel::Local);
    }
}
