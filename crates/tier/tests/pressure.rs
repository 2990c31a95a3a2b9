//! A pool under pressure: syncs that arrive while the journal is full, origins that are slow or fail under dirty lines, and the marks
//! at which the cleaner and the writes change what they do.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use proofload_tier::layout::Geometry;
use proofload_tier::machine::{CacheMode, CleanerSettings, PoolSettings};
use proofload_tier::tier::{FormatSettings, Tier};
use support::{Call, Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

/// Bytes of a line, and of all requests here.
const BLOCK: u64 = 8192;
/// Lines of the caches here, but for those with a small journal.
const LINES: u32 = 64;
/// Longest time that a device waits for the test, on any host.
const PATIENCE: Duration = Duration::from_secs(60);

struct Scene {
    cache: Arc<MemoryDevice>,
    origin: Arc<MemoryDevice>,
    clock: Arc<TestClock>,
    tier: Arc<Tier>,
}

impl Scene {
    fn new(cleaner: CleanerSettings) -> Self {
        let (cache, origins) = memory_devices(LINES, 256, 1);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 1)).unwrap();
        let clock = Arc::new(TestClock::default());
        let settings = PoolSettings { cleaner, ..pool(CacheMode::WriteBack, 1) };
        let tier = Arc::new(Tier::open(devices(&cache, &origins), settings, clock.clone()).unwrap());
        Self { cache, origin: origins[0].clone(), clock, tier }
    }

    fn write(&self, blocks: std::ops::Range<u64>, byte: u8) {
        blocks.for_each(|block| self.tier.write(0, block * BLOCK, &[byte; BLOCK as usize]).unwrap());
    }

    /// First byte of a block as it is read.
    fn read(&self, block: u64) -> u8 {
        let mut bytes = [0xee; BLOCK as usize];
        self.tier.read(0, block * BLOCK, &mut bytes).unwrap();
        bytes[0]
    }

    fn dirty(&self) -> u32 {
        self.tier.lines_of(0).1
    }
}

// ---- a full journal

const SMALL_LINES: u32 = 2048;
/// Blocks whose records are more than the small journal takes.
const MANY: u64 = 1_000;

/// A pool of lines of 4 KiB whose journal takes some 600 records before a checkpoint must be made.
fn with_small_journal() -> (Arc<MemoryDevice>, Arc<MemoryDevice>, Tier) {
    let geometry = Geometry { journal_blocks: 4, ..Geometry::new(4096, SMALL_LINES).unwrap() };
    let cache = MemoryDevice::new(vec![0; geometry.bytes() as usize]);
    let origin = MemoryDevice::new(vec![0; ((MANY + 100) * 4096) as usize]);
    let settings = FormatSettings { journal_blocks: Some(4), ..format_settings(4096, SMALL_LINES, 1) };
    Tier::format(&devices(&cache, std::slice::from_ref(&origin)), &settings).unwrap();
    let tier = open_small(&cache, &origin);
    (cache, origin, tier)
}

fn open_small(cache: &Arc<MemoryDevice>, origin: &Arc<MemoryDevice>) -> Tier {
    let devices = devices(cache, std::slice::from_ref(origin));
    Tier::open(devices, pool(CacheMode::WriteBack, 1), Arc::new(TestClock::default())).unwrap()
}

fn write_small(tier: &Tier, block: u64, byte: u8) {
    tier.write(0, block * 4096, &[byte; 4096]).unwrap();
}

/// Blocks whose content is not this byte in a pool that is opened from what a loss of power leaves.
fn lost_blocks(cache: Vec<u8>, origin: Vec<u8>, blocks: u64, byte: u8) -> usize {
    let tier = open_small(&MemoryDevice::new(cache), &MemoryDevice::new(origin));
    let is_lost = |block: &u64| {
        let mut bytes = [0xee; 4096];
        tier.read(0, block * 4096, &mut bytes).unwrap();
        bytes != [byte; 4096]
    };
    (0..blocks).filter(is_lost).count()
}

