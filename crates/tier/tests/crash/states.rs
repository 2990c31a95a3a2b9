//! One state after a crash: recovered twice, read, cleaned, and read again.

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::machine::PoolSettings;
use proofload_tier::tier::Tier;

use crate::model::{Model, UNIT, value_of};
use crate::support::{Dice, Fate, MemoryDevice, Store, TestClock, devices};

/// Bytes of all devices, the cache's first.
pub(crate) type Images = Vec<Vec<u8>>;

/// What a loss of power leaves of each device.
pub(crate) fn materialise(stores: &[Arc<std::sync::Mutex<Store>>], dice: &mut Dice) -> Images {
    let fates = [Fate::Lost, Fate::Kept, Fate::Subset, Fate::Torn(4096), Fate::Torn(UNIT)];
    let common = fates[dice.below(5) as usize];
    stores
        .iter()
        .map(|store| {
            let fate = if dice.one_in(3) { fates[dice.below(5) as usize] } else { common };
            store.lock().unwrap().after_crash(fate, dice)
        })
        .collect()
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

/// Recovers a state and checks it against what is permitted.
pub(crate) fn check(images: &Images, model: &Model, settings: &PoolSettings, what: &str) {
    let volumes = images.len() - 1;
    let (cache, origins) = devices_of(images);
    let clock = Arc::new(TestClock::default());
    let open = || Tier::open(devices(&cache, &origins), settings.clone(), clock.clone());
    let first = open().unwrap_or_else(|error| panic!("{what}: {error}"));
    let block_bytes = u64::from(first.status().line_bytes);
    let blocks_of = |tier: &Tier, volume| {
        let mut blocks: Vec<_> = tier.dirty_ranges(volume).iter().map(|range| range.start / block_bytes).collect();
        blocks.dedup();
        blocks
    };
    let dirty: Vec<_> = (0..volumes as u8).map(|volume| blocks_of(&first, volume)).collect();
    let lines: Vec<_> = (0..volumes as u8).map(|volume| first.lines_of(volume)).collect();
    drop(first);
    let tier = open().unwrap_or_else(|error| panic!("{what}, again: {error}"));
    let mut contents = Vec::new();
    for volume in 0..volumes as u8 {
        let place = usize::from(volume);
        assert_eq!(blocks_of(&tier, volume), dirty[place], "{what}: another recovery");
        assert_eq!(tier.lines_of(volume), lines[place], "{what}: another recovery");
        for block in &dirty[place] {
            let units = block_bytes as usize / UNIT;
            let first = *block as usize * units;
            let written = model.was_written(place, first..first + units);
            assert!(written, "{what}: block {block} became dirty by a crash");
        }
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
}
