//! What a flush of one volume waits for: what was acknowledged of that volume, and neither other volumes nor clean lines that reads have brought in.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::block::OriginBlock;
use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    AccessKind, Begin, BlockRequest, CacheMachine, CacheMode, Commit, End, JournalPosition, PoolSettings, SectorCrcs,
};
use proofload_tier::tier::Tier;
use support::{Call, Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 64;
/// Longer than warmth is left to be lost by a crash.
const LONG: Duration = Duration::from_secs(6);

/// A pool of two volumes.
struct TwoVolumes {
    cache: Arc<MemoryDevice>,
    origins: Vec<Arc<MemoryDevice>>,
    clock: Arc<TestClock>,
    modes: [CacheMode; 2],
}

impl TwoVolumes {
    fn new(modes: [CacheMode; 2]) -> (Self, Arc<Tier>) {
        let (cache, origins) = memory_devices(LINES, 128, 2);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 2)).unwrap();
        let bed = Self { cache, origins, clock: Arc::default(), modes };
        let tier = Arc::new(bed.open());
        (bed, tier)
    }

    fn settings(&self) -> PoolSettings {
        let mut settings = pool(CacheMode::WriteBack, 2);
        settings.volumes.iter_mut().zip(self.modes).for_each(|(volume, mode)| volume.mode = mode);
        settings
    }

    fn open(&self) -> Tier {
        Tier::open(devices(&self.cache, &self.origins), self.settings(), self.clock.clone()).unwrap()
    }

    /// Opens the pool that a loss of power leaves which takes all that was not synced.
    fn after_crash(&self) -> Tier {
        let left = |device: &Arc<MemoryDevice>| {
            MemoryDevice::new(device.store.lock().unwrap().after_crash(Fate::Lost, &mut Dice(1)))
        };
        let (cache, origins) = (left(&self.cache), self.origins.iter().map(left).collect());
        Self { cache, origins, clock: Arc::default(), modes: self.modes }.open()
    }

    /// Calls of the cache that write or sync it.
    fn cache_calls(&self) -> [u64; 2] {
        [Call::Write, Call::Sync].map(|call| self.cache.count(call))
    }
}

fn write(tier: &Tier, volume: u8, block: u64, byte: u8) {
    tier.write(volume, block * BLOCK, &[byte; BLOCK as usize]).unwrap();
}

fn read(tier: &Tier, volume: u8, block: u64) -> u8 {
    let mut bytes = [0xee; BLOCK as usize];
    tier.read(volume, block * BLOCK, &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == bytes[0]), "block {block} is mixed");
    bytes[0]
}

#[test]
fn a_flush_of_a_volume_that_is_not_cached_costs_the_cache_nothing() {
    for mode in [CacheMode::Pass, CacheMode::WriteAround] {
        let (bed, tier) = TwoVolumes::new([CacheMode::WriteBack, mode]);
        for round in 1..10_u8 {
            // Dirty lines and reads of the other volume are pending all the time.
            write(&tier, 0, u64::from(round), round);
            read(&tier, 0, u64::from(round) + 40);
            write(&tier, 1, 3, round);
            let (calls, syncs) = (bed.cache_calls(), bed.origins[1].count(Call::Sync));
            tier.flush(1).unwrap();
            assert_eq!(bed.cache_calls(), calls, "{mode:?} round {round}");
            assert_eq!(bed.origins[1].count(Call::Sync) - syncs, 1, "{mode:?}: the origin alone");
            let crashed = bed.after_crash();
            assert_eq!((read(&crashed, 1, 3), crashed.lines_of(0)), (round, (0, 0)), "{mode:?}");
        }
        tier.flush(0).unwrap();
        let crashed = bed.after_crash();
        assert!((1..10).all(|block| read(&crashed, 0, block) == block as u8), "{mode:?}");
    }
}

#[test]
fn a_flush_waits_for_no_record_of_another_cached_volume_and_takes_it_along() {
    let (bed, tier) = TwoVolumes::new([CacheMode::WriteBack; 2]);
    write(&tier, 0, 1, 7);
    write(&tier, 1, 1, 8);
    tier.flush(1).unwrap();
    assert_eq!(bed.after_crash().lines_of(0), (1, 1), "of one commit");
    let calls = bed.cache_calls();
    // All of volume 0 was taken along; what is written of volume 1 afterwards is not its matter.
    write(&tier, 1, 2, 9);
    let written = bed.cache_calls();
    tier.flush(0).unwrap();
    assert_eq!(bed.cache_calls(), written);
    assert_ne!(written, calls);
    tier.flush(1).unwrap();
    assert_eq!(read(&bed.after_crash(), 1, 2), 9);
}

