//! Several drives as one: mapping of RAID levels, and the controller's cache for writes.

use std::collections::VecDeque;

use super::drive::{DiskRequest, Drive, Scheduling};
use super::profile::DriveProfile;
use super::write_cache::{CachedPiece, WriteCache};

/// Pieces of the controller's cache, for each drive, among which one is looked for whose drives are free.
const LOOK_AHEAD: usize = 4;

/// How an array spreads its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayLayout {
    /// One drive.
    Single,
    /// Stripes over all drives.
    Raid0,
    /// Every drive has everything; reads take turns.
    Raid1,
    /// Stripes with one parity block that rotates.
    Raid5,
    /// Stripes over pairs of mirrors.
    Raid10,
}

impl ArrayLayout {
    /// Every layout.
    pub const ALL: [ArrayLayout; 5] = [Self::Single, Self::Raid0, Self::Raid1, Self::Raid5, Self::Raid10];

    /// Its word in studies and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Raid0 => "raid-0",
            Self::Raid1 => "raid-1",
            Self::Raid5 => "raid-5",
            Self::Raid10 => "raid-10",
        }
    }
}

/// Bytes of a stripe on one drive.
const STRIPE: u64 = 64 << 10;

/// Drives behind a controller, in virtual time. Times are ms.
#[derive(Clone, Debug)]
pub struct DiskArray {
    layout: ArrayLayout,
    drives: Vec<Drive>,
    /// Bytes of battery-backed cache for writes; 0 for none.
    cache_bytes: u64,
    /// Writes that no drive has begun.
    cached: WriteCache,
    /// Writes that drives have begun: the time at which they are done, and bytes.
    begun: VecDeque<(f64, u64)>,
    turn: usize,
    next_name: u64,
    overhead_ms: f64,
}

impl DiskArray {
    /// An array of equal drives. Too few drives for a layout are filled up: 2 for RAID 1, 3 for RAID 5, and for RAID 10
    /// an even number from 2 on.
    pub fn new(
        layout: ArrayLayout,
        drives: usize,
        profile: DriveProfile,
        scheduling: Scheduling,
        cache_bytes: u64,
    ) -> Self {
        let count = match layout {
            ArrayLayout::Single => 1,
            ArrayLayout::Raid0 => drives.max(1),
            ArrayLayout::Raid1 => drives.max(2),
            ArrayLayout::Raid5 => drives.max(3),
            ArrayLayout::Raid10 => drives.max(2).next_multiple_of(2),
        };
        let drive = Drive::new(profile, scheduling);
        Self {
            layout,
            drives: vec![drive; count],
            cache_bytes,
            cached: WriteCache::default(),
            begun: VecDeque::new(),
            turn: 0,
            next_name: 0,
            overhead_ms: profile.overhead_ms,
        }
    }

    /// Bytes that the array can hold.
    pub fn bytes(&self) -> u64 {
        let one = self.drives[0].bytes();
        let drives = self.drives.len() as u64;
        match self.layout {
            ArrayLayout::Single | ArrayLayout::Raid1 => one,
            ArrayLayout::Raid0 => one * drives,
            ArrayLayout::Raid5 => one * (drives - 1),
            ArrayLayout::Raid10 => one * (drives / 2),
        }
    }

    /// Time at work of all drives until a time, ms.
    pub fn busy_ms(&mut self, now: f64) -> f64 {
        self.destage_until(now);
        self.drives.iter_mut().map(|drive| drive.busy_until(now)).sum()
    }

    /// Serves a request that arrives at a time, ms, after all that came before it; returns when it is done.
    ///
    /// Requests must come in the order of their arrival. A write that fits the controller's cache is done at once, and goes to the drives
    /// when they have nothing else to do, or when the cache is full.
    pub fn request(&mut self, now: f64, request: DiskRequest) -> f64 {
        self.destage_until(now);
        // Forgets what each drive has done.
        self.drives.iter_mut().for_each(|drive| _ = drive.busy_until(now));
        if !request.is_write && self.cached.covers(request.at, request.bytes) {
            return now + self.overhead_ms;
        }
        if !request.is_write || request.bytes > self.cache_bytes {
            return self.on_drives(now, request);
        }
        let start = self.make_room(now, request.bytes);
        self.cached.put(request.at, request.bytes, start);
        start + self.overhead_ms
    }

