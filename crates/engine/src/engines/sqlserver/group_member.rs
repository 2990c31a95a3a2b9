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
    /// Number of the group in its cluster, as text.
    id: String,
    /// Databases and replicas of the group.
    databases: i64,
    replicas: i64,
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
            id: text(8),
            databases: number(9),
            replicas: number(10),
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

/// Why an order to these would reach what the URL does not name, or what we could not put back: `None` where it would not. Each host has to
/// answer; all are of one group, whose primary is among them. A forced failover suspends each database at each replica, so the group has no
/// other database and no other replica, and nothing in it is suspended by somebody else.
fn beyond_the_url(answered: &[&GroupMember], asked: usize, kind: FailoverKind) -> Option<String> {
    let first = answered.first()?;
    if answered.iter().any(|member| member.id != first.id) {
        return Some("the hosts of engine.url are of several availability groups".to_owned());
    }
    if !answered.iter().any(|member| member.role == PRIMARY) {
        return Some("no host of engine.url says that it is the primary".to_owned());
    }
    if kind == FailoverKind::Planned {
        return None;
    }
    if answered.len() < asked {
        return Some("not each host of engine.url answers".to_owned());
    }
    if first.databases != 1 {
        return Some(format!(
            "availability group {} has {} databases, and all of them would be suspended",
            first.group, first.databases
        ));
    }
    if usize::try_from(first.replicas) != Ok(asked) {
        return Some(format!(
            "availability group {} has {} replicas and engine.url names {asked}: the others would stay suspended",
            first.group, first.replicas
        ));
    }
    let suspended = answered.iter().find(|member| member.is_suspended)?;
    Some(format!("{} is suspended, and would be resumed afterwards", suspended.name))
}

/// Number of the host that takes over, with what is told of it. `seen`: what each host of the URL said of itself. One that has all comes
/// first, then the one with the most log, and of equal ones the first.
pub(super) fn choose(
    seen: &[Result<GroupMember, Error>],
    kind: FailoverKind,
) -> Result<(usize, FailoverChoice), Error> {
    let answered: Vec<(usize, &GroupMember)> =
        seen.iter().enumerate().filter_map(|(place, member)| Some((place, member.as_ref().ok()?))).collect();
    if let Some(text) = answered.iter().find_map(|(_, member)| member.refusal()) {
        return Err(Error::other(text));
    }
    let members: Vec<&GroupMember> = answered.iter().map(|(_, member)| *member).collect();
    let silent = seen.iter().find_map(|member| member.as_ref().err()).map(|error| format!(": {error}"));
    let silent = silent.unwrap_or_default();
    if let Some(why) = beyond_the_url(&members, seen.len(), kind) {
        return Err(Error::other(format!("fail over: {why}; nothing was changed{silent}")));
    }
    let from = answered.iter().find(|(_, member)| member.role == PRIMARY).map(|(_, member)| member.name.clone());
    let may = |member: &GroupMember| match kind {
        FailoverKind::Planned => member.role == SECONDARY,
        FailoverKind::Forced => member.role == SECONDARY || member.role == RESOLVING,
    };
    let standbys: Vec<(usize, &GroupMember)> = answered.into_iter().filter(|(_, member)| may(member)).collect();
    let best = standbys.iter().rev().max_by(|(_, one), (_, other)| one.rank().cmp(&other.rank()));
    let Some((place, best)) = best else {
        return Err(Error::other(format!("fail over: no host of engine.url says that it is a secondary{silent}")));
    };
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

    /// A member of a group of two replicas with one database: name, cluster, role, state, suspended, log.
    fn member(name: &str, numbers: [i64; 4], hardened: &str) -> Result<GroupMember, Error> {
        of_group(("1", 1, 2), (name, numbers, hardened))
    }

    /// The same of a group with this number, databases and replicas.
    fn of_group(
        (id, databases, replicas): (&str, i64, i64),
        (name, [cluster, role, state, suspended], hardened): (&str, [i64; 4], &str),
    ) -> Result<GroupMember, Error> {
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        let [cluster, role, state, suspended, writable] = [cluster, role, state, suspended, 0].map(OwnedValue::Integer);
        let [databases, replicas] = [databases, replicas].map(OwnedValue::Integer);
        let row = [text("ag"), text(name), cluster, role, state, suspended, text(hardened), writable, text(id)];
        GroupMember::of(&[row.into_iter().chain([databases, replicas]).collect()])
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
        let three = |name, numbers, hardened| of_group(("1", 1, 3), (name, numbers, hardened));
        let leads = || three("A", LEADS, "9");
        check(&[leads(), three("B", BEHIND, "07"), three("C", BEHIND, "12")], forced, Ok((2, false)));
        check(&[leads(), three("B", BEHIND, "9"), three("C", IN_STEP, "8")], forced, Ok((2, true)));
        check(&[leads(), three("B", BEHIND, "7"), three("C", BEHIND, "7")], forced, Ok((1, false)));
        let (_, choice) = choose(&[member("A", LEADS, "9"), member("B", BEHIND, "7")], forced).expect("one is there");
        assert_eq!((choice.from.as_deref(), choice.to.as_str(), choice.reached, choice.of), (Some("A"), "B", 1, 1));
    }

    #[test]
    fn no_order_reaches_what_the_url_does_not_name() {
        let (planned, forced) = (FailoverKind::Planned, FailoverKind::Forced);
        let other = || of_group(("2", 1, 2), ("B", IN_STEP, "9"));
        for kind in [planned, forced] {
            check(&[member("A", LEADS, "9"), other()], kind, Err("of several availability groups"));
            check(&[member("B", IN_STEP, "9"), member("C", BEHIND, "9")], kind, Err("says that it is the primary"));
        }
        let group = |databases, replicas| {
            let of = |name, numbers| of_group(("1", databases, replicas), (name, numbers, "9"));
            [of("A", LEADS), of("B", IN_STEP)]
        };
        check(&group(2, 2), planned, Ok((1, true)));
        check(&group(2, 2), forced, Err("has 2 databases"));
        check(&group(1, 3), forced, Err("3 replicas and engine.url names 2"));
        check(&[member("A", LEADS, "9"), member("B", BEHIND, "7"), silent()], forced, Err("not each host"));
        let suspended = member("B", [0, SECONDARY, 0, 1], "9");
        check(&[member("A", LEADS, "9"), suspended], forced, Err("B is suspended"));
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
