//! Holds the requests of a real device until a modelled disk would have done them.
//!
//! A drive decides what it begins with when it is free, among all that came until then. The completion is computed as an absolute time, so that
//! late wake-ups do not add up; how late they were is counted.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::array::{DiskArray, Progress};
use super::drive::DiskRequest;
use crate::device::{Clock, Device, DeviceWrite, WriteFailure};
use crate::tier::LatencyHistogram;

/// How late requests and syncs were handed back after the model's time.
#[derive(Clone, Debug, Default)]
pub struct Overshoot {
    /// Times after the modelled completion, of requests and syncs.
    pub late: LatencyHistogram,
    /// Times by which the real device took longer than the model, of those requests and syncs that it did.
    pub outrun: LatencyHistogram,
    /// Syncs among what `late` counts.
    pub syncs: u64,
    /// Modelled time of all requests; syncs are none.
    pub modelled: Duration,
    /// Sum of all times after the modelled completion, of requests and syncs.
    pub late_sum: Duration,
}

impl Overshoot {
    /// Lateness as a share of the modelled time; a run above a limit is void. 0 without requests.
    pub fn share(&self) -> f64 {
        let modelled = self.modelled.as_secs_f64();
        if modelled > 0.0 { self.late_sum.as_secs_f64() / modelled } else { 0.0 }
    }

    /// Counts a request that is handed back now: when it came, when the real device had done it, and when the modelled drives had.
    fn count(&mut self, [begin, worked, done]: [Duration; 3], now: Duration) {
        self.modelled += done.saturating_sub(begin);
        self.count_late([worked, done], now);
    }

    /// Counts a sync that is handed back now: when the real device had done it, and when the modelled controller had.
    fn count_sync(&mut self, [worked, done]: [Duration; 2], now: Duration) {
        self.syncs += 1;
        self.count_late([worked, done], now);
    }

    fn count_late(&mut self, [worked, done]: [Duration; 2], now: Duration) {
        let late = now.saturating_sub(done);
        if worked > done {
            self.outrun.record(worked.saturating_sub(done));
        }
        self.late_sum += late;
        self.late.record(late);
    }
}

/// One of several writes, under way.
struct PacedWrite {
    name: u64,
    begin: Duration,
    /// When the real device had stored it.
    worked: Duration,
    /// When the modelled drives have done it, once they have decided.
    done: Option<Duration>,
}

struct PacedState {
    array: DiskArray,
    overshoot: Overshoot,
    /// Whether requests are handed back as soon as the real device has done them.
    is_free: bool,
}

/// A device that really stores, as slow as a modelled disk. Several may share one array, as volumes on one set of
/// drives do.
pub struct ModelledDisk {
    device: Arc<dyn Device>,
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<PacedState>>,
    /// Place of the device's first byte on the array.
    offset: u64,
}

impl ModelledDisk {
    /// Puts an array before a device, which begins at the array's first byte.
    pub fn new(device: Arc<dyn Device>, array: DiskArray, clock: Arc<dyn Clock>) -> Self {
        let state = PacedState { array, overshoot: Overshoot::default(), is_free: false };
        Self { device, clock, state: Arc::new(Mutex::new(state)), offset: 0 }
    }

    /// Puts the array of this disk before another device too, behind this one, so that both contend for its drives.
    pub fn beside(&self, device: Arc<dyn Device>) -> Self {
        let offset = self.offset + self.device.bytes();
        Self { device, clock: self.clock.clone(), state: self.state.clone(), offset }
    }

    fn lock(&self) -> MutexGuard<'_, PacedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands requests back as soon as the real device has done them from now on, uncounted; so do all disks on this array.
    pub fn free(&self) {
        self.lock().is_free = true;
    }

    /// How late requests were handed back so far.
    pub fn overshoot(&self) -> Overshoot {
        self.lock().overshoot.clone()
    }

    /// Time at work of all drives so far.
    pub fn busy(&self) -> Duration {
        let mut state = self.lock();
        // Read under the lock: time does not go back between requests.
        let now = self.clock.now().as_secs_f64() * 1e3;
        Duration::from_secs_f64(state.array.busy_ms(now).max(0.0) / 1e3)
    }

    /// Waits until the drives have decided when a request is done: until then another may come first. `None` when nothing is slowed any more.
    fn decided(&self, name: u64) -> Option<Duration> {
        loop {
            let next = {
                let mut state = self.lock();
                if state.is_free {
                    return None;
                }
                // Read under the lock: all arrivals until now are known.
                let now = self.clock.now().as_secs_f64() * 1e3;
                match state.array.progress(name, now) {
                    Progress::Done(done) => return Some(Duration::from_secs_f64(done / 1e3)),
                    Progress::Open(next) => next,
                }
            };
            self.clock.sleep_until(Duration::from_secs_f64(next / 1e3) + AFTER_DECISION);
        }
    }

