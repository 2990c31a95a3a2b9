//! A cache that fails for good while nothing is dirty: the volumes lose nothing and go on without it, and it can never come back.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use proofload_tier::block::OriginBlock;
use proofload_tier::layout::Geometry;
use proofload_tier::machine::{
    AccessKind, Begin, BlockRequest, CacheMachine, CacheMode, End, JournalPosition, SectorCrcs,
};
use proofload_tier::tier::Tier;
use support::{Call, Dice, Fate, MemoryDevice, TestClock, devices, format_settings, memory_devices, pool};

const BLOCK: u64 = 8192;
const LINES: u32 = 32;
const BLOCKS: u64 = 64;
const MODES: [CacheMode; 4] = [CacheMode::WriteBack, CacheMode::WriteThrough, CacheMode::WriteAround, CacheMode::Pass];

struct DeadCacheBed {
    cache: Arc<MemoryDevice>,
    origins: Vec<Arc<MemoryDevice>>,
}

impl DeadCacheBed {
    /// A pool of two volumes, warm also after a crash and without dirty lines, whose blocks hold their number plus one.
    fn warm(mode: CacheMode) -> (Self, Tier) {
        let (cache, origins) = memory_devices(LINES, BLOCKS as usize, 2);
        Tier::format(&devices(&cache, &origins), &format_settings(8192, LINES, 2)).unwrap();
        let scene = Self { cache, origins };
        let tier = scene.open(mode).unwrap();
        for block in 0..BLOCKS {
            for volume in 0..2 {
                tier.write(volume, block * BLOCK, &[block as u8 + 1; BLOCK as usize]).unwrap();
            }
        }
        (0..2).for_each(|volume| tier.flush(volume).unwrap());
        assert_eq!(tier.drain(Duration::from_secs(100)).unwrap().dirty_lines, 0);
        (0..10).for_each(|block| assert_eq!(read(&tier, 0, block), block as u8 + 1));
        tier.close().unwrap();
        let tier = scene.open(mode).unwrap();
        (scene, tier)
    }

    fn open(&self, mode: CacheMode) -> Result<Tier, proofload_tier::Error> {
        Tier::open(devices(&self.cache, &self.origins), pool(mode, 2), Arc::new(TestClock::default()))
    }
}

fn read(tier: &Tier, volume: u8, block: u64) -> u8 {
    let mut bytes = vec![0xee; BLOCK as usize];
    tier.read(volume, block * BLOCK, &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == bytes[0]));
    bytes[0]
}

/// Brings blocks into the cache.
fn miss(tier: &Tier) {
    (0..BLOCKS).for_each(|block| _ = read(tier, 1, block));
}

#[test]
fn volumes_without_dirty_lines_go_on_without_a_cache_that_fails_for_good() {
    for mode in MODES {
        let (scene, tier) = DeadCacheBed::warm(mode);
        scene.cache.fail_when(|_| true);
        for block in (0..BLOCKS).step_by(2) {
            tier.write(0, block * BLOCK, &[200; BLOCK as usize]).unwrap();
            tier.write(1, block * BLOCK + 100, &[200; 100]).unwrap();
        }
        tier.discard(0, BLOCK, BLOCK).unwrap();
        for volume in 0..2 {
            tier.flush(volume).unwrap_or_else(|error| panic!("{mode:?}: {error}"));
            // A cache that nobody uses is not missed.
            assert_eq!(tier.is_degraded(volume), mode != CacheMode::Pass, "{mode:?}");
            assert_eq!(tier.lines_of(volume), (0, 0), "{mode:?}");
        }
        let wanted = |block: u64| match block {
            1 => 0,
            _ if block.is_multiple_of(2) => 200,
            _ => block as u8 + 1,
        };
        assert!((0..BLOCKS).all(|block| read(&tier, 0, block) == wanted(block)), "{mode:?}");
        tier.tend().unwrap();
        // All of it is durable on the origins alone, and the cache is not let back in.
        let durable = scene.origins[0].store.lock().unwrap().after_crash(Fate::Lost, &mut Dice(1));
        let is_durable = |block: u64| durable[(block * BLOCK) as usize] == wanted(block);
        assert!((0..BLOCKS).all(is_durable), "{mode:?}");
        let closed = tier.close().map_err(|error| error.to_string());
        assert_eq!(closed.is_ok(), mode != CacheMode::Pass, "{mode:?}");
        assert!(closed.err().is_none_or(|text| text.contains("are free of the cache")), "who stops it is told");
        scene.cache.mend();
        let error = scene.open(mode).err().unwrap();
        assert!(
            error.is_mismatch() && error.is_detached() && error.to_string().contains("origin 0"),
            "{mode:?}: {error}"
        );
    }
}