    /// Lets drives that are free before a time begin with what waits in the cache: a request that comes then waits at most for what they
    /// have begun.
    fn destage_until(&mut self, now: f64) {
        while self.drives.iter().any(|drive| drive.free_at() < now)
            && let Some(piece) = self.free_piece(now)
        {
            self.destage(piece.since, piece);
        }
    }

    /// The first of the next pieces of the cache that came before a time at which the drives that it begins with have nothing to do.
    fn free_piece(&self, now: f64) -> Option<CachedPiece> {
        let is_free = |piece: &CachedPiece| {
            let write = DiskRequest { at: piece.at, bytes: piece.bytes, is_write: true };
            let first = self.rounds(write).swap_remove(0);
            piece.since < now && first.iter().all(|(drive, _)| self.drives[*drive].free_at() < now)
        };
        self.cached.pieces(self.row()).take(LOOK_AHEAD * self.drives.len()).find(is_free)
    }

    /// Lets drives write a piece of the cache, whatever they are at.
    fn destage(&mut self, begin: f64, piece: CachedPiece) {
        self.cached.take(piece);
        let write = DiskRequest { at: piece.at, bytes: piece.bytes, is_write: true };
        let done = self.on_drives(begin, write);
        let at = self.begun.partition_point(|(other, _)| *other <= done);
        self.begun.insert(at, (done, write.bytes));
    }

    /// Waits until the cache has room for bytes; returns when it has.
    fn make_room(&mut self, now: f64, bytes: u64) -> f64 {
        let mut start = now;
        loop {
            while self.begun.front().is_some_and(|(done, _)| *done <= start) {
                self.begun.pop_front();
            }
            let held = self.cached.bytes() + self.begun.iter().map(|(_, bytes)| bytes).sum::<u64>();
            if held + bytes <= self.cache_bytes {
                return start;
            }
            // A controller whose cache is full keeps all drives at work; a small write of RAID-5 needs two of them.
            while self.begun.len() < self.drives.len().div_ceil(2) {
                let next = self.free_piece(start).or_else(|| self.cached.pieces(self.row()).next());
                let Some(piece) = next else { break };
                self.destage(start, piece);
            }
            let Some((done, _)) = self.begun.pop_front() else { return start };
            start = start.max(done);
        }
    }

    /// Bytes of a stripe over all drives that hold data.
    fn row(&self) -> u64 {
        let drives = self.drives.len() as u64;
        STRIPE
            * match self.layout {
                ArrayLayout::Single | ArrayLayout::Raid1 => 1,
                ArrayLayout::Raid0 => drives,
                ArrayLayout::Raid5 => drives - 1,
                ArrayLayout::Raid10 => drives / 2,
            }
    }

    fn on_drives(&mut self, now: f64, request: DiskRequest) -> f64 {
        self.turn = self.turn.wrapping_add(1);
        let rounds = self.rounds(request);
        rounds.into_iter().fold(now, |begin, round| {
            round.into_iter().map(|(drive, piece)| self.on_drive(drive, begin, piece)).fold(begin, f64::max)
        })
    }

    fn on_drive(&mut self, drive: usize, begin: f64, piece: DiskRequest) -> f64 {
        self.next_name += 1;
        self.drives[drive].submit(self.next_name, begin, piece);
        let mut done = begin;
        while let Some((name, time)) = self.drives[drive].serve() {
            if name == self.next_name {
                done = time;
            }
        }
        done
    }

    /// Requests to drives: those of a round go at once, the next round follows when all are done.
    fn rounds(&self, request: DiskRequest) -> Vec<Vec<(usize, DiskRequest)>> {
        let (drives, turn) = (self.drives.len(), self.turn);
        match self.layout {
            ArrayLayout::Single => vec![vec![(0, request)]],
            ArrayLayout::Raid0 => vec![striped(request, drives).collect()],
            ArrayLayout::Raid1 => {
                let is_asked = |drive: &usize| request.is_write || *drive == turn % drives;
                vec![(0..drives).filter(is_asked).map(|drive| (drive, request)).collect()]
            }
            ArrayLayout::Raid10 => {
                let pieces = striped(request, drives / 2);
                let mirrored = pieces.flat_map(|(pair, piece)| {
                    let both = [(pair * 2, piece), (pair * 2 + 1, piece)];
                    both.into_iter().filter(move |(drive, _)| piece.is_write || drive % 2 == turn % 2)
                });
                vec![mirrored.collect()]
            }
            ArrayLayout::Raid5 => raid5(request, drives),
        }
    }
}

