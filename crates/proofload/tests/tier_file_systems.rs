//! File systems on a loop device over a pool that is smaller than their files: exercised by fsx, trimmed, mounted again after a kill, and sound.
//!
//! `PROOFLOAD_TIER_FSX` asks for more rounds of fsx than the default; `cargo xtask fsx` does.

#![cfg(feature = "fuse")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::pools::{Server, ends, format_sized, succeed};
use support::servers::{Mounted, Swept, expect_good, mounted_with};
use support::{Bench, text};

/// Mebibytes of the pool of the exercises: fewer than their two files have.
const POOL: u32 = 4;

/// Rounds of an exercise; the volume is mounted anew behind each. Before a disk that falls behind there are fewer.
const ROUNDS: u64 = 2;
const ROUNDS_BEFORE_A_DISK: u64 = 1;

/// Files that are exercised side by side.
const FILES: u64 = 2;

/// Operations on each file in a round.
const OPERATIONS: u64 = 150;

/// What fsx does: everything that it can. A hole becomes a discard, since the file systems are mounted so.
const EXERCISE: &str = "flen = 4194304
[opsize]
max = 131072
[weights]
close_open = 2
read = 10
write = 12
mapread = 8
mapwrite = 10
invalidate = 2
truncate = 1
fsync = 2
fdatasync = 2
posix_fallocate = 3
punch_hole = 6
sendfile = 2
posix_fadvise = 8
copy_file_range = 5
";

/// A kind of file system: how it is made, without a discard of the whole volume, and how it is checked.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// Bytes of its volume.
    bytes: u64,
    make: &'static [&'static str],
    check: &'static [&'static str],
}

/// Small, since each of its commits that frees something discards all that is free in the same group of blocks.
const EXT4: Kind = Kind {
    name: "ext4",
    bytes: 48 << 20,
    make: &["mkfs.ext4", "-q", "-F", "-E", "nodiscard", "-N", "256"],
    check: &["e2fsck", "-f", "-n"],
};

/// The least that `mkfs.xfs` takes is 300 MiB.
const XFS: Kind =
    Kind { name: "xfs", bytes: 320 << 20, make: &["mkfs.xfs", "-q", "-f", "-K"], check: &["xfs_repair", "-n"] };

/// Whether programs are installed, by their names; says which is not.
fn are_here(test: &str, programs: &[&str]) -> bool {
    let folders = std::env::var("PATH").unwrap_or_default();
    let is_here = |program: &str| folders.split(':').any(|folder| Path::new(folder).join(program).is_file());
    let missing = programs.iter().find(|program| !is_here(program));
    if let Some(program) = missing {
        let advice = if *program == "fsx" { "; `cargo xtask fsx` installs it" } else { "" };
        println!("SKIPPED: {test}: {program} is not installed{advice}");
    }
    missing.is_none()
}

/// A volume with a file system.
struct Bed {
    // Released before the folder goes.
    _swept: Swept,
    bench: Bench,
    kind: Kind,
    test: String,
    /// Arguments of the server beside those of every one.
    more: Vec<&'static str>,
    /// Sums of the counts of all servers so far.
    counts: BTreeMap<String, u64>,
}

/// A server with the volume's file system mounted.
struct Mount {
    // Unmounted before its server ends.
    mounted: Mounted,
    server: Server,
    device: PathBuf,
}

