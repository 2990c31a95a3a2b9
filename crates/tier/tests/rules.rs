//! The seven rules of crash safety, each by its own scene. Random scenes are in `crates/tier/tests/crash/main.rs`.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::device::Device;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{CacheInspection, FaultKind, Tier};
use support::{Call, Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;

struct Scene {
    cache: Arc<MemoryDevice>,
    origin: Arc<MemoryDevice>,
    clock: Arc<TestClock>,
    mode: CacheMode,
}

impl Scene {
    fn new(mode: CacheMode) -> (Self, Tier) {
        let (cache, origins) = memory_devices(32, 64, 1);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, 32, 1)).unwrap();
        let scene = Self { cache, origin: origins[0].clone(), clock: Arc::default(), mode };
        let tier = scene.open();
        (scene, tier)
    }

    fn open(&self) -> Tier {
        let devices = devices(&self.cache, std::slice::from_ref(&self.origin));
        Tier::open(devices, pool(self.mode, 1), self.clock.clone()).unwrap()
    }

    /// The scene after a loss of power with these fates of cache and origin.
    fn after_crash(&self, cache: Fate, origin: Fate) -> Self {
        let left = |device: &MemoryDevice, fate| {
            MemoryDevice::new(device.store.lock().unwrap().after_crash(fate, &mut Dice(1)))
        };
        let (cache, origin) = (left(&self.cache, cache), left(&self.origin, origin));
        Self { cache, origin, clock: Arc::default(), mode: self.mode }
    }

    fn clean(&self, tier: &Tier) {
        tier.clean().unwrap();
        self.clock.advance(Duration::from_secs(2));
        assert_eq!(tier.clean().unwrap(), Duration::ZERO, "the cleaner was at work");
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

#[test]
fn rule_1_what_was_flushed_is_read_after_a_crash_that_keeps_nothing_else() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    write(&tier, 1, 1);
    tier.flush(0).unwrap();
    write(&tier, 2, 2);
    let tier = scene.after_crash(Fate::Lost, Fate::Lost).open();
    assert_eq!((read(&tier, 1), read(&tier, 2)), (1, 0));
    assert_eq!(tier.lines_of(0).1, 1);
}

#[test]
fn rule_1_no_record_is_durable_before_its_data() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    write(&tier, 1, 1);
    // Of all that is not synced, the device keeps the last write alone: during the flush, the journal.
    let states = Arc::new(Mutex::new(Vec::new()));
    let (kept, store) = (states.clone(), scene.cache.store.clone());
    *scene.cache.after.lock().unwrap() = Some(Box::new(move || {
        let mut store = store.lock().unwrap().clone();
        let last = store.pending.pop();
        store.pending = last.into_iter().collect();
        kept.lock().unwrap().push(store.after_crash(Fate::Kept, &mut Dice(1)));
    }));
    tier.flush(0).unwrap();
    let states = states.lock().unwrap().split_off(0);
    assert!(states.len() >= 3, "a sync, the journal, a sync");
    let mut dirty = 0;
    for state in states {
        let origin = MemoryDevice::new(scene.origin.bytes_now());
        let scene = Scene { cache: MemoryDevice::new(state), origin, clock: Arc::default(), mode: scene.mode };
        let tier = scene.open();
        assert!(read(&tier, 1) == u8::from(tier.lines_of(0).1 == 1), "a line that is found has its content");
        dirty += tier.lines_of(0).1;
        assert_eq!(tier.counters(0).torn_sectors, 0);
    }
    assert!(dirty >= 1, "the journal was kept in one of them");
}

#[test]
fn rule_2_a_clean_line_is_not_overwritten_in_place() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    write(&tier, 1, 1);
    scene.clean(&tier);
    tier.flush(0).unwrap();
    write(&tier, 1, 2);
    // All data and no record is kept: the old line must have its old content.
    let crashed = scene.after_crash(Fate::Kept, Fate::Lost);
    let tier = crashed.open();
    assert_eq!(read(&tier, 1), 1);
    tier.drain(Duration::from_secs(9)).unwrap();
    assert_eq!(crashed.origin.bytes_now()[BLOCK as usize], 1);
    assert_eq!(tier.counters(0).clean_mismatches, 0);
}

/// A pool after a crash that kept an overwrite in place and not its record: its data are 2, its checksum that of 1.
fn torn_scene() -> Scene {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    write(&tier, 1, 1);
    tier.flush(0).unwrap();
    write(&tier, 1, 2);
    scene.after_crash(Fate::Kept, Fate::Kept)
}

fn inspect(scene: &Scene) -> (bool, Vec<FaultKind>) {
    let inspection = CacheInspection::of(&*scene.cache).unwrap();
    let check = inspection.check_data(&*scene.cache).unwrap();
    (inspection.superblock.clean, check.faults.iter().map(|fault| fault.kind).collect())
}

