//! Many threads on one pool, with its maintenance at work: each sees its own writes, and all is there after a stop.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::device::{FileDevice, MachineClock, PageCache};
use proofload_tier::layout::Geometry;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{Maintenance, Tier, TierDevices};
use support::{Dice, format_settings, pool};

const BLOCK: u64 = 8192;
const BLOCKS: u64 = 512;
const THREADS: u64 = 4;
/// Time to close as in [`CleanerSettings::usual`](proofload_tier::machine::CleanerSettings::usual).
const USUAL: Duration = Duration::from_secs(5);

/// Writes and reads the blocks of one thread, whole, by halves, and by parts of sectors, beside the steps of the maintenance; returns what each of
/// them holds in the end, and the most lines that were seen closed.
fn work(tier: &Tier, thread: u64) -> (Vec<Vec<u8>>, u32) {
    let mut most_closed = 0;
    let mut dice = Dice(thread + 77);
    let mut model = vec![vec![0_u8; BLOCK as usize]; (BLOCKS / THREADS) as usize];
    for step in 0..1_500_u64 {
        let place = dice.below(BLOCKS / THREADS);
        let at = (place * THREADS + thread) * BLOCK;
        if dice.one_in(2) {
            let byte = (step % 250) as u8 + 1;
            let (from, length) = match dice.below(3) {
                0 => (0, BLOCK),
                1 => (dice.below(2) * BLOCK / 2, BLOCK / 2),
                _ => (dice.below(BLOCK - 100), 100),
            };
            tier.write(0, at + from, &vec![byte; length as usize]).unwrap();
            model[place as usize][from as usize..(from + length) as usize].fill(byte);
        } else {
            let mut bytes = vec![0; BLOCK as usize];
            tier.read(0, at, &mut bytes).unwrap();
            assert!(bytes == model[place as usize], "thread {thread} step {step}");
        }
        if dice.one_in(100) {
            tier.flush(0).unwrap();
        }
        if dice.one_in(20) {
            tier.tend().unwrap();
            most_closed = most_closed.max(tier.closed_lines());
        }
    }
    (model, most_closed)
}

/// Returns the most lines that a thread has seen closed.
fn check(mode: CacheMode, close_after: Duration) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let geometry = Geometry::new(8192, 128).unwrap();
    let file =
        |name: &str, bytes| Arc::new(FileDevice::create(&folder.path().join(name), bytes, PageCache::Used).unwrap());
    let devices =
        TierDevices { cache: file("cache", geometry.bytes()), origins: vec![file("origin", BLOCKS * BLOCK + 4096)] };
    Tier::format(&devices, &format_settings(8192, 128, 1)).unwrap();
    let clock = Arc::new(MachineClock::new());
    let mut settings = pool(mode, 1);
    settings.cleaner.close_after = close_after;
    let tier = Arc::new(Tier::open(devices.clone(), settings, clock.clone()).unwrap());
    let maintenance = Maintenance::start(&tier);
    let (models, closed): (Vec<_>, Vec<_>) = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn({
                    let tier = &tier;
                    move || work(tier, thread)
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    drop(maintenance);
    assert_eq!((tier.counters(0).damaged_sectors, tier.counters(0).clean_mismatches), (0, 0));
    Arc::into_inner(tier).unwrap().close().unwrap();
    let tier = Tier::open(devices, pool(mode, 1), clock).unwrap();
    assert!(tier.lines_of(0).0 > 32, "it is warm: {:?}", tier.lines_of(0));
    for block in 0..BLOCKS {
        let mut bytes = [0; BLOCK as usize];
        tier.read(0, block * BLOCK, &mut bytes).unwrap();
        let wanted = &models[(block % THREADS) as usize][(block / THREADS) as usize];
        assert!(bytes == wanted[..], "block {block}");
    }
    closed.into_iter().max().unwrap_or(0)
}

#[test]
fn threads_see_their_writes_in_write_back() {
    check(CacheMode::WriteBack, USUAL);
}

#[test]
fn threads_see_their_writes_where_lines_are_closed_all_the_time() {
    assert!(check(CacheMode::WriteBack, Duration::ZERO) > 0, "no line was closed");
}

#[test]
fn threads_see_their_writes_in_write_through() {
    check(CacheMode::WriteThrough, USUAL);
}

#[test]
fn threads_see_their_writes_in_write_around() {
    check(CacheMode::WriteAround, USUAL);
}