#[test]
fn what_a_volume_that_is_no_longer_cached_has_in_lines_is_durable_behind_its_flush() {
    let (bed, tier) = TwoVolumes::new([CacheMode::WriteBack; 2]);
    // Block 1 is clean, 2 dirty, 3 dirty and closed: all of them durable.
    (1..4).for_each(|block| write(&tier, 1, block, 1));
    tier.drain(Duration::from_secs(9)).unwrap();
    (2..4).for_each(|block| write(&tier, 1, block, 2));
    tier.flush(1).unwrap();
    for _ in 0..2 {
        bed.clock.advance(LONG);
        write(&tier, 1, 2, 2);
        tier.tend().unwrap();
    }
    assert_eq!(tier.closed_lines(), 1);
    tier.set_mode(1, CacheMode::Pass).unwrap();
    (1..4).for_each(|block| write(&tier, 1, block, 3));
    tier.flush(1).unwrap();
    let crashed = bed.after_crash();
    assert_eq!([1, 2, 3].map(|block| read(&crashed, 1, block)), [3; 3]);
    // What is cleaned is not dirty after a crash behind a flush, and an older line of a block never comes back.
    tier.drain(Duration::from_secs(9)).unwrap();
    (1..4).for_each(|block| write(&tier, 1, block, 4));
    tier.flush(1).unwrap();
    let crashed = bed.after_crash();
    assert_eq!(crashed.lines_of(1).1, 0);
    assert_eq!([1, 2, 3].map(|block| read(&crashed, 1, block)), [4; 3]);
}

#[test]
fn what_reads_bring_in_costs_a_flush_nothing() {
    let (bed, tier) = TwoVolumes::new([CacheMode::WriteBack; 2]);
    write(&tier, 0, 0, 1);
    tier.flush(0).unwrap();
    for round in 0..20 {
        // In a cache that is full at last, so that lines are given up, too.
        (0..5).for_each(|block| _ = read(&tier, 0, 1 + round * 5 + block));
        let calls = bed.cache_calls();
        tier.flush(0).unwrap();
        assert_eq!(bed.cache_calls(), calls, "round {round}");
        read(&tier, 0, 110);
        write(&tier, 0, 0, round as u8);
        let syncs = bed.cache.count(Call::Sync);
        tier.flush(0).unwrap();
        assert_eq!(bed.cache.count(Call::Sync) - syncs, 1, "an overwrite in place maps nothing, round {round}");
        assert_eq!(read(&bed.after_crash(), 0, 0), round as u8);
    }
}

#[test]
fn warmth_is_durable_with_the_next_commit_that_syncs_data_and_after_some_seconds_without_one() {
    for has_write in [true, false] {
        let (bed, tier) = TwoVolumes::new([CacheMode::WriteBack; 2]);
        (0..20).for_each(|block| _ = read(&tier, 0, block));
        tier.flush(0).unwrap();
        assert!(!tier.tend().unwrap());
        assert_eq!(bed.after_crash().lines_of(0).0, 0);
        if has_write {
            write(&tier, 1, 0, 1);
            tier.flush(1).unwrap();
        } else {
            bed.clock.advance(LONG);
            assert!(tier.tend().unwrap());
        }
        let crashed = bed.after_crash();
        assert_eq!(crashed.lines_of(0), (20, 0), "with a write: {has_write}");
        assert!((0..20).all(|block| read(&crashed, 0, block) == 0));
        let counters = crashed.counters(0);
        assert_eq!((counters.read_hits, counters.clean_mismatches), (20, 0), "with a write: {has_write}");
        let calls = bed.cache_calls();
        bed.clock.advance(LONG);
        assert!(!tier.tend().unwrap(), "nothing is left to be kept");
        assert_eq!(bed.cache_calls(), calls);
    }
}

