//! A server of an availability group by its own word, and the choice of the one that takes over. Pure.

use crate::contract::{Error, OwnedRow, OwnedValue, Value};
use proofload_model::group_failover::{FailoverChoice, FailoverKind};

/// Numbers of the views: who decides on failovers, role and state of a replica.
const WINDOWS_CLUSTER: i64 = 0;
const NO_CLUSTER: i64 = 2;
const RESOLVING: i64 = 0;
const PRIMARY: i64 = 1;
const SECONDARY: i64 = 2;
const NOT_SYNCHRONIZING: i64 = 0;
const SYNCHRONIZED: i64 = 2;

/// The server that was asked, as a replica of the group of the study's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupMember {
    pub(super) group: String,
    pub(super) name: String,
    cluster: i64,
    role: i64,
    state: i64,
    is_suspended: bool,
    /// Its last log record that is on disk, as text of one length; empty where that is not known.
    hardened: String,
    is_writable: bool,
}

impl GroupMember {
    /// The replica of the row of `group_role.sql`.
    pub(super) fn of(rows: &[OwnedRow]) -> Result<Self, Error> {
        let none = || Error::other("no availability group of the server has the database, or the account sees none");
        let row = rows.first().ok_or_else(none)?;
        let text = |place: usize| match row.get(place) {
            Some(OwnedValue::Text(text)) => text.trim().to_owned(),
            _ => String::new(),
        };
        let number = |place: usize| row.get(place).map(OwnedValue::as_value).and_then(Value::integer).unwrap_or(0);
        Ok(Self {
            group: text(0),
            name: text(1),
            cluster: number(2),
            role: number(3),
            state: number(4),
            is_suspended: number(5) == 1,
            hardened: text(6),
            is_writable: number(7) == 1,
        })
    }

    /// Tells whether it leads and takes writes.
    pub(super) fn leads(&self) -> bool {
        self.role == PRIMARY && self.is_writable
    }

    /// Tells whether it is a secondary whose data movement is suspended.
    pub(super) fn waits_for_resume(&self) -> bool {
        self.role == SECONDARY && self.is_suspended
    }

    /// Tells whether it leads, or follows who does.
    pub(super) fn takes_part(&self) -> bool {
        self.role == PRIMARY || self.role == SECONDARY && !self.is_suspended && self.state != NOT_SYNCHRONIZING
    }

    /// Whether it has all that the primary has acknowledged.
    fn is_in_step(&self) -> bool {
        self.role == SECONDARY && self.state == SYNCHRONIZED && !self.is_suspended
    }

    /// Why it is not in step.
    fn lacks(&self) -> &'static str {
        match (self.role, self.is_suspended) {
            (RESOLVING, _) => "is resolving its role",
            (_, true) => "is suspended",
            _ => "is not SYNCHRONIZED",
        }
    }

    /// How much it has, to compare with others.
    fn rank(&self) -> (bool, &str) {
        (self.is_in_step(), self.hardened.as_str())
    }

    /// Why servers of its group do not fail over by their own command.
    fn refusal(&self) -> Option<String> {
        let who = match self.cluster {
            WINDOWS_CLUSTER => return None,
            NO_CLUSTER => "it has no cluster (CLUSTER_TYPE = NONE): its old primary would stay one beside the new one",
            _ => "its cluster manager alone may do so (CLUSTER_TYPE = EXTERNAL)",
        };
        Some(format!("fail availability group {} over: {who}; nothing was changed", self.group))
    }
}

