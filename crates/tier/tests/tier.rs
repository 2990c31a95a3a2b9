//! The cache on devices in memory: what it serves, what it refuses, what it counts.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::machine::CacheMode;
use proofload_tier::tier::Tier;
use support::{Call, MemoryDevice, TestClock, devices, format_settings, identity, memory_devices, pool};

const BLOCK: u64 = 8192;

struct Bed {
    cache: Arc<MemoryDevice>,
    origins: Vec<Arc<MemoryDevice>>,
    clock: Arc<TestClock>,
}

impl Bed {
    fn new(lines: u32, blocks: usize, volumes: usize) -> Self {
        let (cache, origins) = memory_devices(lines, blocks, volumes);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, lines, volumes as u8)).unwrap();
        Self { cache, origins, clock: Arc::default() }
    }

    fn open(&self, mode: CacheMode) -> Tier {
        Tier::open(devices(&self.cache, &self.origins), pool(mode, self.origins.len()), self.clock.clone()).unwrap()
    }

    fn refused(&self) -> String {
        let settings = pool(CacheMode::WriteBack, self.origins.len());
        match Tier::open(devices(&self.cache, &self.origins), settings, self.clock.clone()) {
            Ok(_) => panic!("it was opened"),
            Err(error) => {
                assert!(error.is_mismatch(), "{error}");
                error.to_string()
            }
        }
    }

    fn origin_calls(&self) -> u64 {
        let calls = [Call::Read, Call::Write, Call::Sync];
        self.origins.iter().map(|origin| calls.iter().map(|call| origin.count(*call)).sum::<u64>()).sum()
    }
}

fn block_of(byte: u8) -> Vec<u8> {
    vec![byte; BLOCK as usize]
}

fn read(tier: &Tier, block: u64) -> Vec<u8> {
    let mut bytes = block_of(0xee);
    tier.read(0, block * BLOCK, &mut bytes).unwrap();
    bytes
}

/// Cleans after a time without requests.
fn clean_idle(bed: &Bed, tier: &Tier) -> Result<Duration, proofload_tier::Error> {
    tier.clean()?;
    bed.clock.advance(Duration::from_secs(2));
    tier.clean()
}

const MODES: [CacheMode; 4] = [CacheMode::Pass, CacheMode::WriteAround, CacheMode::WriteThrough, CacheMode::WriteBack];

#[test]
fn every_mode_reads_what_was_written_also_across_blocks_and_inside_sectors() {
    for mode in MODES {
        let bed = Bed::new(16, 64, 1);
        let tier = bed.open(mode);
        let mut model = vec![0_u8; 64 * BLOCK as usize];
        let mut dice = support::Dice(5);
        for step in 0..3_000_u32 {
            let length = [512, 1_000, 4_096, 8_192, 20_000][dice.below(5) as usize];
            let at = dice.below(64 * BLOCK - length);
            if dice.one_in(3) {
                let bytes = vec![step as u8; length as usize];
                tier.write(0, at, &bytes).unwrap();
                model[at as usize..(at + length) as usize].copy_from_slice(&bytes);
            } else if dice.one_in(20) {
                tier.discard(0, at, length).unwrap();
                model[at as usize..(at + length) as usize].fill(0);
            }
            let mut bytes = vec![0; length as usize];
            tier.read(0, at, &mut bytes).unwrap();
            assert!(bytes == model[at as usize..(at + length) as usize], "{mode:?} step {step}");
            if step % 50 == 0 {
                tier.flush(0).unwrap();
                tier.clean().unwrap();
                bed.clock.advance(Duration::from_millis(300));
            }
        }
    }
}

#[test]
fn a_write_back_flush_costs_two_syncs_of_the_cache_and_nothing_of_the_origin() {
    let bed = Bed::new(256, 512, 1);
    let tier = bed.open(CacheMode::WriteBack);
    for block in 0..100 {
        tier.write(0, block * BLOCK, &block_of(7)).unwrap();
    }
    let (origin, syncs) = (bed.origin_calls(), bed.cache.count(Call::Sync));
    tier.flush(0).unwrap();
    assert_eq!(bed.cache.count(Call::Sync) - syncs, 2);
    tier.write(0, 0, &block_of(8)).unwrap();
    tier.flush(0).unwrap();
    assert_eq!(bed.cache.count(Call::Sync) - syncs, 3, "an overwrite in place maps nothing");
    tier.flush(0).unwrap();
    assert_eq!(bed.cache.count(Call::Sync) - syncs, 3, "nothing was written");
    assert_eq!(bed.origin_calls(), origin);
}

