//! One drive as a server in virtual time.

use std::collections::VecDeque;

use super::profile::DriveProfile;

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

/// A drive: where its arm is, until when it is at work, what waits. Times are ms of virtual time.
#[derive(Clone, Debug)]
pub struct Drive {
    profile: DriveProfile,
    scheduling: Scheduling,
    /// First sector of every 64th cylinder.
    starts: Vec<u64>,
    cylinder: u32,
    free_at: f64,
    busy_ms: f64,
    /// Work that ends after the last time that was asked for: begin and end of each, ms.
    ahead: VecDeque<(f64, f64)>,
    /// Bytes that the track buffer holds.
    buffer: (u64, u64),
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
            cylinder: 0,
            free_at: 0.0,
            busy_ms: 0.0,
            ahead: VecDeque::new(),
            buffer: (0, 0),
            waiting: Vec::new(),
        }
    }

    /// Bytes of the drive.
    pub fn bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0) * SECTOR
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

    /// Puts a request with a name of the caller's into the queue at a time, ms.
    pub fn submit(&mut self, name: u64, now: f64, request: DiskRequest) {
        self.waiting.push((name, now, request));
    }

    /// Serves the next of the waiting requests; returns its name and the time at which it is done.
    pub fn serve(&mut self) -> Option<(u64, f64)> {
        let earliest = self.waiting.iter().map(|(_, arrival, _)| *arrival).min_by(f64::total_cmp)?;
        let start = self.free_at.max(earliest);
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
            Scheduling::Sptf => self.position_ms(start, request),
        };
        let best = here.min_by(|(_, a), (_, b)| key(&a.2).total_cmp(&key(&b.2)).then(a.1.total_cmp(&b.1)));
        best.map(|(index, _)| index)
    }

    fn place(&self, at: u64) -> HeadPosition {
        let all = self.starts.last().copied().unwrap_or(1).max(1);
        let sector = at / SECTOR % all;
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

    fn service_ms(&mut self, start: f64, request: &DiskRequest) -> f64 {
        let end = request.at + request.bytes;
        if !request.is_write && self.buffer.0 <= request.at && end <= self.buffer.1 {
            return self.profile.overhead_ms;
        }
        let place = self.place(request.at);
        let position = self.position_ms(start, request);
        let sectors = request.bytes.div_ceil(SECTOR) as f64;
        let tracks = sectors / f64::from(place.track);
        let switches = (request.bytes.div_ceil(SECTOR) / u64::from(place.track)) as f64;
        self.cylinder = self.place(end - 1).cylinder;
        if request.is_write {
            self.buffer = (0, 0);
        } else {
            self.buffer = (request.at, end + self.profile.read_ahead_bytes);
        }
        position + tracks * self.profile.revolution_ms() + switches * self.profile.head_switch_ms
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
