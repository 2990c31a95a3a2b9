//! Lines that a list names are in the cache before requests ask for them.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::device::Clock as _;
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{Tier, WarmedBlocks};
use support::{Call, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 64;
/// Bytes per second at which a block takes a second.
const RATE: u64 = BLOCK;

/// A pool whose second volume is not cached; its clock, and its first origin.
fn scene() -> (Tier, Arc<TestClock>, Arc<MemoryDevice>) {
    let (cache, origins) = memory_devices(LINES, 256, 2);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 2)).unwrap();
    let mut settings = pool(CacheMode::WriteBack, 2);
    settings.volumes[1].mode = CacheMode::Pass;
    let clock = Arc::new(TestClock::default());
    let tier = Tier::open(devices(&cache, &origins), settings, clock.clone()).unwrap();
    (tier, clock, origins[0].clone())
}

fn first_bytes(blocks: impl IntoIterator<Item = u64>) -> Vec<(u8, u64)> {
    blocks.into_iter().map(|block| (0, block * BLOCK)).collect()
}

#[test]
fn a_list_is_read_once_at_its_rate_and_hit_afterwards() {
    let (tier, clock, origin) = scene();
    tier.write(0, 5 * BLOCK, &[5; BLOCK as usize]).unwrap();
    // Any byte of a block names it; block 5 is in the cache, and what follows cannot be.
    let mut list = first_bytes([9, 5, 3]);
    list.extend([(0, 7 * BLOCK + 4097), (0, 9 * BLOCK + 1), (0, 256 * BLOCK), (0, u64::MAX), (1, 0), (2, 0)]);
    let before = clock.now();
    let warmed = tier.warm(list.into_iter(), RATE, || true).unwrap();
    assert_eq!(
        warmed,
        WarmedBlocks { loaded: 3, present: 2, no_volume: 1, not_cached: 1, beyond_volume: 2, beyond_quota: 0 }
    );
    assert_eq!(clock.now() - before, Duration::from_secs(3));
    let reads = origin.count(Call::Read);
    for block in [9, 5, 3, 7] {
        let mut bytes = [0xee; BLOCK as usize];
        tier.read(0, block * BLOCK, &mut bytes).unwrap();
        assert_eq!(bytes[0], if block == 5 { 5 } else { 0 });
    }
    assert_eq!(origin.count(Call::Read), reads, "all were hits");
    assert_eq!(tier.lines_of(1), (0, 0));
}

#[test]
fn a_list_longer_than_the_cache_ends_when_it_is_full_and_any_list_when_it_shall() {
    let (tier, _clock, _origin) = scene();
    let warmed = tier.warm(first_bytes(0..256).into_iter(), RATE, || true).unwrap();
    assert_eq!(warmed.loaded, u64::from(LINES));
    // It is told to end while it waits for its rate, and does not wait to the end.
    let (tier, clock, _origin) = scene();
    let goes_on = || clock.now() < Duration::from_millis(9_450);
    assert_eq!(tier.warm(first_bytes(0..256).into_iter(), RATE, goes_on).unwrap().loaded, 10);
    assert_eq!(clock.now(), Duration::from_millis(9_500));
}

#[test]
fn a_rate_is_not_made_up_for_after_a_slow_read() {
    let (tier, clock, origin) = scene();
    let (slow, mut is_first) = (clock.clone(), true);
    *origin.before.lock().unwrap() = Some(Box::new(move |call| {
        if call == Call::Read && std::mem::take(&mut is_first) {
            slow.advance(Duration::from_secs(10));
        }
        Ok(())
    }));
    let begin = clock.now();
    assert_eq!(tier.warm(first_bytes(0..5).into_iter(), RATE, || true).unwrap().loaded, 5);
    assert_eq!(clock.now() - begin, Duration::from_secs(14), "one second each behind the slow one");
}

#[test]
fn a_volume_is_warmed_up_to_its_quota_and_the_other_beyond_it() {
    let (cache, origins) = memory_devices(LINES, 256, 2);
    Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 2)).unwrap();
    let mut settings = pool(CacheMode::WriteBack, 2);
    settings.volumes[0].quota_lines = Some(8);
    settings.volumes[1].quota_lines = Some(40);
    let tier = Tier::open(devices(&cache, &origins), settings, Arc::new(TestClock::default())).unwrap();
    let list = first_bytes(0..100).into_iter().chain((0..20).map(|block| (1, block * BLOCK)));
    let warmed = tier.warm(list, RATE, || true).unwrap();
    assert_eq!(warmed, WarmedBlocks { loaded: 28, beyond_quota: 92, ..WarmedBlocks::default() });
    assert_eq!((tier.lines_of(0).0, tier.lines_of(1).0), (8, 20));
}

#[test]
fn an_origin_that_fails_ends_it_and_leaves_the_pool_as_it_is() {
    let (tier, _clock, origin) = scene();
    origin.fail_when(|call| call == Call::Read);
    let error = tier.warm(first_bytes(0..8).into_iter(), RATE, || true).unwrap_err().to_string();
    assert!(error.contains("origin"), "{error}");
    origin.mend();
    assert_eq!(tier.warm(first_bytes(0..8).into_iter(), RATE, || true).unwrap().loaded, 8);
}
