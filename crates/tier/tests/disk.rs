//! The modelled disk before a device in memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use proofload_tier::device::{Clock, Device};
use proofload_tier::disk::{ArrayLayout, DiskArray, DriveProfile, ModelledDisk, Scheduling};
use support::{Dice, MemoryDevice, TestClock};

fn disk(clock: &Arc<TestClock>) -> ModelledDisk {
    let array = DiskArray::new(ArrayLayout::Single, 1, DriveProfile::RPM_7200, Scheduling::Fcfs, 0);
    ModelledDisk::new(MemoryDevice::new(vec![0; 1 << 20]), array, clock.clone())
}

#[test]
fn bytes_are_stored_and_take_the_time_of_the_model() {
    let clock = Arc::new(TestClock::default());
    let disk = disk(&clock);
    let begin = clock.now();
    for block in 0..50_u64 {
        disk.write_at(block * 4096 * 5, &[block as u8 + 1; 4096]).unwrap();
    }
    let mean = (clock.now() - begin).as_secs_f64() * 1e3 / 50.0;
    assert!((0.2..9.0).contains(&mean), "neighbouring tracks: {mean} ms");
    let mut bytes = [0; 4096];
    disk.read_at(4096 * 5 * 49, &mut bytes).unwrap();
    assert_eq!(bytes, [50; 4096]);
    let overshoot = disk.overshoot();
    assert_eq!((overshoot.late.count(), overshoot.outrun.count()), (51, 0));
    assert!(overshoot.share() < 1e-6, "a clock of tests is never late");
    disk.free();
    let freed = clock.now();
    disk.read_at(4096 * 5 * 10, &mut bytes).unwrap();
    assert_eq!((bytes, clock.now(), disk.overshoot().late.count()), ([11; 4096], freed, 51), "no model any more");
}

#[test]
fn volumes_on_one_set_of_drives_contend() {
    let clock = Arc::new(TestClock::default());
    let data = disk(&clock);
    let log = data.beside(MemoryDevice::new(vec![0; 1 << 20]));
    data.write_at(0, &[1; 4096]).unwrap();
    let busy = data.busy();
    log.write_at(0, &[2; 4096]).unwrap();
    assert!(data.busy() > busy);
    let mut bytes = [0; 4096];
    data.read_at(0, &mut bytes).unwrap();
    assert_eq!(bytes, [1; 4096], "they share drives and no bytes");
}

/// A clock of threads that moves to the first time for which one of them sleeps when all of them do.
struct TurnClock {
    turns: Mutex<Turns>,
    moved: Condvar,
}

struct Turns {
    now: Duration,
    threads: usize,
    /// Times for which threads sleep.
    asleep: Vec<Duration>,
}

impl TurnClock {
    fn of(threads: usize) -> Arc<Self> {
        let turns = Turns { now: Duration::ZERO, threads, asleep: Vec::new() };
        Arc::new(Self { turns: Mutex::new(turns), moved: Condvar::new() })
    }

    fn move_on(&self, turns: &mut Turns) {
        let first = turns.asleep.iter().min().copied();
        if let Some(first) = first.filter(|first| turns.asleep.len() == turns.threads && *first > turns.now) {
            turns.now = first;
            self.moved.notify_all();
        }
    }

    /// Takes off a thread, for which nobody waits any more.
    fn leave(&self) {
        let mut turns = self.turns.lock().unwrap();
        turns.threads -= 1;
        self.move_on(&mut turns);
    }
}

impl Clock for TurnClock {
    fn now(&self) -> Duration {
        self.turns.lock().unwrap().now
    }

    fn sleep_until(&self, time: Duration) {
        let mut turns = self.turns.lock().unwrap();
        if time <= turns.now {
            return;
        }
        turns.asleep.push(time);
        while time > turns.now {
            self.move_on(&mut turns);
            if time > turns.now {
                turns = self.moved.wait(turns).unwrap();
            }
        }
        let index = turns.asleep.iter().position(|other| *other == time).unwrap();
        turns.asleep.swap_remove(index);
    }
}