#[test]
fn hits_are_counted_both_ways() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 0, &block_of(1)).unwrap();
    tier.write(0, 0, &block_of(2)).unwrap();
    read(&tier, 0);
    read(&tier, 1);
    read(&tier, 1);
    tier.write(0, 2 * BLOCK, &[3; 4096]).unwrap();
    read(&tier, 2);
    let counters = tier.counters(0);
    assert_eq!((counters.writes, counters.write_hits, counters.writes_absorbed), (3, 1, 3));
    assert_eq!((counters.reads, counters.read_hits), (4, 2));
    assert_eq!((counters.read_partial_hits, counters.read_misses), (1, 1));
    assert_eq!(tier.latencies(0, proofload_tier::tier::LatencyClass::Hit).count(), 5);
}

#[test]
fn a_restart_is_warm_and_a_crash_makes_nothing_dirty() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    for block in 0..20 {
        read(&tier, block);
    }
    tier.write(0, 30 * BLOCK, &block_of(9)).unwrap();
    tier.flush(0).unwrap();
    drop(tier);
    let tier = bed.open(CacheMode::WriteBack);
    assert!(tier.status().after_crash);
    assert_eq!(tier.lines_of(0), (21, 1));
    let before = bed.origin_calls();
    assert_eq!(read(&tier, 30), block_of(9));
    (0..20).for_each(|block| _ = read(&tier, block));
    assert_eq!(bed.origin_calls(), before, "all of it was warm");
    tier.close().unwrap();
    let tier = bed.open(CacheMode::WriteBack);
    assert!(!tier.status().after_crash);
    assert_eq!(tier.lines_of(0), (21, 1));
}

#[test]
fn what_is_resident_and_would_be_absorbed_is_told_without_a_count() {
    let bed = Bed::new(16, 16, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 8192, &[1; 8192]).unwrap();
    tier.write(0, 2 * 8192, &[1; 4096]).unwrap();
    let before = tier.counters(0);
    let resident = |at, length| tier.is_resident(0, at, length);
    assert!(resident(8192, 8192 + 4096) && resident(9000, 10));
    assert!(!resident(8192, 8192 + 4097) && !resident(0, 8193) && !resident(1 << 40, 1));
    let absorbed = |at, length| tier.would_absorb(0, at, length);
    assert!(absorbed(0, 4096) && absorbed(9000, 10) && !absorbed(0, 512) && !absorbed(1 << 40, 4096));
    tier.set_mode(0, CacheMode::WriteThrough).unwrap();
    assert!(!tier.would_absorb(0, 0, 4096));
    assert_eq!(tier.counters(0), before);
}

#[test]
fn rule_6_devices_that_do_not_belong_together_are_refused_by_name() {
    let bed = Bed::new(16, 16, 2);
    let (young_cache, young_origin) = (bed.cache.bytes_now(), bed.origins[0].bytes_now());
    bed.open(CacheMode::WriteBack).close().unwrap();
    let now = bed.cache.bytes_now();

    let old_cache = Bed { cache: MemoryDevice::new(young_cache), origins: bed.origins.clone(), clock: Arc::default() };
    let text = old_cache.refused();
    assert!(text.contains("the cache: it was opened 0 times and the origin 1 times"), "{text}");

    let old_origin = vec![MemoryDevice::new(young_origin), bed.origins[1].clone()];
    let old_origin = Bed { cache: bed.cache.clone(), origins: old_origin, clock: Arc::default() };
    let text = old_origin.refused();
    assert!(text.contains("origin 0: it was opened 0 times and the cache 1 times"), "{text}");

    let swapped = vec![bed.origins[1].clone(), bed.origins[0].clone()];
    let swapped = Bed { cache: bed.cache.clone(), origins: swapped, clock: Arc::default() };
    let text = swapped.refused();
    assert!(text.contains("failed to open origin 0") && text.contains(&identity(100).to_string()), "{text}");

    let other = Bed::new(16, 16, 2);
    let foreign = Bed { cache: other.cache, origins: bed.origins.clone(), clock: Arc::default() };
    assert!(foreign.refused().contains("older"), "a cache with the same name that was never opened with them");

    let empty =
        Bed { cache: MemoryDevice::new(vec![0; now.len()]), origins: bed.origins.clone(), clock: Arc::default() };
    assert!(empty.refused().contains("the cache: it is missing"));
    let blank = vec![MemoryDevice::new(vec![0; 16 * 8192 + 4096]), bed.origins[1].clone()];
    let blank = Bed { cache: bed.cache.clone(), origins: blank, clock: Arc::default() };
    assert!(blank.refused().contains("origin 0: it is missing"));
    let cut = vec![MemoryDevice::new(vec![0; 8192]), bed.origins[1].clone()];
    let cut = Bed { cache: bed.cache.clone(), origins: cut, clock: Arc::default() };
    assert!(cut.refused().contains("was it truncated?"));

    let one = Bed { cache: bed.cache.clone(), origins: bed.origins[..1].to_vec(), clock: Arc::default() };
    assert!(one.refused().contains("2 origins"));
    bed.open(CacheMode::WriteBack);
}

