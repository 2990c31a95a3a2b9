//! Several clean writes under way at once: what a crash, a failure and requests meanwhile leave, and how much sooner the cleaner is done.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::device::{Clock, Device, DeviceWrite};
use proofload_tier::disk::{ArrayLayout, DiskArray, DiskRequest, DriveProfile, ModelledDisk, Progress, Scheduling};
use proofload_tier::machine::{CacheMode, PoolSettings};
use proofload_tier::tier::{Tier, TierDevices};
use support::{Call, Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 64;
/// Blocks that are dirty, of which no two are neighbours.
const DIRTY: [u64; 20] = [1, 3, 5, 7, 9, 12, 14, 17, 20, 22, 24, 27, 30, 33, 36, 40, 44, 48, 52, 60];

struct Scene {
    cache: Arc<MemoryDevice>,
    origin: Arc<MemoryDevice>,
    clock: Arc<TestClock>,
    depth: u32,
}

impl Scene {
    /// Devices and their pool, of which some blocks are dirty, durably, with a byte of 1.
    fn new(depth: u32) -> (Self, Arc<Tier>) {
        let (cache, origins) = memory_devices(LINES, 64, 1);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 1)).unwrap();
        let scene = Self { cache, origin: origins[0].clone(), clock: Arc::default(), depth };
        let tier = scene.open();
        DIRTY.iter().for_each(|block| write(&tier, *block, 1));
        tier.flush(0).unwrap();
        (scene, tier)
    }

    fn open(&self) -> Arc<Tier> {
        let devices = devices(&self.cache, std::slice::from_ref(&self.origin));
        Arc::new(Tier::open(devices, settings(self.depth), self.clock.clone()).unwrap())
    }

    /// Both devices after a loss of power, in which the cache keeps what it has synced and the origin has this fate.
    fn after_crash(&self, origin: Fate, dice: &mut Dice) -> [Vec<u8>; 2] {
        let cache = self.cache.store.lock().unwrap().after_crash(Fate::Lost, dice);
        [cache, self.origin.store.lock().unwrap().after_crash(origin, dice)]
    }

    /// Bytes of the origin's blocks that are dirty at first; 0xff where a block is mixed.
    fn on_origin(&self) -> Vec<u8> {
        let bytes = self.origin.bytes_now();
        DIRTY.iter().map(|block| whole(&bytes[(block * BLOCK) as usize..((block + 1) * BLOCK) as usize])).collect()
    }
}

fn settings(depth: u32) -> PoolSettings {
    let mut settings = pool(CacheMode::WriteBack, 1);
    settings.cleaner.depth = depth;
    settings
}

fn whole(bytes: &[u8]) -> u8 {
    if bytes.iter().all(|byte| *byte == bytes[0]) { bytes[0] } else { 0xff }
}

fn write(tier: &Tier, block: u64, byte: u8) {
    tier.write(0, block * BLOCK, &[byte; BLOCK as usize]).unwrap();
}

fn read(tier: &Tier, block: u64) -> u8 {
    let mut bytes = [0xee; BLOCK as usize];
    tier.read(0, block * BLOCK, &mut bytes).unwrap();
    whole(&bytes)
}

/// Cleans after a time without requests.
fn clean_idle(scene: &Scene, tier: &Tier) -> Result<Duration, proofload_tier::Error> {
    tier.clean()?;
    scene.clock.advance(Duration::from_secs(2));
    tier.clean()
}

/// Calls once, before the write of this number that the origin is given from now on.
fn before_write(origin: &MemoryDevice, number: u64, act: impl FnOnce() + Send + 'static) {
    let (mut act, mut writes) = (Some(act), 0);
    *origin.before.lock().unwrap() = Some(Box::new(move |call| {
        writes += u64::from(call == Call::Write);
        if writes == number
            && let Some(act) = act.take()
        {
            act();
        }
        Ok(())
    }));
}

#[test]
fn as_many_clean_writes_as_the_depth_are_under_way_and_one_sync_follows() {
    for (depth, most) in [(0, 1), (1, 1), (8, 8), (16, 16), (1_000, 20)] {
        let (scene, tier) = Scene::new(depth);
        let syncs = scene.origin.count(Call::Sync);
        clean_idle(&scene, &tier).unwrap();
        assert_eq!(scene.origin.most_open.load(Ordering::SeqCst), most, "depth {depth}");
        assert_eq!(scene.origin.count(Call::Sync) - syncs, 1, "depth {depth}");
        assert_eq!((tier.lines_of(0), scene.on_origin()), ((20, 0), vec![1; 20]));
        assert_eq!(tier.counters(0).clean_runs, 20);
    }
}

