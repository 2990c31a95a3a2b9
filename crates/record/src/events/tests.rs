//! Every event goes into a record and comes out as it was; every detail that versions before wrote still reads as what it said.

use super::{decode, encode};
use crate::compat::Format;
use crate::schema::FORMAT;
use proofload_model::commit_levels::{CommitCalibration, CommitLevel};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::{
    DrillReport, FaultAsked, Ledger, LogFork, Outage, ProbeKind, ProbeReport, ProbeTenth, ProberReport, StandbyReach,
};
use proofload_model::duet_check::{CheckRatio, CheckRecord, DuetCheck};
use proofload_model::error::ErrorKind;
use proofload_model::events::{DataCopy, LoadAgentStart, LoadAgentStop, ReplicationProof, RunEvent, VERSION};
use proofload_model::fault_strength::FaultStrength;
use proofload_model::intervention::{
    Change, ConfirmAsked, Experiment, InterventionVisit, ResourceClass, ResourcePlan, ResourceReading,
};
use proofload_model::ledger::{Leader, LedgerPage, LedgerRange, OutcomeRange, WriteClass, WriteOutcome};
use proofload_model::manager::ManagerKind;
use proofload_model::readiness::{ReadinessCondition, ReadinessFound};
use proofload_model::replication::ReplicationMode;
use proofload_model::samples::{Fact, LostSession, OperationCounts, UserRound};
use proofload_model::time::Offset;
use proofload_model::units::Bytes;
use std::collections::BTreeMap;

/// A reproducible source of values. Source: Marsaglia, "Xorshift RNGs", 2003, the triple 13, 7, 17.
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> (self.0 % 64)
    }

    fn small(&mut self) -> u32 {
        self.number() as u32
    }

    fn text(&mut self) -> String {
        let texts =
            ["", "a", "null", "{}", "[1]", "\"", "12", "{\"seconds\":4}", "zwölf\n\u{1b}", "true", " ", "\"q\""];
        texts[(self.number() % texts.len() as u64) as usize].to_owned()
    }

    /// A time of at most 13 digits, as measured times have: `serde_json` reads longer ones to the last bit but one.
    fn seconds(&mut self) -> f64 {
        f64::from(self.small()) / 8.0
    }

    fn maybe<T>(&mut self, make: fn(&mut Self) -> T) -> Option<T> {
        self.number().is_multiple_of(2).then(|| make(self))
    }

    fn list<T>(&mut self, make: fn(&mut Self) -> T) -> Vec<T> {
        (0..self.number() % 4).map(|_| make(self)).collect()
    }

    fn levels(&mut self) -> BTreeMap<String, String> {
        self.list(|chance| (chance.text(), chance.text())).into_iter().collect()
    }
}

/// Position of a variant among those that [`random`] makes; a new variant needs an arm in both.
fn position(event: &RunEvent) -> u64 {
    match event {
        RunEvent::Preconditioned => 0,
        RunEvent::Building(_) => 1,
        RunEvent::Built(_) => 2,
        RunEvent::Restored(_) => 3,
        RunEvent::Calibrated { .. } => 4,
        RunEvent::CalibrationFailed(_) => 5,
        RunEvent::Prepared => 6,
        RunEvent::LoadAgents(_) => 7,
        RunEvent::ColdStart => 8,
        RunEvent::LoadStarted(_) => 9,
        RunEvent::Steady { .. } => 10,
        RunEvent::NotSteady { .. } => 11,
        RunEvent::Window { .. } => 12,
        RunEvent::Rounds(_) => 13,
        RunEvent::WholeRun { .. } => 14,
        RunEvent::Completed { .. } => 15,
        RunEvent::SessionsLost(_) => 16,
        RunEvent::LoadStopped { .. } => 17,
        RunEvent::LoadAgentsStopped(_) => 18,
        RunEvent::AgentLost { .. } => 19,
        RunEvent::Released => 20,
        RunEvent::Finished => 21,
        RunEvent::Failed(_) => 22,
        RunEvent::SearchStep { .. } => 23,
        RunEvent::SearchEnded { .. } => 24,
        RunEvent::WarmedUp { .. } => 25,
        RunEvent::EndedEarly { .. } => 26,
        RunEvent::Prewarmed { .. } => 27,
        RunEvent::QuietChecked { .. } => 28,
        RunEvent::InTurns { .. } => 29,
        RunEvent::ReplicationProved(_) => 30,
        RunEvent::Drilled(_) => 31,
        RunEvent::CommitsCalibrated(_) => 32,
        RunEvent::LedgerPage(_) => 33,
        RunEvent::ExperimentBegun(_) => 34,
        RunEvent::BlockBegun { .. } => 35,
        RunEvent::Visited(_) => 36,
        RunEvent::ExperimentEnded { .. } => 37,
        RunEvent::Readiness(_) => 38,
        RunEvent::FailedAs(_) => 39,
        RunEvent::DuetChecked(_) => 40,
        RunEvent::LimitsLeftOut(_) => 41,
        RunEvent::Unknown { .. } => LAST,
    }
}