/// Time of 320 random reads over the whole stroke by eight threads at once.
fn reads_at_once(scheduling: Scheduling) -> Duration {
    let clock = TurnClock::of(8);
    let profile = DriveProfile { read_ahead_bytes: 0, ..DriveProfile::RPM_7200 };
    let array = DiskArray::new(ArrayLayout::Single, 1, profile, scheduling, 0).spread(1.0, 8 << 20);
    let disk = ModelledDisk::new(MemoryDevice::new(vec![0; 8 << 20]), array, clock.clone());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (disk, clock) = (&disk, &clock);
            scope.spawn(move || {
                let mut dice = Dice(thread);
                for _ in 0..40 {
                    disk.read_at(dice.below(2_048) * 4096, &mut [0; 4096]).unwrap();
                }
                clock.leave();
            });
        }
    });
    assert_eq!(disk.overshoot().late.count(), 320);
    clock.now()
}

#[test]
fn what_comes_while_a_drive_is_at_work_may_be_served_before_what_came_first() {
    let (in_order, by_position) = (reads_at_once(Scheduling::Fcfs), reads_at_once(Scheduling::Sptf));
    let analytic = DriveProfile::RPM_7200.mean_random_service_ms(4096) * 320.0;
    let ratio = in_order.as_secs_f64() * 1e3 / analytic;
    assert!((0.9..1.1).contains(&ratio), "in order as one after the other: {in_order:?}, {analytic} ms");
    assert!(by_position.as_secs_f64() < 0.75 * in_order.as_secs_f64(), "{by_position:?} {in_order:?}");
}

/// A clock that always wakes up late.
struct LateClock(TestClock);

impl Clock for LateClock {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn sleep_until(&self, time: Duration) {
        self.0.sleep_until(time + Duration::from_micros(500));
    }
}

#[test]
fn lateness_is_counted_and_does_not_add_up() {
    let clock = Arc::new(LateClock(TestClock::default()));
    let array = DiskArray::new(ArrayLayout::Single, 1, DriveProfile::RPM_7200, Scheduling::Fcfs, 0);
    let disk = ModelledDisk::new(MemoryDevice::new(vec![0; 1 << 20]), array, clock);
    for _ in 0..100 {
        disk.write_at(0, &[1; 4096]).unwrap();
    }
    let overshoot = disk.overshoot();
    let late = overshoot.late.quantile(0.5).unwrap();
    assert!((490..510).contains(&late.as_micros()), "{late:?}");
    assert!((0.04..0.09).contains(&overshoot.share()), "{}", overshoot.share());
}

/// A device whose syncs take some time, which may be zero.
struct SlowSyncs {
    stored: Arc<MemoryDevice>,
    clock: Arc<TestClock>,
    took: Duration,
}

impl Device for SlowSyncs {
    fn bytes(&self) -> u64 {
        self.stored.bytes()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.stored.read_at(at, into)
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        self.stored.write_at(at, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.clock.sleep_until(self.clock.now() + self.took);
        self.stored.sync()
    }
}

#[test]
fn a_sync_takes_the_later_of_both_times_and_what_exceeds_the_model_is_late() {
    for (real, whole, late) in [(0, 100, 0), (60, 100, 0), (7_000, 7_000, 6_900)] {
        let clock = Arc::new(TestClock::default());
        let stored = MemoryDevice::new(vec![0; 1 << 20]);
        let device = SlowSyncs { stored, clock: clock.clone(), took: Duration::from_micros(real) };
        let array = DiskArray::new(ArrayLayout::Single, 1, DriveProfile::RPM_7200, Scheduling::Fcfs, 0);
        let disk = ModelledDisk::new(Arc::new(device), array, clock.clone());
        disk.write_at(0, &[1; 4096]).unwrap();
        let (begin, written) = (clock.now(), disk.overshoot());
        disk.sync().unwrap();
        let near =
            |time: Duration, wanted: u64| time.abs_diff(Duration::from_micros(wanted)) < Duration::from_micros(1);
        assert!(near(clock.now() - begin, whole), "{real}: {:?}", clock.now() - begin);
        let found = disk.overshoot();
        assert!(near(found.late_sum.saturating_sub(written.late_sum), late), "{real}: {found:?}");
        assert_eq!((found.syncs, found.late.count(), found.modelled), (1, 2, written.modelled), "{real}");
        assert_eq!(found.outrun.count(), u64::from(late > 0), "{real}");
        disk.free();
        disk.sync().unwrap();
        assert_eq!(disk.overshoot().syncs, 1, "no model any more");
    }
}