#[test]
fn no_record_of_warmth_is_written_before_its_data_are_synced() {
    let (bed, tier) = TwoVolumes::new([CacheMode::WriteBack; 2]);
    (0..20).for_each(|block| bed.origins[0].store.lock().unwrap().now[block * BLOCK as usize..][..8192].fill(5));
    (0..20).for_each(|block| _ = read(&tier, 0, block));
    write(&tier, 0, 60, 1);
    // Of all that is not synced, the device keeps the last write alone: during the commit, the journal.
    let states = Arc::new(Mutex::new(Vec::new()));
    let (kept, store) = (states.clone(), bed.cache.store.clone());
    *bed.cache.after.lock().unwrap() = Some(Box::new(move || {
        let mut store = store.lock().unwrap().clone();
        let last = store.pending.pop();
        store.pending = last.into_iter().collect();
        kept.lock().unwrap().push(store.after_crash(Fate::Kept, &mut Dice(1)));
    }));
    tier.flush(0).unwrap();
    *bed.cache.after.lock().unwrap() = None;
    let mut most = 0;
    for state in states.lock().unwrap().split_off(0) {
        let origins = bed.origins.iter().map(|origin| MemoryDevice::new(origin.bytes_now())).collect();
        let cache = MemoryDevice::new(state);
        let crashed = TwoVolumes { cache, origins, clock: Arc::default(), modes: bed.modes }.open();
        most = most.max(crashed.lines_of(0).0);
        assert!((0..20).all(|block| read(&crashed, 0, block) == 5));
        assert_eq!(crashed.counters(0).clean_mismatches, 0, "no line is found without its data");
    }
    assert_eq!(most, 21, "the journal was kept in one of them");
}

#[test]
fn a_flush_that_fails_with_the_pool_names_its_own_volume_and_what_that_has_lost() {
    let (bed, tier) = TwoVolumes::new([CacheMode::WriteBack; 2]);
    write(&tier, 0, 2, 1);
    write(&tier, 1, 5, 1);
    bed.cache.fail_when(|call| call == Call::Sync);
    for volume in [1, 0, 1] {
        let error = tier.flush(volume).unwrap_err().to_string();
        let lost = if volume == 0 { "bytes 16384 to 24576" } else { "bytes 40960 to 49152" };
        assert!(error.contains(&format!("volume {volume}")) && error.contains(lost), "{error}");
    }
}

// ---- the machine alone

/// Records of warmth that one commit takes up, at most.
const MOST_WARMTH: u64 = 256;

/// A machine of lines of one sector, whose journal has so many blocks.
fn machine(journal_blocks: u32) -> CacheMachine {
    const MANY: u32 = 2048;
    let geometry = Geometry { journal_blocks, ..Geometry::new(4096, MANY).unwrap() };
    let journal = JournalPosition { start: 0, next: 0, mount: 1 };
    CacheMachine::new(geometry, pool(CacheMode::WriteBack, 1), &[], (MANY, false), journal)
}

fn request(machine: &mut CacheMachine, kind: AccessKind, index: u64) {
    let request = BlockRequest { kind, block: OriginBlock::new(0, index), range: 0..4096 };
    let Begin::Work(work) = machine.begin(&request) else { panic!("block {index} is in use") };
    let mut crcs = SectorCrcs::default();
    crcs.set(0, 1);
    assert_eq!(machine.end(work, Ok(crcs)), End::Done);
}

/// Records of a commit of such a machine: each has the checksum of one sector, of four bytes.
fn records_of(commit: &Commit) -> u64 {
    commit.checksums.iter().map(|(_, bytes)| bytes.len() as u64 / 4).sum()
}