const LAST: u64 = 42;

fn change(chance: &mut Chance) -> Change {
    match chance.number() % 4 {
        0 => Change::Nothing,
        1 => Change::One(chance.text()),
        2 => Change::AllBut(chance.text()),
        _ => Change::Raised(chance.text()),
    }
}

fn experiment(chance: &mut Chance) -> Experiment {
    let class = |chance: &mut Chance| {
        [ResourceClass::Speed, ResourceClass::Capacity, ResourceClass::Structure][(chance.number() % 3) as usize]
    };
    let resources: Vec<ResourcePlan> =
        (0..chance.number() % 4).map(|_| ResourcePlan { name: chance.text(), class: class(chance) }).collect();
    Experiment {
        asked: ConfirmAsked { step: chance.seconds(), blocks: chance.small(), visit_s: chance.small() },
        seed: chance.number(),
        resources,
        not_tried: chance.levels(),
    }
}

fn of_experiment(position: u64, chance: &mut Chance) -> RunEvent {
    match position {
        34 => RunEvent::ExperimentBegun(experiment(chance)),
        35 => RunEvent::BlockBegun { number: chance.small(), order: chance.list(change) },
        36 => RunEvent::Visited(InterventionVisit {
            block: chance.small(),
            change: change(chance),
            from: chance.number(),
            to: chance.number(),
            switched_ms: chance.seconds(),
            readings: chance.list(|chance| ResourceReading {
                name: chance.text(),
                in_force: chance.maybe(Chance::seconds),
                used: chance.maybe(Chance::seconds),
            }),
        }),
        _ => RunEvent::ExperimentEnded { blocks: chance.small(), why: chance.text() },
    }
}