/// Lets the reads of the cache with these numbers fail, counted from 1; the first two are those of the superblocks.
fn fail_reads(bed: &Bed, numbers: std::ops::RangeInclusive<u32>) {
    let mut reads = 0;
    bed.cache.fail_when(move |call| {
        reads += u32::from(call == Call::Read);
        call == Call::Read && numbers.contains(&reads)
    });
}

/// The same devices as they are now, with a clock of their own.
fn copy_of(bed: &Bed) -> Bed {
    let copy = |device: &Arc<MemoryDevice>| MemoryDevice::new(device.bytes_now());
    Bed { cache: copy(&bed.cache), origins: bed.origins.iter().map(copy).collect(), clock: Arc::default() }
}

fn refusal(bed: &Bed) -> String {
    let tier = Tier::open(devices(&bed.cache, &bed.origins), pool(CacheMode::WriteBack, 1), bed.clock.clone());
    tier.err().unwrap().to_string()
}

#[test]
fn one_superblock_that_cannot_be_read_is_done_without() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 3 * BLOCK, &block_of(5)).unwrap();
    tier.flush(0).unwrap();
    let crashed = copy_of(&bed);
    tier.close().unwrap();
    for (left, name) in [(&crashed, "crashed"), (&bed, "closed")] {
        for copy in 1..=2 {
            let bed = copy_of(left);
            fail_reads(&bed, copy..=copy);
            let tier = bed.open(CacheMode::WriteBack);
            assert!(tier.status().after_crash, "{name} {copy}: what the copy said is unknown");
            assert_eq!((read(&tier, 3), tier.lines_of(0)), (block_of(5), (1, 1)), "{name} {copy}");
            tier.write(0, 4 * BLOCK, &block_of(6)).unwrap();
            tier.flush(0).unwrap();
            drop(tier);
            let tier = copy_of(&bed).open(CacheMode::WriteBack);
            assert_eq!((read(&tier, 3), read(&tier, 4)), (block_of(5), block_of(6)), "{name} {copy}");
        }
        let bed = copy_of(left);
        fail_reads(&bed, 1..=2);
        assert!(refusal(&bed).contains("read a superblock of the cache"), "{name}");
    }
}

#[test]
fn an_older_superblock_is_refused_where_the_newer_one_cannot_be_read() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 3 * BLOCK, &block_of(5)).unwrap();
    tier.checkpoint().unwrap();
    tier.write(0, 4 * BLOCK, &block_of(6)).unwrap();
    tier.flush(0).unwrap();
    drop(tier);
    // The superblock of the checkpoint is at the first place.
    fail_reads(&bed, 1..=1);
    assert!(refusal(&bed).contains("read a superblock of the cache"));
    bed.cache.mend();
    assert_eq!(read(&bed.open(CacheMode::WriteBack), 4), block_of(6));
}