impl Bed {
    fn new(kind: Kind, test: &str, pool: u32, more: &[&'static str]) -> Self {
        let bench = Bench::new("tier-file-system");
        let swept = Swept(bench.path("mount"));
        std::fs::create_dir(bench.path("files")).expect("the folder takes one");
        format_sized(&bench, pool, kind.bytes);
        let test = format!("{test} on {}", kind.name);
        Self { _swept: swept, bench, kind, test, more: [&["--loop"], more].concat(), counts: BTreeMap::new() }
    }

    /// Serves and mounts; `None` where that is not allowed.
    fn mount(&self, is_new: bool, options: &str) -> Option<Mount> {
        let server = Server::start_mounted(&self.bench, &self.test, &self.more)?;
        let device = server.loop_device();
        if is_new {
            expect_good(Command::new(self.kind.make[0]).args(&self.kind.make[1..]).arg(&device));
        }
        let mounted = mounted_with(&device, &self.files(), options);
        Some(Mount { mounted, server, device })
    }

    fn files(&self) -> PathBuf {
        self.bench.path("files")
    }

    /// Unmounts, has the file system checked, and adds the server's counts to the sums.
    fn unmount(&mut self, mount: Mount) -> Server {
        mount.mounted.end();
        expect_good(Command::new(self.kind.check[0]).args(&self.kind.check[1..]).arg(&mount.device));
        for (name, count) in self.counts_now() {
            *self.counts.entry(name).or_default() += count;
        }
        mount.server
    }

    /// What the server that runs has counted.
    fn counts_now(&self) -> BTreeMap<String, u64> {
        let said = succeed(&self.bench.run(&["tier", "stats", "control", "--json"]));
        let told: serde_json::Value = serde_json::from_str(&said).expect("JSON is JSON");
        let counters = told["volumes"][0]["counters"].as_object().cloned().unwrap_or_default();
        counters.into_iter().filter_map(|(name, count)| Some((name, count.as_u64()?))).collect()
    }

    fn stop(&self, server: Server) {
        succeed(&self.bench.run(&["tier", "stop", "control"]));
        assert_eq!(server.wait(), (Some(0), String::new()));
    }

    /// Ends the server by a kill or, every other time, by a stop.
    fn end(&self, server: Server, is_kill: bool) {
        if is_kill { server.kill() } else { self.stop(server) }
    }

    /// Finds that everything was of use, and the pool sound.
    fn finish(&self, expected: &[&str]) {
        let said = succeed(&self.bench.run(&["tier", "check", "cache", "--origin", "data=data"]));
        assert!(said.starts_with("sound: "), "{said}");
        let counts = &self.counts;
        let idle = expected.iter().find(|name| counts.get(**name).is_none_or(|count| *count == 0));
        assert_eq!(idle, None, "{}: {counts:?}", self.test);
        self.bench.expect_no_process();
    }

    /// Starts fsx on a file.
    fn exercise(&self, seed: u64) -> (PathBuf, Child) {
        let path = self.files().join(format!("file-{seed}"));
        let (settings, operations) = (self.bench.path("fsx.toml"), OPERATIONS.to_string());
        std::fs::write(&settings, EXERCISE).expect("the folder takes a file");
        let mut command = Command::new("fsx");
        command.arg("-f").arg(&settings).args(["-q", "-N", &operations, "-S", &seed.to_string()]);
        command.arg("-P").arg(self.bench.path("")).arg(&path);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (path, command.spawn().expect("it is installed"))
    }
}

/// An exercise: the server's arguments, options of the mount, and what must have happened at its end.
struct Exercise {
    kind: Kind,
    name: &'static str,
    server: &'static [&'static str],
    options: &'static str,
    /// Unless more are asked for.
    rounds: u64,
    expected: &'static [&'static str],
}

/// Exercises files in rounds: after each the file system is sound, and after the next start the files are what fsx made of them.
fn exercise(exercise: &Exercise) {
    let Exercise { kind, name: test, server, options, rounds, expected } = *exercise;
    if !are_here(test, &["fsx", kind.make[0], kind.check[0]]) {
        return;
    }
    let rounds = std::env::var("PROOFLOAD_TIER_FSX").ok().and_then(|text| text.parse().ok()).unwrap_or(rounds);
    let mut bed = Bed::new(kind, test, POOL, server);
    let mut made: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for round in 0..rounds {
        let Some(mount) = bed.mount(round == 0, options) else { return };
        compare(&made);
        made.drain(..).for_each(|(path, _)| std::fs::remove_file(path).expect("it is there"));
        let exercised: Vec<_> = (0..FILES).map(|file| bed.exercise(round * FILES + file + 1)).collect();
        for (path, child) in exercised {
            let output = ends(child, Duration::from_secs(300));
            let said = text(&output.stdout) + &text(&output.stderr);
            assert!(output.status.success() && said.contains("A-OK"), "{}: {}: {said}", bed.test, path.display());
            made.push((path.clone(), std::fs::read(&path).expect("it is there")));
        }
        // More at once than the pool has lines for, so that the end of the use waits for the cleaner or goes past the cache.
        let (path, content) = (bed.files().join("bulk"), pattern(8 << 20, round as u8));
        std::fs::write(&path, &content).expect("it is written");
        made.push((path, content));
        let server = bed.unmount(mount);
        bed.end(server, round % 2 == 0);
    }
    let Some(mount) = bed.mount(false, options) else { return };
    compare(&made);
    let server = bed.unmount(mount);
    bed.stop(server);
    bed.finish(expected);
    println!("{}: {rounds} rounds of {FILES} files of {OPERATIONS} operations, {:?}", bed.test, bed.counts);
}

/// Compares files with what they were.
fn compare(made: &[(PathBuf, Vec<u8>)]) {
    for (path, content) in made {
        let found = std::fs::read(path).expect("it is there");
        let first = found.iter().zip(content).position(|(found, made)| found != made);
        assert!(found.len() == content.len() && first.is_none(), "{}: byte {first:?} differs", path.display());
    }
}

#[test]
fn ext4_is_exercised_on_a_small_pool() {
    let expected = &["evictions", "cleaned_lines", "discards"];
    exercise(&Exercise { kind: EXT4, name: "fsx", server: &[], options: "discard", rounds: ROUNDS, expected });
}

#[test]
fn xfs_is_exercised_on_a_small_pool() {
    let expected = &["evictions", "cleaned_lines", "discards"];
    exercise(&Exercise { kind: XFS, name: "fsx", server: &[], options: "discard", rounds: ROUNDS, expected });
}

/// Mounts without discards, which would wait for the disk to write zeros.
#[test]
fn ext4_is_exercised_before_a_modelled_disk_that_falls_behind() {
    let expected = &["evictions", "cleaned_lines", "writes_bypassed"];
    let server = &["--slow", "single:hp-97560"];
    exercise(&Exercise {
        kind: EXT4,
        name: "fsx before a disk",
        server,
        options: "defaults",
        rounds: ROUNDS_BEFORE_A_DISK,
        expected,
    });
}

