//! Faults with real PostgreSQL servers: each is found in force, is not taken for an end of its own, and is undone or survived by a standby.

mod pair;
mod support;

use pair::{LONG, Pair, SHORT, bench, until, up};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::FaultKind;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::replication::{Confirmation, LinkAsked, ReplicationAsked, ReplicationMode, ReplicationPart};
use proofload_model::units::{Bytes, BytesPerSecond};
use proofload_model::wire::DataLocation;
use proofload_model::wire::Event;
use proofload_model::wire::host::{
    BeginCommit, EndCommit, EndFaulty, MakeFault, MountVolume, Promote, ReadReceived, Start, Stop, UndoFault, Verify,
};
use std::process::Command;
use std::time::Duration;
use support::one;

fn standby() -> InstanceName {
    InstanceName::standby(1)
}

fn pair(mode: ReplicationMode, link: Option<LinkAsked>) -> Option<(Pair, DataLocation)> {
    let (bench, place) = bench()?;
    let mut pair = Pair::start_through(link, bench, &place, (mode, Confirmation::Any(1), 1));
    pair.expect(None);
    Some((pair, place))
}

/// Processes that work in the folder of an instance and have not ended.
fn processes(place: &DataLocation) -> usize {
    let data = format!("{}/data", place.folder);
    let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let works_there = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder == std::path::Path::new(&data))
    };
    all.filter(works_there).count()
}

#[track_caller]
fn nobody_was_told(pair: &Pair) {
    let events = pair.bench.events.lock().expect("no panic");
    let told = events.iter().any(|event| matches!(event, Event::InstanceEnded { .. }));
    assert!(!told, "an end of our own doing was told as another");
}

#[test]
fn a_primary_that_fails_is_replaced_by_its_standby() {
    for kind in [FaultKind::Crash, FaultKind::Kill, FaultKind::Stop, FaultKind::Freeze] {
        let Some((mut pair, place)) = pair(ReplicationMode::RemoteFlush, None) else { return };
        pair.sql("CREATE TABLE kept (id int); INSERT INTO kept VALUES (1)");
        let received = pair.bench.ask_until_answered(ReadReceived { instance: standby() });
        assert!(received.0 > 0);
        let made = pair.bench.ask(MakeFault { instance: one(), kind, strength: FaultStrength::Whole });
        assert!(made.after <= made.at, "{made:?}");
        let frozen = kind == FaultKind::Freeze;
        if kind != FaultKind::Kill {
            assert_eq!(processes(&place) > 0, frozen, "{kind:?}");
        }
        let promoted = pair.bench.ask(Promote { instance: standby() });
        assert!(promoted >= made.at);
        pair.address = pair.standby_address(&place);
        pair.sql("INSERT INTO kept VALUES (2)");
        pair.bench.ask(EndFaulty { instance: one() });
        assert_eq!(processes(&place), 0, "{kind:?}");
        nobody_was_told(&pair);
        drop(pair.end());
    }
}

#[test]
fn a_standby_that_is_lost_stops_commits_until_it_is_back() {
    for kind in [FaultKind::Crash, FaultKind::Freeze] {
        let Some((mut pair, place)) = pair(ReplicationMode::RemoteFlush, None) else { return };
        pair.bench.ask(MakeFault { instance: standby(), kind, strength: FaultStrength::Whole });
        assert!(!pair.bench.ask(BeginCommit { instance: one(), within: SHORT }), "{kind:?}");
        if kind == FaultKind::Freeze {
            pair.bench.ask(UndoFault { instance: standby() });
        } else {
            let folder = format!("{}.standby-1", place.folder);
            let part = ReplicationPart::Standby { upstream: pair.address.clone() };
            pair.bench.ask(Start { instance: standby(), place: DataLocation { folder, ..place.clone() }, part });
        }
        assert!(pair.bench.ask(EndCommit { instance: one(), within: LONG }), "{kind:?}");
        pair.expect(None);
        nobody_was_told(&pair);
        drop(pair.end());
    }
}

/// Makes a fault of the standby, or of its link, looks at commits in it, and undoes it.
fn check(mode: ReplicationMode, kind: FaultKind, strength: FaultStrength, commits_wait: bool) {
    let link = LinkAsked { rtt: Duration::from_millis(1), bandwidth: None };
    let Some((mut pair, _)) = pair(mode, Some(link)) else { return };
    pair.bench.ask(MakeFault { instance: standby(), kind, strength });
    let within = if commits_wait { SHORT } else { LONG };
    let ended = pair.bench.ask(BeginCommit { instance: one(), within });
    assert_eq!(ended, !commits_wait, "{kind:?}");
    let again = pair.bench.refused(MakeFault { instance: standby(), kind: FaultKind::Crash, strength });
    assert!(again.contains("is already in force"), "{again}");
    assert!(pair.bench.ask(UndoFault { instance: standby() }).runs, "{kind:?}");
    assert!(pair.bench.ask(EndCommit { instance: one(), within: LONG }), "{kind:?}");
    pair.expect(None);
    nobody_was_told(&pair);
    drop(pair.end());
}

