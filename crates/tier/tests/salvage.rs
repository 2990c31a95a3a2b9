//! What is written back of a cache that is damaged, and what is refused. The devices are in memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use proofload_tier::layout::Geometry;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{CacheInspection, FaultKind, SalvageStatus, Tier};
use support::{Call, Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 1024;
const LIMIT: Duration = Duration::from_secs(60);

struct Bed {
    cache: Arc<MemoryDevice>,
    origins: Vec<Arc<MemoryDevice>>,
}

impl Bed {
    /// Devices of two volumes, of which `data` is dirty in 300 blocks and `log` in 20, and their pool.
    fn dirty() -> (Self, Tier) {
        let (cache, origins) = memory_devices(LINES, 512, 2);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 2)).unwrap();
        let bed = Self { cache, origins };
        let tier = bed.open();
        (0..300).for_each(|block| tier.write(0, block * BLOCK, &[7; BLOCK as usize]).unwrap());
        (0..20).for_each(|block| tier.write(1, block * BLOCK, &[9; BLOCK as usize]).unwrap());
        tier.flush(0).unwrap();
        (bed, tier)
    }

    fn closed() -> Self {
        let (bed, tier) = Self::dirty();
        tier.close().unwrap();
        bed
    }

    fn try_open(&self) -> Result<Tier, proofload_tier::Error> {
        let devices = devices(&self.cache, &self.origins);
        Tier::open(devices, pool(CacheMode::WriteBack, 2), Arc::new(TestClock::default()))
    }

    fn open(&self) -> Tier {
        self.try_open().unwrap()
    }

    fn after_crash(&self) -> Self {
        let left = |device: &Arc<MemoryDevice>| {
            MemoryDevice::new(device.store.lock().unwrap().after_crash(Fate::Kept, &mut Dice(1)))
        };
        Self { cache: left(&self.cache), origins: self.origins.iter().map(left).collect() }
    }

    /// The line that holds a block of a volume.
    fn line_of(&self, volume: u8, block: u64) -> u32 {
        let inspection = CacheInspection::of(&*self.cache).unwrap();
        let line = inspection.lines().find(|(_, entry)| {
            let found = entry.block().unwrap();
            (found.volume(), found.index()) == (volume, block)
        });
        line.unwrap().0
    }

    /// Position on the cache of a block of a volume.
    fn place_of(&self, volume: u8, block: u64) -> u64 {
        Geometry::new(8192, LINES).unwrap().byte_of_line(self.line_of(volume, block))
    }

    fn make_unreadable(&self, bytes: Range<u64>) {
        self.cache.unreadable.lock().unwrap().push(bytes);
    }

    /// Sectors of 4 KiB of an origin that do not have a byte, among the first so many.
    fn sectors_without(&self, volume: usize, byte: u8, count: usize) -> Vec<usize> {
        let bytes = self.origins[volume].bytes_now();
        (0..count).filter(|sector| bytes[sector * 4096..(sector + 1) * 4096] != [byte; 4096]).collect()
    }
}

fn left(status: &SalvageStatus) -> Vec<(u8, Range<u64>, FaultKind)> {
    status.skipped.iter().map(|range| (range.volume, range.bytes.clone(), range.kind)).collect()
}