fn random(position: u64, chance: &mut Chance) -> RunEvent {
    match position {
        0 => RunEvent::Preconditioned,
        34..=37 => of_experiment(position, chance),
        1 => RunEvent::Building(chance.text()),
        2 => RunEvent::Built(copy(chance)),
        3 => RunEvent::Restored(copy(chance)),
        4 => RunEvent::Calibrated { key: chance.text(), facts: chance.list(fact) },
        5 => RunEvent::CalibrationFailed(chance.text()),
        6 => RunEvent::Prepared,
        7 => RunEvent::LoadAgents(chance.list(agent)),
        8 => RunEvent::ColdStart,
        9 => RunEvent::LoadStarted(chance.maybe(Chance::number)),
        10 => RunEvent::Steady { seconds: chance.maybe(Chance::number) },
        11 => RunEvent::NotSteady { seconds: chance.maybe(Chance::number), verdict: chance.text() },
        12 => RunEvent::Window { from: chance.number(), to: chance.number() },
        13 => RunEvent::Rounds(chance.list(round)),
        14 => RunEvent::WholeRun {
            warm_up_rounds: chance.number(),
            from: chance.maybe(Chance::number),
            to: chance.seconds(),
        },
        15 => RunEvent::Completed {
            seconds: chance.seconds(),
            operations: chance.number(),
            first_user_ended: chance.maybe(Chance::seconds),
        },
        16 => RunEvent::SessionsLost(chance.list(lost)),
        17 => RunEvent::LoadStopped { intervals: chance.number(), totals: chance.list(counts) },
        18 => RunEvent::LoadAgentsStopped(chance.list(stop)),
        19 => RunEvent::AgentLost { agent: chance.text(), reason: chance.text() },
        20 => RunEvent::Released,
        21 => RunEvent::Finished,
        22 => RunEvent::Failed(chance.text()),
        23 => RunEvent::SearchStep {
            others: chance.levels(),
            point: chance.number(),
            load: chance.text(),
            why: chance.text(),
        },
        24 => RunEvent::SearchEnded {
            others: chance.levels(),
            found: chance.number().is_multiple_of(2),
            text: chance.text(),
        },
        25 => RunEvent::WarmedUp { seconds: chance.number() },
        26 => RunEvent::EndedEarly { seconds: chance.number() },
        27 => RunEvent::Prewarmed { bytes: chance.number(), seconds: chance.seconds() },
        28 => RunEvent::QuietChecked {
            taken: chance.maybe(Chance::seconds),
            tolerated: chance.seconds(),
            seconds: chance.seconds(),
            processes: chance.list(|chance| (chance.text(), chance.seconds())),
        },
        29 => {
            RunEvent::InTurns { with: chance.text(), token: chance.text(), at_once: chance.number().is_multiple_of(2) }
        }
        30 => RunEvent::ReplicationProved(proof(chance)),
        31 => RunEvent::Drilled(Box::new(drilled(chance))),
        32 => RunEvent::CommitsCalibrated(commits(chance)),
        33 => RunEvent::LedgerPage(page(chance)),
        38 => RunEvent::Readiness(chance.list(ready)),
        39 => RunEvent::FailedAs(ErrorKind::Lost),
        40 => RunEvent::DuetChecked(chance.list(duet_check)),
        41 => RunEvent::LimitsLeftOut(chance.list(Chance::text)),
        _ => RunEvent::Unknown { name: "promoted".to_owned(), detail: chance.text() },
    }
}

fn proof(chance: &mut Chance) -> ReplicationProof {
    ReplicationProof {
        mode: ReplicationMode::RemoteFlush,
        in_force_after: chance.seconds(),
        waited_for_link: chance.number().is_multiple_of(2),
        waited_for_apply: chance.number().is_multiple_of(2),
        seen_waiting: chance.maybe(|chance| chance.number().is_multiple_of(2)),
        count_proved: chance.number().is_multiple_of(2),
    }
}

fn commits(chance: &mut Chance) -> CommitCalibration {
    CommitCalibration {
        key: chance.text(),
        levels: vec![CommitLevel::Local, CommitLevel::RemoteApply],
        rounds: chance.list(|chance| chance.list(Chance::number)),
    }
}

fn duet_check(chance: &mut Chance) -> DuetCheck {
    let record = |chance: &mut Chance| CheckRecord { file: chance.text(), sha256: chance.text() };
    DuetCheck {
        expected: chance.seconds(),
        records: [record(chance), record(chance)],
        ratios: chance.list(|chance| CheckRatio {
            point: chance.text(),
            value: chance.seconds(),
            low: chance.seconds(),
            high: chance.seconds(),
        }),
        missing: chance.number(),
    }
}

fn ready(chance: &mut Chance) -> ReadinessFound {
    ReadinessFound {
        condition: ReadinessCondition::CacheDirty,
        value: chance.seconds(),
        drift: -chance.seconds(),
        bounds: (chance.seconds(), chance.seconds()),
        seconds: chance.number(),
        holds: chance.number().is_multiple_of(2),
    }
}

fn page(chance: &mut Chance) -> LedgerPage {
    let range = |chance: &mut Chance| OutcomeRange {
        outcome: WriteOutcome::Unknown,
        node: chance.small(),
        count: chance.number(),
    };
    let (first, step) = (chance.number(), chance.number());
    LedgerPage { first, step, ranges: chance.list(range), took_us: chance.list(Chance::number) }
}