#[test]
fn syncs_that_arrive_while_a_full_journal_makes_room_return_when_all_is_durable() {
    let (cache, origin, tier) = with_small_journal();
    (0..MANY).for_each(|block| write_small(&tier, block, 7));
    let on_origin = [Call::Read, Call::Write, Call::Sync].map(|call| origin.count(call));
    // From the second sync of the first flush on its commit has left records out, and a checkpoint follows.
    let starts: Vec<(Sender<()>, Receiver<()>)> = (0..4).map(|_| channel()).collect();
    let (senders, receivers): (Vec<Sender<()>>, Vec<Receiver<()>>) = starts.into_iter().unzip();
    let (mut senders, mut syncs) = (senders, 0);
    *cache.before.lock().unwrap() = Some(Box::new(move |call| {
        syncs += u32::from(call == Call::Sync);
        if syncs == 2 {
            senders.drain(..).for_each(|sender: Sender<()>| sender.send(()).unwrap());
        }
        Ok(())
    }));
    let after_flush = |tier: &Tier| {
        tier.flush(0).unwrap();
        cache.store.lock().unwrap().after_crash(Fate::Lost, &mut Dice(1))
    };
    let states: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let (tier, after_flush) = (&tier, &after_flush);
        let other = |start: Receiver<()>| {
            scope.spawn(move || {
                start.recv_timeout(PATIENCE).unwrap();
                after_flush(tier)
            })
        };
        let others: Vec<_> = receivers.into_iter().map(other).collect();
        let first = after_flush(tier);
        others.into_iter().map(|other| other.join().unwrap()).chain([first]).collect()
    });
    assert_eq!([Call::Read, Call::Write, Call::Sync].map(|call| origin.count(call)), on_origin, "no slow device");
    for state in states {
        assert_eq!(lost_blocks(state, origin.bytes_now(), MANY, 7), 0);
    }
}

#[test]
fn a_sync_whose_journal_cannot_make_room_fails_and_loses_nothing_that_was_synced() {
    let (cache, origin, tier) = with_small_journal();
    (0..10).for_each(|block| write_small(&tier, block, 7));
    tier.flush(0).unwrap();
    (10..MANY).for_each(|block| write_small(&tier, block, 8));
    // The first two syncs are those of the commit that fills the journal, the third that of the checkpoint.
    let mut syncs = 0;
    cache.fail_when(move |call| {
        syncs += u32::from(call == Call::Sync);
        call == Call::Sync && syncs == 3
    });
    let error = tier.flush(0).unwrap_err().to_string();
    assert!(tier.flush(0).is_err() && tier.write(0, 0, &[9; 4096]).is_err(), "the volume has failed: {error}");
    cache.mend();
    let left = cache.store.lock().unwrap().after_crash(Fate::Lost, &mut Dice(1));
    assert_eq!(lost_blocks(left, origin.bytes_now(), 10, 7), 0);
}

// ---- slow and erring origins

