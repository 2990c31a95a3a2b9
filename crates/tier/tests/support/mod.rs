//! Devices and clocks of tests: what was not synced can be lost or torn, and calls can fail.

#![allow(dead_code, reason = "each test program uses another part")]

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::block::mix;
use proofload_tier::device::{Clock, Device, DeviceWrite, WriteFailure};
use proofload_tier::layout::Identity;
use proofload_tier::machine::{CacheMode, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
use proofload_tier::policy::PolicyChoice;
use proofload_tier::tier::{FormatSettings, TierDevices};

/// Random numbers of a seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// A clock that moves when it is told to, or when somebody sleeps.
#[derive(Debug, Default)]
pub(crate) struct TestClock(AtomicU64);

impl TestClock {
    pub(crate) fn advance(&self, time: Duration) {
        self.0.fetch_add(time.as_nanos() as u64, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, time: Duration) {
        self.0.fetch_max(time.as_nanos() as u64, Ordering::SeqCst);
    }
}

/// Fate of what was written since the last sync.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Lost,
    Kept,
    /// Each write is lost or kept.
    Subset,
    /// Each piece of so many bytes is lost or kept.
    Torn(usize),
}

/// Bytes of a device, with what is not durable of them.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) durable: Vec<u8>,
    pub(crate) now: Vec<u8>,
    pub(crate) pending: Vec<(usize, Vec<u8>)>,
}

impl Store {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { durable: bytes.clone(), now: bytes, pending: Vec::new() }
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        self.now[at..at + from.len()].copy_from_slice(from);
        self.pending.push((at, from.to_vec()));
    }

    fn sync(&mut self) {
        for (at, bytes) in self.pending.drain(..) {
            self.durable[at..at + bytes.len()].copy_from_slice(&bytes);
        }
    }

    /// The bytes that a loss of power leaves.
    pub(crate) fn after_crash(&self, fate: Fate, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for (at, written) in &self.pending {
            let piece = match fate {
                Fate::Lost => continue,
                Fate::Kept => usize::MAX,
                Fate::Subset if dice.one_in(2) => continue,
                Fate::Subset => usize::MAX,
                Fate::Torn(piece) => piece,
            };
            let mut from = 0;
            while from < written.len() {
                // Pieces are those of the device, wherever the write begins.
                let to = if piece == usize::MAX { written.len() } else { piece - (at + from) % piece + from };
                let to = to.min(written.len());
                if piece == usize::MAX || dice.one_in(2) {
                    bytes[at + from..at + to].copy_from_slice(&written[from..to]);
                }
                from = to;
            }
        }
        bytes
    }
}

/// What happens at a call of a device, before it has its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read,
    Write,
    Sync,
}

type Hook = Box<dyn FnMut(Call) -> io::Result<()> + Send>;

/// A device in memory that calls back.
pub(crate) struct MemoryDevice {
    pub(crate) store: Arc<Mutex<Store>>,
    /// Asked before each call; what it returns as an error is the outcome of the call.
    pub(crate) before: Mutex<Option<Hook>>,
    /// Told after each write and sync.
    pub(crate) after: Mutex<Option<Box<dyn FnMut() + Send>>>,
    /// Bytes that cannot be read.
    pub(crate) unreadable: Mutex<Vec<Range<u64>>>,
    pub(crate) calls: [AtomicU64; 3],
    /// Dice for the order in which the parts of several writes are done.
    pub(crate) overlap: Mutex<Dice>,
    /// Writes that were under way at once, at most.
    pub(crate) most_open: AtomicU64,
    /// Whether what was written last were several writes at once.
    pub(crate) were_several: Arc<AtomicBool>,
}

impl MemoryDevice {
    pub(crate) fn new(bytes: Vec<u8>) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::new(Mutex::new(Store::new(bytes))),
            before: Mutex::new(None),
            after: Mutex::new(None),
            unreadable: Mutex::new(Vec::new()),
            calls: Default::default(),
            overlap: Mutex::new(Dice(17)),
            most_open: AtomicU64::new(0),
            were_several: Arc::default(),
        })
    }

    pub(crate) fn count(&self, call: Call) -> u64 {
        self.calls[call as usize].load(Ordering::SeqCst)
    }

    pub(crate) fn bytes_now(&self) -> Vec<u8> {
        self.store.lock().unwrap().now.clone()
    }

    pub(crate) fn flip_bit(&self, at: usize) {
        let mut store = self.store.lock().unwrap();
        store.now[at] ^= 1;
        store.durable[at] ^= 1;
    }

    /// Lets calls of one kind fail while a condition holds.
    pub(crate) fn fail_when(&self, mut condition: impl FnMut(Call) -> bool + Send + 'static) {
        *self.before.lock().unwrap() = Some(Box::new(move |call| match condition(call) {
            true => Err(io::Error::other("made to fail")),
            false => Ok(()),
        }));
    }

    pub(crate) fn mend(&self) {
        *self.before.lock().unwrap() = None;
    }

    fn begin(&self, call: Call) -> io::Result<()> {
        self.calls[call as usize].fetch_add(1, Ordering::SeqCst);
        self.before.lock().unwrap().as_mut().map_or(Ok(()), |hook| hook(call))
    }

    /// Does a part of one of several writes.
    fn advance(&self, open: &mut Vec<(usize, &[u8])>) {
        const UNIT: usize = 512;
        let (place, units) = {
            let mut dice = self.overlap.lock().unwrap();
            let place = dice.below(open.len() as u64) as usize;
            let units = open[place].1.len().div_ceil(UNIT).max(1) as u64;
            (place, 1 + dice.below(units) as usize)
        };
        let (at, bytes) = open[place];
        let (part, rest) = bytes.split_at(bytes.len().min(units * UNIT));
        self.store.lock().unwrap().write(at, part);
        if rest.is_empty() {
            open.swap_remove(place);
        } else {
            open[place] = (at + part.len(), rest);
        }
        self.end();
    }

    fn end(&self) {
        if let Some(hook) = self.after.lock().unwrap().as_mut() {
            hook();
        }
    }
}

