//! A request that reads a line reads the content of its own block, whatever becomes of the line meanwhile.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::block::OriginBlock;
use proofload_tier::device::Device;
use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    AccessKind, Begin, BlockRequest, CacheMachine, CacheMode, End, JournalPosition, PoolSettings, SectorCrcs, WaitFor,
    WorkFailure,
};
use proofload_tier::tier::{Tier, TierDevices};
use support::{MemoryDevice, TestClock, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 32;

/// A cache that calls once before it is read, when it is armed.
struct ArmedCache {
    inner: Arc<MemoryDevice>,
    act: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Device for ArmedCache {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let act = self.act.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
        self.inner.read_at(at, into)
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.inner.write_at(at, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

/// A pool with its clock, its cache, and its origin, whose blocks hold their number plus one.
fn scene(settings: PoolSettings) -> (Arc<Tier>, Arc<TestClock>, Arc<ArmedCache>, Arc<MemoryDevice>) {
    let (cache, origins) = memory_devices(LINES, 64, 1);
    let cache = Arc::new(ArmedCache { inner: cache, act: Mutex::new(None) });
    for block in 0..64 {
        origins[0].write_at(block * BLOCK, &[block as u8 + 1; BLOCK as usize]).unwrap();
    }
    let devices = TierDevices { cache: cache.clone(), origins: vec![origins[0].clone()] };
    Tier::format(&devices, &format_settings(8192, LINES, 1)).unwrap();
    let clock = Arc::new(TestClock::default());
    let tier = Arc::new(Tier::open(devices, settings, clock.clone()).unwrap());
    (tier, clock, cache, origins[0].clone())
}

fn read(tier: &Tier, block: u64) -> Vec<u8> {
    let mut bytes = vec![0xee; BLOCK as usize];
    tier.read(0, block * BLOCK, &mut bytes).unwrap();
    bytes
}

/// Uses all lines for other blocks than the first.
fn use_all_lines(tier: &Tier, mode: CacheMode) {
    for block in 10..50 {
        match mode {
            CacheMode::WriteThrough if block % 2 == 0 => {
                tier.write(0, block * BLOCK, &[0xaa; BLOCK as usize]).unwrap();
            }
            _ => drop(read(tier, block)),
        }
        if block % 10 == 0 {
            tier.flush(0).unwrap();
        }
    }
}

#[test]
fn a_write_of_a_part_of_a_block_keeps_the_rest_while_others_use_all_lines() {
    for mode in [CacheMode::WriteThrough, CacheMode::WriteAround, CacheMode::WriteBack] {
        for (is_committed, length) in [(false, 4096), (false, 100), (true, 4096), (true, 100)] {
            let mut settings = pool(mode, 1);
            // In write-back everything goes to the origin.
            settings.cleaner.bypass_from = 0.0;
            let (tier, clock, cache, origin) = scene(settings);
            read(&tier, 0);
            if is_committed {
                tier.tend().unwrap();
                clock.advance(Duration::from_secs(6));
                assert!(tier.tend().unwrap(), "what was read is made durable");
            }
            let other = tier.clone();
            *cache.act.lock().unwrap() = Some(Box::new(move || use_all_lines(&other, mode)));
            tier.write(0, 0, &vec![0x77; length]).unwrap();
            let mut wanted = vec![1; BLOCK as usize];
            wanted[..length].fill(0x77);
            let what = format!("{mode:?}, committed: {is_committed}, {length} bytes");
            assert!(read(&tier, 0) == wanted, "{what}: on the cache");
            assert!(origin.bytes_now()[..BLOCK as usize] == wanted, "{what}: on the origin");
            // What was pinned can be had again.
            *cache.act.lock().unwrap() = None;
            use_all_lines(&tier, mode);
            tier.flush(0).unwrap();
            assert!(read(&tier, 0) == wanted, "{what}: afterwards");
        }
    }
}

#[test]
fn a_line_that_is_being_read_counts_as_in_use_when_the_size_changes() {
    let mut settings = pool(CacheMode::WriteAround, 1);
    settings.cleaner.bypass_from = 0.0;
    let geometry = Geometry::new(8192, LINES).unwrap();
    let mut machine =
        CacheMachine::new(geometry, settings, &[], (LINES, false), JournalPosition { start: 0, next: 0, mount: 1 });
    // All lines are taken, so that the one that is read has any number.
    for index in 0..u64::from(LINES) {
        fetch(&mut machine, index);
    }
    let (line, block) = (8..LINES).find_map(|line| Some((line, machine.entry(line).block()?))).unwrap();
    let request = BlockRequest { kind: AccessKind::Write, block, range: 0..100 };
    let Begin::Work(work) = machine.begin(&request) else { panic!("the write has begun") };
    commit(&mut machine);
    assert!(!machine.entry(line).is_mapped());
    let settle = |machine: &mut CacheMachine| {
        for _ in 0..3 {
            machine.set_active_lines(8);
            commit(machine);
        }
        machine.set_active_lines(8)
    };
    assert!(!settle(&mut machine), "the line is still read");
    machine.set_active_lines(LINES);
    for index in 100..200 {
        let taken = fetch(&mut machine, index);
        assert_ne!(taken, Some(line), "the line is still read");
    }
    assert_eq!(machine.end(work, Ok(SectorCrcs::default())), End::Done);
    assert!(settle(&mut machine));
    machine.set_active_lines(LINES);
    assert!((200..300).any(|index| fetch(&mut machine, index) == Some(line)), "the line is lost");
}

/// Makes a commit of all that is pending, and room for the next one.
fn commit(machine: &mut CacheMachine) {
    machine.want_full_commit();
    if machine.commit_begin().is_some() {
        machine.commit_end(true);
    }
    machine.checkpoint_end(machine.checkpoint_begin());
}

/// Brings a block into the cache; returns its line.
fn fetch(machine: &mut CacheMachine, index: u64) -> Option<u32> {
    let block = OriginBlock::new(0, index);
    let request = BlockRequest { kind: AccessKind::Read, block, range: 0..8192 };
    let Begin::Work(work) = machine.begin(&request) else { panic!("block {index} is in use") };
    let mut crcs = SectorCrcs::default();
    (0..2).for_each(|sector| crcs.set(sector, 1));
    assert_eq!(machine.end(work, Ok(crcs)), End::Done);
    commit(machine);
    (0..LINES).find(|line| machine.entry(*line).block() == Some(block))
}

#[test]
fn a_line_that_one_of_two_readers_cannot_read_is_given_up_after_the_other() {
    for failure in [WorkFailure::CacheRead, WorkFailure::Mismatch(Box::default())] {
        let settings = PoolSettings { verify_every_read: true, ..pool(CacheMode::WriteBack, 1) };
        let geometry = Geometry::new(8192, LINES).unwrap();
        let journal = JournalPosition { start: 0, next: 0, mount: 1 };
        let mut machine = CacheMachine::new(geometry, settings, &[], (LINES, false), journal);
        let line = fetch(&mut machine, 5).unwrap();
        let block = OriginBlock::new(0, 5);
        let half = |half: u32| BlockRequest { kind: AccessKind::Read, block, range: half * 4096..(half + 1) * 4096 };
        let begin = |machine: &mut CacheMachine, place: u32| match machine.begin(&half(place)) {
            Begin::Work(work) => work,
            other => panic!("{other:?}"),
        };
        let (first, second) = (begin(&mut machine, 0), begin(&mut machine, 1));
        assert_eq!(machine.end(second, Err(failure.clone())), End::Retry);
        assert_eq!(machine.entry(line).block(), Some(block), "the other one still reads it");
        assert_eq!(machine.begin(&half(1)), Begin::Wait(WaitFor::Block));
        assert_eq!(machine.end(first, Ok(SectorCrcs::default())), End::Done);
        let second = begin(&mut machine, 1);
        assert_eq!(machine.end(second, Err(failure)), End::Retry);
        assert!(!machine.entry(line).is_mapped());
    }
}