#[test]
fn a_drain_goes_on_behind_what_cannot_be_read_and_reaches_later_volumes() {
    let bed = Bed::closed();
    // The second sector of block 3, both of block 5, and a bit of the first of block 280.
    let places = [bed.place_of(0, 3), bed.place_of(0, 5), bed.place_of(0, 280)];
    bed.make_unreadable(places[0] + 4096..places[0] + 4608);
    bed.make_unreadable(places[1]..places[1] + BLOCK);
    bed.cache.flip_bit(places[2] as usize + 100);
    let tier = bed.open();
    let status = tier.salvage(LIMIT).unwrap();
    let wanted = [
        (0, 3 * BLOCK + 4096..4 * BLOCK, FaultKind::Unreadable),
        (0, 5 * BLOCK..6 * BLOCK, FaultKind::Unreadable),
        (0, 280 * BLOCK..280 * BLOCK + 4096, FaultKind::Lost),
    ];
    assert_eq!(left(&status), wanted);
    assert!(status.finished && status.failed_origins.is_empty() && status.drain.left.is_none(), "{status:?}");
    assert_eq!((status.drain.dirty_lines, status.left_bytes), (3, 4 * 4096));
    assert_eq!(status.written_bytes, 320 * BLOCK - 4 * 4096);
    assert_eq!(bed.sectors_without(0, 7, 600), [7, 10, 11, 560]);
    assert_eq!(bed.sectors_without(1, 9, 40), []);
    // What is left stays for the next drain, which has it once the device reads again.
    tier.close().unwrap();
    let inspection = CacheInspection::of(&*bed.cache).unwrap();
    assert!(inspection.superblock.clean && inspection.lines_of(0).1 == 3 && inspection.lines_of(1).1 == 0);
    assert_eq!(inspection.dirty_ranges(0).len(), 3);
    bed.cache.unreadable.lock().unwrap().clear();
    bed.cache.flip_bit(places[2] as usize + 100);
    let tier = bed.open();
    let status = tier.salvage(LIMIT).unwrap();
    assert_eq!((status.drain.dirty_lines, status.left_bytes, status.written_bytes), (0, 0, 4 * 4096));
    assert_eq!(bed.sectors_without(0, 7, 600), []);
    tier.detach(LIMIT).unwrap();
}

#[test]
fn the_served_pool_still_fails_at_the_same_sector() {
    let bed = Bed::closed();
    let place = bed.place_of(0, 3);
    bed.make_unreadable(place..place + 512);
    let tier = bed.open();
    tier.drain(LIMIT).unwrap_err();
    let error = tier.read(0, 0, &mut [0; 4096]).unwrap_err();
    assert!(error.is_fail_stop(), "{error}");
}

#[test]
fn checksums_that_cannot_be_read_leave_their_sectors() {
    let bed = Bed::closed();
    let crc = Geometry::new(8192, LINES).unwrap().byte_of_crc(bed.line_of(0, 3), 0);
    let array = crc - crc % 4096;
    bed.make_unreadable(array..array + 4096);
    let tier = bed.open();
    let status = tier.salvage(LIMIT).unwrap();
    assert!(status.skipped.iter().all(|range| range.kind == FaultKind::Unreadable));
    assert!(status.finished && status.left_bytes > 0, "{status:?}");
    let skipped: u64 = status.skipped.iter().map(|range| range.bytes.end - range.bytes.start).sum();
    assert_eq!((skipped, status.written_bytes), (status.left_bytes, 320 * BLOCK - status.left_bytes));
}

#[test]
fn an_origin_that_fails_keeps_no_other_from_being_drained() {
    let bed = Bed::closed();
    // The opening writes the labels.
    let tier = bed.open();
    bed.origins[0].fail_when(|call| call == Call::Write);
    let status = tier.salvage(LIMIT).unwrap();
    assert_eq!((status.failed_origins.len(), status.failed_origins[0].0), (1, 0));
    assert!(status.failed_origins[0].1.contains("made to fail") && status.finished, "{status:?}");
    assert_eq!((tier.lines_of(0).1, tier.lines_of(1).1, status.skipped.len()), (300, 0, 0));
    assert_eq!((status.written_bytes, status.left_bytes), (20 * BLOCK, 300 * BLOCK));
    bed.origins[0].mend();
    assert_eq!(tier.salvage(LIMIT).unwrap().left_bytes, 0);
    assert_eq!(bed.sectors_without(0, 7, 600), []);
}

#[test]
fn what_differs_after_a_crash_is_written_and_counted() {
    let (bed, _tier) = Bed::dirty();
    let bed = bed.after_crash();
    let place = bed.place_of(0, 3);
    bed.cache.flip_bit(place as usize + 100);
    let tier = bed.open();
    let status = tier.salvage(LIMIT).unwrap();
    assert_eq!((status.left_bytes, status.torn_sectors, status.skipped.len()), (0, 1, 0));
    assert_eq!(bed.sectors_without(0, 7, 600), [6], "with the flipped bit");
}