/// The pieces of a request in stripes over so many drives, each on its drive.
fn striped(request: DiskRequest, drives: usize) -> impl Iterator<Item = (usize, DiskRequest)> {
    stripes(request).map(move |(stripe, inside, bytes)| {
        let drive = usize::try_from(stripe % drives as u64).expect("below the number of drives");
        let at = stripe / drives as u64 * STRIPE + inside;
        (drive, DiskRequest { at, bytes, ..request })
    })
}

/// Number, offset and bytes of the stripes that a request touches.
fn stripes(request: DiskRequest) -> impl Iterator<Item = (u64, u64, u64)> {
    let (mut at, end) = (request.at, request.at + request.bytes);
    std::iter::from_fn(move || {
        let (stripe, inside) = (at / STRIPE, at % STRIPE);
        let bytes = (STRIPE - inside).min(end - at);
        at += bytes;
        (bytes > 0).then_some((stripe, inside, bytes))
    })
}

/// RAID 5 with left-symmetric parity: a small write reads data and parity, then writes both; a row that is written
/// whole needs no read.
fn raid5(request: DiskRequest, drives: usize) -> Vec<Vec<(usize, DiskRequest)>> {
    let data = drives as u64 - 1;
    let place = |stripe: u64| {
        let row = stripe / data;
        let parity = drives as u64 - 1 - row % drives as u64;
        let drive = (parity + 1 + stripe % data) % drives as u64;
        let small = |drive: u64| usize::try_from(drive).expect("below the number of drives");
        (row, small(drive), small(parity))
    };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let whole_rows = (request.at.div_ceil(STRIPE * data), (request.at + request.bytes) / (STRIPE * data));
    for (stripe, inside, bytes) in stripes(request) {
        let (row, drive, parity) = place(stripe);
        let piece = DiskRequest { at: row * STRIPE + inside, bytes, is_write: request.is_write };
        if !request.is_write {
            reads.push((drive, piece));
            continue;
        }
        let whole = (whole_rows.0..whole_rows.1).contains(&row);
        writes.push((drive, piece));
        if !whole {
            let read = DiskRequest { is_write: false, ..piece };
            reads.extend([(drive, read), (parity, read)]);
            writes.push((parity, piece));
        } else if stripe % data == 0 {
            writes.push((parity, piece));
        }
    }
    if reads.is_empty() { vec![writes] } else { vec![reads, writes] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::mix;

    fn write(at: u64, bytes: u64) -> DiskRequest {
        DiskRequest { at, bytes, is_write: true }
    }

    #[test]
    fn a_small_write_of_raid_5_is_two_reads_and_two_writes_on_two_drives() {
        for stripe in 0..100 {
            let rounds = raid5(write(stripe * STRIPE + 8192, 8192), 8);
            let kinds: Vec<Vec<bool>> =
                rounds.iter().map(|round| round.iter().map(|(_, piece)| piece.is_write).collect()).collect();
            assert_eq!(kinds, [vec![false, false], vec![true, true]]);
            assert_ne!(rounds[0][0].0, rounds[0][1].0);
            assert_eq!(rounds[0][0].0, rounds[1][0].0);
        }
    }

    #[test]
    fn a_whole_row_of_raid_5_is_written_without_a_read_to_every_drive() {
        let rounds = raid5(write(7 * STRIPE * 3, 7 * STRIPE), 8);
        assert_eq!(rounds.len(), 1);
        let mut drives: Vec<usize> = rounds[0].iter().map(|(drive, _)| *drive).collect();
        drives.sort_unstable();
        assert_eq!(drives, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(rounds[0].iter().all(|(_, piece)| piece.at == 3 * STRIPE && piece.bytes == STRIPE));
    }

    #[test]
    fn stripes_keep_every_byte_once() {
        let request = DiskRequest { at: STRIPE * 5 - 100, bytes: STRIPE * 9 + 300, is_write: false };
        let pieces: Vec<_> = striped(request, 4).collect();
        assert_eq!(pieces.iter().map(|(_, piece)| piece.bytes).sum::<u64>(), request.bytes);
        let mut seen: Vec<_> = pieces.iter().map(|(drive, piece)| (*drive, piece.at)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), pieces.len());
    }

    /// Mean time of small random writes, one after the other, ms.
    fn small_writes(layout: ArrayLayout, drives: usize, cache: u64, count: u64) -> f64 {
        let mut array = DiskArray::new(layout, drives, DriveProfile::RPM_7200, Scheduling::Fcfs, cache);
        let mut now = 0.0;
        for index in 0..count {
            now = array.request(now, write(mix(index) % (array.bytes() / 8192) * 8192, 8192));
        }
        now / count as f64
    }

    #[test]
    fn raid_5_pays_for_small_writes_and_a_controllers_cache_hides_it_until_it_is_full() {
        let single = small_writes(ArrayLayout::Single, 1, 0, 2_000);
        let raid5 = small_writes(ArrayLayout::Raid5, 8, 0, 2_000);
        assert!(raid5 > 1.5 * single, "{raid5} {single}");
        let short = small_writes(ArrayLayout::Raid5, 8, 2 << 30, 2_000);
        assert!((short - 0.1).abs() < 1e-9, "{short}");
        let long = small_writes(ArrayLayout::Raid5, 8, 1 << 20, 20_000);
        assert!(long > 2.0, "a full cache is as slow as the drives: {long}");
        assert!(long < raid5 / 3.0, "four writes at a time keep eight drives at work: {long}, one at a time {raid5}");
    }

    #[test]
    fn a_read_does_not_wait_for_all_that_the_controllers_cache_holds() {
        let mut array = DiskArray::new(ArrayLayout::Raid5, 8, DriveProfile::RPM_7200, Scheduling::Fcfs, 64 << 20);
        let place = |index: u64| mix(index) % (array.bytes() / 8192) * 8192;
        let places: Vec<u64> = (0..4_001).map(place).collect();
        let mut now = 0.0;
        for at in &places[..4_000] {
            now = array.request(now, write(*at, 8192));
        }
        assert!(now < 500.0, "all writes are taken at once: {now}");
        let read = DiskRequest { at: places[4_000], bytes: 8192, is_write: false };
        let took = array.request(now, read) - now;
        // Its own service, and the rest of a write with its read before it.
        assert!(took < 100.0, "{took}");
        let held = DiskRequest { at: places[3_999], bytes: 8192, is_write: false };
        assert!(array.request(now, held) - now < 0.2, "what the controller holds needs no drive");
    }

    #[test]
    fn a_write_again_and_again_reaches_the_drives_seldom_and_their_use_is_at_most_whole() {
        let mut array = DiskArray::new(ArrayLayout::Raid5, 8, DriveProfile::RPM_7200, Scheduling::Fcfs, 1 << 20);
        let mut now = 0.0;
        for _ in 0..10_000 {
            now = array.request(now, write(1 << 30, 4096));
        }
        let busy = array.busy_ms(now);
        assert!(busy > 0.0 && busy <= 2.0 * now + 1e-6, "two drives of eight: {busy} of {now}");
        let mut last = 0.0;
        for index in 0..3_000 {
            now = array.request(now, write(mix(index) % (array.bytes() / 8192) * 8192, 8192));
            let busy = array.busy_ms(now);
            assert!(busy >= last && busy <= 8.0 * now, "{busy} of {now}");
            last = busy;
        }
    }

    #[test]
    fn a_log_in_small_writes_becomes_whole_rows() {
        let mut array = DiskArray::new(ArrayLayout::Raid5, 8, DriveProfile::RPM_7200, Scheduling::Fcfs, 64 << 20);
        let mut now = 0.0;
        for index in 0..4_096_u64 {
            now = array.request(now, write(index * 4096, 4096));
        }
        // 16 MiB: written 4 KiB by 4 KiB with parity they are some 4,096 × 4 accesses.
        let (busy, end) = (array.busy_ms(now + 1e6), now);
        assert!(busy < 8.0 * 2_000.0, "{busy} of {end}");
    }

    #[test]
    fn sizes_follow_the_layout() {
        let bytes =
            |layout, drives| DiskArray::new(layout, drives, DriveProfile::HP_97560, Scheduling::Fcfs, 0).bytes();
        let one = bytes(ArrayLayout::Single, 9);
        assert!((1_300_000_000..1_400_000_000).contains(&one), "{one}");
        assert_eq!(bytes(ArrayLayout::Raid0, 4), 4 * one);
        assert_eq!(bytes(ArrayLayout::Raid1, 2), one);
        assert_eq!(bytes(ArrayLayout::Raid5, 8), 7 * one);
        assert_eq!(bytes(ArrayLayout::Raid10, 8), 4 * one);
    }
}