#[test]
fn rule_6_a_cache_that_fails_with_dirty_lines_stops_the_volume_and_names_them() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 3 * BLOCK, &block_of(1)).unwrap();
    bed.cache.fail_when(|call| call == Call::Read);
    let mut bytes = block_of(0);
    tier.read(0, 3 * BLOCK, &mut bytes).unwrap_err();
    bed.cache.mend();
    let error = tier.read(0, 3 * BLOCK, &mut bytes).unwrap_err();
    assert!(error.is_fail_stop() && error.to_string().contains("bytes 24576 to 32768"), "{error}");
    assert_eq!(tier.dirty_ranges(0), vec![24576..32768]);
    assert!(tier.flush(0).is_err() && tier.write(0, 0, &bytes).is_err());
}

#[test]
fn rule_6_a_cache_that_fails_without_dirty_lines_is_done_without() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    read(&tier, 1);
    bed.cache.fail_when(|call| call == Call::Read);
    assert_eq!(read(&tier, 1), block_of(0));
    bed.cache.mend();
    let lost = std::sync::atomic::AtomicU64::new(0);
    bed.cache.fail_when(move |call| call == Call::Write && lost.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0);
    tier.write(0, 5 * BLOCK, &block_of(4)).unwrap();
    bed.cache.mend();
    assert_eq!(read(&tier, 5), block_of(4));
    assert_eq!(bed.origins[0].bytes_now()[5 * 8192], 4, "it went to the origin");
    tier.flush(0).unwrap();
    assert_eq!(tier.counters(0).cache_errors, 2);
    assert!(tier.is_degraded(0) && !tier.is_degraded(1));
    let volume = tier.snapshot().volumes[0].clone();
    assert_eq!((volume.mode, volume.failed), (CacheMode::Pass, false), "the mode in force is told");
    assert_eq!(volume.counters.writes_bypassed, 0, "no write of a write-back volume");
    assert!(!tier.would_absorb(0, 0, BLOCK));
}

#[test]
fn rule_6_an_origin_that_fails_while_cleaning_leaves_lines_dirty_and_is_tried_later() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 0, &block_of(6)).unwrap();
    bed.origins[0].fail_when(|call| call == Call::Write);
    clean_idle(&bed, &tier).unwrap_err();
    let pause = tier.clean().unwrap();
    assert!(pause > Duration::from_millis(50), "{pause:?}");
    assert_eq!(tier.lines_of(0), (1, 1));
    bed.origins[0].mend();
    bed.clock.advance(pause + Duration::from_secs(2));
    tier.clean().unwrap();
    assert_eq!(tier.lines_of(0), (1, 0));
    assert_eq!(bed.origins[0].bytes_now()[0], 6);
}

#[test]
fn rule_2_a_flipped_bit_of_a_clean_line_is_found_and_the_origin_read() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 0, &block_of(3)).unwrap();
    clean_idle(&bed, &tier).unwrap();
    tier.close().unwrap();
    let data = proofload_tier::layout::Geometry::new(8192, 64).unwrap();
    (0..64).for_each(|line| bed.cache.flip_bit(data.byte_of_line(line) as usize + 5_000));
    let tier = bed.open(CacheMode::WriteBack);
    assert_eq!(read(&tier, 0), block_of(3));
    assert_eq!(tier.counters(0).clean_mismatches, 1);
}

#[test]
fn rule_2_a_flipped_bit_of_a_dirty_line_is_never_cleaned_to_the_origin_after_a_clean_stop() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 0, &block_of(3)).unwrap();
    tier.close().unwrap();
    let data = proofload_tier::layout::Geometry::new(8192, 64).unwrap();
    (0..64).for_each(|line| bed.cache.flip_bit(data.byte_of_line(line) as usize + 5_000));
    let tier = bed.open(CacheMode::WriteBack);
    clean_idle(&bed, &tier).unwrap();
    let error = tier.read(0, 0, &mut block_of(0)).unwrap_err();
    assert!(error.is_lost() && error.to_string().contains("bytes 4096 to 8192 of volume 0"), "{error}");
    let origin = bed.origins[0].bytes_now();
    assert_eq!((origin[0], origin[4096], tier.lines_of(0)), (3, 0, (1, 1)), "the other sector is cleaned");
    // The rest of the volume is served.
    tier.write(0, BLOCK, &block_of(4)).unwrap();
    assert_eq!(read(&tier, 1), block_of(4));
}

