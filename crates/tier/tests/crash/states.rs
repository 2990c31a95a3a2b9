//! One state after a crash: recovered twice, read, cleaned, and read again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::machine::PoolSettings;
use proofload_tier::tier::{CacheInspection, FaultKind, Tier};

use crate::model::{Model, UNIT, value_of};
use crate::support::{Dice, Fate, MemoryDevice, Store, TestClock, devices};

/// Bytes of all devices, the cache's first.
pub(crate) type Images = Vec<Vec<u8>>;

/// What a loss of power leaves of each device; the cache's fate may be given.
pub(crate) fn materialise(stores: &[Arc<Mutex<Store>>], of_cache: Option<Fate>, dice: &mut Dice) -> Images {
    let fates = [Fate::Lost, Fate::Kept, Fate::Subset, Fate::Torn(4096), Fate::Torn(UNIT)];
    let common = fates[dice.below(5) as usize];
    let mut given = of_cache;
    stores
        .iter()
        .map(|store| {
            let fate = if dice.one_in(3) { fates[dice.below(5) as usize] } else { common };
            store.lock().unwrap().after_crash(given.take().unwrap_or(fate), dice)
        })
        .collect()
}

fn seal(block: &mut [u8]) {
    let sum = crc32c::crc32c(&block[4..]);
    block[..4].copy_from_slice(&sum.to_le_bytes());
}

/// Lets the labels of origins say nothing of their being free of the cache.
pub(crate) fn forget_freedom(images: &mut Images) {
    for origin in &mut images[1..] {
        let at = origin.len() - 4096;
        // Behind checksum, mark and version: two identities and the openings.
        origin[at + 12 + 32 + 8..][..2].fill(0);
        seal(&mut origin[at..]);
    }
}

/// Lets the superblocks of a cache say nothing of the opening that wrote the checkpoint.
pub(crate) fn forget_openings(images: &mut Images) {
    // Behind checksum, mark and version: the number, the identity, four sizes, the openings, flags, checkpoint, journal and count; then the origins.
    let at = 12 + 8 + 16 + 16 + 8 + 4 + 8 + 8 + 4 + 24 * (images.len() - 1);
    for superblock in images[0][..8192].chunks_mut(4096).filter(|block| block[..4] != [0; 4]) {
        superblock[at..at + 8].fill(0);
        seal(superblock);
    }
}

/// Lets what the checkpoints and the journal of a cache say of lines say that they are closed.
pub(crate) fn close_lines(images: &mut Images, data: usize) {
    const CLOSED: u8 = 0x80;
    for block in images[0][8192..data].chunks_mut(4096) {
        match &block[4..8] {
            // Behind checksum, mark, number and place: entries of 16 bytes, with the mark of the line at 8.
            b"PTc2" => block[24..24 + 254 * 16].chunks_mut(16).for_each(|entry| entry[11] |= CLOSED),
            // Behind checksum, mark, number, opening, count and flag: line, entry, sectors, and a checksum of each.
            b"PTj2" => {
                let mut at = 28;
                for _ in 0..u16::from_le_bytes([block[24], block[25]]) {
                    block[at + 4 + 11] |= CLOSED;
                    let sectors = u16::from_le_bytes([block[at + 20], block[at + 21]]);
                    at += 22 + 4 * sectors.count_ones() as usize;
                }
            }
            _ => continue,
        }
        seal(block);
    }
}

/// Devices with these bytes.
pub(crate) fn devices_of(images: &Images) -> (Arc<MemoryDevice>, Vec<Arc<MemoryDevice>>) {
    let mut made = images.iter().map(|bytes| MemoryDevice::new(bytes.clone()));
    (made.next().expect("the cache comes first"), made.collect())
}

/// All bytes of a volume.
pub(crate) fn read_all(tier: &Tier, volume: u8) -> Vec<u8> {
    let mut bytes = vec![0xa5; tier.volume_bytes(volume) as usize];
    tier.read(volume, 0, &mut bytes).expect("a recovered volume is read");
    bytes
}