#[test]
fn a_salvage_without_time_says_that_it_has_not_finished() {
    let bed = Bed::closed();
    let tier = bed.open();
    let status = tier.salvage(Duration::ZERO).unwrap();
    assert!(!status.finished && status.skipped.is_empty());
    assert_eq!((status.written_bytes, status.left_bytes), (0, 320 * BLOCK));
}

#[test]
fn a_block_of_the_checkpoint_that_cannot_be_read_is_named() {
    let bed = Bed::closed();
    let superblock = CacheInspection::of(&*bed.cache).unwrap().superblock;
    assert!(superblock.geometry.checkpoint_blocks() > 3);
    let at = superblock.geometry.byte_of_checkpoint(superblock.checkpoint_slot, 2);
    bed.make_unreadable(at + 512..at + 1024);
    let error = bed.try_open().err().unwrap().to_string();
    assert!(error.contains(&format!("block 2 of the cache's checkpoint at byte {at}: made unreadable")), "{error}");
    assert!(error.contains("try again, or copy"), "{error}");
    bed.cache.unreadable.lock().unwrap().clear();
    bed.cache.flip_bit(at as usize + 512);
    let error = bed.try_open().err().unwrap().to_string();
    assert!(error.contains(&format!("block 2 of the cache's checkpoint, at byte {at}: it is damaged")), "{error}");
}

/// A pool after a crash with three commits of one block behind the checkpoint, and the first of these blocks.
fn three_commits() -> (Bed, Geometry, u64) {
    let (bed, tier) = Bed::dirty();
    tier.checkpoint().unwrap();
    let start = CacheInspection::of(&*bed.cache).unwrap().superblock.journal_start;
    for block in 400..403 {
        tier.write(0, block * BLOCK, &[1; BLOCK as usize]).unwrap();
        tier.flush(0).unwrap();
    }
    let crashed = bed.after_crash();
    (crashed, Geometry::new(8192, LINES).unwrap(), start)
}

#[test]
fn a_flipped_bit_in_the_middle_of_the_journal_is_refused() {
    let (bed, geometry, start) = three_commits();
    assert_eq!(CacheInspection::of(&*bed.cache).unwrap().journal_records, 3);
    let at = geometry.byte_of_journal(start);
    bed.cache.flip_bit(at as usize + 40);
    let error = bed.try_open().err().unwrap();
    let wanted = format!("block {start} of the cache's journal, at byte {at}, behind which later commits are whole");
    assert!(error.to_string().contains(&wanted), "{error}");
    assert!(CacheInspection::of(&*bed.cache).is_err());
    bed.cache.flip_bit(at as usize + 40);
    assert_eq!(bed.open().lines_of(0).1, 303);
}

#[test]
fn an_unreadable_place_behind_the_journal_refuses_nothing() {
    let (bed, geometry, start) = three_commits();
    let behind = geometry.byte_of_journal(start + 5);
    bed.make_unreadable(behind..behind + 4096);
    assert_eq!(bed.open().lines_of(0).1, 303);
}

/// A pool whose last commit has several blocks behind a checkpoint, the cache as it was before that commit, the first block, and their number.
fn commit_of_several_blocks() -> (Bed, Vec<u8>, u64, u64) {
    let (bed, tier) = Bed::dirty();
    tier.checkpoint().unwrap();
    let start = CacheInspection::of(&*bed.cache).unwrap().superblock.journal_start;
    (300..500).for_each(|block| tier.write(0, block * BLOCK, &[1; BLOCK as usize]).unwrap());
    let before = bed.cache.bytes_now();
    tier.flush(0).unwrap();
    let blocks = 200_u64.div_ceil(u64::from(geometry().records_per_block()));
    assert!(blocks >= 2);
    (bed, before, start, blocks)
}

fn geometry() -> Geometry {
    Geometry::new(8192, LINES).unwrap()
}

impl Bed {
    /// The devices after a loss of power that kept all but one block of the journal, which is as it was before.
    fn without_block(&self, before: &[u8], block: u64) -> Self {
        let Bed { cache, origins } = self.after_crash();
        let at = geometry().byte_of_journal(block) as usize;
        let mut bytes = cache.bytes_now();
        bytes[at..at + 4096].copy_from_slice(&before[at..at + 4096]);
        Bed { cache: MemoryDevice::new(bytes), origins }
    }
}

