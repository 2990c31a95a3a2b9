//! The part on SQLite with a server's facets: its backups are copies of its file, and its settings are numbers of these tests.

use super::*;
use crate::selftest::{SelftestStep, StepOutcome};
use proofload_engine::{About, Error as EngineError, Installation, Memory, ProgressTeller, Work, engine};
use proofload_model::facts;
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::DataLocation;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpkeepFault {
    Nothing,
    /// Takes a backup, and restores nothing of it.
    RestoresNothing,
    /// Says nothing of a backup.
    ForgetsTheBackup,
    /// Takes a setting, and keeps the value that it has.
    KeepsItsValue,
    /// Does not tell what it uses under a limit of memory.
    HidesItsUse,
    /// Puts nothing back.
    PutsNothingBack,
}

/// What the server has.
struct UpkeepState {
    kept: bool,
    values: BTreeMap<String, u64>,
    old: BTreeMap<String, u64>,
}

/// SQLite as if it were a server of somebody's.
struct UpkeepServer {
    fault: UpkeepFault,
    state: Mutex<UpkeepState>,
}

const MEMORY: &str = "memory_mb";
const CORES: &str = "cores";

impl UpkeepServer {
    fn with(fault: UpkeepFault, memory: u64, cores: u64) -> &'static Self {
        let values = [(MEMORY.to_owned(), memory), (CORES.to_owned(), cores)].into();
        let state = Mutex::new(UpkeepState { kept: false, values, old: BTreeMap::new() });
        Box::leak(Box::new(Self { fault, state }))
    }

    fn values(&self) -> BTreeMap<String, u64> {
        self.state.lock().unwrap().values.clone()
    }
}

fn sqlite() -> &'static dyn Engine {
    engine("sqlite").unwrap()
}

fn file(target: &Target) -> PathBuf {
    Path::new(&target.place.folder).join("data/proofload.sqlite")
}

fn copy_of(target: &Target) -> PathBuf {
    Path::new(&target.place.folder).join("copy")
}

impl Engine for UpkeepServer {
    fn about(&self) -> About {
        About { minimum_memory_bytes: 64 << 20, ..sqlite().about() }
    }

    fn locate(&self) -> Result<Installation, EngineError> {
        sqlite().locate()
    }

    fn backups(&self) -> Option<&dyn Backups> {
        Some(self)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }

    fn server_changes(&self) -> Option<&dyn ServerChanges> {
        Some(self)
    }

    fn create_database<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        sqlite().create_database(target)
    }

    fn verify_settings<'a>(&'a self, target: &'a Target) -> Work<'a, Vec<Fact>> {
        Box::pin(async move {
            let has_leave = target.place.settings.iter().any(|(name, value)| (name.as_str(), value.as_str()) == LEAVE);
            let mut state = self.state.lock().unwrap();
            let mut found = Vec::new();
            for (name, asked) in target.place.settings.iter().filter(|(name, _)| name != LEAVE.0) {
                let now = state.values[name];
                if has_leave && self.fault != UpkeepFault::KeepsItsValue {
                    state.old.entry(name.clone()).or_insert(now);
                    state.values.insert(name.clone(), asked.parse().unwrap());
                }
                if has_leave && name == MEMORY && self.fault == UpkeepFault::HidesItsUse {
                    found.push(facts::engine::SETTING.of("memory_used").unknown("no right"));
                }
                let now = state.values[name].to_string();
                let holds = now == *asked;
                found.push(facts::engine::SETTING.of(name).compared(asked.clone(), Some(now), holds, "the test"));
            }
            Ok(found)
        })
    }

    fn after_build<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        sqlite().after_build(target)
    }
}

impl Memory for UpkeepServer {
    fn settings(&self, memory: Bytes, _sessions: u32) -> Vec<(String, String)> {
        vec![(MEMORY.to_owned(), (memory.0 >> 20).to_string())]
    }

    fn reaches_existing_servers(&self) -> bool {
        true
    }
}

impl ServerChanges for UpkeepServer {
    fn put_back<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        assert_eq!(target.place.settings, [(LEAVE.0.to_owned(), LEAVE.1.to_owned())], "it has leave");
        Box::pin(async move {
            let mut state = self.state.lock().unwrap();
            let old = std::mem::take(&mut state.old);
            if self.fault != UpkeepFault::PutsNothingBack {
                state.values.extend(old);
            }
            Ok(())
        })
    }
}

impl Backups for UpkeepServer {
    fn is_kept<'a>(&'a self, _target: &'a Target, label: &'a str) -> Work<'a, bool> {
        assert_eq!(label, LABEL);
        Box::pin(async move { Ok(self.state.lock().unwrap().kept) })
    }

    fn keep<'a>(&'a self, target: &'a Target, _label: &'a str, _progress: ProgressTeller<'a>) -> Work<'a, ()> {
        Box::pin(async move {
            std::fs::copy(file(target), copy_of(target)).unwrap();
            self.state.lock().unwrap().kept = self.fault != UpkeepFault::ForgetsTheBackup;
            Ok(())
        })
    }

    fn restore<'a>(&'a self, target: &'a Target, _label: &'a str, _progress: ProgressTeller<'a>) -> Work<'a, ()> {
        Box::pin(async move {
            if self.fault != UpkeepFault::RestoresNothing {
                // What is not in the file is in no log beside it: nobody has it open.
                for log in ["-wal", "-shm"].map(|end| format!("{}{end}", file(target).display())) {
                    assert!(!Path::new(&log).exists(), "a session is open: {log}");
                }
                std::fs::copy(copy_of(target), file(target)).unwrap();
            }
            Ok(())
        })
    }
}