/// Blocks of a volume that are dirty.
pub(crate) fn dirty_blocks(tier: &Tier, volume: u8) -> Vec<u64> {
    let block_bytes = u64::from(tier.status().line_bytes);
    let mut blocks: Vec<_> = tier.dirty_ranges(volume).iter().map(|range| range.start / block_bytes).collect();
    blocks.dedup();
    blocks
}

/// Whether the origins were set free of their cache, which is refused by name; then they alone have what is permitted.
pub(crate) fn are_free(images: &Images, model: &Model, settings: &PoolSettings, what: &str) -> bool {
    let (cache, origins) = devices_of(images);
    let opened = Tier::open(devices(&cache, &origins), settings.clone(), Arc::new(TestClock::default()));
    let Some(error) = opened.err() else { return false };
    assert!(error.is_detached(), "{what}: {error}");
    for (volume, bytes) in images[1..].iter().enumerate() {
        model.check_recovered(volume, &bytes[..bytes.len() - 4096], what);
    }
    true
}

/// Recovers a state and checks it against what is permitted; returns how many dirty lines are closed.
pub(crate) fn check(images: &Images, model: &Model, settings: &PoolSettings, what: &str) -> u64 {
    let volumes = images.len() - 1;
    let (cache, origins) = devices_of(images);
    let closed = check_checksums(&cache, what);
    let clock = Arc::new(TestClock::default());
    let open = || Tier::open(devices(&cache, &origins), settings.clone(), clock.clone());
    let first = open().unwrap_or_else(|error| panic!("{what}: {error}"));
    let dirty: Vec<_> = (0..volumes as u8).map(|volume| dirty_blocks(&first, volume)).collect();
    let lines: Vec<_> = (0..volumes as u8).map(|volume| first.lines_of(volume)).collect();
    drop(first);
    let tier = open().unwrap_or_else(|error| panic!("{what}, again: {error}"));
    let mut contents = Vec::new();
    for volume in 0..volumes as u8 {
        let place = usize::from(volume);
        assert_eq!(dirty_blocks(&tier, volume), dirty[place], "{what}: another recovery");
        assert_eq!(tier.lines_of(volume), lines[place], "{what}: another recovery");
        model.check_dirty(place, &dirty[place], what);
    }
    for volume in 0..volumes as u8 {
        let place = usize::from(volume);
        let bytes = read_all(&tier, volume);
        model.check_recovered(place, &bytes, what);
        contents.push(bytes);
    }
    let status = tier.drain(Duration::from_secs(100)).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(status.dirty_lines, 0, "{what}");
    for (volume, bytes) in contents.iter().enumerate() {
        let origin = origins[volume].bytes_now();
        for unit in (0..bytes.len()).step_by(UNIT) {
            let (now, before) = (value_of(&origin[unit..unit + UNIT]), value_of(&bytes[unit..unit + UNIT]));
            let unit = unit / UNIT;
            assert_eq!(now, before, "{what}: volume {volume} unit {unit} has another content without its cache");
        }
    }
    closed
}

/// Checks that only open lines differ from their checksums; returns how many dirty ones are closed.
fn check_checksums(cache: &Arc<MemoryDevice>, what: &str) -> u64 {
    let inspection = CacheInspection::of(&**cache).unwrap_or_else(|error| panic!("{what}: {error}"));
    let check = inspection.check_data(&**cache).unwrap_or_else(|error| panic!("{what}: {error}"));
    let lost: Vec<_> = check.faults.iter().filter(|fault| fault.kind == FaultKind::Lost).collect();
    assert!(lost.is_empty(), "{what}: a closed line differs from its checksums: {lost:?}");
    inspection.lines().filter(|(_, entry)| entry.is_dirty() && entry.is_closed()).count() as u64
}
