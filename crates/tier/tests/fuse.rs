//! Volumes as files: what is read and written, what is durable, and how a mount ends.

#![cfg(feature = "fuse")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use proofload_tier::export::{FuseServer, FuseVolume, TierVolume};
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::Tier;
use support::{Call, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

struct Bed {
    folder: tempfile::TempDir,
    cache: Arc<MemoryDevice>,
    origins: Vec<Arc<MemoryDevice>>,
    tier: Arc<Tier>,
}

impl Bed {
    fn new() -> Self {
        let (cache, origins) = memory_devices(1024, 1024, 2);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, 1024, 2)).unwrap();
        let settings = pool(CacheMode::WriteBack, 2);
        let tier = Tier::open(devices(&cache, &origins), settings, Arc::new(TestClock::default())).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), cache, origins, tier: Arc::new(tier) }
    }

    fn folder(&self) -> PathBuf {
        let folder = self.folder.path().join("mount");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn volumes(&self) -> Vec<FuseVolume> {
        let volume = |(name, number): (&str, u8)| FuseVolume {
            name: name.to_owned(),
            service: Arc::new(TierVolume::new(self.tier.clone(), number)),
        };
        [("data", 0), ("log", 1)].map(volume).to_vec()
    }

    /// A mounted server; `None` where this is not allowed.
    fn start(&self) -> Option<FuseServer> {
        if !Path::new("/dev/fuse").exists() {
            println!("SKIPPED: FUSE: /dev/fuse is not there");
            return None;
        }
        match FuseServer::start(&self.folder(), self.volumes()) {
            Ok(server) => Some(server),
            Err(error) => {
                println!("SKIPPED: FUSE: {error}");
                None
            }
        }
    }

    fn open(&self, name: &str) -> File {
        OpenOptions::new().read(true).write(true).open(self.folder().join(name)).unwrap()
    }
}

#[test]
fn files_are_volumes_past_the_page_cache() {
    let bed = Bed::new();
    let Some(server) = bed.start() else { return };
    let mut names: Vec<_> = std::fs::read_dir(bed.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["data", "log"]);
    let file = bed.open("data");
    assert_eq!(file.metadata().unwrap().len(), 1024 * 8192);
    file.write_all_at(&[7; 100_000], 5_000).unwrap();
    let mut bytes = vec![1; 100_002];
    file.read_exact_at(&mut bytes, 4_999).unwrap();
    assert_eq!((bytes[0], bytes[1], bytes[100_000], bytes[100_001]), (0, 7, 7, 0));
    let hits = bed.tier.counters(0).read_hits;
    (0..5).for_each(|_| file.read_exact_at(&mut bytes[..8192], 8192).unwrap());
    assert_eq!(bed.tier.counters(0).read_hits, hits + 5, "the system's page cache served reads");
    assert_eq!(bed.tier.counters(1).writes, 0);
    assert_eq!(file.read_at(&mut bytes, 1024 * 8192 - 10).unwrap(), 10, "a read ends with the volume");
    assert!(file.write_at(&[1], 1024 * 8192).is_err() && file.set_len(0).is_err());
    assert!(
        File::create(bed.folder().join("more")).is_err() && std::fs::remove_file(bed.folder().join("log")).is_err()
    );
    drop(file);
    server.stop().unwrap();
    assert_eq!(std::fs::read_dir(bed.folder()).unwrap().count(), 0);
    Arc::into_inner(bed.tier).unwrap().close().unwrap();
}

#[test]
fn a_sync_is_a_flush_of_one_volume_and_a_hole_is_a_discard() {
    let bed = Bed::new();
    let Some(server) = bed.start() else { return };
    let file = bed.open("log");
    file.write_all_at(&[7; 3 * 8192], 0).unwrap();
    let (syncs, origin) = (bed.cache.count(Call::Sync), bed.origins[1].count(Call::Write));
    file.sync_data().unwrap();
    assert_eq!(bed.cache.count(Call::Sync), syncs + 2);
    assert_eq!((bed.tier.counters(1).flushes, bed.tier.counters(0).flushes), (1, 0));
    assert_eq!(bed.origins[1].count(Call::Write), origin, "a flush writes no origin");
    let path = bed.folder().join("log");
    let punched = Command::new("fallocate").args(["-p", "-o", "8192", "-l", "8192"]).arg(&path).status();
    if punched.is_ok_and(|status| status.success()) {
        let mut bytes = vec![1; 3 * 8192];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes[8192..2 * 8192].iter().all(|byte| *byte == 0) && bytes[8191] == 7 && bytes[2 * 8192] == 7);
        assert_eq!(bed.tier.counters(1).discards, 1);
    } else {
        println!("SKIPPED: a hole: there is no fallocate program");
    }
    drop((file, server));
}

#[test]
fn a_file_in_use_bounds_the_unmount_and_is_served_to_its_end() {
    let bed = Bed::new();
    let Some(server) = bed.start() else { return };
    let taken = FuseServer::start(&bed.folder(), bed.volumes()).err().unwrap().to_string();
    assert!(taken.contains("another server"), "{taken}");
    let file = bed.open("data");
    file.write_all_at(&[7; 8192], 0).unwrap();
    let left = server.stop().unwrap_err().to_string();
    assert!(left.contains("stop the programs"), "{left}");
    let mut bytes = [0; 8192];
    file.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(bytes, [7; 8192]);
    assert_eq!(std::fs::read_dir(bed.folder()).unwrap().count(), 0);
    std::fs::write(bed.folder().join("other"), "content").unwrap();
    let full = FuseServer::start(&bed.folder(), bed.volumes()).err().unwrap().to_string();
    assert!(full.contains("it contains files"), "{full}");
    let missing = FuseServer::start(&bed.folder().join("missing"), bed.volumes()).err().unwrap().to_string();
    assert!(missing.contains("missing: No such file") && missing.contains("mkdir"), "{missing}");
}
