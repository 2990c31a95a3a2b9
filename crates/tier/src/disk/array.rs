//! Several drives as one: who begins with what and when, and the controller's cache for writes.

use std::collections::{BTreeMap, VecDeque};

use super::drive::{DiskRequest, Drive, Scheduling};
use super::profile::DriveProfile;
use super::raid::{ArrayLayout, STRIPE, raid5, striped};
use super::write_cache::{CachedPiece, WriteCache};

/// Pieces of the controller's cache, for each drive, among which one is looked for whose drives are free.
const LOOK_AHEAD: usize = 4;

/// What is known of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// The time at which it is done, ms.
    Done(f64),
    /// The next time at which drives decide what they begin with, ms: what arrives until then may come first.
    Open(f64),
}

/// What an operation is for.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// A request of this name.
    Request,
    /// Bytes that leave the controller's cache.
    Destage(u64),
}

/// Pieces on drives in rounds, of which one begins when all of the one before are done.
#[derive(Clone, Debug)]
struct Operation {
    /// The rounds that have not begun.
    rounds: std::vec::IntoIter<Vec<(usize, DiskRequest)>>,
    /// Pieces of its round that no drive has begun.
    left: usize,
    /// Time at which all that were begun are done, ms.
    end: f64,
    purpose: Purpose,
}

/// What changes an array between arrivals.
#[derive(Clone, Copy, Debug)]
enum ArrayEvent {
    /// A write from the cache is done, and others wait for room there.
    Room,
    /// A drive begins with one of the requests that wait for it.
    Start(usize),
    /// Drives that have nothing to do begin with a piece of the cache.
    Idle(CachedPiece),
}

