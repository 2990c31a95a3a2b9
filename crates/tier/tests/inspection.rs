//! What is told of devices of which no pool is open.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;

use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{CacheInspection, DeviceContent, FaultKind, Tier};
use support::{MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

struct Bed {
    cache: Arc<MemoryDevice>,
    origins: Vec<Arc<MemoryDevice>>,
}

impl Bed {
    fn new() -> Self {
        let (cache, origins) = memory_devices(64, 64, 2);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, 64, 2)).unwrap();
        Self { cache, origins }
    }

    fn open(&self) -> Tier {
        let devices = devices(&self.cache, &self.origins);
        Tier::open(devices, pool(CacheMode::WriteBack, 2), Arc::new(TestClock::default())).unwrap()
    }

    fn inspect(&self) -> CacheInspection {
        CacheInspection::of(&*self.cache).unwrap()
    }

    /// Position on the cache of the data of a block of volume 0.
    fn place_of(&self, block: u64) -> usize {
        let inspection = self.inspect();
        let line = inspection.lines().find(|(_, entry)| {
            let block_of = entry.block().unwrap();
            (block_of.volume(), block_of.index()) == (0, block)
        });
        inspection.superblock.geometry.byte_of_line(line.unwrap().0) as usize
    }

    fn faults(&self) -> Vec<(u64, FaultKind)> {
        let check = self.inspect().check_data(&*self.cache).unwrap();
        check.faults.iter().map(|fault| (fault.at, fault.kind)).collect()
    }
}

#[test]
fn lines_and_dirty_ranges_are_those_of_the_pool() {
    let bed = Bed::new();
    let tier = bed.open();
    tier.write(0, 3 * 8192, &[7; 8192]).unwrap();
    tier.write(0, 4 * 8192, &[8; 4096]).unwrap();
    tier.write(1, 8192 + 4096, &[9; 4096]).unwrap();
    tier.read(0, 9 * 8192, &mut [0; 8192]).unwrap();
    let dirty = [tier.dirty_ranges(0).len(), tier.dirty_ranges(1).len()];
    assert_eq!(dirty, [2, 1]);
    tier.flush(0).unwrap();
    let crashed = bed.inspect();
    assert!(!crashed.superblock.clean && crashed.journal_records > 0);
    tier.close().unwrap();
    let closed = bed.inspect();
    assert!(closed.superblock.clean && closed.journal_records == 0);
    for inspection in [crashed, closed] {
        assert_eq!((inspection.lines_of(0), inspection.lines_of(1)), ((3, 2), (1, 1)));
        assert_eq!(inspection.dirty_ranges(0), vec![3 * 8192..4 * 8192 + 4096]);
        assert_eq!(inspection.dirty_ranges(1), vec![8192 + 4096..2 * 8192]);
    }
    assert_eq!(DeviceContent::of_cache(&*bed.cache).unwrap(), DeviceContent::Cache { dirty_lines: 3 });
}

#[test]
fn a_changed_bit_is_lost_content_after_a_stop_and_a_torn_sector_after_a_crash() {
    let bed = Bed::new();
    let tier = bed.open();
    tier.write(0, 0, &[7; 8192]).unwrap();
    tier.read(0, 8192, &mut [0; 8192]).unwrap();
    tier.flush(0).unwrap();
    assert_eq!(bed.faults(), []);
    bed.cache.flip_bit(bed.place_of(0) + 5000);
    bed.cache.flip_bit(bed.place_of(1));
    assert_eq!(bed.faults(), [(4096, FaultKind::Torn), (8192, FaultKind::Clean)]);
    tier.close().unwrap();
    let check = bed.inspect().check_data(&*bed.cache).unwrap();
    assert_eq!(check.sectors, 4);
    assert_eq!(bed.faults(), [(4096, FaultKind::Lost), (8192, FaultKind::Clean)]);
    let (inspection, mut calls) = (bed.inspect(), 0);
    bed.cache.fail_when(move |_| {
        calls += 1;
        // Behind the checksums of the first line comes its first sector.
        calls == 2
    });
    let check = inspection.check_data(&*bed.cache).unwrap();
    let unreadable = check.faults.iter().filter(|fault| fault.kind == FaultKind::Unreadable);
    assert_eq!((check.sectors, unreadable.count()), (4, 1));
}

#[test]
fn what_formatting_would_lose_is_told() {
    let bed = Bed::new();
    let content = |bytes: Vec<u8>| DeviceContent::of_cache(&*MemoryDevice::new(bytes)).unwrap();
    assert_eq!(content(vec![0; 1 << 21]), DeviceContent::Nothing);
    let mut foreign = vec![0; 1 << 21];
    foreign[1080] = 0x53;
    assert_eq!(content(foreign), DeviceContent::Foreign);
    let mut tail = vec![0; 1 << 21];
    tail[(1 << 21) - 512] = 1;
    assert_eq!(content(tail), DeviceContent::Foreign);
    assert_eq!(content(bed.origins[0].bytes_now()), DeviceContent::Origin);
    let of_origin = || DeviceContent::of_origin(&*bed.origins[1]).unwrap();
    assert_eq!(of_origin(), DeviceContent::Origin);
    bed.open().detach(std::time::Duration::from_secs(1)).unwrap();
    assert_eq!(of_origin(), DeviceContent::FreeOrigin);
}

#[test]
fn an_origin_is_checked_against_the_cache() {
    let bed = Bed::new();
    bed.open().close().unwrap();
    let inspection = bed.inspect();
    inspection.check_origin(&*bed.origins[0], 0).unwrap();
    let swapped = inspection.check_origin(&*bed.origins[1], 0).unwrap_err();
    assert!(swapped.is_mismatch() && swapped.to_string().contains("origin 0"), "{swapped}");
    assert!(inspection.check_origin(&*bed.origins[0], 2).unwrap_err().is_mismatch());
    assert!(CacheInspection::of(&*bed.origins[0]).unwrap_err().is_mismatch());
}