#[test]
fn rule_4_lines_are_reused_only_after_a_commit_and_requests_do_not_starve() {
    let bed = Bed::new(8, 64, 1);
    let tier = bed.open(CacheMode::WriteThrough);
    for round in 0..4_u64 {
        for block in 0..64 {
            tier.write(0, block * BLOCK, &block_of((round * 64 + block) as u8)).unwrap();
            assert_eq!(read(&tier, block), block_of((round * 64 + block) as u8));
        }
        tier.tend().unwrap();
    }
    let counters = tier.counters(0);
    assert!(counters.evictions > 20, "{counters:?}");
}

#[test]
fn above_the_highest_mark_new_writes_go_to_the_origin() {
    let bed = Bed::new(32, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    for block in 0..64 {
        tier.write(0, block * BLOCK, &block_of(block as u8 + 1)).unwrap();
    }
    let (lines, dirty) = tier.lines_of(0);
    assert!((28..=31).contains(&dirty) && lines >= dirty, "{lines} {dirty}");
    let counters = tier.counters(0);
    assert_eq!(counters.writes_bypassed + counters.writes_absorbed, 64);
    assert!((0..64).all(|block| read(&tier, block) == block_of(block as u8 + 1)));
}

#[test]
fn the_cleaner_holds_the_target_and_merges_neighbours() {
    let bed = Bed::new(200, 400, 1);
    let tier = bed.open(CacheMode::WriteBack);
    let mut dice = support::Dice(8);
    for step in 0..20_000_u32 {
        tier.write(0, dice.below(150) * BLOCK, &block_of(step as u8)).unwrap();
        bed.clock.advance(Duration::from_micros(500));
        tier.clean().unwrap();
    }
    let share = f64::from(tier.lines_of(0).1) / 200.0;
    assert!((0.05..0.5).contains(&share), "{share}");
    let order: Vec<u64> = (0..100).map(|n| n * 37 % 100).collect();
    tier.drain(Duration::from_secs(60)).unwrap();
    let before = tier.counters(0);
    order.iter().for_each(|block| tier.write(0, block * BLOCK, &block_of(1)).unwrap());
    let status = tier.drain(Duration::from_secs(60)).unwrap();
    let counters = tier.counters(0).since(&before);
    assert_eq!((status.dirty_lines, counters.cleaned_bytes), (0, 100 * BLOCK));
    assert!(counters.clean_runs <= 2, "{} writes", counters.clean_runs);
}

#[test]
fn a_drain_is_bounded_and_says_what_is_left() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    (0..40).for_each(|block| tier.write(0, block * BLOCK, &block_of(1)).unwrap());
    let status = tier.drain(Duration::ZERO).unwrap();
    assert_eq!((status.dirty_lines, status.left), (40, None));
    assert_eq!(tier.drain(Duration::from_secs(9)).unwrap().dirty_lines, 0);
}

#[test]
fn a_pool_shrinks_and_grows_and_keeps_what_stays() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    (0..50).for_each(|block| tier.write(0, block * BLOCK, &block_of(block as u8)).unwrap());
    tier.resize(20, Duration::from_secs(10)).unwrap();
    let (lines, _) = tier.lines_of(0);
    assert!(lines > 10 && lines <= 20, "{lines}");
    assert!((0..50).all(|block| read(&tier, block) == block_of(block as u8)));
    drop(tier);
    let tier = bed.open(CacheMode::WriteBack);
    assert_eq!(tier.status().active_lines, 20);
    tier.resize(64, Duration::ZERO).unwrap();
    (0..50).for_each(|block| tier.write(0, block * BLOCK, &block_of(block as u8 + 1)).unwrap());
    assert!(tier.lines_of(0).0 > 45);
    assert!(tier.resize(65, Duration::ZERO).is_err() && tier.resize(7, Duration::ZERO).is_err());
    let error = tier.resize(8, Duration::ZERO).unwrap_err();
    assert!(error.to_string().contains("not cleaned in time"), "{error}");
    assert_eq!(tier.status().active_lines, 64);
}

#[test]
fn a_line_that_failed_does_not_keep_a_pool_from_shrinking() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    (0..10).for_each(|block| _ = read(&tier, block));
    bed.cache.fail_when(|call| call == Call::Write);
    assert_eq!(read(&tier, 11), block_of(0));
    bed.cache.mend();
    assert_eq!((tier.lines_of(0).0, tier.counters(0).cache_errors), (10, 1));
    tier.resize(8, Duration::from_secs(1)).unwrap();
    tier.resize(64, Duration::ZERO).unwrap();
    (20..60).for_each(|block| _ = read(&tier, block));
    assert!((40..=49).contains(&tier.lines_of(0).0), "{:?}", tier.lines_of(0));
}