#[test]
fn a_commit_or_a_checkpoint_that_fails_stops_no_volume_without_dirty_lines() {
    for (call, is_checkpoint) in [(Call::Sync, false), (Call::Write, true), (Call::Sync, true)] {
        let (scene, tier) = DeadCacheBed::warm(CacheMode::WriteBack);
        miss(&tier);
        scene.cache.fail_when(move |now| now == call);
        if is_checkpoint {
            assert!(tier.checkpoint().is_err());
        } else {
            // Gives up clean lines, which must be durable before the origin has other content.
            tier.discard(0, 2 * BLOCK, (BLOCKS - 2) * BLOCK).unwrap();
        }
        let errors: Vec<u64> = tier.snapshot().volumes.iter().map(|volume| volume.counters.cache_errors).collect();
        assert_eq!(errors, [1, 1], "a run that goes on without its cache is known by its counters");
        tier.write(0, 0, &[9; BLOCK as usize]).unwrap();
        tier.flush(0).unwrap();
        assert_eq!((read(&tier, 0, 0), read(&tier, 0, 1)), (9, 2));
        scene.cache.mend();
        assert!(scene.open(CacheMode::WriteBack).err().unwrap().is_mismatch());
    }
}

#[test]
fn a_cache_that_fails_with_dirty_lines_or_cannot_be_kept_out_stops_all_volumes() {
    for is_dirty in [true, false] {
        let (scene, tier) = DeadCacheBed::warm(CacheMode::WriteBack);
        if is_dirty {
            tier.write(1, 0, &[9; BLOCK as usize]).unwrap();
        } else {
            miss(&tier);
            scene.origins[0].fail_when(|call| call == Call::Sync);
        }
        scene.cache.fail_when(|_| true);
        let done = if is_dirty { tier.flush(1) } else { tier.discard(0, 0, BLOCKS * BLOCK) };
        assert!(done.is_err() && tier.flush(1).is_err());
        let mut bytes = [0; 512];
        assert!(tier.read(0, 0, &mut bytes).is_err() && tier.read(1, 0, &mut bytes).is_err());
    }
}

#[test]
fn what_was_at_work_when_the_cache_was_given_up_is_not_taken_in() {
    let journal = JournalPosition { start: 0, next: 0, mount: 1 };
    let geometry = Geometry::new(8192, LINES).unwrap();
    let mut machine = CacheMachine::new(geometry, pool(CacheMode::WriteBack, 1), &[], (LINES, false), journal);
    let begin = |machine: &mut CacheMachine, kind, index| {
        let request = BlockRequest { kind, block: OriginBlock::new(0, index), range: 0..8192 };
        match machine.begin(&request) {
            Begin::Work(work) => work,
            other => panic!("{other:?}"),
        }
    };
    let (write, fetch) = (begin(&mut machine, AccessKind::Write, 1), begin(&mut machine, AccessKind::Read, 2));
    assert!(machine.cache_failed() && !machine.cache_failed(), "it is asked for once");
    assert!(machine.is_abandoning());
    assert_eq!(machine.end(write, Ok(SectorCrcs::default())), End::Retry);
    machine.abandon_end();
    assert_eq!(machine.end(fetch, Ok(SectorCrcs::default())), End::Done);
    assert_eq!((machine.lines_of(0), machine.is_abandoning()), ((0, 0), false));
    let wanted = machine.commit_wanted();
    assert!(machine.commit_begin().is_none() && machine.commits_complete() >= wanted);
}
