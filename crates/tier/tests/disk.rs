//! The modelled disk before a device in memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::device::{Clock, Device};
use proofload_tier::disk::{ArrayLayout, DiskArray, DriveProfile, ModelledDisk, Scheduling};
use support::{MemoryDevice, TestClock};

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
    assert_eq!((overshoot.late.count(), overshoot.outrun), (51, 0));
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
