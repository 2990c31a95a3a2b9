//! What is known of damage and of what a crash may have torn, sector by sector: nothing of it is hidden, and none lasts longer than it is there.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::device::Device;
use proofload_tier::layout::Geometry;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{CacheInspection, FaultKind, Tier, TierDevices};
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

    fn open_with(&self, given: TierDevices, quota: Option<u32>) -> Tier {
        let mut settings = pool(CacheMode::WriteBack, 1);
        settings.cleaner.bypass_from = 1.1;
        settings.volumes[0].quota_lines = quota;
        Tier::open(given, settings, self.clock.clone()).unwrap()
    }

    fn open(&self) -> Tier {
        self.open_with(devices(&self.cache, std::slice::from_ref(&self.origin)), None)
    }

    /// A pool of which so many blocks are dirty and durable.
    fn open_lines(lines: u32, blocks: u64) -> (Self, Tier) {
        let bed = Self::new(lines);
        let tier = bed.open();
        (0..blocks).for_each(|block| write(&tier, block, block as u8 + 1));
        tier.flush(0).unwrap();
        (bed, tier)
    }

    /// The same, and they are closed.
    fn closed_lines(lines: u32, blocks: u64) -> (Self, Tier) {
        let (bed, tier) = Self::open_lines(lines, blocks);
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

    /// The line that holds a block, and whether it is closed.
    fn line_of(&self, block: u64) -> (u32, bool) {
        let inspection = CacheInspection::of(&*self.cache).unwrap();
        let mut lines = inspection.lines();
        let (line, entry) = lines.find(|(_, entry)| entry.block().unwrap().index() == block).unwrap();
        (line, entry.is_closed())
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
}

fn write(tier: &Tier, block: u64, byte: u8) {
    tier.write(0, block * BLOCK, &[byte; BLOCK as usize]).unwrap();
}

/// The first bytes of the two sectors of a block.
fn read(tier: &Tier, block: u64) -> [u8; 2] {
    let mut bytes = [0xee; BLOCK as usize];
    tier.read(0, block * BLOCK, &mut bytes).unwrap();
    [bytes[0], bytes[4096]]
}

/// Damaged bytes of the volume, as begin and end.
fn damaged(tier: &Tier) -> Vec<(u64, u64)> {
    tier.damaged_ranges(0).iter().map(|range| (range.start, range.end)).collect()
}

#[test]
fn damage_of_a_line_that_was_closed_at_a_crash_is_found_after_it_was_opened_again() {
    let (bed, _tier) = Bed::closed_lines(8, 8);
    let bed = bed.after_crash(Fate::Lost);
    bed.cache.flip_bit(bed.place_of(0) + 5_000);
    let tier = bed.open();
    // No line is free: the closed one is opened and overwritten in place.
    tier.write(0, 0, &[9; 4096]).unwrap();
    tier.drain(LIMIT).unwrap();
    assert_eq!(damaged(&tier), [(4096, 8192)]);
    assert_eq!((tier.counters(0).torn_sectors, tier.counters(0).damaged_sectors), (0, 1));
    let origin = bed.origin.bytes_now();
    assert_eq!((origin[0], origin[4096], origin[8192]), (9, 0, 2));
    tier.flush(0).unwrap();
    assert_eq!(bed.after_crash(Fate::Lost).faults(), [(4096, FaultKind::Lost)], "and another crash does not hide it");
}

#[test]
fn a_line_that_is_known_to_be_damaged_is_not_opened_again() {
    let (bed, tier) = Bed::closed_lines(8, 8);
    bed.cache.flip_bit(bed.place_of(0) + 5_000);
    let calls = bed.origin.count(Call::Write);
    bed.origin.fail_when(|call| call == Call::Write);
    // The cleaner finds it, and cleans nothing: no line can be had.
    tier.drain(Duration::from_secs(1)).unwrap_err();
    bed.origin.mend();
    assert_eq!((damaged(&tier), bed.origin.count(Call::Write) > calls), (vec![(4096, 8192)], true));
    assert!(tier.write(0, 4096, &[9; 4096]).unwrap_err().is_lost());
    tier.flush(0).unwrap();
    let crashed = bed.after_crash(Fate::Lost);
    assert_eq!((crashed.line_of(0).1, crashed.faults()), (true, vec![(4096, FaultKind::Lost)]));
    // Once another line can be had, the damaged sectors are overwritten there.
    bed.clock.advance(Duration::from_secs(60));
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 1);
    tier.write(0, 4096, &[9; 4096]).unwrap();
    assert_eq!((damaged(&tier), read(&tier, 0)), (Vec::new(), [1, 9]));
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 0);
    assert_eq!((bed.origin.bytes_now()[0], bed.origin.bytes_now()[4096]), (1, 9));
}

