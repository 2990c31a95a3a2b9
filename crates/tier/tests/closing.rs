//! Closed lines: damage of them is found after a crash, costs their block alone, and reaches no origin. The devices are in memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::block::OriginBlock;
use proofload_tier::device::Device;
use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    AccessKind, Begin, BlockRequest, CacheMachine, CacheMode, End, JournalPosition, SectorCrcs, WaitFor,
};
use proofload_tier::tier::{CacheInspection, FaultKind, FormatSettings, Tier, TierDevices};
use support::{Call, Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 64;
const LIMIT: Duration = Duration::from_secs(60);

struct Bed {
    cache: Arc<MemoryDevice>,
    origin: Arc<MemoryDevice>,
    clock: Arc<TestClock>,
    lines: u32,
}

impl Bed {
    fn new(lines: u32) -> Self {
        let (cache, origins) = memory_devices(lines, 64, 1);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, lines, 1)).unwrap();
        Self { cache, origin: origins[0].clone(), clock: Arc::default(), lines }
    }

    fn try_open(&self) -> Result<Tier, proofload_tier::Error> {
        let mut settings = pool(CacheMode::WriteBack, 1);
        settings.cleaner.bypass_from = 1.1;
        Tier::open(devices(&self.cache, std::slice::from_ref(&self.origin)), settings, self.clock.clone())
    }

    fn open(&self) -> Tier {
        self.try_open().unwrap()
    }

    /// A pool of which so many blocks are dirty, durable, and closed.
    fn closed_lines(lines: u32, blocks: u64) -> (Self, Tier) {
        let bed = Self::new(lines);
        let tier = bed.open();
        (0..blocks).for_each(|block| write(&tier, block, block as u8 + 1));
        tier.flush(0).unwrap();
        bed.close_idle(&tier);
        (bed, tier)
    }

    /// Lets two passes go by, so that what was not written meanwhile is closed.
    fn close_idle(&self, tier: &Tier) {
        for _ in 0..2 {
            self.clock.advance(Duration::from_secs(6));
            tier.tend().unwrap();
        }
    }

    fn after_crash(&self, cache: Fate) -> Self {
        let left = |device: &MemoryDevice, fate| {
            MemoryDevice::new(device.store.lock().unwrap().after_crash(fate, &mut Dice(1)))
        };
        let (cache, origin) = (left(&self.cache, cache), left(&self.origin, Fate::Kept));
        Self { cache, origin, clock: Arc::default(), lines: self.lines }
    }

    /// The line that holds a block, its generation, and whether it is closed.
    fn line_of(&self, block: u64) -> (u32, u32, bool) {
        let inspection = CacheInspection::of(&*self.cache).unwrap();
        let mut lines = inspection.lines();
        let (line, entry) = lines.find(|(_, entry)| entry.block().unwrap().index() == block).unwrap();
        (line, entry.generation(), entry.is_closed())
    }

    /// Position on the cache of a block.
    fn place_of(&self, block: u64) -> usize {
        Geometry::new(8192, self.lines).unwrap().byte_of_line(self.line_of(block).0) as usize
    }

    fn faults(&self) -> Vec<(u64, FaultKind)> {
        let inspection = CacheInspection::of(&*self.cache).unwrap();
        let check = inspection.check_data(&*self.cache).unwrap();
        check.faults.iter().map(|fault| (fault.at, fault.kind)).collect()
    }

    /// Blocks of the origin that have the byte which was written first.
    fn written_back(&self, blocks: u64) -> Vec<u64> {
        let bytes = self.origin.bytes_now();
        let whole = |block: &u64| {
            let from = (block * BLOCK) as usize;
            bytes[from..from + BLOCK as usize].iter().all(|byte| *byte == *block as u8 + 1)
        };
        (0..blocks).filter(whole).collect()
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
fn a_thousand_flipped_bits_of_closed_lines_are_found_after_a_crash_and_reach_no_origin() {
    const BLOCKS: u64 = 40;
    let (bed, _tier) = Bed::closed_lines(LINES, BLOCKS);
    let image = bed.after_crash(Fate::Lost);
    assert!((0..BLOCKS).all(|block| image.line_of(block).2));
    let places: Vec<usize> = (0..BLOCKS).map(|block| image.place_of(block)).collect();
    let copy = || Bed {
        cache: MemoryDevice::new(image.cache.bytes_now()),
        origin: MemoryDevice::new(image.origin.bytes_now()),
        clock: Arc::default(),
        lines: LINES,
    };
    let mut dice = Dice(11);
    for flip in 0..1_000 {
        let (block, at, bit) = (dice.below(BLOCKS), dice.below(BLOCK), dice.below(8));
        let sector = block * BLOCK + at / 4096 * 4096;
        let flipped = || {
            let bed = copy();
            let mut store = bed.cache.store.lock().unwrap();
            store.now[places[block as usize] + at as usize] ^= 1 << bit;
            store.durable = store.now.clone();
            drop(store);
            bed
        };
        let what = format!("flip {flip}: block {block} byte {at} bit {bit}");
        // The check, also when nobody has opened the pool.
        let bed = flipped();
        assert_eq!(bed.faults(), [(sector, FaultKind::Lost)], "{what}");
        // The cleaner of a pool that is served.
        let tier = bed.open();
        let status = tier.drain(LIMIT).unwrap();
        let found = (status.dirty_lines, status.damaged_lines, tier.counters(0).damaged_sectors);
        assert_eq!(found, (1, 1, 1), "{what}");
        assert_eq!(tier.damaged_ranges(0), vec![sector..sector + 4096], "{what}");
        assert!(tier.read(0, sector, &mut [0; 4096]).unwrap_err().is_lost(), "{what}");
        let others: Vec<u64> = (0..BLOCKS).filter(|other| *other != block).collect();
        assert_eq!(bed.written_back(BLOCKS), others, "{what}");
        let (from, origin) = (sector as usize, bed.origin.bytes_now());
        assert!(origin[from..from + 4096].iter().all(|byte| *byte == 0), "{what}");
        tier.close().unwrap();
        assert_eq!(bed.faults(), [(sector, FaultKind::Lost)], "{what}, after a stop");
        // A drain of a pool that nobody serves.
        let bed = flipped();
        let status = bed.open().salvage(LIMIT).unwrap();
        let skipped: Vec<_> = status.skipped.iter().map(|range| (range.bytes.clone(), range.kind)).collect();
        assert_eq!(skipped, [(sector..sector + 4096, FaultKind::Lost)], "{what}");
        assert_eq!((status.finished, status.left_bytes, status.torn_sectors), (true, 4096, 0), "{what}");
        assert_eq!(bed.written_back(BLOCKS), others, "{what}");
    }
}

#[test]
fn a_flipped_checksum_of_a_closed_line_lets_its_block_be_refused_and_not_cleaned() {
    let (bed, tier) = Bed::closed_lines(LINES, 4);
    tier.checkpoint().unwrap();
    let bed = bed.after_crash(Fate::Kept);
    let crc = Geometry::new(8192, LINES).unwrap().byte_of_crc(bed.line_of(2).0, 1);
    bed.cache.flip_bit(crc as usize + 2);
    let tier = bed.open();
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 1);
    let damaged: Vec<_> = tier.damaged_ranges(0).iter().map(|range| (range.start, range.end)).collect();
    assert_eq!((bed.written_back(4), damaged), (vec![0, 1, 3], vec![(2 * BLOCK + 4096, 3 * BLOCK)]));
}

