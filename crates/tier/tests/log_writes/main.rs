//! What a pool's devices were asked to write and to flush, as the kernel's target log-writes keeps it, replayed up to every flush and between
//! two: the pool recovers, and what was flushed before is there.
//!
//! Here the log is one of a pool in this process. `cargo xtask kernel log-writes` runs the other tests in a virtual machine on logs of the kernel:
//! only there they prove that the program's syncs reach the device as flushes. What they need they are told by the variables of [`Told`].

#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::print_stdout, reason = "a skipped test says so, and a long one what it has done")]

#[path = "../support/mod.rs"]
mod support;

mod load;
mod log;
mod recorded;
mod replay;

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::Command;

use load::{Load, RequestKind, SECTOR};
use log::LogEntry;
use recorded::Flushes;
use replay::{FLUSHED, Proof, Replay, Sizes};

/// States between two flushes that are looked at.
const BETWEEN: u64 = 2;

/// Rounds of the pool in this process.
const RECORDED: usize = 10;

/// Name of the device that is logged, and the one on which a log is replayed.
const LOGGED: &str = "logged";
const REPLAYED: &str = "/dev/mapper/replayed";

/// What the machine tells its tests.
struct Told {
    /// The log's device, or the device of the target, or the file of a volume.
    place: PathBuf,
    sizes: Sizes,
    rounds: usize,
}

impl Told {
    /// `PROOFLOAD_LOG_WRITES`: place, bytes of the cache, bytes of the origin, rounds.
    fn here(test: &str) -> Option<Self> {
        let Ok(text) = std::env::var("PROOFLOAD_LOG_WRITES") else {
            println!("SKIPPED: {test}: it is run by `cargo xtask kernel log-writes`");
            return None;
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let [cache, origin, rounds] = [1, 2, 3].map(|place| words[place].parse::<u64>().unwrap());
        Some(Self { place: words[0].into(), sizes: Sizes { cache, origin }, rounds: rounds as usize })
    }

    /// The load on a volume, which is smaller than its origin by the label.
    fn load(&self) -> Load {
        Load::new(self.rounds, self.sizes.origin - SECTOR as u64)
    }

    fn entries(&self) -> Vec<LogEntry> {
        log::read(&self.place).unwrap()
    }
}

/// Tells what was counted, one figure a line.
fn tell(proof: &Proof) {
    let Proof { states, flushes, writes, rounds, early_marks_found, left_out_found, faults } = proof;
    println!("figure states {states}\nfigure flushes {flushes}\nfigure writes {writes}\nfigure rounds {rounds}");
    println!("figure early_marks_found {early_marks_found}\nfigure left_out_flushes_found {left_out_found}");
    println!("figure faults {}", faults.len());
}

/// Asserts that a replay has found what it must, and nothing else.
#[track_caller]
fn expect_sound(proof: &Proof, rounds: u64) {
    tell(proof);
    assert!(proof.faults.is_empty(), "{} faults, the first: {}", proof.faults.len(), proof.faults[0]);
    assert_eq!(proof.rounds, rounds, "a mark is missing");
    assert!(proof.flushes >= rounds * 2, "a round needs two flushes");
    assert_eq!(proof.early_marks_found, rounds, "a mark before its flush went unnoticed");
    assert_eq!(proof.left_out_found, rounds, "a flush that was left out went unnoticed");
}

#[test]
fn what_was_flushed_is_in_every_state_of_a_recorded_log() {
    let (entries, sizes, load) = recorded::record(RECORDED, Flushes::CarriedOut);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), log::encode(&entries)).unwrap();
    let entries = log::read(file.path()).unwrap();
    let proof = Replay { entries: &entries, sizes, load: &load, between: BETWEEN }.prove();
    expect_sound(&proof, RECORDED as u64);
}

/// Replays a log of a pool whose flushes were dropped; what was wrong.
fn faults_with(flushes: Flushes) -> Vec<String> {
    let (entries, sizes, load) = recorded::record(RECORDED, flushes);
    Replay { entries: &entries, sizes, load: &load, between: BETWEEN }.prove().faults
}

#[test]
fn a_recorded_log_without_flushes_is_found() {
    assert_eq!(faults_with(Flushes::Dropped).len(), RECORDED, "one for each mark");
}

