//! What small caches say of a sample, beside full simulations and beside a pool that really served the trace.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::forecast::{
    LEAST_LINES, MiniatureCache, MiniatureCounts, MiniatureSettings, Reference, SampleSettings,
};
use proofload_tier::machine::{AccessKind, CacheMode, CleanerSettings};
use proofload_tier::policy::PolicyChoice;
use proofload_tier::tier::Tier;
use support::{Dice, TestClock, devices, format_settings, memory_devices, pool};

/// Blocks of the data.
const BLOCKS: u64 = 20_000;
const LINE: u64 = 8192;

/// One use of a block: its number, and whether it is written.
type Use = (u64, bool);

/// Blocks whose use falls as 1 / rank; a third of the uses are writes.
fn skewed(count: u64) -> Vec<Use> {
    let mut dice = Dice(7);
    let mut uniform = move || (dice.roll() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..count)
        .map(|_| {
            let rank = (BLOCKS as f64).powf(uniform()) as u64 - 1;
            (proofload_tier::block::mix(rank) % BLOCKS, uniform() < 0.3)
        })
        .collect()
}

/// All blocks in order, again and again.
fn looping(count: u64) -> Vec<Use> {
    (0..count).map(|index| (index % BLOCKS, false)).collect()
}

/// Both in turns, the loop over half of the data.
fn mixed(count: u64) -> Vec<Use> {
    let skewed = skewed(count);
    (0..count)
        .zip(skewed)
        .map(|(index, one)| if index % 3 == 0 { (index / 3 % (BLOCKS / 2), false) } else { one })
        .collect()
}

fn settings(policy: PolicyChoice, lines: u32, rate: f64) -> MiniatureSettings {
    let dirty_target = CleanerSettings::usual().target;
    MiniatureSettings { policy, lines, rate, modes: vec![CacheMode::WriteBack], dirty_target }
}

/// References as a pool samples them at a rate, and their share of all that was meant.
fn sampled(trace: &[Use], rate: f64) -> (Vec<Reference>, f64) {
    let (cache, origins) = memory_devices(8, BLOCKS as usize, 1);
    let devices = devices(&cache, &origins);
    Tier::format(&devices, &format_settings(8192, 8, 1)).unwrap();
    let tier = Tier::open(devices, pool(CacheMode::Pass, 1), Arc::new(TestClock::default())).unwrap();
    tier.sample(SampleSettings { rate, data_lines: BLOCKS });
    let (mut found, mut real, mut next) = (Vec::new(), 0.0, 0);
    for piece in trace.chunks(10_000) {
        for (block, is_write) in piece {
            match is_write {
                true => tier.write(0, block * LINE, &[1; 8192]).unwrap(),
                false => tier.read(0, block * LINE, &mut [0; 8192]).unwrap(),
            }
        }
        tier.flush(0).unwrap();
        let taken = tier.sampled_since(next, usize::MAX >> 1).unwrap();
        assert_eq!(taken.first, next, "nothing was lost");
        (real, next) = (taken.settings.rate, next + taken.references.len() as u64);
        found.extend(taken.references);
    }
    (found, real)
}

fn served(references: &[Reference], settings: MiniatureSettings) -> MiniatureCounts {
    let mut cache = MiniatureCache::new(settings).expect("it has lines enough");
    references.iter().for_each(|one| cache.serve(one));
    cache.counts(0)
}

/// Miss ratios of reads and writes together.
fn misses(counts: MiniatureCounts, references: f64) -> f64 {
    (counts.read_misses + counts.write_misses) as f64 / references
}

#[test]
fn small_caches_err_by_less_than_two_points_in_the_mean_on_skewed_looping_and_mixed_traces() {
    // No size within a twentieth of the end of a loop, at which hits of LRU go from none to all.
    let sizes = [400, 1_000, 2_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000];
    for (name, trace) in [("skewed", skewed(120_000)), ("looping", looping(100_000)), ("mixed", mixed(120_000))] {
        let (whole, _) = sampled(&trace, 1.0);
        let (sample, rate) = sampled(&trace, 0.45);
        for policy in [PolicyChoice::Lru, PolicyChoice::S3Fifo2, PolicyChoice::Arc, PolicyChoice::TinyLfu] {
            let error = |lines: &u32| {
                let full = misses(served(&whole, settings(policy, *lines, 1.0)), trace.len() as f64);
                let small = misses(served(&sample, settings(policy, *lines, rate)), trace.len() as f64 * rate);
                (full - small).abs()
            };
            let mean = sizes.iter().map(error).sum::<f64>() / sizes.len() as f64;
            assert!(mean <= 0.02, "{name}, {}: {mean:.4}", policy.name());
        }
    }
}

