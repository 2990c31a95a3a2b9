//! What a server says of the availability group of a database, judged: whether commits wait as a mode asks. Pure.

use crate::contract::{OwnedRow, OwnedValue, Value};
use proofload_model::replication::{ReplicationAsked, ReplicationReading, StandbyReading};
use proofload_model::units::Bytes;

/// Numbers of the views: role, mode and state of a replica.
const PRIMARY: i64 = 1;
const SYNCHRONOUS: i64 = 1;
const NOT_SYNCHRONIZING: i64 = 0;
const SYNCHRONIZED: i64 = 2;

/// A replica of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GroupReplica {
    name: String,
    /// The one that was asked.
    is_local: bool,
    role: i64,
    is_connected: bool,
    mode: i64,
    state: i64,
    is_suspended: bool,
    /// Whether commits are held until it has hardened them.
    is_participant: bool,
    /// Log of the primary that has not been sent to it.
    unsent: Bytes,
    /// Log that it has hardened and not redone.
    unapplied: Bytes,
}

impl GroupReplica {
    fn of(row: &OwnedRow) -> Option<Self> {
        let Some(OwnedValue::Text(name)) = row.first() else { return None };
        let kibibytes = |place: usize| Bytes(u64::try_from(number(row, place)).unwrap_or(0).saturating_mul(1024));
        Some(Self {
            name: name.trim().to_owned(),
            is_local: number(row, 1) == 1,
            role: number(row, 2),
            is_connected: number(row, 3) == 1,
            mode: number(row, 4),
            state: number(row, 5),
            is_suspended: number(row, 6) == 1,
            is_participant: number(row, 7) == 1,
            unsent: kibibytes(8),
            unapplied: kibibytes(9),
        })
    }

    /// Whether log comes to it.
    fn follows(&self) -> bool {
        self.is_connected && !self.is_suspended && self.state != NOT_SYNCHRONIZING
    }

    /// Why no commit waits for it; `None` where each does.
    fn lacks(&self) -> Option<&'static str> {
        if self.mode != SYNCHRONOUS {
            return Some("has ASYNCHRONOUS_COMMIT");
        }
        if !self.is_connected {
            return Some("is not connected");
        }
        if self.is_suspended {
            return Some("is suspended");
        }
        if self.state != SYNCHRONIZED {
            return Some("is not SYNCHRONIZED");
        }
        (!self.is_participant).then_some("is no commit participant")
    }

    /// What a secondary has hardened of what it was sent is not told in bytes: what was sent counts as flushed.
    fn reading(&self, asked: &ReplicationAsked) -> StandbyReading {
        StandbyReading {
            name: asked.standby_of(&self.name),
            unsent: self.unsent,
            unwritten: self.unsent,
            unflushed: self.unsent,
            unapplied: Bytes(self.unsent.0.saturating_add(self.unapplied.0)),
            lag: None,
        }
    }
}

fn number(row: &OwnedRow, place: usize) -> i64 {
    row.get(place).map(OwnedValue::as_value).and_then(Value::integer).unwrap_or(0)
}

/// A group as one of its servers sees it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplicaGroup {
    replicas: Vec<GroupReplica>,
    /// Secondaries without which the group commits nothing.
    required: usize,
    log_end: Option<Bytes>,
}

impl ReplicaGroup {
    /// The group of the rows of `availability.sql`.
    pub(super) fn of(rows: &[OwnedRow]) -> Self {
        let first = |place: usize| rows.first().map_or(0, |row| number(row, place));
        Self {
            replicas: rows.iter().filter_map(GroupReplica::of).collect(),
            required: usize::try_from(first(10)).unwrap_or(0),
            log_end: u64::try_from(first(11)).ok().filter(|bytes| *bytes > 0).map(Bytes),
        }
    }

    /// Tells whether the server that was asked is the primary.
    pub(super) fn is_at_the_primary(&self) -> bool {
        self.local().is_some_and(|local| local.role == PRIMARY)
    }