#[test]
fn rule_2_a_stop_after_a_crash_loses_no_line_that_nobody_has_read_since() {
    let scene = torn_scene();
    scene.open().close().unwrap();
    assert_eq!(inspect(&scene), (false, vec![FaultKind::Torn; 2]));
    // Half of the line is read, so that the rest is as unknown as before, and a drain has no time.
    let tier = scene.open();
    tier.read(0, BLOCK, &mut [0; 4096]).unwrap();
    tier.drain(Duration::ZERO).unwrap();
    tier.close().unwrap();
    assert_eq!(inspect(&scene), (false, vec![FaultKind::Torn]));
    let tier = scene.open();
    assert!(tier.status().after_crash && tier.lines_of(0) == (1, 1), "it is warm");
    assert_eq!(read(&tier, 1), 2);
    assert!(tier.counters(0).torn_sectors > 0);
    tier.close().unwrap();
    assert_eq!(inspect(&scene), (true, Vec::new()), "all of it was read");
    let tier = scene.open();
    assert!(!tier.status().after_crash);
    assert_eq!(read(&tier, 1), 2);
}

#[test]
fn rule_2_a_stop_after_a_crash_is_a_clean_one_once_the_lines_are_cleaned_or_overwritten_whole() {
    let cleaned = torn_scene();
    let tier = cleaned.open();
    assert_eq!(tier.drain(Duration::from_secs(9)).unwrap().dirty_lines, 0);
    tier.close().unwrap();
    let overwritten = torn_scene();
    let tier = overwritten.open();
    write(&tier, 1, 3);
    tier.close().unwrap();
    for (scene, value) in [(cleaned, 2), (overwritten, 3)] {
        assert_eq!(inspect(&scene), (true, Vec::new()));
        assert_eq!(read(&scene.open(), 1), value);
    }
}

#[test]
fn rule_3_a_line_is_clean_only_after_the_origins_sync_and_not_if_it_was_written_meanwhile() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    write(&tier, 1, 1);
    tier.flush(0).unwrap();
    let tier = Arc::new(tier);
    let other = tier.clone();
    // A write comes while the cleaner has written the origin and waits for its sync.
    *scene.origin.before.lock().unwrap() = Some(Box::new(move |call| {
        if call == Call::Sync {
            write(&other, 1, 2);
        }
        Ok(())
    }));
    scene.clean(&tier);
    scene.origin.mend();
    assert_eq!(tier.lines_of(0), (1, 1), "it stayed dirty");
    assert_eq!(tier.counters(0).cleaned_in_vain, 1);
    // A sync that fails leaves the line dirty, also after a crash that loses what the origin was given.
    scene.origin.fail_when(|call| call == Call::Sync);
    tier.clean().unwrap();
    scene.clock.advance(Duration::from_secs(2));
    tier.clean().unwrap_err();
    tier.flush(0).unwrap();
    let tier = scene.after_crash(Fate::Kept, Fate::Lost).open();
    assert_eq!((tier.lines_of(0), read(&tier, 1)), ((1, 1), 2));
}

#[test]
fn rule_4_a_line_is_reused_only_after_the_record_that_unmaps_it() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    // Fill the cache with clean lines that are durable, then read others into it without any commit.
    for block in 0..28 {
        write(&tier, block, 1);
    }
    tier.drain(Duration::from_secs(9)).unwrap();
    tier.flush(0).unwrap();
    for block in 32..60 {
        read(&tier, block);
    }
    let tier = scene.after_crash(Fate::Kept, Fate::Kept).open();
    assert!((0..28).all(|block| read(&tier, block) == 1));
    assert_eq!(tier.counters(0).clean_mismatches, 0, "no line was overwritten");
    assert!(tier.counters(0).read_hits >= 28, "{:?}", tier.counters(0));
}

#[test]
fn rule_5_a_crash_in_a_write_through_write_leaves_no_line_with_older_content() {
    let (scene, tier) = Scene::new(CacheMode::WriteThrough);
    write(&tier, 1, 1);
    write(&tier, 2, 2);
    tier.flush(0).unwrap();
    // The origin takes the write and power is lost before anything else.
    let crashed = Arc::new(Mutex::new(None));
    let (keep, armed) = (crashed.clone(), Arc::new(AtomicBool::new(true)));
    let (cache, origin) = (scene.cache.clone(), scene.origin.clone());
    *scene.origin.after.lock().unwrap() = Some(Box::new(move || {
        if armed.swap(false, Ordering::SeqCst) {
            let left = |device: &MemoryDevice, fate| device.store.lock().unwrap().after_crash(fate, &mut Dice(1));
            *keep.lock().unwrap() = Some((left(&cache, Fate::Lost), left(&origin, Fate::Kept)));
        }
    }));
    write(&tier, 1, 9);
    let (cache, origin) = crashed.lock().unwrap().take().unwrap();
    let (cache, origin) = (MemoryDevice::new(cache), MemoryDevice::new(origin));
    let scene = Scene { cache, origin, clock: Arc::default(), mode: CacheMode::WriteThrough };
    let tier = scene.open();
    assert_eq!(tier.lines_of(0).0, 1, "only the line at work was dropped");
    assert_eq!((read(&tier, 1), read(&tier, 2)), (9, 2));
    assert_eq!(tier.counters(0).read_hits, 1);
}