/// Number of the host that takes over, with what is told of it. `seen`: what each host of the URL said of itself. Of several it is the one
/// with the most log, and of equal ones the first.
pub(super) fn choose(
    seen: &[Result<GroupMember, Error>],
    kind: FailoverKind,
) -> Result<(usize, FailoverChoice), Error> {
    let answered: Vec<(usize, &GroupMember)> =
        seen.iter().enumerate().filter_map(|(place, member)| Some((place, member.as_ref().ok()?))).collect();
    if let Some(text) = answered.iter().find_map(|(_, member)| member.refusal()) {
        return Err(Error::other(text));
    }
    let from = answered.iter().find(|(_, member)| member.role == PRIMARY).map(|(_, member)| member.name.clone());
    let may = |member: &GroupMember| match kind {
        FailoverKind::Planned => member.role == SECONDARY,
        FailoverKind::Forced => member.role == SECONDARY || member.role == RESOLVING,
    };
    let standbys: Vec<(usize, &GroupMember)> = answered.into_iter().filter(|(_, member)| may(member)).collect();
    let best = standbys.iter().rev().max_by(|(_, one), (_, other)| one.rank().cmp(&other.rank()));
    let silent = seen.iter().find_map(|member| member.as_ref().err()).map(|error| format!(": {error}"));
    let silent = silent.unwrap_or_default();
    let Some((place, best)) = best else {
        return Err(Error::other(format!("fail over: no host of engine.url says that it is a secondary{silent}")));
    };
    if kind == FailoverKind::Planned && from.is_none() {
        return Err(Error::other(format!(
            "fail over: no host of engine.url says that it is the primary, and nothing was changed{silent}"
        )));
    }
    if kind == FailoverKind::Planned && !best.is_in_step() {
        return Err(Error::other(format!(
            "fail over: {} {}, and a planned failover loses nothing; nothing was changed; see that it has SYNCHRONOUS_COMMIT and follows",
            best.name,
            best.lacks()
        )));
    }
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let of = count(seen.len()).saturating_sub(u32::from(from.is_some()));
    let reached = count(standbys.len());
    Ok((*place, FailoverChoice { from, to: best.name.clone(), reached, of, holds_all: best.is_in_step() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member: name, cluster, role, state, suspended, log.
    fn member(name: &str, [cluster, role, state, suspended]: [i64; 4], hardened: &str) -> Result<GroupMember, Error> {
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        let [cluster, role, state, suspended] = [cluster, role, state, suspended].map(OwnedValue::Integer);
        let writable = OwnedValue::Integer(0);
        GroupMember::of(&[vec![text("ag"), text(name), cluster, role, state, suspended, text(hardened), writable]])
    }

    fn silent() -> Result<GroupMember, Error> {
        Err(Error::other("no answer"))
    }

    const LEADS: [i64; 4] = [0, PRIMARY, SYNCHRONIZED, 0];
    const IN_STEP: [i64; 4] = [0, SECONDARY, SYNCHRONIZED, 0];
    const BEHIND: [i64; 4] = [0, SECONDARY, 1, 0];

    #[track_caller]
    fn check(seen: &[Result<GroupMember, Error>], kind: FailoverKind, expected: Result<(usize, bool), &str>) {
        match (choose(seen, kind), expected) {
            (Ok((place, choice)), Ok(expected)) => assert_eq!((place, choice.holds_all), expected, "{choice}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn a_planned_failover_goes_to_a_secondary_in_step_and_to_no_other() {
        let planned = FailoverKind::Planned;
        check(&[member("A", LEADS, "9"), member("B", IN_STEP, "9")], planned, Ok((1, true)));
        check(&[member("C", BEHIND, "9"), member("B", IN_STEP, "8"), member("A", LEADS, "9")], planned, Ok((1, true)));
        check(&[member("A", LEADS, "9"), member("B", BEHIND, "9")], planned, Err("B is not SYNCHRONIZED"));
        let suspended = member("B", [0, SECONDARY, SYNCHRONIZED, 1], "9");
        check(&[member("A", LEADS, "9"), suspended], planned, Err("B is suspended"));
        check(&[silent(), member("B", IN_STEP, "9")], planned, Err("says that it is the primary"));
        check(&[member("A", LEADS, "9"), silent()], planned, Err("is a secondary: no answer"));
    }

    #[test]
    fn a_forced_failover_goes_to_who_has_the_most_and_says_whether_that_is_all() {
        let forced = FailoverKind::Forced;
        check(&[silent(), member("B", BEHIND, "07"), member("C", BEHIND, "12")], forced, Ok((2, false)));
        check(&[member("A", LEADS, "9"), member("B", BEHIND, "9"), member("C", IN_STEP, "8")], forced, Ok((2, true)));
        check(&[member("B", [0, RESOLVING, 0, 0], "7")], forced, Ok((0, false)));
        check(&[member("B", BEHIND, "7"), member("C", BEHIND, "7")], forced, Ok((0, false)));
        let (_, choice) =
            choose(&[member("A", LEADS, "9"), member("B", BEHIND, "7"), silent()], forced).expect("one is there");
        assert_eq!((choice.from.as_deref(), choice.to.as_str(), choice.reached, choice.of), (Some("A"), "B", 1, 2));
    }

    #[test]
    fn groups_without_a_windows_cluster_are_left_alone() {
        let with = |cluster| [member("A", [cluster, PRIMARY, 2, 0], "9"), member("B", [cluster, SECONDARY, 2, 0], "9")];
        for kind in [FailoverKind::Planned, FailoverKind::Forced] {
            check(&with(NO_CLUSTER), kind, Err("CLUSTER_TYPE = NONE"));
            check(&with(1), kind, Err("CLUSTER_TYPE = EXTERNAL"));
        }
        assert!(GroupMember::of(&[]).is_err());
    }
}