#[test]
fn damage_that_was_overwritten_in_place_is_forgotten() {
    let (bed, _tier) = Bed::open_lines(LINES, 2);
    let bed = bed.after_crash(Fate::Kept);
    let tier = bed.open();
    // The first sector was written since the crash, which may have torn the second: the line stays open.
    tier.write(0, 0, &[7; 4096]).unwrap();
    bed.cache.flip_bit(bed.place_of(0) + 100);
    assert!(tier.read(0, 0, &mut [0; 4096]).unwrap_err().is_lost());
    assert_eq!((damaged(&tier), tier.closed_lines()), (vec![(0, 4096)], 0));
    tier.write(0, 0, &[8; 4096]).unwrap();
    assert_eq!((damaged(&tier), read(&tier, 0)), (Vec::new(), [8, 1]));
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 0);
    assert_eq!((bed.origin.bytes_now()[0], bed.origin.bytes_now()[4096]), (8, 1));
}

#[test]
fn a_damaged_line_is_closed_once_its_other_sectors_were_compared() {
    let (bed, _tier) = Bed::open_lines(LINES, 1);
    let bed = bed.after_crash(Fate::Kept);
    let tier = bed.open();
    tier.write(0, 0, &[7; 4096]).unwrap();
    tier.flush(0).unwrap();
    let place = bed.place_of(0);
    bed.cache.flip_bit(place + 100);
    bed.cache.flip_bit(place + 5_000);
    let status = tier.drain(LIMIT).unwrap();
    // What the crash may have torn is taken as it is, what was written since is not.
    assert_eq!((status.dirty_lines, status.damaged_lines), (1, 1));
    assert_eq!((tier.counters(0).torn_sectors, tier.counters(0).damaged_sectors), (1, 1));
    assert_eq!((damaged(&tier), tier.closed_lines()), (vec![(0, 4096)], 1));
    tier.flush(0).unwrap();
    let crashed = bed.after_crash(Fate::Lost);
    assert_eq!(crashed.faults(), [(0, FaultKind::Lost)]);
}

#[test]
fn a_line_that_is_overwritten_in_parts_after_a_crash_is_certain_when_all_were() {
    let (bed, _tier) = Bed::open_lines(LINES, 3);
    let bed = bed.after_crash(Fate::Kept);
    let tier = bed.open();
    tier.write(0, 0, &[7; 4096]).unwrap();
    tier.write(0, 4096, &[8; 4096]).unwrap();
    // Written in one part, and compared in the other.
    tier.write(0, BLOCK, &[7; 4096]).unwrap();
    tier.read(0, BLOCK + 4096, &mut [0; 512]).unwrap();
    // Compared in one part alone.
    tier.read(0, 2 * BLOCK, &mut [0; 512]).unwrap();
    bed.close_idle(&tier);
    assert_eq!([0, 1, 2].map(|block| bed.line_of(block).1), [true, true, false]);
    let place = bed.place_of(1);
    bed.cache.flip_bit(place + 5_000);
    assert_eq!(bed.faults(), [(BLOCK + 4096, FaultKind::Lost)]);
    bed.cache.flip_bit(place + 5_000);
    tier.read(0, 2 * BLOCK + 4096, &mut [0; 512]).unwrap();
    tier.close().unwrap();
    assert!(CacheInspection::of(&*bed.cache).unwrap().superblock.clean, "nothing is in doubt any more");
}

#[test]
fn one_wrong_read_is_no_damage_any_more_when_the_next_is_right() {
    let (bed, tier) = Bed::closed_lines(LINES, 2);
    let place = bed.place_of(1);
    bed.cache.flip_bit(place + 5_000);
    assert_eq!(tier.drain(LIMIT).unwrap().damaged_lines, 1);
    bed.cache.flip_bit(place + 5_000);
    assert_eq!(damaged(&tier), [(BLOCK + 4096, 2 * BLOCK)]);
    // It is compared in part alone.
    tier.read(0, BLOCK + 4096, &mut [0; 4096]).unwrap();
    assert_eq!(damaged(&tier), []);
    let status = tier.drain(LIMIT).unwrap();
    assert_eq!((status.dirty_lines, bed.origin.bytes_now()[BLOCK as usize + 4096]), (0, 2));
}

