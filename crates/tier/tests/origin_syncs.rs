//! A sync of an origin that fails is told once, and what it should have made durable is lost, whatever a later one says: as Linux does it with the
//! pages of a file.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proofload_tier::block::OriginBlock;
use proofload_tier::device::{Device, DeviceWrite, WriteFailure};
use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    AccessKind, Begin, BlockRequest, CacheMachine, CacheMode, End, JournalPosition, SectorCrcs, WorkFailure,
};
use proofload_tier::tier::{Tier, TierDevices};
use support::{Call, Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 64;

/// An origin whose next sync fails when it is told to, and that calls once behind several writes, and once behind its label.
struct LosingOrigin {
    inner: Arc<MemoryDevice>,
    loses: AtomicBool,
    behind_writes: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    behind_label: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    syncing: AtomicU64,
    most_syncing: AtomicU64,
}

impl LosingOrigin {
    fn of(inner: Arc<MemoryDevice>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            loses: AtomicBool::new(false),
            behind_writes: Mutex::new(None),
            behind_label: Mutex::new(None),
            syncing: AtomicU64::new(0),
            most_syncing: AtomicU64::new(0),
        })
    }
}

impl Device for LosingOrigin {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(at, into)
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.inner.write_at(at, from)?;
        if at + 4096 == self.bytes() {
            let act = self.behind_label.lock().unwrap().take();
            if let Some(act) = act {
                act();
            }
        }
        Ok(())
    }

    fn write_several(&self, writes: &[DeviceWrite<'_>], depth: usize) -> Result<(), WriteFailure> {
        self.inner.write_several(writes, depth)?;
        let act = self.behind_writes.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let now = self.syncing.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_syncing.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(2));
        let loses = self.loses.swap(false, Ordering::SeqCst);
        let done = if loses {
            self.inner.store.lock().unwrap().pending.clear();
            Err(io::Error::other("made to lose"))
        } else {
            self.inner.sync()
        };
        self.syncing.fetch_sub(1, Ordering::SeqCst);
        done
    }
}

struct OriginBed {
    cache: Arc<MemoryDevice>,
    origin: Arc<LosingOrigin>,
    clock: Arc<TestClock>,
}

impl OriginBed {
    fn new(mode: CacheMode) -> (Self, Arc<Tier>) {
        let (cache, mut origins) = memory_devices(LINES, 128, 1);
        let origin = LosingOrigin::of(origins.remove(0));
        let devices = TierDevices { cache: cache.clone(), origins: vec![origin.clone()] };
        Tier::format(&devices, &format_settings(8192, LINES, 1)).unwrap();
        let clock = Arc::new(TestClock::default());
        let tier = Tier::open(devices, pool(mode, 1), clock.clone()).unwrap();
        (Self { cache, origin, clock }, Arc::new(tier))
    }

    /// The pool after a loss of power that takes all that is not durable.
    fn after_crash(&self) -> Tier {
        let left = |device: &MemoryDevice| {
            MemoryDevice::new(device.store.lock().unwrap().after_crash(Fate::Lost, &mut Dice(1)))
        };
        let devices = TierDevices { cache: left(&self.cache), origins: vec![left(&self.origin.inner)] };
        Tier::open(devices, pool(CacheMode::WriteBack, 1), Arc::new(TestClock::default())).unwrap()
    }
}

fn first_byte(tier: &Tier, block: u64) -> u8 {
    let mut bytes = vec![0xee; BLOCK as usize];
    tier.read(0, block * BLOCK, &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == bytes[0]));
    bytes[0]
}

#[test]
fn a_lost_sync_beside_the_cleaner_cleans_nothing() {
    let (scene, tier) = OriginBed::new(CacheMode::WriteBack);
    (0..20).for_each(|block| tier.write(0, block * BLOCK, &[7; BLOCK as usize]).unwrap());
    tier.flush(0).unwrap();
    let (origin, other) = (scene.origin.clone(), tier.clone());
    *scene.origin.behind_writes.lock().unwrap() = Some(Box::new(move || {
        // A flush takes the error of what the cleaner has written.
        other.set_mode(0, CacheMode::WriteAround).unwrap();
        other.write(0, 100 * BLOCK, &[8; BLOCK as usize]).unwrap();
        origin.loses.store(true, Ordering::SeqCst);
        assert!(other.flush(0).is_err());
    }));
    drop(tier.clean());
    scene.clock.advance(Duration::from_secs(2));
    drop(tier.clean());
    assert!(!scene.origin.loses.load(Ordering::SeqCst) && scene.origin.behind_writes.lock().unwrap().is_none());
    assert_eq!(tier.lines_of(0).1, 20);
    assert!(tier.flush(0).is_err(), "an acknowledged write is lost");
    let tier = scene.after_crash();
    assert!((0..20).all(|block| first_byte(&tier, block) == 7));
}