/// Drives behind a controller, in virtual time. Times are ms.
#[derive(Clone, Debug)]
pub struct DiskArray {
    layout: ArrayLayout,
    drives: Vec<Drive>,
    /// Bytes of battery-backed cache for writes; 0 for none.
    cache_bytes: u64,
    /// Writes that no drive has begun.
    cached: WriteCache,
    /// Bytes that were taken from it and are not known to be on the drives.
    destaged: u64,
    /// Writes from the cache of which it is known when they are done, and bytes.
    begun: VecDeque<(f64, u64)>,
    /// Writes that wait for room in the cache.
    writers: VecDeque<(u64, DiskRequest)>,
    /// Operations that wait for a drive.
    operations: BTreeMap<u64, Operation>,
    /// Requests of which it is known when they are done, and nobody has asked since.
    done: BTreeMap<u64, f64>,
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
            destaged: 0,
            begun: VecDeque::new(),
            writers: VecDeque::new(),
            operations: BTreeMap::new(),
            done: BTreeMap::new(),
            turn: 0,
            next_name: 0,
            overhead_ms: profile.overhead_ms,
        }
    }

    /// Spreads the first bytes evenly over a share of the full stroke of the drives: seeks are as long as in data that fill this share. Bytes
    /// behind them follow contiguously; with a share of 0, or one in which they do not fit, all do from the outer edge.
    #[must_use]
    pub fn spread(mut self, share: f64, bytes: u64) -> Self {
        let one = bytes.div_ceil(self.row() / STRIPE).next_multiple_of(STRIPE);
        self.drives.iter_mut().for_each(|drive| drive.spread(share, if bytes > 0 { one } else { 0 }));
        self
    }

    /// Time of the controller for a request, ms.
    pub(super) fn overhead_ms(&self) -> f64 {
        self.overhead_ms
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
        self.advance(|time| time < now);
        self.drives.iter_mut().map(|drive| drive.busy_until(now)).sum()
    }

    /// Takes a request that arrives at a time, ms; returns its name, by which [`DiskArray::progress`] tells of it.
    ///
    /// Requests must come in the order of their arrival. A write that fits the controller's cache is done at once, and goes to the drives
    /// when they have nothing else to do, or when the cache is full.
    pub fn submit(&mut self, now: f64, request: DiskRequest) -> u64 {
        self.advance(|time| time < now);
        // Forgets what each drive has done.
        self.drives.iter_mut().for_each(|drive| _ = drive.busy_until(now));
        let name = self.name();
        if !request.is_write && self.cached.covers(request.at, request.bytes) {
            self.done.insert(name, now + self.overhead_ms);
        } else if !request.is_write || request.bytes > self.cache_bytes {
            self.begin(name, now, request, Purpose::Request);
        } else {
            self.writers.push_back((name, request));
            self.make_room(now);
        }
        name
    }

    /// What is known of a request at a time, ms, up to which all arrivals are known. A completion is told once.
    pub fn progress(&mut self, name: u64, now: f64) -> Progress {
        self.advance(|time| time <= now);
        if let Some(done) = self.done.remove(&name) {
            return Progress::Done(done);
        }
        let at_drives = self.drives.iter().filter(|drive| drive.holds(name)).filter_map(Drive::next_start);
        let next = at_drives.min_by(f64::total_cmp).or_else(|| self.next_event(|_| true).map(|(time, _)| time));
        next.map_or(Progress::Done(now), Progress::Open)
    }

    /// Serves a request that arrives at a time, ms, as if nothing arrived before it is done; returns when it is.
    pub fn request(&mut self, now: f64, request: DiskRequest) -> f64 {
        let name = self.submit(now, request);
        let mut time = now;
        loop {
            match self.progress(name, time) {
                Progress::Done(done) => return done,
                Progress::Open(next) => time = next,
            }
        }
    }

    fn name(&mut self) -> u64 {
        self.next_name += 1;
        self.next_name
    }

    /// Lets happen, in the order of time, all that is due.
    fn advance(&mut self, is_due: impl Fn(f64) -> bool) {
        while let Some((time, event)) = self.next_event(&is_due).filter(|(time, _)| is_due(*time)) {
            match event {
                ArrayEvent::Room => self.make_room(time),
                ArrayEvent::Start(drive) => self.start(drive),
                ArrayEvent::Idle(piece) => self.destage(time, piece),
            }
        }
    }

    /// What happens next, and when; that drives are idle only when it is due. At one time room is made first, and drives prefer what waits for
    /// them to what the cache holds.
    fn next_event(&self, is_due: impl Fn(f64) -> bool) -> Option<(f64, ArrayEvent)> {
        let room = self.begun.front().filter(|_| !self.writers.is_empty()).map(|(done, _)| (*done, ArrayEvent::Room));
        let starts = self.drives.iter().enumerate();
        let starts = starts.filter_map(|(index, drive)| Some((drive.next_start()?, ArrayEvent::Start(index))));
        let idle = self.idle_piece(is_due).map(|(time, piece)| (time, ArrayEvent::Idle(piece)));
        room.into_iter().chain(starts).chain(idle).min_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// The first of the next pieces of the cache whose drives have nothing to do, and since when: a request that comes waits at most for
    /// what they have begun.
    fn idle_piece(&self, is_due: impl Fn(f64) -> bool) -> Option<(f64, CachedPiece)> {
        if !self.drives.iter().any(|drive| drive.queue() == 0 && is_due(drive.free_at())) {
            return None;
        }
        let pieces = self.cached.pieces(self.row()).take(LOOK_AHEAD * self.drives.len());
        pieces.filter_map(|piece| Some((self.idle_since(piece)?, piece))).min_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// Time at which the drives that a piece of the cache begins with have nothing to do; `None` where requests wait for one.
    fn idle_since(&self, piece: CachedPiece) -> Option<f64> {
        let write = DiskRequest { at: piece.at, bytes: piece.bytes, is_write: true };
        let mut drives = self.rounds(write).swap_remove(0).into_iter().map(|(drive, _)| &self.drives[drive]);
        drives.try_fold(piece.since, |since, drive| (drive.queue() == 0).then(|| since.max(drive.free_at())))
    }

    /// Lets drives write a piece of the cache, whatever they are at.
    fn destage(&mut self, begin: f64, piece: CachedPiece) {
        self.cached.take(piece);
        self.destaged += piece.bytes;
        let write = DiskRequest { at: piece.at, bytes: piece.bytes, is_write: true };
        let name = self.name();
        self.begin(name, begin, write, Purpose::Destage(piece.bytes));
    }

    /// Takes writes into the cache that have room there at a time. A controller whose cache is full keeps all drives at work; a small write
    /// of RAID-5 needs two of them.
    fn make_room(&mut self, now: f64) {
        while let Some((_, bytes)) = self.begun.front().copied().filter(|(done, _)| *done <= now) {
            self.begun.pop_front();
            self.destaged -= bytes;
        }
        while let Some((name, request)) = self.writers.front().copied() {
            if self.cached.bytes() + self.destaged + request.bytes > self.cache_bytes {
                break;
            }
            self.writers.pop_front();
            self.cached.put(request.at, request.bytes, now);
            self.done.insert(name, now + self.overhead_ms);
        }
        let is_destage = |operation: &&Operation| matches!(operation.purpose, Purpose::Destage(_));
        let mut under_way = self.operations.values().filter(is_destage).count() + self.begun.len();
        while !self.writers.is_empty() && under_way < self.drives.len().div_ceil(2) {
            let idle = self.idle_piece(|time| time <= now).filter(|(since, _)| *since <= now).map(|(_, piece)| piece);
            let Some(piece) = idle.or_else(|| self.cached.pieces(self.row()).next()) else { break };
            self.destage(now, piece);
            under_way += 1;
        }
    }

    /// Sends the first round of an operation to the drives.
    fn begin(&mut self, name: u64, now: f64, request: DiskRequest, purpose: Purpose) {
        self.turn = self.turn.wrapping_add(1);
        let rounds = self.rounds(request).into_iter();
        self.operations.insert(name, Operation { rounds, left: 0, end: now, purpose });
        self.next_round(name);
    }

    /// Lets a drive begin with one of the requests that wait for it.
    fn start(&mut self, drive: usize) {
        let Some((name, done)) = self.drives[drive].serve() else { return };
        let Some(operation) = self.operations.get_mut(&name) else { return };
        operation.left -= 1;
        operation.end = operation.end.max(done);
        if operation.left == 0 {
            self.next_round(name);
        }
    }

    /// Sends the next round of an operation to the drives when the one before is done, or ends it.
    fn next_round(&mut self, name: u64) {
        let Some(operation) = self.operations.get_mut(&name) else { return };
        let end = operation.end;
        if let Some(round) = operation.rounds.find(|round| !round.is_empty()) {
            operation.left = round.len();
            round.into_iter().for_each(|(drive, piece)| self.drives[drive].submit(name, end, piece));
            return;
        }
        match operation.purpose {
            Purpose::Request => _ = self.done.insert(name, end),
            Purpose::Destage(bytes) => {
                let at = self.begun.partition_point(|(other, _)| *other <= end);
                self.begun.insert(at, (end, bytes));
            }
        }
        self.operations.remove(&name);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::mix;

    fn write(at: u64, bytes: u64) -> DiskRequest {
        DiskRequest { at, bytes, is_write: true }
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
    fn data_of_an_array_are_spread_over_the_stroke_of_each_drive() {
        let mean = |share| {
            let array = DiskArray::new(ArrayLayout::Raid5, 8, DriveProfile::RPM_7200, Scheduling::Fcfs, 0);
            let mut array = array.spread(share, 200 << 20);
            let mut now = 0.0;
            let mut sum = 0.0;
            for index in 0..4_000_u64 {
                let begin = now + (mix(index + 77) % 8_333) as f64 / 1_000.0;
                let at = mix(index) % (200 << 7) * 8192;
                now = array.request(begin, DiskRequest { at, bytes: 8192, is_write: false });
                sum += now - begin;
            }
            sum / 4_000.0
        };
        let (contiguous, whole) = (mean(0.0), mean(1.0));
        assert!(contiguous < 5.5, "{contiguous:.3} ms");
        let analytic = DriveProfile::RPM_7200.mean_random_service_ms(8192);
        // Some reads are of what a drive has read ahead.
        assert!((0.9..1.03).contains(&(whole / analytic)), "{whole:.3} ms, analytic {analytic:.3} ms");
    }

    /// Reads of 8 KiB a second over the whole stroke of one drive, with so many under way at any time.
    fn reads_per_second(scheduling: Scheduling, depth: u64) -> f64 {
        let profile = DriveProfile { read_ahead_bytes: 0, ..DriveProfile::RPM_7200 };
        let mut array = DiskArray::new(ArrayLayout::Single, 1, profile, scheduling, 0).spread(1.0, 1 << 30);
        let mut seed = 0;
        let mut read = |array: &mut DiskArray, now: f64| {
            seed += 1;
            array.submit(now, DiskRequest { at: mix(seed) % (1 << 17) * 8192, bytes: 8192, is_write: false })
        };
        let mut open: Vec<u64> = (0..depth).map(|_| read(&mut array, 0.0)).collect();
        let mut decided: Vec<f64> = Vec::new();
        let (mut now, mut count) = (0.0, 0);
        while count < 8_000 {
            let mut next = f64::INFINITY;
            open.retain(|name| match array.progress(*name, now) {
                Progress::Done(done) => {
                    decided.push(done);
                    false
                }
                Progress::Open(time) => {
                    next = next.min(time);
                    true
                }
            });
            // Who is done asks again before drives decide at that time.
            now = decided.iter().copied().fold(next, f64::min);
            while let Some(index) = decided.iter().position(|done| *done <= now) {
                decided.swap_remove(index);
                count += 1;
                open.push(read(&mut array, now));
            }
        }
        f64::from(count) * 1e3 / now
    }

    #[test]
    fn requests_that_come_before_a_drive_is_free_are_reordered() {
        // By an independent simulation of shortest positioning first.
        for (depth, published) in [(1, 79.0), (4, 114.0), (8, 138.0), (32, 200.0)] {
            let rate = reads_per_second(Scheduling::Sptf, depth);
            assert!(
                (rate / published - 1.0).abs() < 0.05,
                "{rate:.1} a second with {depth} under way, published {published}"
            );
        }
        let in_order = reads_per_second(Scheduling::Fcfs, 32);
        assert!((72.0..86.0).contains(&in_order), "a queue served in order is no faster: {in_order:.1}");
    }

    #[test]
    fn a_write_that_waits_for_room_is_done_when_a_write_before_it_is_on_the_drives() {
        let mut array = DiskArray::new(ArrayLayout::Single, 1, DriveProfile::RPM_7200, Scheduling::Sptf, 16 << 10);
        let names: Vec<u64> = (0..4).map(|index| array.submit(0.0, write(index << 24, 8192))).collect();
        assert_eq!([0, 1].map(|index| array.progress(names[index], 0.0)), [Progress::Done(0.1); 2]);
        let Progress::Open(next) = array.progress(names[3], 0.0) else { panic!("the cache is full") };
        assert!(next > 0.0 && matches!(array.progress(names[2], next), Progress::Done(done) if done == next + 0.1));
        let Progress::Open(later) = array.progress(names[3], next) else { panic!("it is full again") };
        assert!(later > next && matches!(array.progress(names[3], later), Progress::Done(_)));
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