    /// What a watch of the mode says.
    pub(super) fn reading(&self, asked: &ReplicationAsked) -> ReplicationReading {
        let differs = self.modes_differ(asked);
        let too_few = self.too_few_wait(asked);
        // A group that requires as many would rather commit nothing.
        let goes_on_alone = too_few.is_some() && self.required < asked.confirmation.count() as usize;
        ReplicationReading {
            unprotected: asked.mode.waits() && (differs.is_some() || goes_on_alone),
            out_of_force: differs.or(too_few).or_else(|| self.too_few_follow(asked)),
            standbys: self.secondaries().filter(|one| one.follows()).map(|one| one.reading(asked)).collect(),
            log_end: self.log_end.filter(|_| self.is_at_the_primary()),
        }
    }

    fn local(&self) -> Option<&GroupReplica> {
        self.replicas.iter().find(|replica| replica.is_local)
    }

    fn secondaries(&self) -> impl Iterator<Item = &GroupReplica> {
        self.replicas.iter().filter(|replica| !replica.is_local)
    }

    /// Why commits cannot wait as the mode says, whichever replicas are there.
    fn modes_differ(&self, asked: &ReplicationAsked) -> Option<String> {
        let Some(local) = self.local() else {
            return Some("the account sees no availability group of the database".to_owned());
        };
        if local.role != PRIMARY {
            return Some(format!("{} is not the primary replica", local.name));
        }
        if asked.mode.waits() {
            let alone = || format!("{} has ASYNCHRONOUS_COMMIT as the primary: no commit waits", local.name);
            return (local.mode != SYNCHRONOUS).then(alone);
        }
        let is_waited_for = |replica: &&GroupReplica| local.mode == SYNCHRONOUS && replica.mode == SYNCHRONOUS;
        let one = self.secondaries().find(is_waited_for)?;
        Some(format!("{} has SYNCHRONOUS_COMMIT, but {} needs ASYNCHRONOUS_COMMIT", one.name, asked.mode))
    }

    /// Why fewer secondaries than asked are waited for, with the first that is not.
    fn too_few_wait(&self, asked: &ReplicationAsked) -> Option<String> {
        let waited_for = self.secondaries().filter(|one| one.lacks().is_none()).count();
        if !asked.mode.waits() || waited_for >= asked.confirmation.count() as usize {
            return None;
        }
        let lacking = self.secondaries().find_map(|one| Some(format!(": {} {}", one.name, one.lacks()?)));
        Some(format!(
            "commits wait for {waited_for} secondaries, but {} were requested{}",
            asked.confirmation,
            lacking.unwrap_or_default()
        ))
    }

