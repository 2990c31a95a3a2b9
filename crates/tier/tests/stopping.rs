//! What is at work while a pool is detached, resized, or struck by a panic of a device.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use proofload_tier::device::Device;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{CacheInspection, Tier, TierDevices};
use support::{Call, MemoryDevice, TestClock, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 32;

/// A device that calls once before a write, or panics at a call.
struct TrickyDevice {
    inner: Arc<MemoryDevice>,
    before_write: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    panics: Mutex<Option<Call>>,
}

impl TrickyDevice {
    fn of(inner: Arc<MemoryDevice>) -> Arc<Self> {
        Arc::new(Self { inner, before_write: Mutex::default(), panics: Mutex::default() })
    }

    fn may_panic(&self, call: Call) {
        let panics = *self.panics.lock().unwrap() == Some(call);
        assert!(!panics, "made to panic");
    }
}

impl Device for TrickyDevice {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.may_panic(Call::Read);
        self.inner.read_at(at, into)
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.may_panic(Call::Write);
        let act = self.before_write.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
        self.inner.write_at(at, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.may_panic(Call::Sync);
        self.inner.sync()
    }
}

fn scene() -> (Arc<Tier>, Arc<TrickyDevice>, Arc<TrickyDevice>) {
    let (cache, mut origins) = memory_devices(LINES, 64, 1);
    let (cache, origin) = (TrickyDevice::of(cache), TrickyDevice::of(origins.remove(0)));
    let devices = TierDevices { cache: cache.clone(), origins: vec![origin.clone()] };
    Tier::format(&devices, &format_settings(8192, LINES, 1)).unwrap();
    let tier = Tier::open(devices, pool(CacheMode::WriteBack, 1), Arc::new(TestClock::default())).unwrap();
    (Arc::new(tier), cache, origin)
}

fn first_byte(tier: &Tier, block: u64) -> u8 {
    let mut bytes = [0xee; BLOCK as usize];
    tier.read(0, block * BLOCK, &mut bytes).unwrap();
    bytes[0]
}

#[test]
fn a_detach_waits_for_a_write_that_was_begun_before() {
    let (tier, cache, origin) = scene();
    let (other, was_detached) = (tier.clone(), Arc::new(AtomicBool::new(false)));
    let told = was_detached.clone();
    *cache.before_write.lock().unwrap() = Some(Box::new(move || {
        let done = other.detach(Duration::from_millis(50));
        told.store(done.is_ok(), Ordering::SeqCst);
    }));
    tier.write(0, 3 * BLOCK, &[7; BLOCK as usize]).unwrap();
    assert!(!was_detached.load(Ordering::SeqCst), "the write was acknowledged afterwards");
    assert_eq!((first_byte(&tier, 3), tier.lines_of(0).1), (7, 1), "the pool goes on");
    tier.detach(Duration::from_secs(100)).unwrap();
    assert_eq!(origin.inner.bytes_now()[3 * BLOCK as usize], 7);
}

#[test]
fn a_resize_beside_one_that_is_given_up_leaves_one_size() {
    let (tier, cache, origin) = scene();
    tier.resize(20, Duration::from_secs(100)).unwrap();
    (0..20).for_each(|block| tier.write(0, block * BLOCK, &[1; BLOCK as usize]).unwrap());
    tier.flush(0).unwrap();
    let (said, heard) = mpsc::channel();
    let (other, failing) = (tier.clone(), origin.inner.clone());
    *origin.before_write.lock().unwrap() = Some(Box::new(move || {
        let done = std::thread::spawn(move || said.send(other.resize(30, Duration::from_secs(100))).unwrap());
        // It is done now, or waits for the other one.
        std::thread::sleep(Duration::from_millis(300));
        failing.fail_when(|call| call == Call::Write);
        drop(done);
    }));
    assert!(tier.resize(8, Duration::from_secs(100)).is_err(), "the lines are not cleaned");
    heard.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
    let superblock = CacheInspection::of(&*cache.inner).unwrap().superblock;
    assert_eq!((superblock.active_lines, tier.status().active_lines), (30, 30));
}

#[test]
fn a_panic_of_a_device_leaves_nobody_waiting() {
    let read: TierCall = |tier| tier.read(0, 40 * BLOCK, &mut [0; BLOCK as usize]);
    let read_run: TierCall = |tier| tier.read(0, 40 * BLOCK, &mut vec![0; 8 * BLOCK as usize]);
    let write: TierCall = |tier| tier.write(0, 40 * BLOCK, &[1; BLOCK as usize]);
    let discard_run: TierCall = |tier| tier.discard(0, 40 * BLOCK, 8 * BLOCK);
    let flush: TierCall = |tier| tier.flush(0);
    let clean: TierCall = |tier| tier.drain(Duration::from_secs(100)).map(drop);
    let cases = [
        (read, false, Call::Read),
        (read_run, false, Call::Read),
        (write, true, Call::Write),
        (discard_run, false, Call::Write),
        (flush, true, Call::Sync),
        (clean, false, Call::Sync),
    ];
    for (number, (request, is_cache, call)) in cases.into_iter().enumerate() {
        let (tier, cache, origin) = scene();
        tier.write(0, 0, &[1; BLOCK as usize]).unwrap();
        let device = if is_cache { &cache } else { &origin };
        *device.panics.lock().unwrap() = Some(call);
        let other = tier.clone();
        let panicked = std::thread::spawn(move || request(&other)).join();
        assert!(panicked.is_err(), "case {number}");
        *device.panics.lock().unwrap() = None;
        let (said, heard) = mpsc::channel();
        let other = tier.clone();
        std::thread::spawn(move || said.send([read(&other).is_err(), flush(&other).is_err(), write(&other).is_err()]));
        let outcome = heard.recv_timeout(Duration::from_secs(60)).expect("nobody waits for ever");
        assert_eq!(outcome, [true; 3], "case {number}");
    }
}

type TierCall = fn(&Tier) -> Result<(), proofload_tier::Error>;

/// Lets a call of a pool panic in a call of the origin; whether the next flush fails, which must not wait for ever.
fn fails_behind_a_panic(tier: &Arc<Tier>, origin: &TrickyDevice, request: TierCall, call: Call) -> bool {
    *origin.panics.lock().unwrap() = Some(call);
    let other = tier.clone();
    assert!(std::thread::spawn(move || request(&other)).join().is_err(), "{call:?} panics");
    *origin.panics.lock().unwrap() = None;
    let (said, heard) = mpsc::channel();
    let other = tier.clone();
    std::thread::spawn(move || said.send(other.flush(0).is_err()));
    heard.recv_timeout(Duration::from_secs(60)).expect("nobody waits for ever")
}

#[test]
fn a_panic_while_the_cache_is_given_up_leaves_nobody_waiting() {
    for call in [Call::Write, Call::Sync] {
        let (tier, cache, origin) = scene();
        // Nothing is dirty.
        assert_eq!(first_byte(&tier, 3), 0);
        cache.inner.fail_when(|_| true);
        assert!(fails_behind_a_panic(&tier, &origin, Tier::checkpoint, call), "{call:?}");
    }
}

#[test]
fn a_panic_of_a_sync_of_an_origin_is_no_sync() {
    let (tier, _cache, origin) = scene();
    tier.set_mode(0, CacheMode::WriteThrough).unwrap();
    tier.write(0, 0, &[1; BLOCK as usize]).unwrap();
    let flush: TierCall = |tier| tier.flush(0);
    assert!(fails_behind_a_panic(&tier, &origin, flush, Call::Sync), "what it did is not known");
}