fn drilled(chance: &mut Chance) -> DrillReport {
    let offset = |chance: &mut Chance| Offset(i64::from(chance.small()));
    let kind = ProbeReport {
        kind: ProbeKind::Write,
        due: chance.number(),
        lag_p99_ms: chance.seconds(),
        outages: vec![Outage {
            from: offset(chance),
            to: chance.maybe(|chance| Offset(i64::from(chance.small()))),
            failed: 3,
        }],
        blips: chance.number(),
        tenths: vec![ProbeTenth { acknowledged: chance.small(), failed: 1, unknown: 2 }],
    };
    let ledger = Ledger { sent: chance.number(), lost: chance.number(), lost_numbers: vec![7], ..Ledger::default() };
    let ledger = Ledger {
        ranges: chance.list(|chance| LedgerRange {
            class: WriteClass::Hole,
            node: chance.small(),
            first: chance.number(),
            took_us: vec![chance.number()],
        }),
        leaders: vec![Leader { node: 1, from: offset(chance), to: offset(chance) }],
        read_from: chance.maybe(Chance::small),
        unread: chance.maybe(Chance::text),
        two_claimed_seconds: chance.number(),
        stale_reads: chance.number(),
        ..ledger
    };
    DrillReport {
        fault: FaultAsked::of("crash primary").flatten(),
        strength: FaultStrength::WriteIops(chance.small()),
        phase: chance.seconds(),
        fault_begun: chance.maybe(Chance::seconds),
        fault_after: chance.seconds(),
        fault_at: chance.seconds(),
        promote_asked_at: chance.maybe(Chance::seconds),
        rejoin_asked_at: chance.maybe(Chance::seconds),
        rejoined_at: chance.maybe(Chance::seconds),
        promoted_at: chance.maybe(Chance::seconds),
        promoted: chance.maybe(|_| InstanceName::standby(1)),
        manager: chance.maybe(|_| ManagerKind::Patroni),
        detected_at: chance.maybe(Chance::seconds),
        undone_at: chance.maybe(Chance::seconds),
        before: chance.seconds(),
        recovered_at: chance.maybe(Chance::seconds),
        work_missed: chance.seconds(),
        protected_again_at: chance.maybe(Chance::seconds),
        reach: chance.maybe(|chance| StandbyReach { reached: chance.small(), of: 3, holds_all: true }),
        fork: chance.maybe(|chance| LogFork {
            timeline_before: chance.small(),
            timeline: chance.small(),
            at: Bytes(chance.number()),
            old_end: chance.maybe(|chance| Bytes(chance.number())),
        }),
        prober: ProberReport { kinds: vec![kind], ledger },
    }
}

fn copy(chance: &mut Chance) -> DataCopy {
    DataCopy { bytes: chance.number(), method: chance.text(), seconds: chance.seconds() }
}

fn fact(chance: &mut Chance) -> Fact {
    Fact {
        instance: InstanceName::new(chance.text()),
        requested: chance.maybe(Chance::text),
        number: chance.maybe(Chance::seconds),
        holds: chance.maybe(|chance| chance.number().is_multiple_of(2)),
        ..Fact::observed(&chance.text(), &chance.text(), chance.text(), &chance.text())
    }
}

fn agent(chance: &mut Chance) -> LoadAgentStart {
    LoadAgentStart {
        number: chance.small(),
        name: chance.text(),
        share: chance.small(),
        users: chance.maybe(Chance::number),
        pid: chance.maybe(Chance::small),
        clock_bound_ns: chance.maybe(Chance::number),
    }
}

fn stop(chance: &mut Chance) -> LoadAgentStop {
    LoadAgentStop {
        number: chance.small(),
        clock_moved_ns: chance.maybe(|chance| -(chance.small() as i64)),
        clock_bound_ns: chance.maybe(Chance::number),
    }
}