#[test]
fn damage_costs_its_sectors_alone_until_they_are_written_whole() {
    let (bed, tier) = Bed::closed_lines(LINES, 4);
    let place = bed.place_of(1);
    bed.cache.flip_bit(place + 5_000);
    // A line that was written since the start is read without a comparison: its cleaning is what finds it.
    tier.drain(LIMIT).unwrap();
    let error = tier.read(0, BLOCK, &mut [0; BLOCK as usize]).unwrap_err();
    assert!(error.is_lost() && !error.is_fail_stop(), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("bytes 12288 to 16384 of volume 0") && text.contains("differ from their checksums"),
        "{text}"
    );
    tier.read(0, BLOCK, &mut [0; 4096]).unwrap();
    assert_eq!((read(&tier, 0), tier.counters(0).damaged_sectors), (1, 1));
    // A write that keeps what is damaged is refused: it would get a new checksum.
    assert!(tier.write(0, BLOCK, &[9; 4096]).unwrap_err().is_lost());
    assert!(tier.write(0, BLOCK + 4096, &[9; 512]).unwrap_err().is_lost());
    assert!(tier.detach(Duration::from_secs(1)).unwrap_err().is_lost());
    let tier = {
        tier.close().unwrap();
        bed.open()
    };
    assert!(tier.read(0, BLOCK, &mut [0; BLOCK as usize]).unwrap_err().is_lost());
    write(&tier, 2, 7);
    tier.write(0, BLOCK + 4096, &[2; 4096]).unwrap();
    assert_eq!((read(&tier, 1), tier.damaged_ranges(0)), (2, Vec::new()));
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 0);
    assert_eq!(bed.written_back(2), [0, 1]);
    tier.close().unwrap();
    assert_eq!(bed.faults(), []);
}

