//! Many writes before few lines: how long one waits for a line is bounded, and one whose block has a line takes none of another.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proofload_tier::block::OriginBlock;
use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    AccessKind, Begin, BlockRequest, BlockWork, CacheMachine, CacheMode, End, JournalPosition, SectorCrcs, WaitFor,
};
use proofload_tier::tier::Tier;
use support::{Call, Dice, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;

// ---- the machine alone

fn machine(lines: u32) -> CacheMachine {
    let mut settings = pool(CacheMode::WriteBack, 1);
    settings.cleaner.bypass_from = 1.1;
    settings.cleaner.close_after = Duration::ZERO;
    let journal = JournalPosition { start: 0, next: 0, mount: 1 };
    CacheMachine::new(Geometry::new(8192, lines).unwrap(), settings, &[], (lines, false), journal)
}

fn ask(machine: &mut CacheMachine, index: u64) -> Begin {
    machine.begin(&BlockRequest { kind: AccessKind::Write, block: OriginBlock::new(0, index), range: 0..8192 })
}

fn end(machine: &mut CacheMachine, work: BlockWork) {
    let mut crcs = SectorCrcs::default();
    (0..2).for_each(|sector| crcs.set(sector, 1));
    assert_eq!(machine.end(work, Ok(crcs)), End::Done);
}

fn commit(machine: &mut CacheMachine) {
    machine.commit_begin().unwrap();
    machine.commit_end(true);
}

/// A pool that holds so many blocks, dirty and closed, durably.
fn closed_machine(lines: u32, blocks: u64) -> CacheMachine {
    let mut machine = machine(lines);
    for index in 0..blocks {
        let Begin::Work(work) = ask(&mut machine, index) else { panic!("block {index} has no line") };
        end(&mut machine, work);
    }
    assert!(!machine.close_idle(Duration::ZERO) && machine.close_idle(Duration::ZERO));
    commit(&mut machine);
    assert_eq!(u64::from(machine.closed_lines()), blocks);
    machine
}

#[test]
fn the_line_that_a_commit_sets_free_is_had_by_the_write_that_waited_for_it() {
    let mut machine = closed_machine(8, 7);
    let Begin::Work(work) = ask(&mut machine, 0) else { panic!("one line is free") };
    end(&mut machine, work);
    // The line of block 0 before is free after a commit. One write waits for it, and another opens its own line.
    assert_eq!((ask(&mut machine, 1), machine.closed_lines()), (Begin::Wait(WaitFor::Commit), 6));
    assert_eq!((ask(&mut machine, 2), machine.closed_lines()), (Begin::Wait(WaitFor::Commit), 5));
    commit(&mut machine);
    assert_eq!((ask(&mut machine, 3), machine.closed_lines()), (Begin::Wait(WaitFor::Commit), 4), "not the newcomer");
    assert!(matches!(ask(&mut machine, 1), Begin::Work(_)));
    assert!(matches!(ask(&mut machine, 2), Begin::Work(_)));
    commit(&mut machine);
    assert!(matches!(ask(&mut machine, 3), Begin::Work(_)));
}

#[test]
fn a_claim_ends_with_the_request_that_has_it() {
    let mut machine = closed_machine(8, 7);
    let Begin::Work(work) = ask(&mut machine, 0) else { panic!("one line is free") };
    end(&mut machine, work);
    assert_eq!(ask(&mut machine, 1), Begin::Wait(WaitFor::Commit));
    commit(&mut machine);
    // Now the block is written elsewhere by a request that needs no line.
    assert!(machine.replace_mode(0, CacheMode::WriteAround) == CacheMode::WriteBack);
    let Begin::Work(work) = ask(&mut machine, 1) else { panic!("a line waits for it") };
    end(&mut machine, work);
    machine.replace_mode(0, CacheMode::WriteBack);
    commit(&mut machine);
    assert!(matches!(ask(&mut machine, 3), Begin::Work(_)), "nobody keeps the line that became free");
}

/// A writer of the block of its number.
#[derive(Clone, Debug, Default)]
struct Writer {
    work: Option<BlockWork>,
    /// Commit that it waits for.
    wanted: Option<u64>,
    /// Commits that its request has waited for.
    waits: u32,
}

/// Writers at random, beside commits and the closing of lines; returns the most commits that one write has waited for, and those that waited.
fn race(seed: u64, lines: u32, writers: usize) -> (u32, u32) {
    let (mut dice, mut machine) = (Dice(seed), closed_machine(lines, u64::from(lines) - 1));
    let mut all = vec![Writer::default(); writers];
    let (mut most, mut waited) = (0, 0);
    for _ in 0..4_000 {
        match dice.below(12) {
            0 if machine.is_committing() => drop(machine.commit_end(true)),
            0 | 1 => drop(machine.commit_begin()),
            // What was opened for a write is not closed before the write comes again, which takes no seconds.
            2 if all.iter().all(|writer| writer.wanted.is_none()) => drop(machine.close_idle(Duration::ZERO)),
            _ => {
                let number = dice.below(writers as u64);
                let writer = &mut all[number as usize];
                if let Some(work) = writer.work.take() {
                    end(&mut machine, work);
                    most = most.max(writer.waits);
                    writer.waits = 0;
                    continue;
                }
                if writer.wanted.is_some_and(|wanted| machine.commits_complete() < wanted) {
                    continue;
                }
                writer.wanted = None;
                match ask(&mut machine, number) {
                    Begin::Work(work) => writer.work = Some(work),
                    Begin::Wait(WaitFor::Commit) => {
                        (writer.waits, waited) = (writer.waits + 1, waited + 1);
                        writer.wanted = Some(machine.commit_wanted());
                    }
                    other => panic!("seed {seed}: {other:?}"),
                }
            }
        }
    }
    (most, waited)
}

#[test]
fn a_write_waits_for_two_commits_at_most_however_many_race_for_the_lines() {
    let mut all_waits = 0;
    for seed in 0..200 {
        let lines = 8 + (seed % 8) as u32;
        // One writer for each line that was dirty: each new line must come from another.
        let (most, waits) = race(seed, lines, lines as usize - 1);
        // One until a line is free, and one until the own line is open where that one was not for this write.
        assert!(most <= 2, "seed {seed}: a write has waited for {most} commits");
        all_waits += waits;
    }
    assert!(all_waits > 1_000, "hardly anybody waited: {all_waits}");
}

// ---- pools of threads

/// Counts when it is dropped, also by a panic.
struct Counted<'a>(&'a AtomicU64);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn many_threads_write_through_a_tiny_pool_and_nobody_is_left_waiting() {
    const THREADS: u64 = 12;
    const BLOCKS: u64 = 24;
    let (cache, origins) = memory_devices(8, BLOCKS as usize, 1);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, 8, 1)).unwrap();
    let mut settings = pool(CacheMode::WriteBack, 1);
    settings.cleaner.bypass_from = 1.1;
    settings.cleaner.close_after = Duration::ZERO;
    let tier = Tier::open(devices(&cache, &origins), settings, Arc::new(TestClock::default())).unwrap();
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (tier, done) = (&tier, Counted(&done));
            scope.spawn(move || {
                let _done = done;
                for step in 0..150_u64 {
                    let block = step % 2 * THREADS + thread;
                    let byte = (step % 250) as u8 + 1;
                    tier.write(0, block * BLOCK, &[byte; BLOCK as usize]).unwrap();
                    let mut bytes = [0; BLOCK as usize];
                    tier.read(0, block * BLOCK, &mut bytes).unwrap();
                    assert!(bytes == [byte; BLOCK as usize], "thread {thread} step {step}");
                }
            });
        }
        while done.load(Ordering::SeqCst) < THREADS {
            tier.tend().unwrap();
            tier.clean().unwrap();
            std::thread::yield_now();
        }
    });
    for block in 0..BLOCKS {
        let mut bytes = [0; BLOCK as usize];
        tier.read(0, block * BLOCK, &mut bytes).unwrap();
        assert!(bytes == [if block < THREADS { 149 } else { 150 }; BLOCK as usize], "block {block}");
    }
    assert_eq!(tier.counters(0).damaged_sectors, 0);
}