#[test]
fn a_detached_origin_has_everything_and_its_cache_is_refused() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    (0..40).for_each(|block| tier.write(0, block * BLOCK, &block_of(block as u8)).unwrap());
    let error = tier.detach(Duration::ZERO).unwrap_err();
    assert!(error.to_string().contains("not cleaned in time"), "{error}");
    tier.write(0, 0, &block_of(77)).unwrap();
    tier.detach(Duration::from_secs(10)).unwrap();
    let bytes = bed.origins[0].store.lock().unwrap().durable.clone();
    assert_eq!(bytes[0], 77);
    assert!((1..40).all(|block| bytes[block * 8192] == block as u8));
    assert!(tier.write(0, 0, &block_of(1)).is_err());
    assert!(bed.refused().contains("it was detached from its cache"));
}

#[test]
fn volumes_share_lines_and_quotas_part_them() {
    let bed = Bed::new(64, 64, 2);
    let mut settings = pool(CacheMode::WriteThrough, 2);
    settings.volumes[1].quota_lines = Some(10);
    let tier = Tier::open(devices(&bed.cache, &bed.origins), settings, bed.clock.clone()).unwrap();
    for block in 0..60 {
        tier.write(1, block * BLOCK, &block_of(2)).unwrap();
        tier.write(0, block * BLOCK, &block_of(1)).unwrap();
        tier.tend().unwrap();
    }
    assert!(tier.lines_of(1).0 <= 10, "{:?}", tier.lines_of(1));
    assert!(tier.lines_of(0).0 > 40, "{:?}", tier.lines_of(0));
    assert_eq!(bed.origins[0].bytes_now()[0], 1);
    assert_eq!(bed.origins[1].bytes_now()[0], 2);
}

#[test]
fn ranges_outside_a_volume_are_refused() {
    let bed = Bed::new(16, 16, 1);
    let tier = bed.open(CacheMode::WriteBack);
    let mut bytes = block_of(0);
    for (volume, at) in [(0, 16 * BLOCK), (0, 15 * BLOCK + 1), (1, 0), (0, u64::MAX)] {
        let error = tier.read(volume, at, &mut bytes).unwrap_err();
        assert!(error.to_string().contains("are beyond its"), "{error}");
    }
}

#[test]
fn neighbours_that_miss_are_one_request_to_the_origin_and_hits_between_them_none() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    tier.write(0, 5 * BLOCK, &block_of(5)).unwrap();
    let before = bed.origins[0].count(Call::Read);
    let mut bytes = vec![0xee; 12 * BLOCK as usize];
    tier.read(0, 0, &mut bytes).unwrap();
    // Before the hit, and behind it.
    assert_eq!(bed.origins[0].count(Call::Read) - before, 2);
    let hit = 5 * BLOCK as usize;
    assert_eq!(bytes[hit..hit + BLOCK as usize], block_of(5));
    assert!(bytes[..hit].iter().chain(&bytes[hit + BLOCK as usize..]).all(|byte| *byte == 0));
    let counters = tier.counters(0);
    assert_eq!((counters.reads, counters.read_hits), (12, 1), "each block is a reference");
    tier.read(0, 0, &mut bytes).unwrap();
    assert_eq!(tier.counters(0).read_hits, 1 + 12, "they are in the cache now");
}

#[test]
fn a_run_whose_origin_fails_fails_and_holds_no_block() {
    let bed = Bed::new(64, 64, 1);
    let tier = bed.open(CacheMode::WriteBack);
    bed.origins[0].fail_when(|call| call == Call::Read);
    let mut bytes = vec![0xee; 8 * BLOCK as usize];
    let error = tier.read(0, 0, &mut bytes).unwrap_err().to_string();
    assert!(error.contains("origin"), "{error}");
    bed.origins[0].mend();
    tier.read(0, 0, &mut bytes).unwrap();
    assert_eq!(bytes, vec![0; 8 * BLOCK as usize]);
}