#[test]
fn a_whole_sample_counts_what_a_pool_counts_within_one_point() {
    let trace = mixed(60_000);
    for lines in [600, 3_000, 8_000] {
        let (cache, origins) = memory_devices(lines, BLOCKS as usize, 1);
        let devices = devices(&cache, &origins);
        Tier::format(&devices, &format_settings(8192, lines, 1)).unwrap();
        let clock = Arc::new(TestClock::default());
        let tier = Tier::open(devices, pool(CacheMode::WriteBack, 1), clock.clone()).unwrap();
        tier.sample(SampleSettings { rate: 1.0, data_lines: BLOCKS });
        for (block, is_write) in &trace {
            match is_write {
                true => tier.write(0, block * LINE, &[1; 8192]).unwrap(),
                false => tier.read(0, block * LINE, &mut [0; 8192]).unwrap(),
            }
            clock.advance(Duration::from_micros(500));
            tier.tend().unwrap();
            while tier.clean().unwrap().is_zero() {}
        }
        let (counters, policy) = (tier.counters(0), tier.policy());
        let references = tier.sampled_since(0, trace.len()).unwrap().references;
        assert_eq!(references.len(), trace.len(), "the ring is longer than the trace");
        let counts = served(&references, settings(policy, lines, 1.0));
        assert_eq!((counts.reads, counts.writes), (counters.reads, counters.writes));
        let near = |simulated: u64, real: u64, all: u64, what: &str| {
            let (simulated, real) = (simulated as f64 / all as f64, real as f64 / all as f64);
            assert!((simulated - real).abs() <= 0.01, "{lines} lines, {what}: {simulated:.4} and {real:.4}");
        };
        let missed = counters.reads - counters.read_hits;
        near(counts.read_misses, missed, counters.reads, "reads that miss");
        near(counts.write_misses, counters.writes - counters.write_hits, counters.writes, "writes that miss");
        let (cleaned, real) = (counts.cleaned_sectors as f64, counters.cleaned_bytes as f64 / 4096.0);
        assert!((cleaned / real - 1.0).abs() < 0.1, "{lines} lines: {cleaned} sectors cleaned, and {real}");
    }
}

fn reference(index: u64, kind: AccessKind, sectors: u16) -> Reference {
    let block = proofload_tier::block::OriginBlock::new(0, index);
    Reference { block, kind, sectors: proofload_tier::block::SectorSet(sectors) }
}

#[test]
fn parts_of_a_line_discards_and_modes_are_as_in_a_pool() {
    let of = |mode| MiniatureSettings { modes: vec![mode], ..settings(PolicyChoice::Lru, 100, 1.0) };
    let run = |mode, uses: &[(u64, AccessKind, u16)]| {
        let uses: Vec<Reference> =
            uses.iter().map(|(index, kind, sectors)| reference(*index, *kind, *sectors)).collect();
        let counts = served(&uses, of(mode));
        (counts.read_misses, counts.write_misses)
    };
    let (read, write, discard) = (AccessKind::Read, AccessKind::Write, AccessKind::Discard);
    let back = CacheMode::WriteBack;
    assert_eq!(
        run(back, &[(1, write, 1), (1, read, 1), (1, read, 3), (1, read, 2)]),
        (1, 1),
        "a part misses, then is there"
    );
    assert_eq!(run(back, &[(1, read, 3), (1, write, 1), (1, read, 3)]), (1, 0), "the rest of a line is kept");
    assert_eq!(run(back, &[(1, read, 3), (1, discard, 3), (1, read, 3)]), (2, 0), "a clean line goes");
    assert_eq!(run(back, &[(1, write, 3), (1, discard, 3), (1, read, 3)]), (0, 1), "a dirty one becomes zeros");
    assert_eq!(run(CacheMode::WriteAround, &[(1, read, 3), (1, write, 3), (1, read, 3)]), (2, 0));
    assert_eq!(run(CacheMode::WriteThrough, &[(1, write, 3), (1, read, 3)]), (0, 1));
    assert_eq!(run(CacheMode::Pass, &[(1, read, 3), (1, read, 3), (1, write, 3)]), (2, 1));
}

#[test]
fn a_sample_too_small_for_a_size_says_nothing_of_it() {
    let one = |lines, rate| MiniatureCache::new(settings(PolicyChoice::Lru, lines, rate));
    assert!(one(LEAST_LINES, 1.0).is_none(), "some lines of a pool are kept free");
    assert!(one(LEAST_LINES + 2, 1.0).is_some_and(|cache| cache.lines() == LEAST_LINES + 2));
    assert!(one(3_000, 0.01).is_none() && one(4_000, 0.01).is_some());
}