#[test]
fn what_is_copied_is_compared_first() {
    let bed = Bed::new(LINES);
    let tier = bed.open();
    (0..2).for_each(|block| write(&tier, block, 1));
    tier.flush(0).unwrap();
    // The first block is open, and its sector is read around a small write; the other is closed, and its second sector is copied.
    for (block, from, length) in [(0, 4096, 512), (1, 0, 4096)] {
        if block == 1 {
            bed.close_idle(&tier);
        }
        assert_eq!(bed.line_of(block).2, block == 1);
        let place = bed.place_of(block);
        bed.cache.flip_bit(place + 8_000);
        assert!(tier.write(0, block * BLOCK + from, &vec![9; length]).unwrap_err().is_lost());
        bed.cache.flip_bit(place + 8_000);
        assert_eq!(read(&tier, block), 1, "the device reads as it should again");
        tier.write(0, block * BLOCK + from, &vec![1; length]).unwrap();
    }
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 0);
}

#[test]
fn a_crash_does_not_hide_what_was_found_in_an_open_line() {
    let bed = Bed::new(LINES);
    let tier = bed.open();
    (0..2).for_each(|block| write(&tier, block, block as u8 + 1));
    tier.flush(0).unwrap();
    let place = bed.place_of(1);
    bed.cache.flip_bit(place + 100);
    assert_eq!(bed.after_crash(Fate::Lost).faults(), [(BLOCK, FaultKind::Torn)], "nobody can tell");
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 1);
    tier.flush(0).unwrap();
    let bed = bed.after_crash(Fate::Lost);
    assert_eq!(bed.faults(), [(BLOCK, FaultKind::Lost)]);
    assert!(bed.open().read(0, BLOCK, &mut [0; 4096]).unwrap_err().is_lost());
}

#[test]
fn a_closed_line_is_left_as_it_is_and_its_opening_costs_no_sync() {
    let (bed, tier) = Bed::closed_lines(LINES, 3);
    let (line, generation, _) = bed.line_of(1);
    let syncs = bed.cache.count(Call::Sync);
    tier.write(0, BLOCK, &[9; 4096]).unwrap();
    write(&tier, 1, 9);
    assert_eq!(bed.cache.count(Call::Sync), syncs, "a write waits for no sync");
    for fate in [Fate::Lost, Fate::Kept, Fate::Subset, Fate::Torn(4096), Fate::Torn(512)] {
        let crashed = bed.after_crash(fate);
        assert_eq!((crashed.line_of(1), crashed.faults()), ((line, generation, true), Vec::new()), "{fate:?}");
        assert_eq!(read(&crashed.open(), 1), 2, "{fate:?}");
    }
    tier.flush(0).unwrap();
    assert!(bed.cache.count(Call::Sync) - syncs <= 2);
    let found = bed.line_of(1);
    assert!(found.0 != line && found.1 > generation && !found.2, "{found:?}");
    let tier = bed.after_crash(Fate::Lost).open();
    assert_eq!((read(&tier, 1), tier.lines_of(0)), (9, (3, 3)));
}