#[test]
fn a_crash_among_several_clean_writes_leaves_all_lines_dirty_and_readable() {
    for fate in [Fate::Lost, Fate::Kept, Fate::Subset, Fate::Torn(4096), Fate::Torn(512)] {
        let (scene, tier) = Scene::new(8);
        let scene = Arc::new(scene);
        let (states, looked) = (Arc::new(Mutex::new(Vec::new())), scene.clone());
        let (kept, mut dice) = (states.clone(), Dice(3));
        *scene.origin.after.lock().unwrap() = Some(Box::new(move || {
            // The parts of the last of several writes are among these, and the sync.
            kept.lock().unwrap().push(looked.after_crash(fate, &mut dice));
        }));
        clean_idle(&scene, &tier).unwrap();
        *scene.origin.after.lock().unwrap() = None;
        let states = states.lock().unwrap().split_off(0);
        assert!(states.len() > DIRTY.len(), "each write, and the sync: {}", states.len());
        for [cache, origin] in states {
            let (cache, origin) = (MemoryDevice::new(cache), MemoryDevice::new(origin));
            let left = Scene { cache, origin, clock: Arc::default(), depth: 8 };
            let tier = left.open();
            // Nothing of the cache was synced since: no line is clean although the origin may have it.
            assert_eq!(tier.lines_of(0), (20, 20), "{fate:?}");
            assert!(DIRTY.iter().all(|block| read(&tier, *block) == 1), "{fate:?}");
            assert_eq!(tier.drain(Duration::from_secs(9)).unwrap().dirty_lines, 0);
            assert_eq!(left.on_origin(), vec![1; 20], "{fate:?}");
        }
    }
}

#[test]
fn what_is_recorded_as_clean_is_on_the_origin_after_a_crash_that_keeps_only_what_was_synced() {
    let (scene, tier) = Scene::new(8);
    clean_idle(&scene, &tier).unwrap();
    tier.flush(0).unwrap();
    let [cache, origin] = scene.after_crash(Fate::Lost, &mut Dice(1));
    let (cache, origin) = (MemoryDevice::new(cache), MemoryDevice::new(origin));
    let left = Scene { cache, origin, clock: Arc::default(), depth: 8 };
    assert_eq!(left.open().lines_of(0), (20, 0));
    assert_eq!(left.on_origin(), vec![1; 20]);
}

#[test]
fn a_write_to_a_line_whose_clean_write_is_under_way_or_waits_leaves_it_dirty() {
    // Block 1 is under way before the third write, and block 60 the last that is begun.
    let (scene, tier) = Scene::new(8);
    let other = tier.clone();
    before_write(&scene.origin, 3, move || [1, 60].iter().for_each(|block| write(&other, *block, 2)));
    clean_idle(&scene, &tier).unwrap();
    scene.origin.mend();
    assert_eq!((tier.lines_of(0), tier.counters(0).cleaned_in_vain), ((20, 2), 2));
    assert_eq!(scene.on_origin(), vec![1; 20], "the lines as they were read");
    assert_eq!((read(&tier, 1), read(&tier, 60)), (2, 2));
    tier.flush(0).unwrap();
    let [cache, origin] = scene.after_crash(Fate::Kept, &mut Dice(1));
    let (cache, origin) = (MemoryDevice::new(cache), MemoryDevice::new(origin));
    let left = Scene { cache, origin, clock: Arc::default(), depth: 8 };
    let tier = left.open();
    assert_eq!((tier.lines_of(0).1, read(&tier, 1), read(&tier, 60)), (2, 2, 2));
    tier.drain(Duration::from_secs(9)).unwrap();
    assert_eq!((left.on_origin()[0], left.on_origin()[19]), (2, 2));
}

#[test]
fn a_write_that_shall_pass_to_the_origin_comes_after_the_clean_write_of_its_block() {
    let (scene, tier) = Scene::new(8);
    let other = tier.clone();
    before_write(&scene.origin, 3, move || {
        other.set_mode(0, CacheMode::WriteThrough).unwrap();
        [1, 60].iter().for_each(|block| write(&other, *block, 2));
    });
    clean_idle(&scene, &tier).unwrap();
    scene.origin.mend();
    assert_eq!(tier.counters(0).writes_to_origin, 0, "lines that are dirty take them");
    tier.drain(Duration::from_secs(9)).unwrap();
    assert_eq!((scene.on_origin()[0], scene.on_origin()[19]), (2, 2));
    write(&tier, 1, 3);
    assert_eq!((scene.on_origin()[0], tier.counters(0).writes_to_origin), (3, 1), "now it is clean");
    assert_eq!(tier.lines_of(0).1, 0);
}