/// The flush that makes data durable before their records is dropped, or the one that makes records durable.
#[test]
fn a_recorded_log_without_every_other_flush_is_found() {
    let faults = faults_with(Flushes::HalfDropped);
    assert!(!faults.is_empty());
    println!("{} faults, the first: {}", faults.len(), faults[0]);
}

/// Writes rounds to a volume that is served as a file; behind each flush that was acknowledged a mark goes into the log.
#[test]
fn rounds_are_written_and_marked() {
    let Some(told) = Told::here("rounds on a served volume") else { return };
    let file = OpenOptions::new().read(true).write(true).open(&told.place).unwrap();
    let load = told.load();
    assert_eq!(file.metadata().unwrap().len(), (load.sectors * SECTOR) as u64);
    mark(0);
    for (round, requests) in (1..).zip(&load.rounds) {
        for request in requests {
            let (at, length) = (request.first * SECTOR, request.count * SECTOR);
            if request.kind == RequestKind::Write {
                file.write_all_at(&Load::bytes(request, round), at as u64).unwrap();
            } else {
                let places = ["-o", &at.to_string(), "-l", &length.to_string()];
                run(Command::new("fallocate").arg("-p").args(places).arg(&told.place));
            }
        }
        file.sync_data().unwrap();
        mark(round);
    }
}

fn mark(round: usize) {
    run(Command::new("dmsetup").args(["message", LOGGED, "0", "mark", &format!("{FLUSHED}{round}")]));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Every state of a log of the kernel.
#[test]
fn what_was_flushed_is_in_every_state_of_the_log() {
    let Some(told) = Told::here("replay of a log of the kernel") else { return };
    let (entries, load) = (told.entries(), told.load());
    let proof = Replay { entries: &entries, sizes: told.sizes, load: &load, between: BETWEEN }.prove();
    expect_sound(&proof, told.rounds as u64);
}

/// A log of a run whose flushes the kernel answered without sending them on.
#[test]
fn a_run_without_flushes_is_found() {
    let Some(told) = Told::here("a run whose flushes were dropped") else { return };
    let (entries, load) = (told.entries(), told.load());
    let proof = Replay { entries: &entries, sizes: told.sizes, load: &load, between: 0 }.prove();
    tell(&proof);
    assert_eq!((proof.flushes, proof.rounds), (0, told.rounds as u64), "{proof:?}");
    assert_eq!(proof.faults.len(), told.rounds + 1, "{proof:?}");
}

/// What was durable when the last round was acknowledged is written to a device of zeros.
#[test]
fn the_last_round_is_written_to_a_device() {
    let Some(told) = Told::here("a log replayed onto a device") else { return };
    let image = replay::image_at(&told.entries(), told.sizes, &format!("{FLUSHED}{}", told.rounds)).unwrap();
    let device = OpenOptions::new().write(true).open(REPLAYED).unwrap();
    device.write_all_at(&image, 0).unwrap();
    device.sync_all().unwrap();
}

#[test]
fn a_served_volume_has_the_last_round() {
    let Some(told) = Told::here("a volume after a recovery") else { return };
    let volume = std::fs::read(&told.place).unwrap();
    told.load().check(told.rounds, &volume).unwrap();
}

/// The log of an origin alone: at the mark `drained` it holds all of the load, and behind some of the flushes before it did not.
#[test]
fn what_was_drained_is_on_the_origin() {
    let Some(told) = Told::here("a log of an origin") else { return };
    let (entries, load) = (told.entries(), told.load());
    let volume_at = |mark: &str| {
        let mut image = replay::image_at(&entries, told.sizes, mark).unwrap();
        image.truncate(load.sectors * SECTOR);
        image
    };
    load.check(told.rounds, &volume_at("drained")).unwrap();
    let without =
        (1..=told.rounds).filter(|round| load.check(*round, &volume_at(&format!("{FLUSHED}{round}"))).is_err());
    let without = without.count();
    assert!(without > 0, "the origin had everything without a drain");
    println!("figure rounds_without {without}");
    println!("figure flushes {}", entries.iter().filter(|entry| **entry == LogEntry::Flush).count());
}
