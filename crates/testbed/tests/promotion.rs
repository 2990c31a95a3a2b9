//! A promotion by hand with real PostgreSQL servers: the failed primary is fenced, the promoted standby is protected from its first write on, and
//! the others follow it.

mod pair;
mod support;

use pair::{LONG, Pair, SHORT, bench, until};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::FaultKind;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::replication::{Confirmation, LinkAsked, ReplicationAsked, ReplicationMode};
use proofload_model::wire::DataLocation;
use proofload_model::wire::host::{
    BeginCommit, EndCommit, EndFaulty, Follow, IsFenced, MakeFault, Promote, Protect, ReadFork, ReadLogEndAfter,
    ReadReceived, ReadReplication,
};
use std::time::Duration;
use support::one;

fn check(kind: FaultKind, link: Option<LinkAsked>) {
    let Some((bench, place)) = bench() else { return };
    let mode = ReplicationMode::RemoteFlush;
    let mut pair = Pair::start_through(link, bench, &place, (mode, Confirmation::Any(1), 2));
    pair.expect(None);
    assert!(!pair.bench.ask(IsFenced { instance: one() }), "a primary that works takes writes");
    pair.bench.ask(MakeFault { instance: one(), kind, strength: FaultStrength::Whole });
    until("the primary is fenced", || pair.bench.ask(IsFenced { instance: one() }));
    let (first, second) = (InstanceName::standby(1), InstanceName::standby(2));
    assert!(pair.bench.ask_until_answered(ReadReceived { instance: first.clone() }).0 > 0);
    let confirmation = Confirmation::Any(1);
    let asked = ReplicationAsked { mode, standbys: vec![second.clone()], confirmation, presented_as: Vec::new() };
    pair.bench.ask(Protect { instance: first.clone(), asked });
    pair.bench.ask(Promote { instance: first.clone() });
    let fork = pair.bench.ask(ReadFork { instance: first.clone() }).expect("a promotion begins a timeline");
    assert_eq!((fork.timeline_before, fork.timeline), (1, 2), "{kind:?}");
    let end = pair.bench.ask(ReadLogEndAfter { instance: one(), place: place.clone(), fork });
    assert!(end.is_some_and(|end| end >= fork.at), "{kind:?}: {end:?} after {fork:?}");
    // Nobody follows it yet: what is committed now must wait.
    let ended = pair.bench.ask(BeginCommit { instance: first.clone(), within: SHORT });
    assert!(!ended, "{kind:?}: a commit ended on a promoted standby that nobody follows");
    assert!(pair.bench.ask_until_answered(ReadReplication { instance: first.clone() }).out_of_force.is_some());
    let folder = format!("{}.{second}", place.folder);
    let follow = Follow {
        instance: second,
        place: DataLocation { folder, ..place.clone() },
        upstream: pair.standby_address(&place),
        link,
    };
    pair.bench.ask(follow);
    assert!(pair.bench.ask(EndCommit { instance: first.clone(), within: LONG }), "{kind:?}: nobody follows");
    until("it is protected again", || {
        let seen = pair.bench.ask_until_answered(ReadReplication { instance: first.clone() });
        seen.out_of_force.is_none() && !seen.unprotected
    });
    pair.bench.ask(EndFaulty { instance: one() });
    pair.end();
}

#[test]
fn a_promoted_standby_is_protected_from_its_first_write_on() {
    check(FaultKind::Crash, None);
}

#[test]
fn others_follow_through_new_relays_while_the_old_primary_is_frozen() {
    check(FaultKind::Freeze, Some(LinkAsked { rtt: Duration::ZERO, bandwidth: None }));
}