#[test]
fn one_clean_write_of_several_that_fails_leaves_all_lines_dirty_and_begins_no_other() {
    let (scene, tier) = Scene::new(8);
    let writes = Arc::new(AtomicU64::new(0));
    let counted = writes.clone();
    scene.origin.fail_when(move |call| call == Call::Write && counted.fetch_add(1, Ordering::SeqCst) == 4);
    let syncs = scene.origin.count(Call::Sync);
    let error = clean_idle(&scene, &tier).unwrap_err().to_string();
    assert!(error.contains("volume 0") && error.contains(&(9 * BLOCK).to_string()), "{error}");
    assert_eq!(writes.load(Ordering::SeqCst), 5, "four were under way and were waited for");
    assert_eq!(scene.on_origin(), [[1_u8; 4].as_slice(), &[0; 16]].concat());
    assert_eq!((scene.origin.count(Call::Sync), tier.counters(0).origin_errors), (syncs, 1));
    assert_eq!((tier.lines_of(0), tier.counters(0).cleaned_lines), ((20, 20), 0));
    assert!(tier.clean().unwrap() > Duration::from_millis(50), "the cleaner pauses");
    assert_eq!(tier.drain(Duration::from_secs(9)).unwrap().dirty_lines, 0);
    assert_eq!(scene.on_origin(), vec![1; 20]);
}

#[test]
fn a_drain_and_a_detach_that_fail_among_several_writes_say_what_is_left() {
    let (scene, tier) = Scene::new(8);
    let mut writes = 0_u32;
    scene.origin.fail_when(move |call| {
        writes += u32::from(call == Call::Write);
        call == Call::Write && writes.is_multiple_of(5)
    });
    tier.drain(Duration::from_secs(9)).unwrap_err();
    assert_eq!((tier.status().dirty_lines, tier.dirty_ranges(0).len()), (20, 20));
    tier.detach(Duration::from_secs(9)).unwrap_err();
    assert_eq!((tier.status().dirty_lines, tier.dirty_ranges(0).len()), (20, 20));
    write(&tier, 2, 5);
    assert_eq!((tier.counters(0).writes_to_origin, tier.lines_of(0).1), (0, 21), "it goes on as before");
    scene.origin.mend();
    tier.detach(Duration::from_secs(9)).unwrap();
    let bytes = scene.origin.bytes_now();
    let blocks = bytes.chunks(BLOCK as usize).map(whole);
    let wanted = (0..64).map(|block| if block == 2 { 5 } else { u8::from(DIRTY.contains(&block)) });
    assert!(blocks.take(64).eq(wanted));
}

// ---- in virtual time

/// Lines that are cleaned to modelled drives: eight batches.
const SCATTERED: u64 = 2048;
/// Lines of the cache that holds them.
const LARGE: u32 = 2560;
/// Lines of a batch of the cleaner.
const BATCH: usize = 256;
/// Blocks of which one is dirty: three stripes of 64 KiB.
const SPACING: u64 = 24;
/// Bytes of the volume that is cleaned.
const VOLUME: u64 = (SCATTERED + 2) * SPACING * BLOCK;

/// A device that holds the sectors of 4 KiB that were written.
struct SparseDevice {
    bytes: u64,
    sectors: Mutex<HashMap<u64, Vec<u8>>>,
}