#[test]
fn a_closed_line_that_is_discarded_in_part_keeps_the_rest() {
    let (bed, tier) = Bed::closed_lines(LINES, 1);
    let writes = bed.origin.count(Call::Write);
    tier.discard(0, 1024, 5_000).unwrap();
    tier.flush(0).unwrap();
    assert_eq!(bed.origin.count(Call::Write), writes);
    let mut wanted = vec![1; BLOCK as usize];
    wanted[1024..6024].fill(0);
    for tier in [tier, bed.after_crash(Fate::Lost).open()] {
        let mut bytes = vec![0xee; BLOCK as usize];
        tier.read(0, 0, &mut bytes).unwrap();
        assert!(bytes == wanted);
    }
}

#[test]
fn a_pool_without_a_free_line_opens_closed_ones_and_overwrites_them() {
    let (bed, tier) = Bed::closed_lines(8, 8);
    let syncs = bed.cache.count(Call::Sync);
    assert!((0..8).all(|block| bed.line_of(block).2));
    let mut half = [7; BLOCK as usize];
    for round in 1..4_u8 {
        for block in 0..8 {
            tier.write(0, block * BLOCK, &[round; 4096]).unwrap();
            tier.read(0, block * BLOCK, &mut half).unwrap();
            assert!(half[..4096] == [round; 4096] && half[4096..] == [block as u8 + 1; 4096]);
            let crashed = bed.after_crash(Fate::Torn(512));
            assert!(crashed.faults().iter().all(|(_, kind)| *kind == FaultKind::Torn), "round {round} block {block}");
        }
        tier.flush(0).unwrap();
        assert_eq!(bed.faults(), []);
        assert!((0..8).all(|block| !bed.line_of(block).2), "they are open");
    }
    assert!(bed.cache.count(Call::Sync) - syncs <= 2 * 8 + 2 * 3, "each is opened once");
    bed.close_idle(&tier);
    assert!((0..8).all(|block| bed.line_of(block).2), "and closed again");
}

#[test]
fn what_is_dirty_in_a_closed_line_is_kept_while_its_block_waits_for_a_sync_of_the_origin() {
    let bed = Bed::new(LINES);
    let tier = bed.open();
    tier.set_mode(0, CacheMode::WriteAround).unwrap();
    write(&tier, 0, 1);
    tier.set_mode(0, CacheMode::WriteBack).unwrap();
    tier.write(0, 0, &[2; 4096]).unwrap();
    bed.close_idle(&tier);
    assert!(bed.line_of(0).2);
    tier.write(0, 4096, &[3; 512]).unwrap();
    tier.flush(0).unwrap();
    let mut wanted = vec![1; BLOCK as usize];
    wanted[..4096].fill(2);
    wanted[4096..4608].fill(3);
    for tier in [tier, bed.after_crash(Fate::Lost).open()] {
        let mut bytes = vec![0xee; BLOCK as usize];
        tier.read(0, 0, &mut bytes).unwrap();
        assert!(bytes == wanted);
    }
}

#[test]
fn a_journal_without_room_for_all_never_gives_up_a_closed_line_without_the_one_in_its_place() {
    const BLOCKS: u64 = 60;
    let (cache, origins) = memory_devices(1024, 512, 1);
    let few = FormatSettings { journal_blocks: Some(4), ..format_settings(8192, 1024, 1) };
    Tier::format(&devices(&cache, &origins), &few).unwrap();
    let bed = Bed { cache, origin: origins[0].clone(), clock: Arc::default(), lines: 1024 };
    let tier = bed.open();
    (0..400).for_each(|block| write(&tier, block, 1));
    tier.flush(0).unwrap();
    bed.close_idle(&tier);
    assert!((0..400).step_by(50).all(|block| bed.line_of(block).2));
    // Each of these writes has two records, which are more than four blocks of the journal hold.
    (0..400).for_each(|block| write(&tier, block, 2));
    let states = Arc::new(Mutex::new(Vec::new()));
    let (kept, store) = (states.clone(), bed.cache.store.clone());
    *bed.cache.after.lock().unwrap() = Some(Box::new(move || {
        kept.lock().unwrap().push(store.lock().unwrap().after_crash(Fate::Kept, &mut Dice(1)));
    }));
    tier.flush(0).unwrap();
    let states = states.lock().unwrap().split_off(0);
    assert!(states.len() > 6, "one commit and a checkpoint do not do: {}", states.len());
    for state in states.into_iter().step_by(2) {
        let origin = MemoryDevice::new(bed.origin.bytes_now());
        let crashed = Bed { cache: MemoryDevice::new(state), origin, clock: Arc::default(), lines: 1024 };
        let tier = crashed.open();
        assert_eq!(tier.lines_of(0), (400, 400));
        assert!((0..400).step_by((400 / BLOCKS) as usize).all(|block| [1, 2].contains(&read(&tier, block))));
    }
}

