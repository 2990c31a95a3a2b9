//! The disks of the machine and what fio does with them. A load and its check are one description, so that they cannot differ.

use super::programs::line;
use std::process::{Child, Command, Stdio};

/// The disk for caches.
pub(super) const CACHE: &str = "/dev/vdb";

/// The disk for origins: slow.
pub(super) const ORIGIN: &str = "/dev/vdc";

/// A disk for file systems.
pub(super) const SPARE: &str = "/dev/vdd";

/// Sizes of the three, MiB.
pub(super) const MEBIBYTES: [(&str, u64); 3] = [("cache", 128), ("origin", 256), ("spare", 2048)];

/// How a region is checked.
#[derive(Clone, Copy)]
pub(super) enum RegionCheck {
    /// Each block by a checksum of its own, which an older content of the block would have, too.
    Crc32c,
    /// Each block byte for byte: the seed and its own place.
    Content,
}

/// A region that is written to be checked.
#[derive(Clone, Copy)]
pub(super) struct Region {
    /// First byte, MiB.
    pub(super) offset: u32,
    /// Length, MiB.
    pub(super) size: u32,
    /// Number by which contents differ, 1 to 255.
    pub(super) seed: u8,
    pub(super) check: RegionCheck,
}

impl Region {
    fn words(self, target: &str, how: &str) -> String {
        let Self { offset, size, seed, check } = self;
        let check = match check {
            RegionCheck::Crc32c => "crc32c".to_owned(),
            RegionCheck::Content => format!("pattern --verify_pattern=0x{seed:02x}%o"),
        };
        format!(
            "fio --name=region --filename={target} --direct=1 --ioengine=psync --bs=8k --rw=randwrite --offset={offset}m --size={size}m \
             --randseed={seed} --verify={check} --verify_fatal=1 --allow_file_create=0 {how}"
        )
    }

    /// Writes all of it, and returns when the device has acknowledged a flush after it.
    pub(super) fn write(self, target: &str) -> Result<(), String> {
        line(&self.words(target, "--do_verify=0 --end_fsync=1")).map(drop)
    }

    /// Reads all of it and checks every block.
    pub(super) fn verify(self, target: &str) -> Result<(), String> {
        line(&self.words(target, "--verify_only=1")).map(drop)
    }
}

/// Reads a region at random for so many times its size.
pub(super) fn read(target: &str, size: u32, loops: u32) -> Result<(), String> {
    line(&format!(
        "fio --name=reads --filename={target} --direct=1 --ioengine=psync --bs=8k --rw=randread --size={size}m --loops={loops} \
         --norandommap=0 --allow_file_create=0"
    ))
    .map(drop)
}

/// Starts writes at random, with a flush after every eight, that go on until the machine is killed.
pub(super) fn endless_writes(target: &str, offset: u32, size: u32) -> Result<Child, String> {
    let words = format!(
        "--name=endless --filename={target} --direct=1 --ioengine=psync --bs=8k --rw=randwrite --offset={offset}m --size={size}m \
         --time_based --runtime=600 --fsync=8 --allow_file_create=0"
    );
    let mut fio = Command::new("fio");
    // The serial line is ours.
    let started = fio.args(words.split_ascii_whitespace()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.map_err(|error| format!("fio {words}: {error}"))
}