/// Bytes of which none is zero, and 512 in a row are alike.
fn pattern(bytes: u32, seed: u8) -> Vec<u8> {
    (0..bytes).map(|byte| (byte / 512 * 7 + u32::from(seed)) as u8 | 1).collect()
}

/// Places of a file on its volume: first byte and length.
fn places(file: &Path) -> Vec<(u64, usize)> {
    let said = expect_good(Command::new("filefrag").args(["-e", "-b4096"]).arg(file));
    // `0:  0..  2047:  24..  2071:  2048:  flags`, in blocks.
    let extents = said.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').map(str::trim).collect();
        fields.first()?.parse::<u32>().ok()?;
        let first: u64 = fields.get(2)?.split('.').next()?.trim().parse().ok()?;
        let blocks: usize = fields.get(3)?.parse().ok()?;
        Some((first * 4096, blocks * 4096))
    });
    let found: Vec<_> = extents.collect();
    assert!(!found.is_empty(), "{said}");
    found
}

/// A file of a file system, found on its volume.
struct Placed {
    path: PathBuf,
    places: Vec<(u64, usize)>,
    seed: u8,
}

impl Placed {
    /// Writes one of 6 MiB, durably.
    fn write(bed: &Bed, name: &str, seed: u8) -> Self {
        let path = bed.files().join(name);
        let content = pattern(6 << 20, seed);
        std::fs::write(&path, &content).and_then(|()| File::open(&path)?.sync_all()).expect("it is written");
        Self { places: places(&path), path, seed }
    }

    /// Its bytes where they lie on the volume, read past the file system and the page cache.
    fn on_the_volume(&self, bed: &Bed) -> Vec<u8> {
        let volume = File::open(bed.bench.path("mount").join("data")).expect("it is served");
        let mut all = Vec::new();
        for (at, length) in &self.places {
            let mut bytes = vec![1; *length];
            volume.read_exact_at(&mut bytes, *at).expect("it is served");
            all.extend(bytes);
        }
        all
    }

    /// Asserts that its bytes lie on the volume.
    #[track_caller]
    fn expect_there(&self, bed: &Bed) {
        assert!(self.on_the_volume(bed) == pattern(6 << 20, self.seed), "{}: it lies elsewhere, or differs", bed.test);
    }

    /// Asserts that there are zeros where it lay.
    #[track_caller]
    fn expect_zeros(&self, bed: &Bed, when: &str) {
        let found = self.on_the_volume(bed);
        let other = found.iter().position(|byte| *byte != 0);
        assert_eq!(other, None, "{}: {when}: a byte of what was discarded is no zero", bed.test);
    }

    /// Removes it and waits until its places are zeros. File systems give places free some time after a removal.
    fn discard(&self, bed: &Bed, mut step: impl FnMut()) {
        std::fs::remove_file(&self.path).expect("it is there");
        let begun = Instant::now();
        loop {
            expect_good(Command::new("sync").arg("-f").arg(bed.files()));
            step();
            if self.on_the_volume(bed).iter().all(|byte| *byte == 0) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(180), "{}: no discard arrived in 180 s", bed.test);
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// What is trimmed, or discarded at once, reads as zeros, also after a kill of the server and where the origin has other bytes.
fn discards(kind: Kind) {
    let test = "discards";
    if !are_here(test, &[kind.make[0], kind.check[0], "filefrag", "fstrim"]) {
        return;
    }
    let mut bed = Bed::new(kind, test, 24, &[]);
    let Some(mount) = bed.mount(true, "defaults") else { return };
    let kept = Placed::write(&bed, "kept", 10);
    let gone = Placed::write(&bed, "gone", 20);
    kept.expect_there(&bed);
    gone.expect_there(&bed);
    // Now the origin has it, too: a discard that only forgets lines would bring it back.
    succeed(&bed.bench.run(&["tier", "drain", "control"]));
    let before = bed.counts_now()["discards"];
    gone.discard(&bed, || drop(expect_good(Command::new("fstrim").arg(bed.files()))));
    assert!(bed.counts_now()["discards"] >= before + (6 << 20) / 8192, "{:?}", bed.counts_now());
    kept.expect_there(&bed);
    bed.unmount(mount).kill();
    let Some(mount) = bed.mount(false, "discard") else { return };
    gone.expect_zeros(&bed, "after a kill");
    kept.expect_there(&bed);
    let later = Placed::write(&bed, "later", 30);
    later.expect_there(&bed);
    later.discard(&bed, || {});
    bed.unmount(mount).kill();
    let Some(mount) = bed.mount(false, "defaults") else { return };
    later.expect_zeros(&bed, "after a second kill");
    kept.expect_there(&bed);
    let server = bed.unmount(mount);
    bed.stop(server);
    bed.finish(&["discards"]);
}

#[test]
fn what_ext4_discards_reads_as_zeros_also_after_a_kill() {
    discards(EXT4);
}

#[test]
fn what_xfs_discards_reads_as_zeros_also_after_a_kill() {
    discards(XFS);
}