#[test]
fn a_flush_pays_no_checkpoint_for_warmth_for_which_the_journal_has_no_room() {
    for is_asked in [false, true] {
        let mut machine = machine(4);
        (0..1_500).for_each(|index| request(&mut machine, AccessKind::Read, index));
        // So much that no room is left for much of what reads have brought in.
        (1_500..1_950).for_each(|index| request(&mut machine, AccessKind::Write, index));
        let full = if is_asked { machine.want_full_commit() } else { 0 };
        let wanted = machine.commit_wanted_of(0);
        let commit = machine.commit_begin().unwrap();
        let records = records_of(&commit);
        assert!(commit.sync_first && (451..450 + MOST_WARMTH).contains(&records), "{records}");
        machine.commit_end(true);
        assert!(machine.commits_complete() >= wanted && machine.commits_full() < wanted, "asked: {is_asked}");
        assert!(!machine.lacks_room(), "no flush pays a checkpoint for warmth, asked: {is_asked}");
        assert!(machine.lacks_room_for_all(), "who asks for all of it does");
        let full = full.max(machine.want_full_commit());
        let mut left = 1_950 - records;
        while machine.commits_full() < full {
            if machine.lacks_room_for_all() {
                machine.checkpoint_end(machine.checkpoint_begin());
            }
            let Some(commit) = machine.commit_begin() else { continue };
            assert!(commit.sync_first && records_of(&commit) <= MOST_WARMTH);
            left -= records_of(&commit);
            machine.commit_end(true);
        }
        assert_eq!(left, 0);
        assert!(machine.commit_begin().is_none());
    }
}

#[test]
fn a_flush_pays_for_no_more_than_a_part_of_the_warmth() {
    let mut machine = machine(64);
    (0..1_000).for_each(|index| request(&mut machine, AccessKind::Read, index));
    request(&mut machine, AccessKind::Write, 1_000);
    let wanted = machine.commit_wanted_of(0);
    let commit = machine.commit_begin().unwrap();
    assert_eq!(records_of(&commit), MOST_WARMTH + 1);
    machine.commit_end(true);
    assert!(machine.commits_complete() >= wanted && machine.commits_full() < wanted);
    assert!(!machine.lacks_room() && !machine.lacks_room_for_all(), "there is room for more");
    // The next ones go on with it, and the first is full as soon as all that was pending when it began is durable.
    let mut records = 0;
    for index in 1_001..1_004 {
        assert!(machine.commits_full() < wanted);
        request(&mut machine, AccessKind::Write, index);
        records += records_of(&machine.commit_begin().unwrap());
        machine.commit_end(true);
    }
    assert_eq!((records, machine.commits_full()), (1_000 - MOST_WARMTH + 3, wanted));
}

#[test]
fn what_is_read_while_all_is_made_durable_does_not_prolong_it() {
    let mut machine = machine(64);
    let mut index = 0;
    let mut read_some = |machine: &mut CacheMachine, count: u64| {
        (index..index + count).for_each(|index| request(machine, AccessKind::Read, index));
        index += count;
    };
    read_some(&mut machine, 300);
    // While each commit is at work, reads bring in as much as it takes up; at last they displace each other.
    let mut commits = 0;
    let full = machine.want_full_commit();
    while machine.commits_full() < full {
        let Some(_commit) = machine.commit_begin() else { continue };
        read_some(&mut machine, MOST_WARMTH);
        machine.commit_end(true);
        commits += 1;
        assert!(commits <= 2048 / MOST_WARMTH + 1, "it comes to an end");
    }
}

#[test]
fn warmth_is_kept_after_some_seconds_although_a_commit_is_at_work() {
    let mut machine = machine(64);
    request(&mut machine, AccessKind::Write, 0);
    assert!(machine.commit_begin().is_some());
    request(&mut machine, AccessKind::Read, 1);
    assert!(!machine.wants_warmth_kept(Duration::ZERO), "it is young");
    assert!(machine.is_committing() && machine.wants_warmth_kept(LONG));
}

#[test]
fn warmth_that_has_come_behind_a_full_commit_is_young() {
    let mut machine = machine(64);
    request(&mut machine, AccessKind::Read, 0);
    assert!(!machine.wants_warmth_kept(Duration::ZERO));
    // A flush takes it along, and the next comes before anybody looks.
    request(&mut machine, AccessKind::Write, 1);
    assert!(machine.commit_begin().is_some());
    machine.commit_end(true);
    request(&mut machine, AccessKind::Read, 2);
    assert!(!machine.wants_warmth_kept(LONG), "it has come just now");
    assert!(machine.wants_warmth_kept(LONG * 2));
}