fn round(chance: &mut Chance) -> UserRound {
    let (began, ended) = (Offset(i64::from(chance.small())), Offset(-i64::from(chance.small())));
    let (user, number) = (chance.small(), chance.number());
    UserRound { user, number, began, ended, well: chance.number(), failed: chance.number() }
}

fn lost(chance: &mut Chance) -> LostSession {
    let returned = chance.maybe(|chance| Offset(i64::from(chance.small())));
    LostSession { session: chance.small(), lost: Offset(-1), returned, tries: chance.small() }
}

fn counts(chance: &mut Chance) -> OperationCounts {
    OperationCounts {
        kind: chance.text(),
        due: chance.number(),
        retries: chance.number(),
        ..OperationCounts::default()
    }
}

#[test]
fn every_event_comes_back_as_it_was() {
    let mut chance = Chance(42);
    for _ in 0..500 {
        for place in 0..=LAST {
            let event = random(place, &mut chance);
            assert_eq!(position(&event), place);
            let detail = encode(&event);
            assert_eq!(decode(Format(FORMAT), VERSION, event.name(), &detail), event, "{detail}");
        }
    }
}

#[test]
fn events_of_a_later_version_stay_as_they_are_written() {
    let later = decode(Format(FORMAT), VERSION + 1, "window", r#"{"from":1,"to":2}"#);
    assert_eq!(later, RunEvent::Unknown { name: "window".to_owned(), detail: r#"{"from":1,"to":2}"#.to_owned() });
}

/// Reads a detail as a record of format 3 has it; what is written today says the same.
#[track_caller]
fn check_old(name: &str, detail: &str, expected: RunEvent) {
    assert_eq!(decode(Format(3), 1, name, detail), expected);
    assert_eq!(encode(&expected), detail, "continued records keep their form");
}

#[test]
fn details_of_the_formats_before_say_what_they_said() {
    for (name, event) in [
        ("preconditioned", RunEvent::Preconditioned),
        ("prepared", RunEvent::Prepared),
        ("cold_start", RunEvent::ColdStart),
        ("released", RunEvent::Released),
        ("finished", RunEvent::Finished),
    ] {
        check_old(name, "", event);
    }
    check_old("building", "tprocc 4", RunEvent::Building("tprocc 4".to_owned()));
    check_old("failed", "server died", RunEvent::Failed("server died".to_owned()));
    check_old("calibration_failed", "no fio", RunEvent::CalibrationFailed("no fio".to_owned()));
    check_old("load_started", "18446744073709551615", RunEvent::LoadStarted(Some(u64::MAX)));
    let copied = DataCopy { bytes: 4096, method: "copy".to_owned(), seconds: 0.25 };
    check_old("built", r#"{"bytes":4096,"method":"copy","seconds":0.25}"#, RunEvent::Built(copied.clone()));
    check_old("restored", r#"{"bytes":4096,"method":"copy","seconds":0.25}"#, RunEvent::Restored(copied));
    check_old("steady", r#"{"seconds":12}"#, RunEvent::Steady { seconds: Some(12) });
    let verdict = "it still moves".to_owned();
    let not_steady = RunEvent::NotSteady { seconds: Some(9), verdict };
    check_old("not_steady", r#"{"seconds":9,"verdict":"it still moves"}"#, not_steady);
    check_old("window", r#"{"from":5,"to":35}"#, RunEvent::Window { from: 5, to: 35 });
    let whole = RunEvent::WholeRun { warm_up_rounds: 0, from: None, to: 7.5 };
    check_old("whole_run", r#"{"from":null,"to":7.5,"warm_up_rounds":0}"#, whole);
    let completed = RunEvent::Completed { seconds: 40.5, operations: 7, first_user_ended: Some(36.25) };
    check_old("completed", r#"{"first_user_ended":36.25,"operations":7,"seconds":40.5}"#, completed);
    let (agent, reason) = ("load".to_owned(), "silent".to_owned());
    check_old("agent_lost", r#"{"agent":"load","reason":"silent"}"#, RunEvent::AgentLost { agent, reason });
}

#[test]
fn lists_of_the_formats_before_say_what_they_said() {
    let round = UserRound { user: 1, number: 0, began: Offset(0), ended: Offset(5), well: 22, failed: 0 };
    let rounds = r#"[{"began":0,"ended":5,"failed":0,"number":0,"user":1,"well":22}]"#;
    check_old("rounds", rounds, RunEvent::Rounds(vec![round]));
    let lost = LostSession { session: 3, lost: Offset(9), returned: None, tries: 2 };
    let sessions = r#"[{"lost":9,"returned":null,"session":3,"tries":2}]"#;
    check_old("sessions_lost", sessions, RunEvent::SessionsLost(vec![lost]));
    let totals = vec![OperationCounts { kind: "payment".to_owned(), due: 2, done: 2, ..OperationCounts::default() }];
    let stopped = r#"{"intervals":3,"totals":[{"done":2,"dropped":0,"due":2,"failed":0,"in_flight":0,"kind":"payment","retries":0,"rolled_back":0}]}"#;
    check_old("load_stopped", stopped, RunEvent::LoadStopped { intervals: 3, totals });
    let near = LoadAgentStart {
        number: 0,
        name: "near".to_owned(),
        share: 1,
        users: Some(4),
        pid: Some(77),
        clock_bound_ns: Some(40),
    };
    let started = r#"[{"clock_bound_ns":40,"name":"near","number":0,"pid":77,"share":1,"users":4}]"#;
    check_old("load_agents", started, RunEvent::LoadAgents(vec![near]));
    let stop = LoadAgentStop { number: 1, clock_moved_ns: Some(-5), clock_bound_ns: Some(7) };
    let stops = r#"[{"clock_bound_ns":7,"clock_moved_ns":-5,"number":1}]"#;
    check_old("load_agents_stopped", stops, RunEvent::LoadAgentsStopped(vec![stop]));
    let others = BTreeMap::from([("limits.cores".to_owned(), "2".to_owned())]);
    let (load, why) = ("8".to_owned(), "twice as many".to_owned());
    let step = RunEvent::SearchStep { others: others.clone(), point: 1, load, why };
    check_old("search_step", r#"{"load":"8","others":{"limits.cores":"2"},"point":1,"why":"twice as many"}"#, step);
    let ended = RunEvent::SearchEnded { others, found: true, text: "8 users".to_owned() };
    check_old("search_ended", r#"{"found":true,"others":{"limits.cores":"2"},"text":"8 users"}"#, ended);
}

#[test]
fn facts_of_a_calibration_before_format_4_get_their_number_from_the_text() {
    let detail = r#"{"facts":[{"effective":"1.5000","holds":null,"name":"mcr_mb_per_cpu_s","requested":null,"source":"a pass","subject":"calibration"}],"key":"k"}"#;
    let fact = Fact { number: Some(1.5), ..Fact::observed("calibration", "mcr_mb_per_cpu_s", "1.5000", "a pass") };
    assert_eq!(
        decode(Format(3), 1, "calibrated", detail),
        RunEvent::Calibrated { key: "k".to_owned(), facts: vec![fact] }
    );
}

#[test]
fn a_drill_from_before_its_ledger_had_ranges_is_still_read() {
    let mut detail: serde_json::Value = serde_json::from_str(&encode(&random(31, &mut Chance(7)))).unwrap();
    let drill = detail.as_object_mut().unwrap();
    assert!(drill.remove("protected_again_at").is_some() & drill.remove("reach").is_some());
    let ledger = drill["prober"]["ledger"].as_object_mut().unwrap();
    for field in ["period_ns", "ranges", "leaders", "read_from", "unread"] {
        assert!(ledger.remove(field).is_some(), "{field}");
    }
    let RunEvent::Drilled(read) = decode(Format(FORMAT), VERSION, "drilled", &detail.to_string()) else {
        panic!("it was not read: {detail}")
    };
    assert_eq!((read.protected_again_at, read.reach, read.prober.ledger.ranges.len()), (None, None, 0));
}
