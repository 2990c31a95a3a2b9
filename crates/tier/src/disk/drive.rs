//! One drive as a server in virtual time.

use std::collections::VecDeque;

use super::profile::DriveProfile;
use super::track_buffer::TrackBuffer;

/// Bytes of a sector of the drive.
const SECTOR: u64 = 512;

/// A request to one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRequest {
    /// First byte.
    pub at: u64,
    /// Bytes, at least one sector's.
    pub bytes: u64,
    /// Whether it writes.
    pub is_write: bool,
}

/// Which of the waiting requests is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// The order of arrival.
    Fcfs,
    /// The next one in the direction of the arm, then back from the first.
    Elevator,
    /// The one with the least time until its first sector is under the head, among the 32 oldest.
    Sptf,
}

/// Requests among which the shortest positioning is looked for: the tags of a drive.
const TAGS: usize = 32;

/// A place on the disk.
#[derive(Clone, Copy, Debug)]
struct HeadPosition {
    cylinder: u32,
    /// Position in its track, 0 to 1 of a revolution.
    angle: f64,
    /// Sectors of its track.
    track: u32,
}

/// The part of a drive over whose cylinders data are spread, each byte in proportion to its address.
#[derive(Clone, Copy, Debug)]
struct Spread {
    /// Bytes that are spread; what is behind them lies contiguously on the cylinders behind.
    bytes: u64,
    /// Cylinders from the outermost on.
    cylinders: u32,
    /// First sector of the cylinders behind.
    behind: u64,
}

/// A drive: where its arm is, until when it is at work, what waits. Times are ms of virtual time.
#[derive(Clone, Debug)]
pub struct Drive {
    profile: DriveProfile,
    scheduling: Scheduling,
    /// First sector of every 64th cylinder.
    starts: Vec<u64>,
    /// `None`: data lie contiguously from the outer edge.
    spread: Option<Spread>,
    cylinder: u32,
    free_at: f64,
    busy_ms: f64,
    /// Work that ends after the last time that was asked for: begin and end of each, ms.
    ahead: VecDeque<(f64, f64)>,
    /// What the track buffer holds and the head reads into it.
    buffer: Option<TrackBuffer>,
    waiting: Vec<(u64, f64, DiskRequest)>,
}

/// Cylinders between two entries of the table of starts.
const STRIDE: u32 = 64;

impl Drive {
    /// An idle drive with its arm on the outermost cylinder.
    pub fn new(profile: DriveProfile, scheduling: Scheduling) -> Self {
        let mut starts = Vec::new();
        let mut sectors = 0;
        for cylinder in 0..profile.cylinders {
            if cylinder % STRIDE == 0 {
                starts.push(sectors);
            }
            sectors += u64::from(profile.sectors_on(cylinder)) * u64::from(profile.heads);
        }
        starts.push(sectors);
        Self {
            profile,
            scheduling,
            starts,
            spread: None,
            cylinder: 0,
            free_at: 0.0,
            busy_ms: 0.0,
            ahead: VecDeque::new(),
            buffer: None,
            waiting: Vec::new(),
        }
    }

    /// Spreads the first bytes evenly over a share of the full stroke: neighbours stay neighbours, and two places are as many cylinders apart
    /// as they are in data that fill this share. A share in which they do not fit leaves them contiguous.
    pub fn spread(&mut self, share: f64, bytes: u64) {
        let cylinders = (share.clamp(0.0, 1.0) * f64::from(self.profile.cylinders)).round() as u32;
        let behind = self.first_sector(cylinders);
        let fits = bytes > 0 && bytes <= behind * SECTOR;
        self.spread = fits.then_some(Spread { bytes, cylinders, behind });
    }