#[test]
fn what_a_loss_of_power_leaves_of_the_last_commit_is_not_taken_for_damage() {
    // The last commit has several blocks: each of them is lost in turn, and the others are kept.
    let (bed, before, start, blocks) = commit_of_several_blocks();
    for lost in 0..blocks {
        let crashed = bed.without_block(&before, start + lost);
        let tier = crashed.open();
        assert_eq!(tier.lines_of(0).1, 300, "block {lost}");
        // The next opening goes on over the rest, and loses its own last commit in the same way.
        tier.write(0, 300 * BLOCK, &[2; BLOCK as usize]).unwrap();
        tier.flush(0).unwrap();
        assert_eq!(crashed.after_crash().open().lines_of(0).1, 301, "block {lost}");
        let crashed = crashed.without_block(&vec![0; before.len()], start);
        assert_eq!(crashed.open().lines_of(0).1, 300, "block {lost}");
    }
}

#[test]
fn what_a_loss_of_power_leaves_of_a_commit_is_not_replayed_behind_a_later_checkpoint() {
    let (bed, before, start, blocks) = commit_of_several_blocks();
    for (lost, is_closed) in (0..blocks).flat_map(|lost| [(lost, true), (lost, false)]) {
        let crashed = bed.without_block(&before, start + lost);
        let tier = crashed.open();
        tier.write(0, 300 * BLOCK, &[2; BLOCK as usize]).unwrap();
        tier.flush(0).unwrap();
        // The journal of the checkpoint begins in the middle of what the commit left.
        if is_closed {
            tier.close().unwrap();
        } else {
            tier.checkpoint().unwrap();
        }
        let what = format!("block {lost}, closed: {is_closed}");
        for _ in 0..2 {
            let crashed = crashed.after_crash();
            assert_eq!(CacheInspection::of(&*crashed.cache).unwrap().journal_records, 0, "{what}");
            assert_eq!(crashed.open().lines_of(0).1, 301, "{what}");
        }
    }
}

#[test]
fn what_two_openings_left_of_their_last_commits_is_not_joined() {
    let (bed, before, start, blocks) = commit_of_several_blocks();
    // The first block is kept, which has no end.
    let mut crashed = bed.without_block(&before, start + 1);
    (2..blocks).for_each(|block| crashed = crashed.without_block(&before, start + block));
    let tier = crashed.open();
    assert_eq!(tier.lines_of(0).1, 300);
    let before = crashed.cache.bytes_now();
    (300..500).for_each(|block| tier.write(0, block * BLOCK, &[3; BLOCK as usize]).unwrap());
    tier.flush(0).unwrap();
    let rest = crashed.without_block(&before, start);
    assert_eq!(rest.open().lines_of(0).1, 300);
    // A commit behind it proves that it was whole, so that its first block was damaged.
    tier.write(0, 500 * BLOCK, &[3; BLOCK as usize]).unwrap();
    tier.flush(0).unwrap();
    let error = crashed.without_block(&before, start).try_open().err().unwrap().to_string();
    assert!(error.contains(&format!("block {start} of the cache's journal")), "{error}");
}

#[test]
fn a_damaged_superblock_hides_nothing_that_was_flushed_since_a_clean_stop() {
    let bed = Bed::closed();
    let tier = bed.open();
    tier.write(0, 300 * BLOCK, &[1; BLOCK as usize]).unwrap();
    tier.flush(0).unwrap();
    // The copy of the opening says that the stop before it was clean, which is true of the other one no longer.
    for slot in 0..2 {
        let crashed = bed.after_crash();
        crashed.cache.flip_bit(Geometry::byte_of_superblock(slot) as usize + 100);
        let tier = crashed.open();
        assert_eq!((tier.lines_of(0).1, tier.status().after_crash), (301, true), "copy {slot}");
        // What this opening commits is not mixed with what the one before did.
        tier.write(0, 301 * BLOCK, &[1; BLOCK as usize]).unwrap();
        tier.flush(0).unwrap();
        assert_eq!(crashed.after_crash().open().lines_of(0).1, 302, "copy {slot}");
    }
}
