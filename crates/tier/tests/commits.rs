//! The numbers by which a flush knows that its records are durable.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;

use proofload_tier::block::OriginBlock;
use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    AccessKind, Begin, BlockRequest, CacheMachine, CacheMode, End, JournalPosition, SectorCrcs,
};
use proofload_tier::tier::{FormatSettings, Tier};
use support::{Dice, Fate, MemoryDevice, TestClock, devices, format_settings, pool};

const LINES: u32 = 2048;
const THREADS: u64 = 4;
/// Blocks of each thread.
const BLOCKS: u64 = 400;
const ROUNDS: u8 = 3;

/// A machine whose journal takes some 600 records before a checkpoint must be made.
fn machine() -> CacheMachine {
    let geometry = Geometry { journal_blocks: 4, ..Geometry::new(4096, LINES).unwrap() };
    let journal = JournalPosition { start: 0, next: 0, mount: 1 };
    CacheMachine::new(geometry, pool(CacheMode::WriteBack, 1), &[], (LINES, false), journal)
}

fn write(machine: &mut CacheMachine, index: u64) {
    let request = BlockRequest { kind: AccessKind::Write, block: OriginBlock::new(0, index), range: 0..4096 };
    let Begin::Work(work) = machine.begin(&request) else { panic!("block {index} has no line") };
    let mut crcs = SectorCrcs::default();
    crcs.set(0, 1);
    assert_eq!(machine.end(work, Ok(crcs)), End::Done);
}

#[test]
fn a_flush_that_a_full_journal_left_out_waits_for_the_commit_that_has_its_records() {
    let mut machine = machine();
    (0..1_000).for_each(|block| write(&mut machine, block));
    let first = machine.commit_wanted();
    let commit = machine.commit_begin().unwrap();
    assert!(!commit.appends.is_empty());
    machine.commit_end(true);
    assert_eq!(machine.commits_done(), first);
    assert!(machine.commits_complete() < first && machine.lacks_room());
    // Before the first flush looks, another one makes room and begins the next commit, which leaves nothing out.
    let start = machine.checkpoint_begin();
    machine.checkpoint_end(start);
    assert!(!machine.lacks_room());
    let second = machine.commit_wanted();
    assert!(machine.commit_begin().is_some());
    assert!(machine.commits_done() >= first && machine.commits_complete() < first, "its records are not durable yet");
    machine.commit_end(true);
    assert!(machine.commits_complete() >= second);
}

#[test]
fn a_flush_without_anything_pending_is_done_at_once() {
    let mut machine = machine();
    let wanted = machine.commit_wanted();
    assert!(machine.commit_begin().is_none());
    assert_eq!(machine.commits_complete(), wanted);
}

/// What the cache would be after a loss of power at the return of a flush, and what a thread wrote before that.
struct FlushedState {
    thread: u64,
    value: u8,
    cache: Vec<u8>,
}

/// Writes all blocks of a thread and flushes them, some times.
fn flush_all(tier: &Tier, cache: &MemoryDevice, thread: u64) -> Vec<FlushedState> {
    let round = |value: u8| {
        for place in 0..BLOCKS {
            tier.write(0, (place * THREADS + thread) * 4096, &[value; 4096]).unwrap();
        }
        tier.flush(0).unwrap();
        let cache = cache.store.lock().unwrap().after_crash(Fate::Lost, &mut Dice(1));
        FlushedState { thread, value, cache }
    };
    (1..=ROUNDS).map(round).collect()
}

#[test]
fn what_threads_flush_by_a_small_journal_is_durable_when_their_flush_returns() {
    let geometry = Geometry { journal_blocks: 4, ..Geometry::new(4096, LINES).unwrap() };
    let cache = MemoryDevice::new(vec![0; geometry.bytes() as usize]);
    let origin = MemoryDevice::new(vec![0; ((THREADS * BLOCKS + 1) * 4096) as usize]);
    let settings = FormatSettings { journal_blocks: Some(4), ..format_settings(4096, LINES, 1) };
    let open = |cache: &Arc<MemoryDevice>, origin: &Arc<MemoryDevice>| {
        let devices = devices(cache, std::slice::from_ref(origin));
        Tier::open(devices, pool(CacheMode::WriteBack, 1), Arc::new(TestClock::default())).unwrap()
    };
    Tier::format(&devices(&cache, std::slice::from_ref(&origin)), &settings).unwrap();
    let tier = open(&cache, &origin);
    let states: Vec<FlushedState> = std::thread::scope(|scope| {
        let (tier, cache) = (&tier, &cache);
        let start = |thread| scope.spawn(move || flush_all(tier, cache, thread));
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for FlushedState { thread, value, cache } in states {
        let tier = open(&MemoryDevice::new(cache), &MemoryDevice::new(origin.bytes_now()));
        for place in 0..BLOCKS {
            let mut bytes = [0; 4096];
            tier.read(0, (place * THREADS + thread) * 4096, &mut bytes).unwrap();
            assert_eq!(bytes, [value; 4096], "thread {thread}, block {place}");
        }
    }
}

#[test]
fn records_that_wait_for_an_origin_ask_for_no_commit() {
    let geometry = Geometry { journal_blocks: 4, ..Geometry::new(4096, LINES).unwrap() };
    let journal = JournalPosition { start: 0, next: 0, mount: 1 };
    let mut machine = CacheMachine::new(geometry, pool(CacheMode::WriteThrough, 1), &[], (LINES, false), journal);
    (0..600).for_each(|block| write(&mut machine, block));
    assert!(!machine.wants_commit(), "it would take up nothing");
    let number = machine.origin_sync_begin(0);
    machine.origin_sync_end(0, number);
    assert!(machine.wants_commit());
    (0..600).for_each(|block| write(&mut machine, block));
    machine.origin_sync_begin(0);
    machine.origin_sync_failed(0);
    assert!(machine.has_failed(0) && !machine.wants_commit(), "they wait for ever");
}
