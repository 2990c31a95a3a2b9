//! Caches of other versions of the format: version 1 is opened with all that it holds, a later one is refused by name.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::layout::Geometry;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{CacheInspection, DeviceContent, Tier};
use support::{Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 64;
const LIMIT: Duration = Duration::from_secs(60);

struct Bed {
    cache: Arc<MemoryDevice>,
    origin: Arc<MemoryDevice>,
    clock: Arc<TestClock>,
}

impl Bed {
    fn new() -> Self {
        let (cache, origins) = memory_devices(LINES, 64, 1);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 1)).unwrap();
        Self { cache, origin: origins[0].clone(), clock: Arc::default() }
    }

    fn try_open(&self) -> Result<Tier, proofload_tier::Error> {
        let devices = devices(&self.cache, std::slice::from_ref(&self.origin));
        Tier::open(devices, pool(CacheMode::WriteBack, 1), self.clock.clone())
    }

    fn open(&self) -> Tier {
        self.try_open().unwrap()
    }

    fn after_crash(&self) -> Self {
        let left = |device: &MemoryDevice, fate| {
            MemoryDevice::new(device.store.lock().unwrap().after_crash(fate, &mut Dice(1)))
        };
        let (cache, origin) = (left(&self.cache, Fate::Lost), left(&self.origin, Fate::Kept));
        Self { cache, origin, clock: Arc::default() }
    }

    /// Dirty lines that are closed.
    fn closed_lines(&self) -> usize {
        let inspection = CacheInspection::of(&*self.cache).unwrap();
        inspection.lines().filter(|(_, entry)| entry.is_dirty() && entry.is_closed()).count()
    }
}

fn write(tier: &Tier, block: u64, byte: u8) {
    tier.write(0, block * BLOCK, &[byte; BLOCK as usize]).unwrap();
}

fn read(tier: &Tier, block: u64) -> u8 {
    let mut bytes = [0xee; BLOCK as usize];
    tier.read(0, block * BLOCK, &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == bytes[0]), "block {block} is mixed");
    bytes[0]
}

/// Lets a block of metadata have a mark, and its checksum.
fn seal(block: &mut [u8], change: impl Fn(&mut [u8])) {
    change(block);
    let sum = crc32c::crc32c(&block[4..]);
    block[..4].copy_from_slice(&sum.to_le_bytes());
}

/// The same cache with superblocks of another version; version 1 has other marks of checkpoints and of the journal, too.
fn of_version(bed: &Bed, version: u32) -> Bed {
    let mut bytes = bed.cache.bytes_now();
    for block in bytes[..8192].chunks_mut(4096) {
        seal(block, |block| block[8..12].copy_from_slice(&version.to_le_bytes()));
    }
    let data = Geometry::new(8192, LINES).unwrap().byte_of_line(0) as usize;
    for block in bytes[8192..data].chunks_mut(4096).filter(|_| version == 1) {
        match &block[4..8] {
            b"PTc2" => seal(block, |block| block[4..8].copy_from_slice(b"PTcp")),
            b"PTj2" => seal(block, |block| block[4..8].copy_from_slice(b"PTjl")),
            _ => {}
        }
    }
    let origin = MemoryDevice::new(bed.origin.bytes_now());
    Bed { cache: MemoryDevice::new(bytes), origin, clock: Arc::default() }
}

fn version_of(bed: &Bed) -> u32 {
    u32::from_le_bytes(bed.cache.bytes_now()[8..12].try_into().unwrap())
}

#[test]
fn a_dirty_cache_of_version_1_is_opened_loses_nothing_and_is_of_version_2_from_then_on() {
    let bed = Bed::new();
    let tier = bed.open();
    (0..20).for_each(|block| write(&tier, block, block as u8 + 1));
    tier.flush(0).unwrap();
    tier.checkpoint().unwrap();
    (20..30).for_each(|block| write(&tier, block, block as u8 + 1));
    tier.flush(0).unwrap();
    let crashed = of_version(&bed.after_crash(), 1);
    tier.close().unwrap();
    let stopped = of_version(&bed, 1);
    for (old, is_crashed) in [(crashed, true), (stopped, false)] {
        assert_eq!(
            (version_of(&old), DeviceContent::of_cache(&*old.cache).unwrap()),
            (1, DeviceContent::Cache { dirty_lines: 30 })
        );
        let tier = old.open();
        assert_eq!((version_of(&old), tier.lines_of(0), tier.status().after_crash), (2, (30, 30), is_crashed));
        // What was begun of the old journal goes on, also after another crash.
        write(&tier, 30, 31);
        tier.flush(0).unwrap();
        let again = old.after_crash();
        assert_eq!(again.open().lines_of(0), (31, 31));
        assert!((0..31).all(|block| read(&tier, block) == block as u8 + 1));
        for _ in 0..2 {
            old.clock.advance(Duration::from_secs(6));
            tier.tend().unwrap();
        }
        // Those that were read or written since the start, after a crash.
        assert_eq!(old.closed_lines(), 31);
        assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 0);
        let origin = old.origin.bytes_now();
        assert!((0..31).all(|block| origin[block * BLOCK as usize] == block as u8 + 1));
    }
}

#[test]
fn a_cache_of_a_later_version_is_refused_by_name_and_not_taken_for_an_empty_device() {
    let bed = Bed::new();
    bed.open().close().unwrap();
    let later = of_version(&bed, 3);
    let errors = [
        later.try_open().err().unwrap().to_string(),
        CacheInspection::of(&*later.cache).unwrap_err().to_string(),
        DeviceContent::of_cache(&*later.cache).unwrap_err().to_string(),
    ];
    for error in errors {
        assert!(error.contains("of version 3 of the format, but 2 is the newest"), "{error}");
    }
}