#[test]
fn warmth_of_more_than_one_commit_is_all_durable_after_some_seconds() {
    const MANY: u32 = 700;
    let (cache, origins) = memory_devices(MANY, MANY as usize, 2);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, MANY, 2)).unwrap();
    let bed = TwoVolumes { cache, origins, clock: Arc::default(), modes: [CacheMode::WriteBack; 2] };
    let tier = bed.open();
    (0..600).for_each(|block| _ = read(&tier, 0, block));
    let held = tier.lines_of(0);
    assert!(u64::from(held.0) > 2 * MOST_WARMTH, "{held:?}");
    assert!(!tier.tend().unwrap());
    bed.clock.advance(LONG);
    assert!(tier.tend().unwrap());
    assert_eq!(bed.after_crash().lines_of(0), held);
}

// ---- which thread serves a write

/// A pool of one volume that takes in all it can.
fn one_volume(lines: u32, quota: Option<u32>) -> (Arc<Tier>, Arc<MemoryDevice>) {
    let (cache, origins) = memory_devices(lines, 128, 1);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, lines, 1)).unwrap();
    let mut settings = pool(CacheMode::WriteBack, 1);
    settings.cleaner.bypass_from = 1.1;
    settings.volumes[0].quota_lines = quota;
    let tier = Tier::open(devices(&cache, &origins), settings, Arc::new(TestClock::default())).unwrap();
    (Arc::new(tier), origins[0].clone())
}

#[test]
fn a_write_that_finds_no_line_is_not_told_to_be_absorbed() {
    for (lines, quota) in [(16, None), (LINES, Some(16))] {
        let (tier, origin) = one_volume(lines, quota);
        for block in 0..16 {
            assert!(tier.would_absorb(0, block * BLOCK, BLOCK), "{quota:?}: block {block}");
            write(&tier, 0, block, 1);
        }
        assert_eq!(tier.lines_of(0), (16, 16));
        assert!(!tier.would_absorb(0, 20 * BLOCK, BLOCK), "{quota:?}: all lines are dirty");
        assert!(!tier.would_absorb(0, 15 * BLOCK, 2 * BLOCK), "{quota:?}: one of two finds a line");
        assert!(tier.would_absorb(0, 3 * BLOCK, 2 * BLOCK), "{quota:?}: in place");
        let writes = origin.count(Call::Write);
        write(&tier, 0, 20, 1);
        assert_eq!(origin.count(Call::Write) - writes, 1, "{quota:?}: it went to the origin");
    }
}

#[test]
fn more_blocks_than_free_lines_are_not_told_to_be_absorbed() {
    let (tier, _origin) = one_volume(16, None);
    (0..12).for_each(|block| write(&tier, 0, block, 1));
    assert!(tier.would_absorb(0, 20 * BLOCK, 4 * BLOCK));
    assert!(!tier.would_absorb(0, 20 * BLOCK, 5 * BLOCK));
}

#[test]
fn a_write_that_takes_the_only_clean_line_of_its_volume_finds_none_to_give_up() {
    let (tier, origin) = one_volume(LINES, Some(16));
    read(&tier, 0, 0);
    (2..17).for_each(|block| write(&tier, 0, block, 1));
    assert_eq!(tier.lines_of(0), (16, 15));
    assert!(tier.would_absorb(0, 0, BLOCK), "in place of the clean one");
    assert!(tier.would_absorb(0, BLOCK, BLOCK), "for the clean one");
    assert!(!tier.would_absorb(0, 0, 2 * BLOCK), "not both");
    let writes = origin.count(Call::Write);
    tier.write(0, 0, &[1; 2 * BLOCK as usize]).unwrap();
    assert_eq!(origin.count(Call::Write) - writes, 1, "one of them went to the origin");
}

#[test]
fn a_write_to_a_block_in_use_is_not_told_to_be_absorbed() {
    let (tier, origin) = one_volume(LINES, None);
    let (other, told) = (tier.clone(), Arc::new(Mutex::new(Vec::new())));
    let tell = told.clone();
    *origin.before.lock().unwrap() = Some(Box::new(move |call| {
        if call == Call::Read {
            tell.lock().unwrap().extend([3, 4].map(|block| other.would_absorb(0, block * BLOCK, BLOCK)));
        }
        Ok(())
    }));
    read(&tier, 0, 3);
    assert_eq!(*told.lock().unwrap(), [false, true]);
    assert!(tier.would_absorb(0, 3 * BLOCK, BLOCK), "afterwards it is");
}
