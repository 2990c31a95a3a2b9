//! The guard on made-up trees of `/proc` and `/sys`.

use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A machine with a system disk `sda` (sda1: `/`, sda2: swap), a spare `sdb`, and whatever a test adds.
struct Fake {
    root: TempDir,
    machine: Machine,
}

impl Fake {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine { proc: root.path().join("proc"), sys: root.path().join("sys") };
        let fake = Self { root, machine };
        fake.disk("sda", "8:0");
        fake.partition("sda", "sda1", "8:1");
        fake.partition("sda", "sda2", "8:2");
        fake.disk("sdb", "8:16");
        fake.mounts(&["22 1 8:1 / / rw - ext4 /dev/sda1 rw", "23 22 0:5 / /proc rw - proc proc rw"]);
        fake.swaps(&["/dev/sda2 partition 8388604 0 -2"]);
        fake
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.machine.sys.join("class/block").join(name).canonicalize().unwrap()
    }

    fn at(&self, folder: &Path, name: &str, number: &str) {
        for inner in ["holders", "slaves"] {
            std::fs::create_dir_all(folder.join(inner)).unwrap();
        }
        for (file, text) in [("size", "2048\n"), ("ro", "0\n"), ("dev", &format!("{number}\n"))] {
            std::fs::write(folder.join(file), text).unwrap();
        }
        for (index, link) in [("dev/block", number), ("class/block", name)] {
            let index = self.machine.sys.join(index);
            std::fs::create_dir_all(&index).unwrap();
            symlink(folder, index.join(link)).unwrap();
        }
    }

    fn disk(&self, name: &str, number: &str) {
        self.at(&self.machine.sys.join("devices/block").join(name), name, number);
    }

    fn partition(&self, disk: &str, name: &str, number: &str) {
        let folder = self.folder(disk).join(name);
        self.at(&folder, name, number);
        std::fs::remove_dir(folder.join("slaves")).unwrap();
        std::fs::write(folder.join("partition"), "1\n").unwrap();
    }

    /// `upper` is built upon `lower`.
    fn stack(&self, upper: &str, lower: &str) {
        symlink(self.folder(lower), self.folder(upper).join("slaves").join(lower)).unwrap();
        symlink(self.folder(upper), self.folder(lower).join("holders").join(upper)).unwrap();
    }

    fn mounts(&self, lines: &[&str]) {
        self.write("proc/self/mountinfo", &(lines.join("\n") + "\n"));
    }

    fn swaps(&self, lines: &[&str]) {
        self.write("proc/swaps", &format!("Filename Type Size Used Priority\n{}\n", lines.join("\n")));
    }

    /// Reasons against a device; the study lies in `/data/study`.
    #[track_caller]
    fn check(&self, number: &str, expected: &[&str]) {
        let device = Device::find(&self.machine, number).unwrap();
        let keep = [("/", Path::new("/")), ("the study's folder", Path::new("/data/study"))];
        let found = refusals(&self.machine, &device, &keep, DeviceUse::Preconditioning);
        assert_eq!(found, expected);
    }
}

#[test]
fn a_spare_disk_passes_and_has_its_size() {
    let fake = Fake::new();
    fake.check("8:16", &[]);
    assert_eq!(Device::find(&fake.machine, "8:16").unwrap().size().unwrap(), Bytes(1 << 20));
}

#[test]
fn the_system_disk_has_all_reasons_against_it() {
    Fake::new().check(
        "8:0",
        &[
            "it is partitioned: sda1, sda2",
            "its partition sda2 is swap space in use",
            "its partition sda1 is mounted at /",
            "/ (/) is on it",
            "the study's folder (/data/study) is on it",
        ],
    );
}

#[test]
fn a_partition_is_refused_and_so_is_swap() {
    let reasons = ["it is a partition of sda; only whole devices are preconditioned", "it is swap space in use"];
    Fake::new().check("8:2", &reasons);
}

#[test]
fn a_mount_is_known_by_number_and_by_source() {
    let fake = Fake::new();
    let root = "22 1 8:1 / / rw - ext4 /dev/sda1 rw";
    fake.mounts(&[root, "30 22 8:16 / /mnt/my\\040disk rw - xfs /dev/elsewhere rw"]);
    fake.check("8:16", &["it is mounted at /mnt/my disk"]);
    // btrfs: a number of its own.
    fake.mounts(&[root, "30 22 0:44 / /data rw - btrfs /dev/sdb rw"]);
    fake.check("8:16", &["it is mounted at /data", "the study's folder (/data/study) is on it"]);
    fake.partition("sdb", "sdb1", "8:17");
    fake.mounts(&[root, "30 22 8:17 / /mnt rw - xfs /dev/sdb1 rw"]);
    fake.check("8:16", &["it is partitioned: sdb1", "its partition sdb1 is mounted at /mnt"]);
}

#[test]
fn layers_are_seen_from_above_and_from_below() {
    let fake = Fake::new();
    fake.disk("md0", "9:0");
    fake.disk("dm-0", "253:0");
    fake.stack("md0", "sdb");
    fake.stack("dm-0", "md0");
    fake.check("8:16", &["it is held by md0"]);
    fake.check("9:0", &["it is held by dm-0", "it consists of sdb; use a drive itself"]);
    fake.mounts(&["22 1 8:1 / / rw - ext4 /dev/sda1 rw", "30 22 253:0 / /data rw - xfs /dev/mapper/data rw"]);
    fake.check("8:16", &["it is held by md0", "the study's folder (/data/study) is on it"]);
}

#[test]
fn a_held_partition_counts_for_its_disk() {
    let fake = Fake::new();
    fake.partition("sdb", "sdb1", "8:17");
    fake.disk("dm-0", "253:0");
    fake.stack("dm-0", "sdb1");
    fake.check("8:16", &["it is partitioned: sdb1", "its partition sdb1 is held by dm-0"]);
}

#[test]
fn read_only_and_empty_devices_are_refused() {
    let fake = Fake::new();
    std::fs::write(fake.folder("sdb").join("ro"), "1\n").unwrap();
    std::fs::write(fake.folder("sdb").join("size"), "0\n").unwrap();
    fake.check("8:16", &["it is read-only", "it has no size; is a medium inserted?"]);
}

#[test]
fn what_cannot_be_told_is_a_refusal() {
    let gone = ["proc/swaps", "proc/self/mountinfo", "sys/devices/block/sdb/ro", "sys/devices/block/sdb/size"];
    for path in gone {
        let fake = Fake::new();
        std::fs::remove_file(fake.root.path().join(path)).unwrap();
        let device = Device::find(&fake.machine, "8:16").unwrap();
        let found = refusals(&fake.machine, &device, &[], DeviceUse::Preconditioning);
        assert!(found.len() == 1 && found[0].starts_with("whether it is in use is unknown"), "{path}: {found:?}");
    }
    for folder in ["holders", "slaves"] {
        let fake = Fake::new();
        std::fs::remove_dir(fake.folder("sdb").join(folder)).unwrap();
        let device = Device::find(&fake.machine, "8:16").unwrap();
        assert_eq!(refusals(&fake.machine, &device, &[], DeviceUse::Preconditioning).len(), 1, "{folder}");
    }
    let fake = Fake::new();
    fake.mounts(&["not a line of mountinfo"]);
    let device = Device::find(&fake.machine, "8:16").unwrap();
    assert_eq!(refusals(&fake.machine, &device, &[], DeviceUse::Preconditioning).len(), 1);
    assert!(Device::find(&fake.machine, "8:99").is_err());
}