#[test]
fn dirty_lines_before_an_origin_that_fails_stay_and_are_tried_later_and_later() {
    let scene = Scene::new(CleanerSettings::usual());
    scene.write(0..20, 1);
    scene.tier.flush(0).unwrap();
    scene.origin.fail_when(|call| call == Call::Write);
    scene.tier.clean().unwrap();
    scene.clock.advance(Duration::from_secs(2));
    let mut pauses = Vec::new();
    for _ in 0..10 {
        assert!(scene.tier.clean().is_err());
        let pause = scene.tier.clean().unwrap();
        pauses.push(pause.as_millis());
        scene.clock.advance(pause);
    }
    assert_eq!(pauses, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
    assert_eq!((scene.dirty(), scene.tier.counters(0).origin_errors), (20, 10));
    // Reads take all other lines, again and again: no line whose content is on the cache alone is given up.
    for block in (20..256).chain(20..256) {
        scene.read(block);
        scene.tier.tend().unwrap();
    }
    assert_eq!(scene.dirty(), 20);
    let before = scene.tier.counters(0).read_hits;
    assert!((0..20).all(|block| scene.read(block) == 1));
    assert_eq!(scene.tier.counters(0).read_hits - before, 20, "from the cache");
    scene.origin.mend();
    scene.clock.advance(Duration::from_secs(20));
    scene.tier.clean().unwrap();
    assert_eq!(scene.dirty(), 0);
    assert!((0..20).all(|block| scene.origin.bytes_now()[(block * BLOCK) as usize] == 1));
}

#[test]
fn hits_and_syncs_do_not_wait_for_a_clean_write_that_takes_long() {
    let scene = Scene::new(CleanerSettings::usual());
    scene.write(0..20, 1);
    scene.tier.flush(0).unwrap();
    scene.tier.clean().unwrap();
    scene.clock.advance(Duration::from_secs(2));
    let ((begun, begins), (end, ends)) = (channel(), channel::<()>());
    *scene.origin.before.lock().unwrap() = Some(Box::new(move |call| {
        if call == Call::Write && begun.send(()).is_ok() {
            let waited = ends.recv_timeout(PATIENCE);
            return waited.map_err(|_| io::Error::other("somebody waited for the clean write"));
        }
        Ok(())
    }));
    std::thread::scope(|scope| {
        let cleaner = scope.spawn(|| scene.tier.clean());
        begins.recv_timeout(PATIENCE).unwrap();
        assert!((0..20).all(|block| scene.read(block) == 1));
        scene.write(5..6, 2);
        scene.tier.flush(0).unwrap();
        assert_eq!(scene.dirty(), 20, "nothing is clean before it is durable on the origin");
        // With nobody to wait for, all other writes of the batch are done at once.
        drop(begins);
        end.send(()).unwrap();
        cleaner.join().unwrap().unwrap();
    });
    assert_eq!((scene.dirty(), scene.tier.counters(0).cleaned_in_vain), (1, 1), "the one that was written meanwhile");
    let left = scene.cache.store.lock().unwrap().after_crash(Fate::Lost, &mut Dice(1));
    scene.origin.mend();
    let cache = MemoryDevice::new(left);
    let settings = pool(CacheMode::WriteBack, 1);
    let devices = devices(&cache, std::slice::from_ref(&scene.origin));
    let tier = Tier::open(devices, settings, Arc::new(TestClock::default())).unwrap();
    let mut bytes = [0; BLOCK as usize];
    tier.read(0, 5 * BLOCK, &mut bytes).unwrap();
    assert_eq!(bytes, [2; BLOCK as usize]);
}

// ---- marks and depth

#[test]
fn the_cleaner_works_without_pause_between_the_marks_that_were_asked_for() {
    // 20 of 64 lines are 31 %; no time passes.
    for (from, to, left) in [(0.5, 0.45, 20), (0.30, 0.25, 16)] {
        let marks = CleanerSettings { urgent_from: from, urgent_to: to, batch_lines: 4, ..CleanerSettings::usual() };
        let scene = Scene::new(marks);
        scene.write(0..20, 1);
        let mut rests = 0;
        while rests == 0 {
            rests += u32::from(!scene.tier.clean().unwrap().is_zero());
        }
        // 25 % are 16 lines: the batch that ends there is the last.
        assert_eq!(scene.dirty(), left, "from {from}");
    }
}

#[test]
fn new_writes_go_to_the_origin_from_the_mark_on_that_was_asked_for() {
    for (bypass_from, absorbed) in [(0.25, 16), (0.5, 32), (0.9, 40)] {
        let scene = Scene::new(CleanerSettings { bypass_from, ..CleanerSettings::usual() });
        scene.write(0..40, 1);
        let counters = scene.tier.counters(0);
        assert_eq!((counters.writes_absorbed, u64::from(scene.dirty())), (absorbed, absorbed), "from {bypass_from}");
        assert_eq!(counters.writes_to_origin, 40 - absorbed, "from {bypass_from}");
        assert_eq!(scene.tier.status().marks.bypass_from, (bypass_from * 10_000.0) as u32);
    }
}

#[test]
fn a_volume_has_the_lines_of_its_quota_also_when_another_came_first() {
    let (cache, origins) = memory_devices(LINES, 256, 2);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 2)).unwrap();
    let mut settings = pool(CacheMode::WriteBack, 2);
    settings.volumes[0].quota_lines = Some(48);
    settings.volumes[1].quota_lines = Some(16);
    let tier = Tier::open(devices(&cache, &origins), settings, Arc::new(TestClock::default())).unwrap();
    let read = |volume: u8, blocks: std::ops::Range<u64>| {
        for block in blocks {
            tier.read(volume, block * BLOCK, &mut [0; BLOCK as usize]).unwrap();
            tier.tend().unwrap();
        }
    };
    read(0, 0..200);
    assert!((40..=48).contains(&tier.lines_of(0).0), "{:?}", tier.lines_of(0));
    read(1, 0..200);
    assert!((8..=16).contains(&tier.lines_of(1).0), "{:?}", tier.lines_of(1));
    assert!((40..=48).contains(&tier.lines_of(0).0), "{:?}", tier.lines_of(0));
    let quotas = tier.snapshot().volumes.into_iter().map(|volume| volume.quota_lines);
    assert_eq!(quotas.collect::<Vec<_>>(), [Some(48), Some(16)]);
}

/// A pool of two volumes with these quotas, on devices that were formatted.
fn parted(cache: &Arc<MemoryDevice>, origins: &[Arc<MemoryDevice>], quotas: [Option<u32>; 2]) -> Tier {
    let mut settings = pool(CacheMode::WriteBack, 2);
    settings.volumes.iter_mut().zip(quotas).for_each(|(volume, quota)| volume.quota_lines = quota);
    Tier::open(devices(cache, origins), settings, Arc::new(TestClock::default())).unwrap()
}

/// Formatted devices of a pool of two volumes.
fn two_volumes() -> (Arc<MemoryDevice>, Vec<Arc<MemoryDevice>>) {
    let (cache, origins) = memory_devices(LINES, 256, 2);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 2)).unwrap();
    (cache, origins)
}

fn read_blocks(tier: &Tier, volume: u8, blocks: std::ops::Range<u64>) {
    for block in blocks {
        tier.read(volume, block * BLOCK, &mut [0; BLOCK as usize]).unwrap();
        tier.tend().unwrap();
    }
}