impl Device for SparseDevice {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let sectors = self.sectors.lock().unwrap();
        for (index, part) in (at / 4096..).zip(into.chunks_mut(4096)) {
            match sectors.get(&index) {
                Some(bytes) => part.copy_from_slice(&bytes[..part.len()]),
                None => part.fill(0),
            }
        }
        Ok(())
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        assert!((at | from.len() as u64).is_multiple_of(4096), "whole sectors");
        let mut sectors = self.sectors.lock().unwrap();
        sectors.extend((at / 4096..).zip(from.chunks(4096).map(<[u8]>::to_vec)));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Positions of scattered lines in their order, of which no two are neighbours.
fn places() -> Vec<u64> {
    let mut dice = Dice(5);
    (1..=SCATTERED).map(|index| (index * SPACING + dice.below(SPACING - 1)) * BLOCK).collect()
}

fn drives(layout: ArrayLayout) -> DiskArray {
    DiskArray::new(layout, 8, DriveProfile::RPM_7200, Scheduling::Sptf, 0).spread(0.3, VOLUME)
}

/// Time that a drain takes with so many writes at once, ms.
fn drained_ms(layout: ArrayLayout, depth: u32) -> f64 {
    let clock = Arc::new(TestClock::default());
    let (cache, _) = memory_devices(LARGE, 1, 1);
    let stored = Arc::new(SparseDevice { bytes: VOLUME + 4096, sectors: Mutex::default() });
    let devices = |origin: Arc<dyn Device>| TierDevices { cache: cache.clone(), origins: vec![origin] };
    Tier::format(&devices(stored.clone()), &format_settings(8192, LARGE, 1)).unwrap();
    let slow = ModelledDisk::new(stored.clone(), drives(layout), clock.clone());
    let tier = Tier::open(devices(Arc::new(slow)), settings(depth), clock.clone()).unwrap();
    places().iter().for_each(|at| tier.write(0, *at, &[7; BLOCK as usize]).unwrap());
    let begin = clock.now();
    assert_eq!(tier.drain(Duration::from_secs(600)).unwrap().dirty_lines, 0);
    let took = clock.now().saturating_sub(begin);
    assert_eq!(tier.counters(0).clean_runs, SCATTERED);
    for at in places() {
        let mut bytes = [0; BLOCK as usize];
        stored.read_at(at, &mut bytes).unwrap();
        assert_eq!(whole(&bytes), 7, "byte {at}");
    }
    took.as_secs_f64() * 1e3
}

/// Time that the model says for the same writes with so many under way at once, without any tier, ms.
fn modelled_ms(layout: ArrayLayout, depth: usize) -> f64 {
    let mut array = drives(layout);
    places().chunks(BATCH).fold(0.0, |now, batch| batch_ms(&mut array, now, batch, depth))
}

/// Time at which the last write of a batch is done that begins at a time, ms.
fn batch_ms(array: &mut DiskArray, begin: f64, places: &[u64], depth: usize) -> f64 {
    let mut left = places.iter();
    let (mut now, mut open, mut decided) = (begin, Vec::new(), Vec::<f64>::new());
    loop {
        while open.len() + decided.len() < depth
            && let Some(at) = left.next()
        {
            open.push(array.submit(now, DiskRequest { at: *at, bytes: BLOCK, is_write: true }));
        }
        if open.is_empty() && decided.is_empty() {
            return now;
        }
        let mut next = f64::INFINITY;
        open.retain(|name| match array.progress(*name, now) {
            Progress::Done(done) => {
                decided.push(done);
                false
            }
            Progress::Open(time) => {
                next = next.min(time);
                true
            }
        });
        now = decided.iter().copied().fold(next, f64::min);
        decided.retain(|done| *done > now);
    }
}

#[test]
fn eight_clean_writes_at_once_are_as_much_faster_than_one_as_the_drives_say() {
    for (layout, least) in [(ArrayLayout::Raid0, 4.0), (ArrayLayout::Raid5, 3.0)] {
        let (one, eight) = (drained_ms(layout, 1), drained_ms(layout, 8));
        let predicted = modelled_ms(layout, 1) / modelled_ms(layout, 8);
        let factor = one / eight;
        assert!((factor / predicted - 1.0).abs() < 0.15, "{layout:?}: {factor:.2}, predicted {predicted:.2}");
        assert!(factor > least, "{layout:?}: {one:.0} ms one at a time, {eight:.0} ms with eight");
    }
}

#[test]
fn a_single_drive_that_serves_in_order_gains_nothing() {
    let array = || DiskArray::new(ArrayLayout::Single, 1, DriveProfile::RPM_7200, Scheduling::Fcfs, 0);
    let time = |depth: usize| {
        let clock = Arc::new(TestClock::default());
        let disk = ModelledDisk::new(MemoryDevice::new(vec![0; 4 << 20]), array(), clock.clone());
        let places = (0..64).map(|index| (index * 37 % 64) << 16);
        let writes: Vec<_> = places.map(|at| DeviceWrite { at, bytes: &[3; 4096] }).collect();
        disk.write_several(&writes, depth).unwrap();
        let overshoot = disk.overshoot();
        assert_eq!((overshoot.late.count(), overshoot.outrun.count()), (64, 0));
        assert!(overshoot.share() < 1e-6, "a clock of tests is never late");
        clock.now().as_secs_f64()
    };
    let ratio = time(1) / time(8);
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}
