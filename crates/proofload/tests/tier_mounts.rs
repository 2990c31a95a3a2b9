//! A pool under mounted files and loop devices: the server is killed under load, and what was synced is there.

#![cfg(feature = "fuse")]

mod support;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::pools::{Server, ends, fail, format_sized, succeed};
use support::servers::{Postgresql, Swept, mounted_file_system};
use support::{Bench, text};

/// What has not ended by then hangs, also on a host that gives it little.
const PATIENCE: Duration = Duration::from_secs(180);

/// Blocks of 8 KiB that tell their number, written behind a position until the server is gone.
struct Writer {
    file: File,
    from: u64,
}

impl Writer {
    fn block(round: u64, number: u64) -> Vec<u8> {
        (0..8192_u64).map(|byte| (round * 7 + number * 31 + byte / 512 + 1) as u8).collect()
    }

    /// Writes and syncs, and tells others how many blocks were synced before the first error; returns that.
    fn write(&self, round: u64, told: &AtomicU64) -> u64 {
        let mut synced = 0;
        for number in 0..100_000 {
            let at = self.from + number % 2_000 * 8192;
            if number == 2_000 || self.file.write_all_at(&Self::block(round, number), at).is_err() {
                break;
            }
            if number % 8 == 7 {
                if self.file.sync_data().is_err() {
                    break;
                }
                synced = number + 1;
                told.store(synced, Ordering::Relaxed);
            }
        }
        synced
    }

    fn check(&self, round: u64, synced: u64) {
        let mut found = vec![0; 8192];
        for number in 0..synced {
            self.file.read_exact_at(&mut found, self.from + number * 8192).expect("it is served");
            assert_eq!(found, Self::block(round, number), "block {number} of {synced} in round {round}");
        }
    }
}

fn fio(file: &Path, more: &[&str]) -> Command {
    let mut command = Command::new("fio");
    let name = format!("--filename={}", file.display());
    command.args(["--name=verified", &name, "--size=16M", "--bs=8k", "--rw=randwrite", "--randseed=7", "--direct=1"]);
    command.args([
        "--ioengine=libaio",
        "--iodepth=8",
        "--verify=crc32c",
        "--verify_state_save=0",
        "--allow_file_create=0",
    ]);
    command.args(more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_server_killed_under_a_mounted_file_hangs_nobody_and_keeps_what_was_synced() {
    let test = "a killed server under a mounted file";
    if Command::new("fio").arg("--version").output().is_err() {
        return println!("SKIPPED: {test}: fio is not installed");
    }
    let bench = Bench::new("tier-fio");
    let _swept = Swept(bench.path("mount"));
    format_sized(&bench, 24, 64 << 20);
    for round in 1..=3 {
        let Some(server) = Server::start_mounted(&bench, test, &[]) else { return };
        let path = bench.path("mount").join("data");
        let written = fio(&path, &["--do_verify=0", "--end_fsync=1"]).spawn().unwrap();
        let output = ends(written, PATIENCE);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let writer = Writer { file, from: 16 << 20 };
        let loaded = fio(&path, &["--offset=40M", "--time_based", "--runtime=600", "--do_verify=0"]).spawn().unwrap();
        let (pid, told) = (server.child.id(), Arc::new(AtomicU64::new(0)));
        let seen = Arc::clone(&told);
        let killer = std::thread::spawn(move || {
            // On a slow disk the first blocks may take seconds.
            let begun = Instant::now();
            while seen.load(Ordering::Relaxed) < 8 && begun.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(200));
            support::kill(pid);
        });
        let synced = writer.write(round, &told);
        killer.join().unwrap();
        server.kill();
        let output = ends(loaded, PATIENCE);
        assert!(!output.status.success(), "fio went on without a server");
        drop(writer);
        let server = Server::start_mounted(&bench, test, &[]).unwrap();
        assert!(server.said.contains("after a crash"), "{}", server.said);
        assert!(synced >= 8, "nothing was synced in round {round}");
        let writer = Writer { file: File::open(&path).unwrap(), from: 16 << 20 };
        writer.check(round, synced);
        drop(writer);
        let output = ends(fio(&path, &["--verify_only"]).spawn().unwrap(), PATIENCE);
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        succeed(&bench.run(&["tier", "stop", "control"]));
        assert_eq!(server.wait(), (Some(0), String::new()));
    }
    let said = succeed(&bench.run(&["tier", "check", "cache", "--origin", "data=data"]));
    assert!(said.starts_with("sound: "), "{said}");
    bench.expect_no_process();
}

#[test]
fn a_database_in_a_file_system_on_a_loop_device_survives_kills_of_the_server() {
    let test = "PostgreSQL on a loop device on FUSE";
    if !support::postgresql_here(test) {
        return;
    }
    let bench = Bench::new("tier-postgresql");
    let _swept = Swept(bench.path("mount"));
    format_sized(&bench, 192, 448 << 20);
    let rounds = std::env::var("PROOFLOAD_TIER_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let folder = bench.path("files");
    std::fs::create_dir(&folder).unwrap();
    let mut acknowledged = 0;
    for round in 0..rounds {
        let Some(server) = Server::start_mounted(&bench, test, &["--loop"]) else { return };
        let device = server.loop_device();
        let mounted = mounted_file_system(&device, &folder, round == 0);
        let database = Postgresql::start(&bench, &folder.join("pg"), round == 0);
        database.audit(acknowledged);
        let load = database.load();
        let (pid, pause) = (server.child.id(), Duration::from_millis(1_500 + 300 * (round % 5)));
        let killer = std::thread::spawn(move || {
            std::thread::sleep(pause);
            support::kill(pid);
        });
        acknowledged = database.insert_until_it_fails(acknowledged);
        killer.join().unwrap();
        server.kill();
        ends(load, PATIENCE);
        database.kill();
        let refused =
            bench.run(&["tier", "serve", "cache", "--control", "control", "--origin", "data=data", "--fuse", "mount"]);
        assert!(fail(&refused, 1).contains("it is mounted at"), "a file system in use is refused");
        mounted.end();
    }
    let Some(server) = Server::start_mounted(&bench, test, &["--loop"]) else { return };
    let mounted = mounted_file_system(&server.loop_device(), &folder, false);
    let database = Postgresql::start(&bench, &folder.join("pg"), false);
    database.audit(acknowledged);
    database.stop_and_check_pages();
    mounted.end();
    succeed(&bench.run(&["tier", "stop", "control"]));
    assert_eq!(server.wait(), (Some(0), String::new()));
    println!("{rounds} kills, {acknowledged} acknowledged inserts, all there");
    bench.expect_no_process();
}