#[test]
fn syncs_of_an_origin_are_made_one_at_a_time() {
    let (scene, tier) = OriginBed::new(CacheMode::WriteThrough);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let tier = &tier;
            scope.spawn(move || {
                for round in 0..20_u8 {
                    tier.write(0, thread * BLOCK, &[round; BLOCK as usize]).unwrap();
                    tier.flush(0).unwrap();
                }
            });
        }
    });
    assert_eq!(scene.origin.most_syncing.load(Ordering::SeqCst), 1);
}

#[test]
fn what_a_lost_sync_should_have_covered_is_not_served_after_a_stop() {
    let (scene, tier) = OriginBed::new(CacheMode::WriteThrough);
    tier.write(0, 0, &[7; BLOCK as usize]).unwrap();
    scene.origin.loses.store(true, Ordering::SeqCst);
    assert!(tier.flush(0).is_err());
    drop(Arc::into_inner(tier).unwrap().close());
    assert_eq!(first_byte(&scene.after_crash(), 0), 0, "as on the origin");
}

fn machine() -> CacheMachine {
    let journal = JournalPosition { start: 0, next: 0, mount: 1 };
    let geometry = Geometry::new(8192, LINES).unwrap();
    CacheMachine::new(geometry, pool(CacheMode::WriteAround, 1), &[], (LINES, false), journal)
}

#[test]
fn a_write_at_work_while_a_sync_is_lost_is_not_acknowledged() {
    let outcomes = [Ok(SectorCrcs::default()), Err(WorkFailure::Origin)];
    for outcome in outcomes {
        let mut machine = machine();
        let request = BlockRequest { kind: AccessKind::Write, block: OriginBlock::new(0, 1), range: 0..8192 };
        let Begin::Work(work) = machine.begin(&request) else { panic!("it has begun") };
        machine.origin_sync_begin(0);
        machine.origin_sync_failed(0);
        assert!(!machine.has_failed(0), "nothing was acknowledged");
        assert_eq!(machine.end(work, outcome), End::Failed);
        assert!(machine.has_failed(0));
        // A sync that succeeds afterwards proves nothing.
        let number = machine.origin_sync_begin(0);
        machine.origin_sync_end(0, number);
        assert_eq!(machine.done_origin_sync(0), 0);
    }
}

#[test]
fn a_volume_that_has_failed_is_not_tended_for_ever() {
    let (cache, origins) = memory_devices(LINES, 5000, 1);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 1)).unwrap();
    let settings = pool(CacheMode::WriteAround, 1);
    let tier = Tier::open(devices(&cache, &origins), settings, Arc::new(TestClock::default())).unwrap();
    (0..4200).for_each(|block| tier.write(0, block * BLOCK, &[7; BLOCK as usize]).unwrap());
    origins[0].fail_when(|call| call == Call::Sync);
    assert!(tier.tend().is_err());
    let syncs = origins[0].count(Call::Sync);
    for is_mended in [false, true] {
        if is_mended {
            origins[0].mend();
        }
        assert!(!tier.tend().unwrap(), "mended: {is_mended}");
    }
    assert_eq!(origins[0].count(Call::Sync), syncs);
}

#[test]
fn a_label_that_a_sync_beside_it_has_lost_sets_nothing_free() {
    let (cache, mut origins) = memory_devices(LINES, 128, 2);
    let origin = LosingOrigin::of(origins.remove(0));
    let devices = TierDevices { cache: cache.clone(), origins: vec![origin.clone(), origins.remove(0)] };
    Tier::format(&devices, &format_settings(8192, LINES, 2)).unwrap();
    let settings = pool(CacheMode::WriteThrough, 2);
    let tier = Arc::new(Tier::open(devices, settings, Arc::new(TestClock::default())).unwrap());
    tier.write(1, 0, &[7; BLOCK as usize]).unwrap();
    let (other, losing) = (tier.clone(), origin.clone());
    *origin.behind_label.lock().unwrap() = Some(Box::new(move || {
        other.write(0, BLOCK, &[8; BLOCK as usize]).unwrap();
        losing.loses.store(true, Ordering::SeqCst);
        assert!(other.flush(0).is_err());
    }));
    cache.fail_when(|_| true);
    assert!(tier.checkpoint().is_err() && tier.flush(1).is_err(), "an opening after a crash brings the cache back");
    assert!(origin.behind_label.lock().unwrap().is_none());
}