    fn paced(&self, at: u64, bytes: u64, is_write: bool, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if bytes == 0 {
            return work();
        }
        let begin = self.clock.now();
        let Some(name) = self.submit(at, bytes, is_write) else { return work() };
        let outcome = work();
        let worked = self.clock.now();
        let Some(done) = self.decided(name) else { return outcome };
        self.clock.sleep_until(done);
        let now = self.clock.now();
        self.lock().overshoot.count([begin, worked, done], now);
        outcome
    }

    /// Gives a request to the drives and returns its name; `None` when nothing is slowed any more.
    fn submit(&self, at: u64, bytes: u64, is_write: bool) -> Option<u64> {
        let mut state = self.lock();
        if state.is_free {
            return None;
        }
        // Read under the lock: requests come in the order of their arrival.
        let now = self.clock.now().as_secs_f64() * 1e3;
        Some(state.array.submit(now, DiskRequest { at: self.offset + at, bytes, is_write }))
    }

    /// Begins one of several writes. Nothing of it is under way when it is empty, or nothing is slowed any more.
    fn begin_write(&self, write: &DeviceWrite<'_>) -> (Option<PacedWrite>, io::Result<()>) {
        let begin = self.clock.now();
        let bytes = write.bytes.len() as u64;
        let name = if bytes > 0 { self.submit(write.at, bytes, true) } else { None };
        let stored = self.device.write_at(write.at, write.bytes);
        let worked = self.clock.now();
        (name.map(|name| PacedWrite { name, begin, worked, done: None }), stored)
    }

    /// Hands back the writes that the drives have done; returns when more is known or done, `None` when none is under way.
    fn hand_back(&self, open: &mut Vec<PacedWrite>) -> Option<Duration> {
        let mut state = self.lock();
        if state.is_free {
            open.clear();
        }
        // Read under the lock: all arrivals until now are known.
        let now = self.clock.now();
        let PacedState { array, overshoot, .. } = &mut *state;
        let mut next = Duration::MAX;
        open.retain_mut(|write| {
            if write.done.is_none() {
                match array.progress(write.name, now.as_secs_f64() * 1e3) {
                    Progress::Done(done) => write.done = Some(Duration::from_secs_f64(done / 1e3)),
                    Progress::Open(time) => next = next.min(Duration::from_secs_f64(time / 1e3) + AFTER_DECISION),
                }
            }
            let Some(done) = write.done else { return true };
            if done > now {
                next = next.min(done);
                return true;
            }
            overshoot.count([write.begin, write.worked, done], now);
            false
        });
        (!open.is_empty()).then_some(next)
    }
}

/// Time after a decision of the model at which it is asked for: more than times in ms are rounded by.
const AFTER_DECISION: Duration = Duration::from_micros(1);

impl Device for ModelledDisk {
    fn bytes(&self) -> u64 {
        self.device.bytes()
    }

    fn name(&self) -> Option<String> {
        self.device.name()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.paced(at, into.len() as u64, false, || self.device.read_at(at, into))
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.paced(at, from.len() as u64, true, || self.device.write_at(at, from))
    }

    /// Several writes need no threads here: the drives work at once, and this device only waits for them.
    fn write_several(&self, writes: &[DeviceWrite<'_>], depth: usize) -> Result<(), WriteFailure> {
        let mut left = writes.iter().enumerate();
        let mut open: Vec<PacedWrite> = Vec::new();
        let mut failure = None;
        loop {
            let begins = failure.is_none() && open.len() < depth.max(1);
            let next = if begins { left.next() } else { None };
            let Some((index, write)) = next else {
                let before = open.len();
                match self.hand_back(&mut open) {
                    None if before == 0 => break,
                    Some(time) if open.len() == before => self.clock.sleep_until(time),
                    // The place of one that was handed back is filled at once.
                    _ => {}
                }
                continue;
            };
            let (begun, stored) = self.begin_write(write);
            open.extend(begun);
            failure = stored.err().map(|error| WriteFailure { index, error });
            // What a controller's cache takes is done before the next one is stored.
            self.hand_back(&mut open);
        }
        failure.map_or(Ok(()), Err)
    }

    /// Waits for the real sync, and for the time of the controller if that is longer.
    ///
    /// The model has no volatile cache: what it has acknowledged is on the drives or in the controller's battery. So drives do nothing for it,
    /// and what the real device takes beyond the controller's time is late.
    fn sync(&self) -> io::Result<()> {
        let done = {
            let state = self.lock();
            let overhead = Duration::from_secs_f64(state.array.overhead_ms() / 1e3);
            (!state.is_free).then(|| self.clock.now() + overhead)
        };
        let outcome = self.device.sync();
        let Some(done) = done else { return outcome };
        let worked = self.clock.now();
        if !self.lock().is_free {
            self.clock.sleep_until(done);
            let now = self.clock.now();
            self.lock().overshoot.count_sync([worked, done], now);
        }
        outcome
    }

    fn discard(&self, at: u64, length: u64) -> io::Result<()> {
        self.paced(at, length, true, || self.device.discard(at, length))
    }
}