impl Device for MemoryDevice {
    fn bytes(&self) -> u64 {
        self.store.lock().unwrap().now.len() as u64
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.begin(Call::Read)?;
        let end = at + into.len() as u64;
        if self.unreadable.lock().unwrap().iter().any(|bad| bad.start < end && at < bad.end) {
            return Err(io::Error::other("made unreadable"));
        }
        let store = self.store.lock().unwrap();
        let at = at as usize;
        let found = store.now.get(at..at + into.len()).ok_or_else(|| io::Error::other("beyond the end"))?;
        into.copy_from_slice(found);
        Ok(())
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.begin(Call::Write)?;
        self.were_several.store(false, Ordering::SeqCst);
        self.store.lock().unwrap().write(at as usize, from);
        self.end();
        Ok(())
    }

    /// Several writes without threads: parts of them, of whole units of 512 bytes, are done in an order of the dice, so that at most calls of
    /// the hooks some writes are done in part. Each part is kept or lost by itself.
    fn write_several(&self, writes: &[DeviceWrite<'_>], depth: usize) -> Result<(), WriteFailure> {
        self.were_several.store(depth > 1 && writes.len() > 1, Ordering::SeqCst);
        let mut left = writes.iter().enumerate();
        let mut open: Vec<(usize, &[u8])> = Vec::new();
        let mut failure = None;
        loop {
            let begins = failure.is_none() && open.len() < depth.max(1);
            let next = if begins { left.next() } else { None };
            if let Some((index, write)) = next {
                match self.begin(Call::Write) {
                    Ok(()) => open.push((write.at as usize, write.bytes)),
                    Err(error) => failure = Some(WriteFailure { index, error }),
                }
                self.most_open.fetch_max(open.len() as u64, Ordering::SeqCst);
            } else if open.is_empty() {
                break;
            } else {
                self.advance(&mut open);
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn sync(&self) -> io::Result<()> {
        self.begin(Call::Sync)?;
        self.store.lock().unwrap().sync();
        self.end();
        Ok(())
    }
}

pub(crate) fn identity(number: u8) -> Identity {
    Identity([number; 16])
}

pub(crate) fn format_settings(line_bytes: u32, lines: u32, volumes: u8) -> FormatSettings {
    FormatSettings {
        line_bytes,
        most_lines: Some(lines),
        journal_blocks: None,
        active_lines: None,
        cache: identity(1),
        origins: (0..volumes).map(|volume| identity(100 + volume)).collect(),
    }
}

pub(crate) fn pool(mode: CacheMode, volumes: usize) -> PoolSettings {
    PoolSettings {
        policy: PolicyChoice::TinyLfu,
        volumes: (0..volumes)
            .map(|volume| VolumeSettings {
                class: if volume == 0 { VolumeClass::Data } else { VolumeClass::Log },
                mode,
                quota_lines: None,
            })
            .collect(),
        cleaner: CleanerSettings::usual(),
        verify_every_read: false,
    }
}

/// A cache for so many lines of 8 KiB, and origins of so many blocks of 8 KiB.
pub(crate) fn memory_devices(lines: u32, blocks: usize, volumes: usize) -> (Arc<MemoryDevice>, Vec<Arc<MemoryDevice>>) {
    let geometry = proofload_tier::layout::Geometry::new(8192, lines).unwrap();
    let cache = MemoryDevice::new(vec![0; geometry.bytes() as usize]);
    (cache, (0..volumes).map(|_| MemoryDevice::new(vec![0; blocks * 8192 + 4096])).collect())
}

pub(crate) fn devices(cache: &Arc<MemoryDevice>, origins: &[Arc<MemoryDevice>]) -> TierDevices {
    TierDevices {
        cache: cache.clone(),
        origins: origins.iter().map(|origin| origin.clone() as Arc<dyn Device>).collect(),
    }
}