    fn too_few_follow(&self, asked: &ReplicationAsked) -> Option<String> {
        let (following, wanted) = (self.secondaries().filter(|one| one.follows()).count(), asked.standbys.len());
        (following < wanted)
            .then(|| format!("{following} secondaries are synchronizing, but replication.standbys is {wanted}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::deployment::InstanceName;
    use proofload_model::replication::{Confirmation, ReplicationMode};

    /// A row of the query: name, then local, role, connected, mode, state, suspended, participant, and the rest as it mostly is.
    fn row(name: &str, numbers: [i64; 7], required: i64) -> OwnedRow {
        let all = numbers.into_iter().chain([3, 5, required, 1_000_000]);
        [OwnedValue::Text(name.to_owned())].into_iter().chain(all.map(OwnedValue::Integer)).collect()
    }

    const AT_PRIMARY: [i64; 7] = [1, 1, 1, 1, 2, 0, 1];
    const IN_STEP: [i64; 7] = [0, 2, 1, 1, 2, 0, 1];

    fn asked(mode: ReplicationMode) -> ReplicationAsked {
        let standbys = vec![InstanceName::standby(1)];
        ReplicationAsked { mode, standbys, confirmation: Confirmation::Any(1), presented_as: Vec::new() }
    }

    #[track_caller]
    fn check(mode: ReplicationMode, rows: &[OwnedRow], expected: (Option<&str>, bool)) {
        let found = ReplicaGroup::of(rows).reading(&asked(mode));
        let why = found.out_of_force.as_deref();
        assert_eq!((why.is_some(), found.unprotected), (expected.0.is_some(), expected.1), "{why:?}");
        assert!(why.unwrap_or_default().contains(expected.0.unwrap_or_default()), "{why:?}");
    }

    #[test]
    fn a_synchronous_mode_is_in_force_while_a_secondary_is_in_step() {
        let flush = ReplicationMode::RemoteFlush;
        let with = |numbers| [row("DB1", AT_PRIMARY, 0), row("DB2", numbers, 0)];
        check(flush, &with(IN_STEP), (None, false));
        check(
            flush,
            &with([0, 2, 0, 1, 0, 0, 0]),
            (Some("0 secondaries, but any 1 were requested: DB2 is not con"), true),
        );
        check(flush, &with([0, 2, 1, 1, 1, 0, 0]), (Some("DB2 is not SYNCHRONIZED"), true));
        check(flush, &with([0, 2, 1, 1, 2, 1, 1]), (Some("DB2 is suspended"), true));
        check(flush, &with([0, 2, 1, 1, 2, 0, 0]), (Some("DB2 is no commit participant"), true));
        check(flush, &with([0, 2, 1, 0, 1, 0, 0]), (Some("DB2 has ASYNCHRONOUS_COMMIT"), true));
        let primary = row("DB1", [1, 1, 1, 0, 2, 0, 1], 0);
        check(flush, &[primary, row("DB2", IN_STEP, 0)], (Some("DB1 has ASYNCHRONOUS_COMMIT as the primary"), true));
        check(flush, &[row("DB1", [1, 2, 1, 1, 2, 0, 1], 0)], (Some("DB1 is not the primary replica"), true));
        check(flush, &[], (Some("sees no availability group"), true));
    }

    #[test]
    fn a_group_that_requires_a_secondary_never_commits_alone() {
        let away = [0, 2, 0, 1, 0, 0, 0];
        let rows = [row("DB1", AT_PRIMARY, 1), row("DB2", away, 1)];
        check(ReplicationMode::RemoteFlush, &rows, (Some("wait for 0 secondaries"), false));
    }

    #[test]
    fn an_asynchronous_mode_has_no_replica_that_is_waited_for() {
        let mode = ReplicationMode::Async;
        let follows = [0, 2, 1, 0, 1, 0, 0];
        check(mode, &[row("DB1", AT_PRIMARY, 0), row("DB2", follows, 0)], (None, false));
        check(mode, &[row("DB1", [1, 1, 1, 0, 2, 0, 1], 0), row("DB2", IN_STEP, 0)], (None, false));
        check(mode, &[row("DB1", AT_PRIMARY, 0), row("DB2", IN_STEP, 0)], (Some("DB2 has SYNCHRONOUS_COMMIT"), false));
        check(mode, &[row("DB1", AT_PRIMARY, 0)], (Some("0 secondaries are synchronizing"), false));
        check(mode, &[row("DB1", AT_PRIMARY, 0), row("DB2", [0, 2, 1, 0, 0, 0, 0], 0)], (Some("0 secondaries"), false));
    }

    #[test]
    fn queues_are_what_a_secondary_is_behind() {
        let group = ReplicaGroup::of(&[row("DB1", AT_PRIMARY, 0), row("DB2", IN_STEP, 0)]);
        let found = group.reading(&asked(ReplicationMode::RemoteFlush));
        let [standby] = &found.standbys[..] else { panic!("{found:?}") };
        assert_eq!((standby.name.as_str(), found.log_end), ("DB2", Some(Bytes(1_000_000))));
        assert_eq!([standby.unsent, standby.unflushed, standby.unapplied], [3072, 3072, 8192].map(Bytes));
    }
}