/// A write of a whole block, as the machine sees it.
fn ask(machine: &mut CacheMachine, index: u64) -> Begin {
    machine.begin(&BlockRequest { kind: AccessKind::Write, block: OriginBlock::new(0, index), range: 0..8192 })
}

#[test]
fn nobody_overwrites_a_line_before_its_opening_is_durable() {
    let mut settings = pool(CacheMode::WriteBack, 1);
    settings.cleaner.bypass_from = 1.1;
    settings.cleaner.close_after = Duration::ZERO;
    let journal = JournalPosition { start: 0, next: 0, mount: 1 };
    let mut machine = CacheMachine::new(Geometry::new(8192, 8).unwrap(), settings, &[], (8, false), journal);
    let mut crcs = SectorCrcs::default();
    (0..2).for_each(|sector| crcs.set(sector, 1));
    for index in 0..8 {
        let Begin::Work(work) = ask(&mut machine, index) else { panic!("block {index} is in use") };
        assert_eq!(machine.end(work, Ok(crcs)), End::Done);
    }
    assert!(!machine.close_idle(Duration::ZERO) && machine.close_idle(Duration::ZERO));
    assert_eq!(machine.closed_lines(), 8);
    machine.commit_begin().unwrap();
    machine.commit_end(true);
    // Two requests come before the commit, and one while it is at work.
    assert_eq!(ask(&mut machine, 3), Begin::Wait(WaitFor::Commit));
    assert_eq!((ask(&mut machine, 3), machine.closed_lines()), (Begin::Wait(WaitFor::Commit), 7));
    machine.commit_begin().unwrap();
    assert_eq!(ask(&mut machine, 3), Begin::Wait(WaitFor::Commit));
    machine.commit_end(true);
    assert!(matches!(ask(&mut machine, 3), Begin::Work(_)));
}

#[test]
fn no_line_is_closed_before_its_data_are_durable() {
    let bed = Bed::new(LINES);
    let tier = bed.open();
    write(&tier, 0, 1);
    tier.flush(0).unwrap();
    write(&tier, 0, 2);
    // Of all that is not synced, the device keeps the last write alone: in the commit that closes the line, the journal.
    let states = Arc::new(Mutex::new(Vec::new()));
    let (kept, store) = (states.clone(), bed.cache.store.clone());
    *bed.cache.after.lock().unwrap() = Some(Box::new(move || {
        let mut store = store.lock().unwrap().clone();
        let last = store.pending.pop();
        store.pending = last.into_iter().collect();
        kept.lock().unwrap().push(store.after_crash(Fate::Kept, &mut Dice(1)));
    }));
    bed.close_idle(&tier);
    let mut closed = 0;
    for state in states.lock().unwrap().split_off(0) {
        let origin = MemoryDevice::new(bed.origin.bytes_now());
        let crashed = Bed { cache: MemoryDevice::new(state), origin, clock: Arc::default(), lines: LINES };
        closed += u32::from(crashed.line_of(0).2);
        assert!(crashed.faults().iter().all(|(_, kind)| *kind == FaultKind::Torn), "{:?}", crashed.faults());
        assert!([1, 2].contains(&read(&crashed.open(), 0)));
    }
    assert!(closed >= 2, "the journal was kept before it was synced and after: {closed}");
}