/// A clock that stands.
struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> Moment {
        Moment(0)
    }

    fn wall(&self) -> WallTime {
        WallTime(0)
    }

    fn sleep(&self, _time: Duration) {}
}

/// The steps of the part at a server.
fn steps_at(server: &'static UpkeepServer, leave: ServerLeave) -> Vec<SelftestStep> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let place = DataLocation { engine: "sqlite".to_owned(), folder: path, url: None, settings: Vec::new(), tier: None };
    let bench = Bench {
        engine: server,
        target: Target::new(place, None),
        reference: sqlite(),
        reference_folder: folder.path().join("reference"),
        clock: Arc::new(StillClock),
        leave,
        build_apart: None,
    };
    let words = Words { cores: Some(CORES.to_owned()), ..Words::of(sqlite()).unwrap() };
    let mut told = Vec::new();
    let mut hear = |step| told.push(step);
    upkeep(&bench, &mut Steps::new(&mut hear), &words).unwrap();
    told
}

const STEPS: [&str; 6] = [
    "upkeep: the server backs its data up",
    "upkeep: a restore puts rows back that were changed",
    "upkeep: a limit of memory is in force as asked",
    "upkeep: a limit of memory is put back",
    "upkeep: a limit of cores is in force as asked",
    "upkeep: a limit of cores is put back",
];

/// A server with this fault has these steps failed, with this in the text of the first, and no other is.
fn check(fault: UpkeepFault, failed: &[&str], text: &str) {
    let server = UpkeepServer::with(fault, 2_147_483_647, 8);
    let before = server.values();
    let steps = steps_at(server, ServerLeave::Allowed);
    let of_failed: Vec<(&str, &str)> = steps
        .iter()
        .filter_map(|step| match &step.outcome {
            StepOutcome::Failed(why) => Some((step.name.as_str(), why.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(of_failed.iter().map(|(name, _)| *name).collect::<Vec<_>>(), failed, "{steps:?}");
    assert!(of_failed.first().is_none_or(|(_, why)| why.contains(text)), "{of_failed:?}");
    assert_eq!(steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), STEPS);
    assert_eq!(server.values() == before, fault != UpkeepFault::PutsNothingBack, "the server is as it was before");
}

#[test]
fn a_server_is_backed_up_restored_limited_and_as_before() {
    check(UpkeepFault::Nothing, &[], "");
    check(UpkeepFault::RestoresNothing, &STEPS[1..2], "991 rows with the content hash");
    check(UpkeepFault::ForgetsTheBackup, &STEPS[..1], "after the backup the database does not say");
    check(UpkeepFault::KeepsItsValue, &[STEPS[2], STEPS[4]], "memory_mb is 2147483647 instead of 64 (the test)");
    check(UpkeepFault::HidesItsUse, &STEPS[2..3], "memory_used could not be read: no right");
    check(UpkeepFault::PutsNothingBack, &[STEPS[3], STEPS[5]], "memory_mb = 64 instead of memory_mb = 2147483647");
}

#[test]
fn what_was_kept_and_what_was_changed_have_hashes() {
    let steps = steps_at(UpkeepServer::with(UpkeepFault::Nothing, 4_096, 2), ServerLeave::Allowed);
    let hashes: Vec<&(String, String)> = steps.iter().flat_map(|step| &step.hashes).collect();
    let [(_, kept), (_, changed)] = hashes[..] else { panic!("{hashes:?}") };
    assert!(kept.len() == 16 && kept != changed, "{hashes:?}");
}

#[test]
fn without_leave_nothing_is_done_and_the_reason_is_told() {
    let server = UpkeepServer::with(UpkeepFault::Nothing, 4_096, 8);
    let steps = steps_at(server, ServerLeave::Refused);
    let [SelftestStep { name, outcome: StepOutcome::Skipped(why), .. }] = &steps[..] else { panic!("{steps:?}") };
    assert!(name == "upkeep" && why.contains("stay untested") && why.contains("--changes allowed"), "{why}");
    assert!(!server.state.lock().unwrap().kept);
}

/// A server that is smaller than the smallest limit is not given more, and its only core stays.
#[test]
fn what_cannot_be_lowered_is_left_alone() {
    let server = UpkeepServer::with(UpkeepFault::Nothing, 64, 1);
    let before = server.values();
    let steps = steps_at(server, ServerLeave::Allowed);
    let skipped: Vec<(&str, &str)> = steps
        .iter()
        .filter_map(|step| match &step.outcome {
            StepOutcome::Skipped(why) => Some((step.name.as_str(), why.as_str())),
            _ => None,
        })
        .collect();
    let [("upkeep: a limit of memory", memory), ("upkeep: a limit of cores", cores)] = skipped[..] else {
        panic!("{steps:?}")
    };
    assert!(memory.contains("memory_mb = 64") && cores.contains("one core"), "{skipped:?}");
    assert_eq!(server.values(), before);
}

#[test]
fn an_engine_without_such_a_server_is_left_out() {
    assert!(lacking(sqlite()).is_some());
    assert!(["mariadb", "mysql", "postgresql"].iter().all(|name| lacking(engine(name).unwrap()).is_some()));
    assert!(lacking(engine("sqlserver").unwrap()).is_none());
}