#[test]
fn rule_7_a_discard_brings_back_neither_the_lines_nor_the_origins_older_content() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    for block in 1..4 {
        write(&tier, block, 1);
    }
    tier.drain(Duration::from_secs(9)).unwrap();
    // Block 1 is dirty over an older origin, block 2 clean, block 3 is no longer in the cache.
    write(&tier, 1, 2);
    tier.flush(0).unwrap();
    tier.discard(0, BLOCK, 3 * BLOCK).unwrap();
    assert!((1..4).all(|block| read(&tier, block) == 0));
    for origin in [Fate::Lost, Fate::Kept] {
        let tier = scene.after_crash(Fate::Lost, origin).open();
        assert!([0, 2].contains(&read(&tier, 1)), "never 1, which was overwritten and flushed");
    }
    tier.flush(0).unwrap();
    let crashed = scene.after_crash(Fate::Lost, Fate::Lost);
    let tier = crashed.open();
    assert!((1..4).all(|block| read(&tier, block) == 0));
    tier.drain(Duration::from_secs(9)).unwrap();
    let origin = crashed.origin.bytes_now();
    assert!(origin[BLOCK as usize..4 * BLOCK as usize].iter().all(|byte| *byte == 0));
}

#[test]
fn rule_7_neighbours_that_no_line_holds_are_discarded_at_once() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    scene.origin.write_at(0, &vec![7; 60 * BLOCK as usize]).unwrap();
    scene.origin.sync().unwrap();
    write(&tier, 20, 1);
    assert_eq!(read(&tier, 30), 7);
    tier.flush(0).unwrap();
    let before = scene.origin.count(Call::Write);
    // From the middle of a block to that of another: a dirty line and a clean one lie between.
    tier.discard(0, 10 * BLOCK + 4096, 40 * BLOCK).unwrap();
    // The dirty line becomes zeros where it is; the clean one goes, and its block is discarded with its neighbours.
    assert_eq!(scene.origin.count(Call::Write) - before, 2);
    assert_eq!(tier.counters(0).discards, 41);
    let check = |tier: &Tier| {
        let mut bytes = vec![1; 60 * BLOCK as usize];
        tier.read(0, 0, &mut bytes).unwrap();
        let (from, to) = ((10 * BLOCK + 4096) as usize, (50 * BLOCK + 4096) as usize);
        assert!(bytes[from..to].iter().all(|byte| *byte == 0));
        assert!(bytes[..from].iter().chain(&bytes[to..]).all(|byte| *byte == 7));
    };
    check(&tier);
    tier.flush(0).unwrap();
    check(&scene.after_crash(Fate::Lost, Fate::Lost).open());
}

#[test]
fn clean_lines_of_neighbours_are_given_up_by_one_commit() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    (0..20).for_each(|block| write(&tier, block, 1));
    tier.drain(Duration::from_secs(9)).unwrap();
    assert_eq!(tier.lines_of(0), (20, 0));
    let (writes, syncs) = (scene.origin.count(Call::Write), scene.cache.count(Call::Sync));
    tier.discard(0, 0, 20 * BLOCK).unwrap();
    assert_eq!(scene.origin.count(Call::Write) - writes, 1);
    assert!(scene.cache.count(Call::Sync) - syncs <= 2, "{} syncs", scene.cache.count(Call::Sync) - syncs);
    // What was not flushed may be there or not; what was is not.
    let tier_after = scene.after_crash(Fate::Lost, Fate::Lost).open();
    assert!((0..20).all(|block| [0, 1].contains(&read(&tier_after, block))));
    tier.flush(0).unwrap();
    let tier_after = scene.after_crash(Fate::Lost, Fate::Lost).open();
    assert!((0..20).all(|block| read(&tier_after, block) == 0));
}

#[test]
fn a_discard_that_fails_on_the_origin_holds_no_block() {
    let (scene, tier) = Scene::new(CacheMode::WriteBack);
    scene.origin.fail_when(|call| call == Call::Write);
    let error = tier.discard(0, 0, 20 * BLOCK).unwrap_err().to_string();
    assert!(error.contains("discarded") && error.contains("volume 0"), "{error}");
    scene.origin.mend();
    tier.discard(0, 0, 20 * BLOCK).unwrap();
    assert!((0..20).all(|block| read(&tier, block) == 0));
}