/// A cache that calls once before a write.
struct CallingCache {
    inner: Arc<MemoryDevice>,
    before_write: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Device for CallingCache {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(at, into)
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        let act = self.before_write.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
        self.inner.write_at(at, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

#[test]
fn a_line_is_not_closed_while_it_is_written() {
    let bed = Bed::new(LINES);
    let cache = Arc::new(CallingCache { inner: bed.cache.clone(), before_write: Mutex::default() });
    let given = TierDevices { cache: cache.clone(), origins: vec![bed.origin.clone()] };
    let tier = Arc::new(Tier::open(given, pool(CacheMode::WriteBack, 1), bed.clock.clone()).unwrap());
    (0..2).for_each(|block| write(&tier, block, 1));
    tier.flush(0).unwrap();
    let (other, clock) = (tier.clone(), bed.clock.clone());
    *cache.before_write.lock().unwrap() = Some(Box::new(move || {
        for _ in 0..3 {
            clock.advance(Duration::from_secs(6));
            other.tend().unwrap();
        }
    }));
    write(&tier, 1, 2);
    for fate in [Fate::Kept, Fate::Torn(512), Fate::Lost] {
        let crashed = bed.after_crash(fate);
        assert_eq!([0, 1].map(|block| crashed.line_of(block).2), [true, false], "{fate:?}");
        assert!(crashed.faults().iter().all(|(_, kind)| *kind == FaultKind::Torn), "{fate:?}");
    }
}

#[test]
fn a_line_that_comes_back_to_its_block_is_not_taken_for_the_one_that_was_cleaned() {
    let (bed, tier) = Bed::closed_lines(8, 1);
    let (tier, first) = (Arc::new(tier), bed.line_of(0).0);
    let (other, clock, cache) = (tier.clone(), bed.clock.clone(), bed.cache.clone());
    // While the cleaner waits for the origin, the block is written to a line after the other, until it has the first one again.
    *bed.origin.before.lock().unwrap() = Some(Box::new(move |call| {
        let look = Bed { cache: cache.clone(), origin: MemoryDevice::new(Vec::new()), clock: clock.clone(), lines: 8 };
        for round in 2..20 {
            if call == Call::Sync {
                write(&other, 0, round);
                other.flush(0).unwrap();
                if look.line_of(0).0 == first {
                    return Ok(());
                }
                look.close_idle(&other);
            }
        }
        assert_ne!(call, Call::Sync, "the first line was not had again");
        Ok(())
    }));
    tier.clean().unwrap();
    bed.clock.advance(Duration::from_secs(2));
    tier.clean().unwrap();
    bed.origin.mend();
    assert_eq!((tier.lines_of(0), tier.counters(0).cleaned_in_vain), ((1, 1), 1));
    let last = read(&tier, 0);
    assert!(last > 2);
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 0);
    assert_eq!(bed.origin.bytes_now()[0], last);
}

#[test]
fn lines_that_are_written_stay_open_and_an_idle_pool_commits_nothing() {
    let bed = Bed::new(LINES);
    let tier = bed.open();
    (0..4).for_each(|block| write(&tier, block, 1));
    tier.flush(0).unwrap();
    for _ in 0..4 {
        bed.clock.advance(Duration::from_secs(6));
        // Block 0 is written between any two passes.
        write(&tier, 0, 2);
        tier.tend().unwrap();
        write(&tier, 0, 3);
    }
    tier.flush(0).unwrap();
    let closed = |bed: &Bed| (0..4).map(|block| bed.line_of(block).2).collect::<Vec<_>>();
    assert_eq!(closed(&bed), [false, true, true, true]);
    bed.close_idle(&tier);
    assert_eq!(closed(&bed), [true; 4]);
    let calls = [bed.cache.count(Call::Write), bed.cache.count(Call::Sync)];
    bed.close_idle(&tier);
    assert_eq!([bed.cache.count(Call::Write), bed.cache.count(Call::Sync)], calls);
}

#[test]
fn a_stop_after_a_crash_closes_what_is_not_in_doubt() {
    let bed = Bed::new(LINES);
    let tier = bed.open();
    (0..3).for_each(|block| write(&tier, block, 1));
    tier.flush(0).unwrap();
    let bed = bed.after_crash(Fate::Kept);
    let tier = bed.open();
    assert_eq!(read(&tier, 1), 1);
    tier.close().unwrap();
    let inspection = CacheInspection::of(&*bed.cache).unwrap();
    assert!(!inspection.superblock.clean, "two lines were never read");
    assert_eq!([0, 1, 2].map(|block| bed.line_of(block).2), [false, true, false]);
    let place = bed.place_of(1);
    bed.cache.flip_bit(place);
    assert_eq!(bed.faults(), [(BLOCK, FaultKind::Lost)]);
}