/// A cache whose reads of data call something first, once each.
struct CallingCache {
    inner: Arc<MemoryDevice>,
    from: u64,
    before_reads: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
    reads: AtomicUsize,
}

impl Device for CallingCache {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        if at >= self.from {
            self.reads.fetch_add(1, Ordering::SeqCst);
            let act = self.before_reads.lock().unwrap().pop();
            if let Some(act) = act {
                act();
            }
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

#[test]
fn a_comparison_that_was_begun_before_a_torn_sector_was_accepted_is_no_damage() {
    let (bed, tier) = Bed::open_lines(LINES, 1);
    // The crash keeps an overwrite in place without its record.
    tier.write(0, 4096, &[9; 4096]).unwrap();
    let bed = bed.after_crash(Fate::Kept);
    assert_eq!(bed.faults(), [(4096, FaultKind::Torn)]);
    let from = Geometry::new(8192, LINES).unwrap().byte_of_line(0);
    let cache = Arc::new(CallingCache {
        inner: bed.cache.clone(),
        from,
        before_reads: Mutex::default(),
        reads: AtomicUsize::default(),
    });
    // The checksum is in memory, where a work has a copy of it.
    let given = TierDevices { cache: cache.clone(), origins: vec![bed.origin.clone()] };
    let tier = Arc::new(bed.open_with(given, None));
    let other = tier.clone();
    *cache.before_reads.lock().unwrap() = vec![Box::new(move || assert_eq!(read(&other, 0), [1, 9]))];
    assert_eq!(read(&tier, 0), [1, 9]);
    assert_eq!((damaged(&tier), tier.counters(0).damaged_sectors), (Vec::new(), 0));
    assert_eq!(tier.counters(0).torn_sectors, 1, "it is counted once");
    assert_eq!(cache.reads.load(Ordering::SeqCst), 4, "each was asked twice");
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 0);
}

#[test]
fn the_first_write_to_a_closed_line_of_a_full_quota_costs_no_commit() {
    let bed = Bed::new(LINES);
    let given = devices(&bed.cache, std::slice::from_ref(&bed.origin));
    let tier = bed.open_with(given, Some(8));
    (0..8).for_each(|block| write(&tier, block, 1));
    tier.flush(0).unwrap();
    bed.close_idle(&tier);
    assert_eq!((tier.closed_lines(), tier.lines_of(0)), (8, (8, 8)));
    let syncs = bed.cache.count(Call::Sync);
    (0..8).for_each(|block| write(&tier, block, 2));
    assert_eq!((bed.cache.count(Call::Sync), tier.lines_of(0)), (syncs, (8, 8)));
    tier.flush(0).unwrap();
    assert!((0..8).all(|block| read(&tier, block) == [2, 2]));
}

#[test]
fn a_line_that_replaces_another_gives_up_no_third() {
    let (bed, tier) = Bed::closed_lines(LINES, 40);
    let mut bytes = [0; BLOCK as usize];
    (40..63).for_each(|block| tier.read(0, block * BLOCK, &mut bytes).unwrap());
    assert_eq!((tier.lines_of(0), tier.counters(0).evictions), ((63, 40), 0), "one line is free");
    for round in 2..6 {
        write(&tier, u64::from(round), round);
        tier.flush(0).unwrap();
        assert_eq!((tier.lines_of(0), tier.counters(0).evictions), ((63, 40), 0));
    }
    // Also where two come before a commit.
    let commits = bed.cache.count(Call::Sync);
    write(&tier, 20, 9);
    write(&tier, 21, 9);
    assert!(bed.cache.count(Call::Sync) - commits <= 2);
    tier.flush(0).unwrap();
    let crashed = bed.after_crash(Fate::Lost);
    assert!([20, 21].iter().all(|block| read(&crashed.open(), *block) == [9, 9]));
}

#[test]
fn a_size_that_leaves_out_a_damaged_line_is_refused_at_once() {
    let (bed, tier) = Bed::closed_lines(LINES, 60);
    let block = (0..60).find(|block| bed.line_of(*block).0 >= 40).unwrap();
    bed.cache.flip_bit(bed.place_of(block) + 1);
    let (begin, limit) = (tier.since_open(), Duration::from_secs(2));
    let error = tier.resize(16, limit).unwrap_err();
    assert!(error.is_lost() && tier.since_open() - begin < limit, "{error}");
    assert_eq!((tier.status().active_lines, damaged(&tier)), (LINES, vec![(block * BLOCK, block * BLOCK + 4096)]));
    tier.write(0, block * BLOCK, &[9; 4096]).unwrap();
    tier.resize(16, LIMIT).unwrap();
    assert_eq!(tier.status().active_lines, 16);
}

#[test]
fn a_crash_right_behind_the_opening_after_a_clean_stop_hides_no_damage() {
    let (bed, tier) = Bed::open_lines(LINES, 3);
    tier.close().unwrap();
    assert!(CacheInspection::of(&*bed.cache).unwrap().superblock.clean);
    let tier = bed.open();
    let crashed = bed.after_crash(Fate::Lost);
    drop(tier);
    assert!((0..3).all(|block| crashed.line_of(block).1));
    crashed.cache.flip_bit(crashed.place_of(1) + 100);
    assert_eq!(crashed.faults(), [(BLOCK, FaultKind::Lost)]);
    let tier = crashed.open();
    assert_eq!(tier.drain(LIMIT).unwrap().dirty_lines, 1);
    assert_eq!(damaged(&tier), [(BLOCK, BLOCK + 4096)]);
}

/// Requests and maintenance of a seed; sectors have what was written last, and the damaged one is `None` until it is written.
fn use_pool(bed: &Bed, tier: &Tier, dice: &mut Dice, model: &mut [Option<u8>]) {
    for step in 0..40_u8 {
        let place = dice.below(model.len() as u64) as usize;
        let at = place as u64 * 4096;
        match dice.below(10) {
            0..4 => match tier.write(0, at, &[100 + step; 4096]) {
                Ok(()) => model[place] = Some(100 + step),
                Err(error) => assert!(error.is_lost(), "{error}"),
            },
            4 => match (tier.read(0, at, &mut [0; 4096]), model[place]) {
                (Ok(()), Some(_)) => {}
                (read, None) => assert!(read.unwrap_err().is_lost()),
                (Err(error), Some(_)) => panic!("a sound sector: {error}"),
            },
            5 => tier.flush(0).unwrap(),
            6 => drop(tier.clean()),
            7 => bed.close_idle(tier),
            8 => bed.clock.advance(Duration::from_millis(600)),
            _ => assert!(tier.tend().is_ok()),
        }
    }
}

#[test]
fn whatever_is_done_after_a_crash_no_damage_of_a_closed_line_reaches_the_origin() {
    let (bed, _tier) = Bed::closed_lines(8, 8);
    let image = bed.after_crash(Fate::Lost);
    let (mut found, mut overwritten) = (0, 0);
    for seed in 0..400 {
        let (cache, origin) = (MemoryDevice::new(image.cache.bytes_now()), MemoryDevice::new(image.origin.bytes_now()));
        let bed = Bed { cache, origin, clock: Arc::default(), lines: 8 };
        let mut dice = Dice(seed + 1);
        let mut model: Vec<_> = (0..16).map(|sector| Some(sector / 2 + 1)).collect();
        let flipped = dice.below(16) as usize;
        let place = bed.place_of(flipped as u64 / 2) + flipped % 2 * 4096;
        bed.cache.flip_bit(place + dice.below(4096) as usize);
        model[flipped] = None;
        let tier = bed.open();
        use_pool(&bed, &tier, &mut dice, &mut model);
        tier.drain(LIMIT).unwrap();
        let is_lost = model[flipped].is_none();
        let wanted = if is_lost { vec![(flipped as u64 * 4096, flipped as u64 * 4096 + 4096)] } else { Vec::new() };
        assert_eq!((damaged(&tier), tier.counters(0).torn_sectors), (wanted, 0), "seed {seed}");
        let origin = bed.origin.bytes_now();
        for (sector, byte) in model.iter().enumerate() {
            let bytes = &origin[sector * 4096..][..4096];
            assert!(bytes.iter().all(|it| *it == byte.unwrap_or(0)), "seed {seed}, sector {sector}");
        }
        (found, overwritten) = (found + u32::from(is_lost), overwritten + u32::from(!is_lost));
    }
    assert!(found > 50 && overwritten > 50, "{found} found, {overwritten} overwritten");
}
