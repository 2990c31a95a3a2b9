//! Holds the requests of a real device until a modelled disk would have done them.
//!
//! A drive decides what it begins with when it is free, among all that came until then. The completion is computed as an absolute time, so that
//! late wake-ups do not add up; how late they were is counted.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::array::{DiskArray, Progress};
use super::drive::DiskRequest;
use crate::device::{Clock, Device};
use crate::tier::LatencyHistogram;

/// How late requests were handed back after the model's time.
#[derive(Clone, Debug, Default)]
pub struct Overshoot {
    /// Times after the modelled completion.
    pub late: LatencyHistogram,
    /// Requests that the real device took longer for than the model.
    pub outrun: u64,
    /// Modelled time of all requests.
    pub modelled: Duration,
    /// Sum of all times after the modelled completion.
    pub late_sum: Duration,
}

impl Overshoot {
    /// Lateness as a share of the modelled time; a run above a limit is void. 0 without requests.
    pub fn share(&self) -> f64 {
        let modelled = self.modelled.as_secs_f64();
        if modelled > 0.0 { self.late_sum.as_secs_f64() / modelled } else { 0.0 }
    }
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
        let name = {
            let mut state = self.lock();
            if state.is_free {
                drop(state);
                return work();
            }
            // Read under the lock: requests come in the order of their arrival.
            let now = self.clock.now().as_secs_f64() * 1e3;
            let request = DiskRequest { at: self.offset + at, bytes, is_write };
            state.array.submit(now, request)
        };
        let outcome = work();
        let worked = self.clock.now();
        let Some(done) = self.decided(name) else { return outcome };
        let outrun = worked > done;
        self.clock.sleep_until(done);
        let late = self.clock.now().saturating_sub(done);
        let overshoot = &mut self.lock().overshoot;
        overshoot.outrun += u64::from(outrun);
        overshoot.modelled += done.saturating_sub(begin);
        overshoot.late_sum += late;
        overshoot.late.record(late);
        outcome
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

    fn sync(&self) -> io::Result<()> {
        // The model has no volatile cache: what it has acknowledged is on the drives or in the controller's battery.
        self.device.sync()
    }

    fn discard(&self, at: u64, length: u64) -> io::Result<()> {
        self.paced(at, length, true, || self.device.discard(at, length))
    }
}