    /// First sector of a cylinder.
    fn first_sector(&self, cylinder: u32) -> u64 {
        let group = cylinder / STRIDE;
        let before = (group * STRIDE..cylinder).map(|one| u64::from(self.profile.sectors_on(one)));
        let start = usize::try_from(group).ok().and_then(|group| self.starts.get(group)).or(self.starts.last());
        let start = start.copied().unwrap_or(0);
        if cylinder >= self.profile.cylinders {
            self.sectors()
        } else {
            start + before.sum::<u64>() * u64::from(self.profile.heads)
        }
    }

    fn sectors(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Bytes of the drive.
    pub fn bytes(&self) -> u64 {
        self.sectors() * SECTOR
    }

    /// Time at work so far, ms.
    pub fn busy_ms(&self) -> f64 {
        self.busy_ms
    }

    /// Time at work until a time, ms, which must not go back between calls.
    pub fn busy_until(&mut self, now: f64) -> f64 {
        while self.ahead.front().is_some_and(|(_, done)| *done <= now) {
            self.ahead.pop_front();
        }
        let later = self.ahead.iter().map(|(begin, done)| done - begin.max(now));
        self.busy_ms - later.sum::<f64>()
    }

    /// Time until which it is at work, ms.
    pub fn free_at(&self) -> f64 {
        self.free_at
    }

    /// Requests that wait.
    pub fn queue(&self) -> usize {
        self.waiting.len()
    }

    /// Whether a request of a name waits.
    pub(super) fn holds(&self, name: u64) -> bool {
        self.waiting.iter().any(|(other, ..)| *other == name)
    }

    /// Time at which it begins with one of the waiting requests, ms; what arrives until then may come first.
    pub fn next_start(&self) -> Option<f64> {
        let earliest = self.waiting.iter().map(|(_, arrival, _)| *arrival).min_by(f64::total_cmp)?;
        Some(self.free_at.max(earliest))
    }

    /// Puts a request with a name of the caller's into the queue at a time, ms.
    pub fn submit(&mut self, name: u64, now: f64, request: DiskRequest) {
        self.waiting.push((name, now, request));
    }

    /// Serves the next of the waiting requests; returns its name and the time at which it is done.
    pub fn serve(&mut self) -> Option<(u64, f64)> {
        let start = self.next_start()?;
        let chosen = self.choose(start)?;
        let (name, _, request) = self.waiting.remove(chosen);
        let done = start + self.service_ms(start, &request);
        self.busy_ms += done - start;
        self.ahead.push_back((start, done));
        self.free_at = done;
        Some((name, done))
    }

    fn choose(&self, start: f64) -> Option<usize> {
        let here = self.waiting.iter().enumerate().filter(|(_, (_, arrival, _))| *arrival <= start).take(TAGS);
        let key = |request: &DiskRequest| match self.scheduling {
            Scheduling::Fcfs => 0.0,
            Scheduling::Elevator => {
                let cylinder = self.place(request.at).cylinder;
                let behind = if cylinder < self.cylinder { f64::from(self.profile.cylinders) } else { 0.0 };
                f64::from(cylinder) + behind
            }
            Scheduling::Sptf => match self.buffered_ms(start, request) {
                // Without its transfer, as of the others.
                Some(whole) => (whole - self.transfer_ms(request)).max(self.profile.overhead_ms),
                None => self.position_ms(start, request),
            },
        };
        let best = here.min_by(|(_, a), (_, b)| key(&a.2).total_cmp(&key(&b.2)).then(a.1.total_cmp(&b.1)));
        best.map(|(index, _)| index)
    }

    fn place(&self, at: u64) -> HeadPosition {
        match self.spread {
            None => self.contiguous_place(at / SECTOR),
            Some(spread) if at < spread.bytes => self.spread_place(at, spread),
            Some(spread) => self.contiguous_place(spread.behind + (at - spread.bytes) / SECTOR),
        }
    }

    /// The place of spread data: the cylinder by the share of them before it, the angle by the tracks that they fill.
    fn spread_place(&self, at: u64, spread: Spread) -> HeadPosition {
        let on = |at: u64| {
            let cylinder = (at as f64 / spread.bytes as f64 * f64::from(spread.cylinders)) as u32;
            cylinder.min(self.profile.cylinders - 1)
        };
        let (cylinder, outer, inner) =
            (on(at), self.profile.track_sectors.0, self.profile.sectors_on(on(spread.bytes)));
        let (sector, all) = ((at / SECTOR) as f64, spread.bytes as f64 / SECTOR as f64);
        // The sum of 1 / sectors over a straight line.
        let per_sector = (f64::from(outer) - f64::from(inner)) / all;
        let tracks = if per_sector * all < 1.0 {
            sector / f64::from(outer)
        } else {
            -(1.0 - sector * per_sector / f64::from(outer)).ln() / per_sector
        };
        let angle = (tracks + self.skew() * tracks.floor()).fract();
        HeadPosition { cylinder, angle, track: self.profile.sectors_on(cylinder) }
    }

    fn contiguous_place(&self, sector: u64) -> HeadPosition {
        let sector = sector % self.sectors().max(1);
        let group = self.starts.partition_point(|start| *start <= sector) - 1;
        let mut cylinder = u32::try_from(group).expect("as many as cylinders") * STRIDE;
        let mut left = sector - self.starts[group];
        loop {
            let track = self.profile.sectors_on(cylinder);
            let size = u64::from(track) * u64::from(self.profile.heads);
            if left < size {
                let (head, in_track) = (left / u64::from(track), left % u64::from(track));
                let skew = self.skew() * (f64::from(cylinder) * f64::from(self.profile.heads) + head as f64);
                let angle = (in_track as f64 / f64::from(track) + skew).fract();
                return HeadPosition { cylinder, angle, track };
            }
            left -= size;
            cylinder += 1;
        }
    }

    /// Share of a revolution by which a track begins later than the one before, so that a switch misses nothing.
    fn skew(&self) -> f64 {
        self.profile.head_switch_ms / self.profile.revolution_ms()
    }

    /// Overhead, seek, and the wait for the first sector, ms.
    fn position_ms(&self, start: f64, request: &DiskRequest) -> f64 {
        let place = self.place(request.at);
        let seek = self.profile.overhead_ms + self.profile.seek_ms(place.cylinder.abs_diff(self.cylinder));
        let revolution = self.profile.revolution_ms();
        let under_head = ((start + seek) / revolution).fract();
        seek + (place.angle - under_head).rem_euclid(1.0) * revolution
    }

    /// Time of a read whose bytes the track buffer holds or the head reads into it, ms; `None` where it is sooner done by positioning, or is
    /// none of that.
    fn buffered_ms(&self, start: f64, request: &DiskRequest) -> Option<f64> {
        let end = request.at + request.bytes;
        let buffer = self.buffer.filter(|buffer| !request.is_write && buffer.reaches(request.at, end))?;
        let overhead = self.profile.overhead_ms;
        let wait = (buffer.ready(end) - start).max(overhead);
        if wait <= overhead {
            return Some(wait);
        }
        // Reading on takes its part of a switch before it comes to one.
        let positioned = self.position_ms(start, request) + self.transfer_ms(request) + self.profile.head_switch_ms;
        (wait <= positioned).then_some(wait)
    }

    /// Time from the first to the last byte of a request under the head, ms.
    fn transfer_ms(&self, request: &DiskRequest) -> f64 {
        let (first, last) = (self.place(request.at), self.place(request.at + request.bytes - 1));
        // Spread data cross zones; contiguous ones stay in theirs.
        let track = if self.spread.is_some() { first.track.midpoint(last.track) } else { first.track };
        let sectors = request.bytes.div_ceil(SECTOR);
        let tracks = sectors as f64 / f64::from(track);
        let switches = (sectors / u64::from(track)) as f64;
        tracks * self.profile.revolution_ms() + switches * self.profile.head_switch_ms
    }

    /// Time of a byte under the head where a place is read on and on, with the switches between tracks, ms.
    fn byte_ms(&self, place: HeadPosition) -> f64 {
        let bytes = u64::from(place.track) * SECTOR;
        (self.profile.revolution_ms() + self.profile.head_switch_ms) / bytes as f64
    }

    fn service_ms(&mut self, start: f64, request: &DiskRequest) -> f64 {
        let end = request.at + request.bytes;
        if let Some(whole) = self.buffered_ms(start, request) {
            self.read_on(start, whole, request);
            return whole;
        }
        let whole = self.position_ms(start, request) + self.transfer_ms(request);
        let last = self.place(end - 1);
        self.cylinder = last.cylinder;
        let reads_ahead = !request.is_write && self.profile.read_ahead_bytes > 0;
        let filled = TrackBuffer::filled((request.at, end), start + whole, self.byte_ms(last));
        self.buffer = reads_ahead.then(|| filled.ahead(self.profile.read_ahead_bytes));
        whole
    }

    /// Lets the head read on behind a request that the track buffer serves.
    fn read_on(&mut self, start: f64, whole: f64, request: &DiskRequest) {
        let end = request.at + request.bytes;
        let last = self.place(end - 1);
        // Reading ahead has taken the arm there.
        self.cylinder = last.cylinder;
        let Some(mut buffer) = self.buffer else { return };
        if buffer.ready(end) >= start + self.profile.overhead_ms {
            // It has read just that: from here on at the rate of this place.
            buffer.head_at(end, start + whole, self.byte_ms(last));
        } else if buffer.stopped_at() <= start {
            // It waited for room, and goes on when the next byte comes by.
            let (revolution, next) = (self.profile.revolution_ms(), self.place(buffer.to()));
            let wait = (next.angle - (start / revolution).fract()).rem_euclid(1.0) * revolution;
            buffer.head_at(buffer.to(), start + wait, self.byte_ms(next));
        }
        // Of the buffer, half holds what was read and half what comes.
        self.buffer = Some(buffer.behind_reader(request.at, end, self.profile.read_ahead_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::mix;

    /// A byte such that every cylinder is equally probable.
    fn random_at(drive: &Drive, seed: u64) -> u64 {
        let cylinder = mix(seed) % u64::from(drive.profile.cylinders);
        let group = cylinder / u64::from(STRIDE);
        let inside = (group * u64::from(STRIDE)..cylinder).map(|c| u64::from(drive.profile.sectors_on(c as u32)));
        let before = drive.starts[group as usize] + inside.sum::<u64>() * u64::from(drive.profile.heads);
        let track = u64::from(drive.profile.sectors_on(cylinder as u32)) * u64::from(drive.profile.heads);
        (before + mix(seed + 1) % track) * SECTOR
    }

    /// Mean service of random reads of 8 KiB with so many waiting, ms.
    fn random_ms(profile: DriveProfile, scheduling: Scheduling, depth: usize) -> f64 {
        let mut drive = Drive::new(DriveProfile { read_ahead_bytes: 0, ..profile }, scheduling);
        let mut seed = 0;
        let mut submit = |drive: &mut Drive, now: f64| {
            seed += 2;
            let request = DiskRequest { at: random_at(drive, seed), bytes: 8192, is_write: false };
            drive.submit(seed, now, request);
        };
        (0..depth).for_each(|_| submit(&mut drive, 0.0));
        let count = 20_000;
        let mut last = 0.0;
        for _ in 0..count {
            let (_, done) = drive.serve().unwrap();
            last = done;
            // What the user does meanwhile makes the angle independent of the last request's.
            let think = if depth == 1 { (mix(seed_of(done)) % 8_333) as f64 / 1_000.0 } else { 0.0 };
            submit(&mut drive, done + think);
        }
        if depth == 1 { drive.busy_ms() / f64::from(count) } else { last / f64::from(count) }
    }

    fn seed_of(time: f64) -> u64 {
        time.to_bits()
    }

    #[test]
    fn the_mean_of_random_reads_is_the_analytic_one_within_two_per_cent() {
        for profile in DriveProfile::ALL {
            let (measured, analytic) = (random_ms(profile, Scheduling::Fcfs, 1), profile.mean_random_service_ms(8192));
            let ratio = measured / analytic;
            assert!((ratio - 1.0).abs() < 0.02, "{}: {measured:.3} ms, analytic {analytic:.3} ms", profile.name);
        }
    }

    /// Service times of random reads of 8 KiB one at a time, from short to long, ms.
    fn sorted_random_ms(profile: DriveProfile, count: u64) -> Vec<f64> {
        let mut drive = Drive::new(DriveProfile { read_ahead_bytes: 0, ..profile }, Scheduling::Fcfs);
        let (mut done, mut times) = (0.0, Vec::new());
        for number in 0..count {
            let think = (mix(seed_of(done)) % 14_993) as f64 / 1_000.0;
            let request = DiskRequest { at: random_at(&drive, 2 * number), bytes: 8192, is_write: false };
            let before = drive.busy_ms();
            drive.submit(number, done + think, request);
            done = drive.serve().unwrap().1;
            times.push(drive.busy_ms() - before);
        }
        times.sort_by(f64::total_cmp);
        times
    }

    /// The same by the published figures of the HP 97560 alone: overhead, seek between two independent cylinders, any part of a revolution,
    /// and 16 of 72 sectors. Source: Ruemmler, Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994.
    fn sorted_published_ms(count: u64) -> Vec<f64> {
        let uniform = |seed: u64| mix(seed + (1 << 40)) as f64 / u64::MAX as f64;
        let one = |number: u64| {
            let [from, to, angle] = [0, 1, 2].map(|part| uniform(3 * number + part));
            let distance = ((from * 1_962.0).floor() - (to * 1_962.0).floor()).abs();
            let seek = if distance < 1.0 {
                0.0
            } else if distance < 383.0 {
                3.24 + 0.400 * distance.sqrt()
            } else {
                8.00 + 0.008 * distance
            };
            2.2 + seek + (angle + 16.0 / 72.0) * 60_000.0 / 4_002.0
        };
        let mut times: Vec<f64> = (0..count).map(one).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    /// The demerit figure of that paper: the root mean square of the horizontal distance of two distributions, in parts of the second's mean.
    fn demerit(times: &[f64], reference: &[f64]) -> f64 {
        let count = reference.len() as f64;
        let squares: f64 = times.iter().zip(reference).map(|(time, wanted)| (time - wanted).powi(2)).sum();
        (squares / count).sqrt() / (reference.iter().sum::<f64>() / count)
    }

    #[test]
    fn the_demerit_of_the_reference_drive_is_at_most_five_per_cent() {
        let reference = sorted_published_ms(20_000);
        let found = demerit(&sorted_random_ms(DriveProfile::HP_97560, 20_000), &reference);
        assert!(found <= 0.05, "{found:.4}");
        // A drive whose requests take 2.2 ms longer is told apart.
        let slower = DriveProfile { overhead_ms: 4.4, ..DriveProfile::HP_97560 };
        assert!(demerit(&sorted_random_ms(slower, 20_000), &reference) > 0.05);
    }

    #[test]
    fn deep_queues_are_served_faster_by_position() {
        let fcfs = random_ms(DriveProfile::RPM_7200, Scheduling::Fcfs, 32);
        let elevator = random_ms(DriveProfile::RPM_7200, Scheduling::Elevator, 32);
        let sptf = random_ms(DriveProfile::RPM_7200, Scheduling::Sptf, 32);
        assert!(sptf < elevator && elevator < fcfs, "{sptf} {elevator} {fcfs}");
        let iops = 1_000.0 / sptf;
        assert!((170.0..230.0).contains(&iops), "{iops} IOPS at depth 32; 200 by an independent simulation");
    }

    #[test]
    fn a_stream_is_read_at_the_rate_of_its_zone() {
        let mut drive = Drive::new(DriveProfile { read_ahead_bytes: 0, ..DriveProfile::RPM_7200 }, Scheduling::Fcfs);
        let mut done = 0.0;
        for piece in 0..100_u64 {
            drive.submit(piece, done, DiskRequest { at: piece << 24, bytes: 1 << 24, is_write: false });
            done = drive.serve().unwrap().1;
        }
        let rate = f64::from(100 << 24) / 1e6 / (done / 1e3);
        assert!((150.0..216.0).contains(&rate), "{rate} MB/s at the outer edge");
    }

    /// A drive with so many bytes over a share of its stroke.
    fn spread_drive(profile: DriveProfile, share: f64, bytes: u64) -> Drive {
        let mut drive = Drive::new(profile, Scheduling::Fcfs);
        drive.spread(share, bytes);
        drive
    }

    #[test]
    fn a_few_bytes_over_the_whole_stroke_are_read_as_slowly_as_those_of_a_full_drive() {
        let mean = |share| {
            let mut drive =
                spread_drive(DriveProfile { read_ahead_bytes: 0, ..DriveProfile::RPM_7200 }, share, 28 << 20);
            let mut done = 0.0;
            for index in 0..20_000_u64 {
                let at = mix(index) % (28 << 7) * 8192;
                let think = (mix(seed_of(done)) % 8_333) as f64 / 1_000.0;
                drive.submit(index, done + think, DiskRequest { at, bytes: 8192, is_write: false });
                done = drive.serve().unwrap().1;
            }
            drive.busy_ms() / 20_000.0
        };
        let (contiguous, part, whole) = (mean(0.0), mean(0.03), mean(1.0));
        let analytic = DriveProfile::RPM_7200.mean_random_service_ms(8192);
        assert!((whole / analytic - 1.0).abs() < 0.02, "{whole:.3} ms, analytic {analytic:.3} ms");
        // Over a share s of the stroke: overhead, a + 8/15·b·√s + c·s/3, half a revolution.
        let expected = 0.1 + 0.78 + 12.40 * 8.0 / 15.0 * 0.03_f64.sqrt() + 3.32 * 0.01 + 8.333 / 2.0;
        assert!((part / expected - 1.0).abs() < 0.02, "{part:.3} ms, expected {expected:.3} ms");
        assert!(contiguous < 5.3, "two cylinders: {contiguous:.3} ms");
    }

    #[test]
    fn spread_data_are_read_in_order_at_the_rate_of_the_media() {
        let profile = DriveProfile::RPM_7200;
        let all = 64_u64 << 20;
        let read = |share: f64, piece: u64, read_ahead_bytes: u64| {
            let mut drive = spread_drive(DriveProfile { read_ahead_bytes, ..profile }, share, all);
            let mut done = 0.0;
            for at in (0..all).step_by(usize::try_from(piece).unwrap()) {
                drive.submit(at, done, DiskRequest { at, bytes: piece, is_write: false });
                done = drive.serve().unwrap().1;
            }
            let (outer, inner) = (3_500.0, f64::from(profile.sectors_on((share * 199_999.0) as u32)));
            let tracks = (all / SECTOR) as f64 * f64::ln(outer / inner) / (outer - inner);
            tracks * profile.revolution_ms() / done
        };
        for share in [0.03, 0.3, 1.0] {
            let rate = read(share, 16 << 20, 0);
            assert!((0.75..=1.0).contains(&rate), "{share}: {rate:.3} of the media's rate");
        }
        let ahead = read(0.03, 64 << 10, profile.read_ahead_bytes);
        assert!((0.75..1.25).contains(&ahead), "{ahead:.3} of the media's rate, by pieces that are read ahead");
    }

    #[test]
    fn spread_data_keep_their_order_and_what_is_behind_follows() {
        let mut drive = spread_drive(DriveProfile::RPM_7200, 0.1, 64 << 20);
        let cylinders: Vec<u32> = (0..=128).map(|step| drive.place(step << 19).cylinder).collect();
        assert!(cylinders.is_sorted() && cylinders[0] == 0, "{cylinders:?}");
        assert!((19_800..20_000).contains(&cylinders[127]) && cylinders[128] == 20_000, "{cylinders:?}");
        assert!(drive.place((64 << 20) + (1 << 30)).cylinder > 20_000);
        drive.spread(0.1, 1 << 40);
        assert_eq!(drive.place(1 << 20).cylinder, 0, "they do not fit: contiguous");
        drive.spread(1.0, 64 << 20);
        assert_eq!(drive.place(64 << 20).cylinder, 0, "nothing is behind: from the outer edge again");
    }

    /// Rate at which a stream of 64 KiB with so many waiting is read, as a share of the rate of the media.
    fn stream_rate(profile: DriveProfile, scheduling: Scheduling, depth: u64) -> f64 {
        let (piece, count) = (64_u64 << 10, 1_024_u64);
        let mut drive = Drive::new(profile, scheduling);
        let submit = |drive: &mut Drive, number: u64, now: f64| {
            drive.submit(number, now, DiskRequest { at: number * piece, bytes: piece, is_write: false });
        };
        (0..depth).for_each(|number| submit(&mut drive, number, 0.0));
        let mut done = 0.0;
        for number in depth..count + depth {
            done = drive.serve().unwrap().1;
            if number < count {
                submit(&mut drive, number, done);
            }
        }
        let track = f64::from(profile.track_sectors.0) * SECTOR as f64;
        let media = (count * piece) as f64 / track * (profile.revolution_ms() + profile.head_switch_ms);
        media / done
    }

    #[test]
    fn a_stream_that_is_read_ahead_comes_at_the_rate_of_the_media() {
        for profile in DriveProfile::ALL {
            for (scheduling, depth) in [(Scheduling::Fcfs, 1), (Scheduling::Fcfs, 8), (Scheduling::Sptf, 8)] {
                let rate = stream_rate(profile, scheduling, depth);
                assert!((0.85..1.02).contains(&rate), "{} {scheduling:?} {depth}: {rate:.3}", profile.name);
            }
        }
    }

    #[test]
    fn what_is_read_ahead_is_not_there_before_the_head_was_there() {
        let profile = DriveProfile::RPM_7200;
        let read = |at: u64, bytes: u64| DiskRequest { at, bytes, is_write: false };
        let mut drive = Drive::new(profile, Scheduling::Fcfs);
        drive.submit(0, 0.0, read(0, 8192));
        let first = drive.serve().unwrap().1;
        // 512 KiB on are 2.7 ms on.
        drive.submit(1, first, read(512 << 10, 8192));
        let second = drive.serve().unwrap().1;
        assert!((2.2..3.2).contains(&(second - first)), "{}", second - first);
        // What the head has passed is there, and so is all of it after a pause.
        drive.submit(2, second, read(256 << 10, 8192));
        drive.submit(3, second + 20.0, read(700 << 10, 65_536));
        let times = [drive.serve().unwrap().1 - second, drive.serve().unwrap().1 - second - 20.0];
        assert!(times.iter().all(|time| (time - 0.1).abs() < 1e-9), "{times:?}");
    }

    #[test]
    fn what_was_read_ahead_costs_no_positioning() {
        let mut drive = Drive::new(DriveProfile::RPM_10K, Scheduling::Fcfs);
        let mut times = Vec::new();
        for piece in 0..3_u64 {
            drive.submit(piece, 0.0, DiskRequest { at: piece * 8192, bytes: 8192, is_write: false });
            let before = drive.busy_ms();
            drive.serve().unwrap();
            times.push(drive.busy_ms() - before);
        }
        assert!(times[1..].iter().all(|time| (time - 0.1).abs() < 1e-9), "{times:?}");
    }
}