fn write_block(tier: &Tier, volume: u8, block: u64) {
    tier.write(volume, block * BLOCK, &[1; BLOCK as usize]).unwrap();
}

#[test]
fn a_small_quota_is_cleaned_before_it_is_all_dirty_and_other_volumes_are_left_alone() {
    let (cache, origins) = two_volumes();
    let tier = parted(&cache, &origins, [Some(56), Some(8)]);
    (0..5).for_each(|block| write_block(&tier, 0, block));
    for block in 0..40 {
        write_block(&tier, 1, block);
        read_blocks(&tier, 0, block + 100..block + 101);
        tier.clean().unwrap();
    }
    // All eight lines are an eighth of the pool, which is less than the wanted share.
    let absorbed = tier.counters(1).writes_absorbed;
    assert!(absorbed >= 36, "{absorbed} of 40");
    assert_eq!(tier.lines_of(0).1, 5, "of this volume no more is dirty than wanted");
}

#[test]
fn a_write_at_a_full_quota_waits_for_no_commit_of_lines_that_another_volume_gives_up() {
    let (cache, origins) = two_volumes();
    let tier = parted(&cache, &origins, [Some(56), Some(8)]);
    (0..8).for_each(|block| write_block(&tier, 1, block));
    read_blocks(&tier, 0, 0..60);
    tier.flush(1).unwrap();
    assert_eq!(tier.lines_of(1), (8, 8));
    for block in 100..110 {
        // Takes a line that a crash would bring back: it is free once a commit is done.
        tier.read(0, block * BLOCK, &mut [0; BLOCK as usize]).unwrap();
        let syncs = cache.count(Call::Sync);
        write_block(&tier, 1, block);
        assert_eq!(cache.count(Call::Sync), syncs, "block {block}");
    }
    assert_eq!(tier.counters(1).writes_bypassed, 10);
}

#[test]
fn a_volume_that_holds_more_than_its_new_quota_gives_it_up_to_others_and_by_its_own_reads() {
    for by_own_reads in [false, true] {
        let (cache, origins) = two_volumes();
        let tier = parted(&cache, &origins, [None, None]);
        read_blocks(&tier, 1, 0..100);
        assert!(tier.lines_of(1).0 > 50, "{:?}", tier.lines_of(1));
        tier.close().unwrap();
        let tier = parted(&cache, &origins, [Some(48), Some(16)]);
        if by_own_reads {
            read_blocks(&tier, 1, 100..200);
        } else {
            read_blocks(&tier, 0, 0..200);
            assert!((40..=48).contains(&tier.lines_of(0).0), "{:?}", tier.lines_of(0));
        }
        let lines = tier.lines_of(1).0;
        assert!(lines <= if by_own_reads { 16 } else { 24 }, "{lines}");
    }
}

#[test]
fn a_depth_that_is_tuned_grows_while_the_origin_gains_by_it() {
    // Only without requests, all at once: each round is one batch.
    let settings =
        CleanerSettings { depth: 2, tunes_depth: true, most_lines_per_second: 0.0, ..CleanerSettings::usual() };
    let scene = Scene::new(settings);
    // The origin takes 800 ms for a batch with one write at a time, and gains by each of up to four.
    let depth = Arc::new(AtomicU32::new(2));
    let (clock, seen) = (scene.clock.clone(), depth.clone());
    *scene.origin.before.lock().unwrap() = Some(Box::new(move |call| {
        if call == Call::Sync {
            clock.advance(Duration::from_millis(800) / seen.load(Ordering::SeqCst).min(4));
        }
        Ok(())
    }));
    let mut used = Vec::new();
    for _ in 0..12 {
        depth.store(scene.tier.status().clean_depth, Ordering::SeqCst);
        used.push(scene.tier.status().clean_depth);
        scene.write(0..20, 1);
        scene.tier.clean().unwrap();
        scene.clock.advance(Duration::from_secs(2));
        scene.tier.clean().unwrap();
        assert_eq!(scene.dirty(), 0);
    }
    // Neighbours are one write: they decide nothing.
    assert_eq!(used, [2; 12]);
    for _ in 0..8 {
        depth.store(scene.tier.status().clean_depth, Ordering::SeqCst);
        used.push(scene.tier.status().clean_depth);
        (0..20).for_each(|block| scene.write(block * 3..block * 3 + 1, 1));
        scene.tier.clean().unwrap();
        scene.clock.advance(Duration::from_secs(2));
        scene.tier.clean().unwrap();
        assert_eq!(scene.dirty(), 0);
    }
    assert_eq!(used[12..], [2, 2, 4, 4, 8, 8, 4, 4]);
    assert!(scene.tier.status().tunes_depth);
}
