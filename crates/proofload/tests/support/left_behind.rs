//! What a study that was killed may leave on the machine beside its record and its data: each kind is looked for by itself.

use super::Bench;
use proofload_engine::ENGINES;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long the kernel may take to let go of what was unmounted.
const PATIENCE: Duration = Duration::from_secs(30);

/// Numbers of the segments of shared memory that were there when the first test began.
static BEFORE: OnceLock<BTreeSet<u32>> = OnceLock::new();

/// Notes what others have left before, once.
pub(crate) fn note_what_is_there() {
    let _first = BEFORE.get_or_init(|| segments(|_| true));
}

/// Expects that no process, frozen ones among them, no mount, loop device, ballast, network namespace and segment of shared memory of a
/// study is left.
#[track_caller]
pub(crate) fn expect_nothing_left(bench: &Bench) {
    bench.expect_no_process();
    let folder = bench.path("data");
    let begun = Instant::now();
    let mut lone = lone_segments();
    loop {
        let mut left = left(&folder);
        // That of another test goes when its study goes on.
        let now = lone_segments();
        lone.retain(|one| now.contains(one));
        left.extend(lone.iter().map(|one| format!("the segment {one} of shared memory is attached by nobody")));
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "left behind: {left:#?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What is left of a study with its data below a folder, in words.
fn left(folder: &Path) -> Vec<String> {
    let mounts = mounts(folder).into_iter().map(|one| format!("{one} is mounted"));
    let loops = loop_devices(folder).into_iter().map(|one| format!("{one} has a loop device"));
    let ballast = ballast(folder).into_iter().map(|one| format!("{} has a ballast", one.display()));
    let namespaces = dead_namespaces().into_iter().map(|one| format!("the network namespace {one} is there"));
    mounts.chain(loops).chain(ballast).chain(namespaces).collect()
}

/// New segments that nobody attaches, of users that servers run as.
fn lone_segments() -> BTreeSet<u32> {
    let (users, before) = (server_users(), BEFORE.get());
    let mut found = segments(|fields| fields[6] == "0" && users.contains(fields[9]));
    found.retain(|one| before.is_some_and(|before| !before.contains(one)));
    found
}

/// Numbers of System V segments by their fields. Format of `/proc/sysvipc/shm`, by its first line: key, number, permissions, size,
/// creator, last process, attachments, user and group, and user and group of the creator.
fn segments(is_wanted: impl Fn(&[&str]) -> bool) -> BTreeSet<u32> {
    let all = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let fields = all.lines().skip(1).map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    fields.filter(|fields| fields.len() > 9 && is_wanted(fields)).filter_map(|fields| fields[1].parse().ok()).collect()
}

/// Numbers of the users that servers run as: ourselves, and as root those that the recipes name. Format: passwd(5).
fn server_users() -> BTreeSet<String> {
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let names = ENGINES.iter().filter_map(|engine| engine.server()).flat_map(|recipe| recipe.unprivileged_users());
    let number = |name: &&str| {
        let mut fields = accounts.lines().map(|line| line.split(':')).find_map(|mut fields| {
            let is_it = fields.next() == Some(*name);
            is_it.then_some(fields)
        })?;
        fields.nth(1).map(str::to_owned)
    };
    let ourselves = std::fs::metadata("/proc/self").map_or(0, |found| found.uid()).to_string();
    let is_root = ourselves == "0";
    names.filter(|_| is_root).filter_map(number).chain([ourselves]).collect()
}

/// Where something is mounted below a folder. The fifth word of each line; proc_pid_mountinfo(5).
fn mounts(folder: &Path) -> Vec<String> {
    let all = std::fs::read_to_string("/proc/self/mountinfo").expect("Linux has it");
    let places = all.lines().filter_map(|line| line.split(' ').nth(4));
    places.filter(|place| Path::new(place).starts_with(folder)).map(str::to_owned).collect()
}

/// Files below a folder that are block devices; loop(4).
fn loop_devices(folder: &Path) -> Vec<String> {
    let devices = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices.filter_map(|device| std::fs::read_to_string(device.path().join("loop/backing_file")).ok());
    files.filter(|file| Path::new(file.trim_end()).starts_with(folder)).collect()
}

/// Files that take all room: in folders, and in file systems that lie in a file.
fn ballast(folder: &Path) -> Vec<PathBuf> {
    const NAME: &str = "ballast";
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_volume = path.extension().is_some_and(|ending| ending == "volume");
        if is_folder {
            found.extend(ballast(&path));
        } else if path.file_name().is_some_and(|name| name == NAME) || (is_volume && lists(&path, NAME)) {
            found.push(path);
        }
    }
    found
}

/// Whether a file system in a file has such a name in its first folder; debugfs(8) does not mount it.
fn lists(volume: &Path, name: &str) -> bool {
    let listed = Command::new("debugfs").args(["-R", "ls -p /"]).arg(volume).output().expect("e2fsprogs has debugfs");
    assert!(listed.status.success(), "debugfs {}: {}", volume.display(), super::text(&listed.stderr));
    super::text(&listed.stdout).contains(&format!("/{name}/"))
}

/// Network namespaces of ours whose owner, by the process number in the name, is dead.
fn dead_namespaces() -> Vec<String> {
    let names = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| {
            let owner = name.strip_prefix("proofload-").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
            owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
        })
        .collect()
}