// ---- overwrites of what is in the cache

/// A write-through pool that holds some blocks, durably.
fn through(lines: u32, quota: Option<u32>, blocks: u64) -> (Arc<MemoryDevice>, Arc<MemoryDevice>, Tier) {
    let (cache, origins) = memory_devices(lines, 64, 1);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, lines, 1)).unwrap();
    let mut settings = pool(CacheMode::WriteThrough, 1);
    settings.volumes[0].quota_lines = quota;
    let tier = Tier::open(devices(&cache, &origins), settings, Arc::new(TestClock::default())).unwrap();
    (0..blocks).for_each(|block| tier.write(0, block * BLOCK, &[1; BLOCK as usize]).unwrap());
    tier.flush(0).unwrap();
    (cache, origins[0].clone(), tier)
}

fn residents(tier: &Tier) -> Vec<u64> {
    (0..64).filter(|block| tier.is_resident(0, block * BLOCK, BLOCK)).collect()
}

#[test]
fn a_write_through_overwrite_of_what_is_in_the_cache_gives_up_no_line() {
    for (lines, quota, blocks) in [(64, Some(4), 4), (64, Some(4), 7), (8, None, 8), (8, None, 30)] {
        let what = format!("{lines} lines, quota {quota:?}, {blocks} blocks");
        let (_cache, origin, tier) = through(lines, quota, blocks);
        let (before, evictions) = (residents(&tier), tier.counters(0).evictions);
        assert!(before.len() >= 4, "{what}: {before:?}");
        let mut wanted = vec![1; (64 * BLOCK) as usize];
        let mut dice = Dice(blocks);
        for round in 0..60_u8 {
            let block = before[dice.below(before.len() as u64) as usize];
            let (from, length) = [(0, BLOCK), (4096, 4096), (100, 5_000), (8_000, 100)][dice.below(4) as usize];
            if length < BLOCK || dice.one_in(3) {
                // Without, sectors that are clean by what the origin has not synced would be left out.
                tier.flush(0).unwrap();
            }
            tier.write(0, block * BLOCK + from, &vec![round; length as usize]).unwrap();
            wanted[(block * BLOCK + from) as usize..][..length as usize].fill(round);
            assert_eq!((residents(&tier), tier.counters(0).evictions), (before.clone(), evictions), "{what}, {round}");
        }
        for block in before {
            let (mut bytes, from) = (vec![0; BLOCK as usize], (block * BLOCK) as usize);
            tier.read(0, block * BLOCK, &mut bytes).unwrap();
            assert!(bytes == wanted[from..from + 8192], "{what}: block {block} of the cache");
            assert!(origin.bytes_now()[from..from + 8192] == bytes, "{what}: block {block} of the origin");
        }
    }
}

#[test]
fn a_line_that_fails_under_its_own_overwrite_is_never_used_again() {
    let (cache, _origin, tier) = through(8, None, 4);
    let mut writes = 0;
    // The journal, which gives up what the line holds, and then the line.
    cache.fail_when(move |call| {
        writes += u32::from(call == Call::Write);
        call == Call::Write && writes == 2
    });
    tier.write(0, BLOCK, &[2; BLOCK as usize]).unwrap();
    cache.mend();
    assert_eq!((residents(&tier), tier.counters(0).cache_errors), (vec![0, 2, 3], 1));
    for round in 3..9 {
        (0..20).for_each(|block| tier.write(0, block * BLOCK, &[round; BLOCK as usize]).unwrap());
        tier.flush(0).unwrap();
        assert!(tier.lines_of(0).0 <= 7, "a line that failed is in use: {:?}", tier.lines_of(0));
    }
    let mut bytes = [0; BLOCK as usize];
    tier.read(0, BLOCK, &mut bytes).unwrap();
    assert_eq!(bytes[0], 8);
}