#[test]
fn a_link_that_is_cut_one_way_slow_or_reset_is_so_for_commits_and_comes_back() {
    let (flush, whole) = (ReplicationMode::RemoteFlush, FaultStrength::Whole);
    check(flush, FaultKind::PartitionToStandby, whole, true);
    check(flush, FaultKind::PartitionToPrimary, whole, true);
    check(flush, FaultKind::Reset, whole, true);
    check(flush, FaultKind::Latency, FaultStrength::Rtt(2 * SHORT), true);
    // A commit may have images of several pages before it, of 8 KiB each.
    check(flush, FaultKind::Bandwidth, FaultStrength::Bandwidth(BytesPerSecond(1 << 20)), false);
}

#[test]
fn a_standby_that_applies_nothing_holds_up_who_waits_for_that() {
    check(ReplicationMode::RemoteApply, FaultKind::ReplayPause, FaultStrength::Whole, true);
    check(ReplicationMode::RemoteFlush, FaultKind::ReplayPause, FaultStrength::Whole, false);
}

#[test]
fn a_slow_disk_of_the_primary_is_slow_for_its_commits_and_comes_back() {
    let Some((mut pair, _)) = pair(ReplicationMode::Async, None) else { return };
    for strength in [FaultStrength::WriteIops(2), FaultStrength::WriteBandwidth(BytesPerSecond(64 << 10))] {
        let ask = MakeFault { instance: one(), kind: FaultKind::SlowDisk, strength };
        match pair.bench.handle(ask) {
            Err(error) if error.to_string().contains("this needs a control group") => println!("SKIPPED: {error}"),
            made => drop(made.unwrap_or_else(|error| panic!("{strength}: {error}"))),
        }
        assert!(pair.bench.ask(UndoFault { instance: one() }).runs);
        let facts = pair.bench.ask(Verify { instance: one() });
        assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{strength}: {facts:?}");
    }
    drop(pair.end());
}

#[test]
fn a_full_volume_ends_writes_until_there_is_room_again() {
    let Some((mut bench, place)) = bench() else { return };
    let folder = bench.folder.path().join("volume");
    let on_volume = DataLocation { folder: folder.display().to_string(), ..place.clone() };
    let mount = MountVolume { instance: one(), place: on_volume.clone(), size: Bytes(256 << 20) };
    if let Err(error) = bench.handle(mount) {
        println!("SKIPPED: {error}");
        return;
    }
    let (mode, whole) = (ReplicationMode::Async, FaultStrength::Whole);
    let asked = ReplicationAsked {
        mode,
        standbys: vec![standby()],
        confirmation: Confirmation::Any(1),
        presented_as: Vec::new(),
    };
    let (_, address) =
        up(&mut bench, &one(), on_volume.clone(), &place.folder, ReplicationPart::Primary(asked.clone()), None);
    let mut pair = Pair { bench, standbys: Vec::new(), address, standby_addresses: Vec::new() };
    pair.sql("CREATE TABLE filling (content text)");
    let refused = pair.bench.ask(MakeFault { instance: one(), kind: FaultKind::FullDisk, strength: whole });
    assert!(refused.after <= refused.at);
    let fill = "INSERT INTO filling SELECT repeat(md5(n::text), 30) FROM generate_series(1, 50000) n";
    assert!(pair.try_sql(fill).is_err(), "there is no room");
    let undone = pair.bench.ask(UndoFault { instance: one() });
    if !undone.runs {
        let before = pair.address.clone();
        pair.address =
            pair.bench.ask(Start { instance: one(), place: on_volume, part: ReplicationPart::Primary(asked) }).address;
        assert_eq!(pair.address, before, "its users find it where it was");
    }
    pair.sql(fill);
    nobody_was_told(&pair);
    pair.bench.ask(Stop { instance: one() });
}

#[test]
fn a_link_that_is_parted_stops_commits_and_closes_nothing() {
    let link = LinkAsked { rtt: Duration::from_millis(1), bandwidth: None };
    let Some((mut pair, _)) = pair(ReplicationMode::RemoteFlush, Some(link)) else { return };
    pair.bench.ask(MakeFault { instance: standby(), kind: FaultKind::Partition, strength: FaultStrength::Whole });
    assert!(!pair.bench.ask(BeginCommit { instance: one(), within: SHORT }));
    pair.expect(None);
    pair.bench.ask(UndoFault { instance: standby() });
    assert!(pair.bench.ask(EndCommit { instance: one(), within: LONG }));
    drop(pair.end());
}

#[test]
fn a_link_without_a_relay_cannot_be_parted() {
    let Some((mut pair, _)) = pair(ReplicationMode::Async, None) else { return };
    let refused = pair.bench.refused(MakeFault {
        instance: standby(),
        kind: FaultKind::Partition,
        strength: FaultStrength::Whole,
    });
    assert!(refused.contains("it has no relay"), "{refused}");
    drop(pair.end());
}

#[test]
fn what_is_frozen_ends_with_its_role() {
    let Some((mut pair, place)) = pair(ReplicationMode::Async, None) else { return };
    for instance in [one(), standby()] {
        pair.bench.ask(MakeFault { instance, kind: FaultKind::Freeze, strength: FaultStrength::Whole });
    }
    pair.bench.ask(Stop { instance: one() });
    assert_eq!(processes(&place), 0);
    drop(pair);
    let left = || Command::new("pgrep").args(["-f", &place.folder]).output().expect("pgrep is installed").stdout;
    until("no process is left", || left().is_empty());
}
