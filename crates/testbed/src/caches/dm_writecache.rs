//! dm-writecache: blocks of 4 KiB, of writes only; reads are left to the page cache. What it holds is what the origin has not.
//!
//! It says itself what hits, but only of the first block of a request: the others count as newly placed, so 512 writes of 8 KiB to blocks that it has
//! are 512 hits of 1,024. Write hits are therefore left out; what the cache absorbed is the sum of both.
//!
//! Sources: the kernel's Documentation/admin-guide/device-mapper/writecache.rst (table, status, messages); drivers/md/dm-writecache.c
//! (superblock; `cleaner` and `flush`).

use super::cache::{CachePair, KernelCache};
use super::counts::{CacheCount, CacheStatistics};
use super::device::little_endian;
use super::dm;
use super::step::{CacheStep, DMSETUP};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_tier::machine::CacheMode;

/// dm-writecache.
pub(super) struct DmWritecache;

/// Name of its target.
const TARGET: &str = "writecache";

/// Its number, the place of it, and that of the size of blocks, in bytes.
const MAGIC: u64 = 0x2348_9321;
const MAGIC_AT: usize = 0;
const BLOCK_AT: usize = 8;

/// Sizes of blocks: up to a page.
const BLOCKS: (Bytes, Bytes) = (Bytes(512), Bytes(4 << 10));

impl KernelCache for DmWritecache {
    fn name(&self) -> &'static str {
        "dm-writecache"
    }

    fn mode(&self, mode: CacheMode) -> Option<&'static str> {
        (mode == CacheMode::WriteBack).then_some("writeback")
    }

    fn usual_block(&self) -> Bytes {
        BLOCKS.1
    }

    fn expect_block(&self, block: Bytes) -> Result<(), Error> {
        if block >= BLOCKS.0 && block <= BLOCKS.1 && block.0.is_power_of_two() {
            return Ok(());
        }
        Err(Error::refused(format!("dm-writecache needs blocks of {} to {}, powers of two", BLOCKS.0, BLOCKS.1)))
    }

    fn meanings(&self) -> &'static [(CacheCount, &'static str)] {
        &[
            (CacheCount::Reads, "blocks that were read from the volume"),
            (CacheCount::ReadHits, "blocks read from the cache, because they were written recently"),
            (CacheCount::ReadMisses, "blocks that were read from the origin"),
            (CacheCount::Writes, "blocks that were written"),
            (CacheCount::WritesAbsorbed, "blocks written that hit the cache or were allocated there"),
            (CacheCount::WritesBypassed, "blocks written directly to the origin"),
            (CacheCount::Flushes, "flush requests"),
            (CacheCount::Discards, "discard requests"),
        ]
    }

    fn set_up(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
        let mut steps = vec![(modules(), None), (CacheStep::clear(&pair.cache.node, 0), None)];
        steps.extend(map(pair));
        Ok(steps)
    }

    fn recognise(&self, pair: &CachePair) -> Result<Option<Bytes>, Error> {
        let head = pair.cache.head()?;
        if little_endian(&head, MAGIC_AT, 4) != Some(MAGIC) {
            return Err(Error::new(format!("{} has no superblock of dm-writecache", pair.cache.node.display())));
        }
        Ok(little_endian(&head, BLOCK_AT, 4).map(Bytes))
    }

    fn recover(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
        Ok(std::iter::once((modules(), None)).chain(map(pair)).collect())
    }

    fn is_in_place(&self, pair: &CachePair) -> bool {
        dm::is_mapped(&pair.name())
    }

    fn statistics(&self, pair: &CachePair, clock: &dyn Clock) -> Result<CacheStatistics, Error> {
        let words = dm::status(&pair.name(), TARGET, clock)?;
        let found = statistics(&words, pair.block).ok_or_else(|| dm::not_understood(TARGET, &words.join(" ")))?;
        Ok(CacheStatistics { volume: dm::node(&pair.name()).display().to_string(), ..found })
    }

    fn drain(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error> {
        // From now on everything is written back; a flush of the whole cache would not let itself be bounded.
        Ok(vec![CacheStep::run(DMSETUP, ["message", &pair.name(), "0", "cleaner"])])
    }

    fn remove(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error> {
        let mut steps = dm::remove_mapped(&[pair.name()]);
        steps.push(CacheStep::clear(&pair.cache.node, 0));
        Ok(steps)
    }

    fn remains(&self, _pair: &CachePair) -> Vec<CacheStep> {
        Vec::new()
    }

    fn origin_afterwards(&self) -> &'static str {
        "the origin is complete without the cache"
    }
}

fn modules() -> CacheStep {
    CacheStep::run("modprobe", ["dm-writecache"])
}

/// The table: `s` is a cache on an SSD; no options, so the kernel's own marks of 50 and 45 % hold.
fn map(pair: &CachePair) -> Vec<(CacheStep, Option<CacheStep>)> {
    let table = format!(
        "0 {} {TARGET} s {} {} {} 0",
        pair.origin.sectors(),
        pair.origin.node.display(),
        pair.cache.node.display(),
        pair.block.0
    );
    vec![dm::create(&pair.name(), &table), (CacheStep::Appear(dm::node(&pair.name())), None)]
}

/// Reads `<error> <blocks> <free> <being written back> <reads> <read hits> <writes> <hits not committed> <hits committed> <past the cache>
/// <given a place> <waited for a place> <flushes> <discards>`.
fn statistics(words: &[String], block: Bytes) -> Option<CacheStatistics> {
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let [
        error,
        blocks,
        free,
        _,
        reads,
        read_hits,
        writes,
        uncommitted,
        committed,
        bypassed,
        placed,
        _,
        flushes,
        discards,
    ] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map(number);
    let dirty = blocks?.checked_sub(free?)?;
    Some(CacheStatistics {
        mode: "writeback".to_owned(),
        block,
        blocks,
        used_blocks: Some(dirty),
        dirty: Some(Bytes(dirty * block.0)),
        is_clean: dirty == 0,
        faults: if error? == 0 { Vec::new() } else { vec![format!("the cache has failed with error {}", error?)] },
        counts: [
            (CacheCount::Reads, reads?),
            (CacheCount::ReadHits, read_hits?),
            (CacheCount::ReadMisses, reads?.saturating_sub(read_hits?)),
            (CacheCount::Writes, writes?),
            (CacheCount::WritesAbsorbed, uncommitted? + committed? + placed?),
            (CacheCount::WritesBypassed, bypassed?),
            (CacheCount::Flushes, flushes?),
            (CacheCount::Discards, discards?),
        ]
        .into(),
        ..CacheStatistics::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::counts::expect_meanings;
    use super::super::device::CacheDevice;
    use super::*;

    #[test]
    fn a_table_names_origin_and_cache() {
        let pair = CachePair {
            cache: CacheDevice::imagined("vdb", 64),
            origin: CacheDevice::imagined("vdc", 1024),
            mode: CacheMode::WriteBack,
            block: Bytes(4 << 10),
        };
        let steps = DmWritecache.recover(&pair).unwrap();
        assert!(
            steps[1].0.to_string().ends_with("'0 2097152 writecache s /dev/vdc /dev/vdb 4096 0'"),
            "{:?}",
            steps[1].0
        );
        assert!(DmWritecache.mode(CacheMode::WriteThrough).is_none());
        assert!(DmWritecache.expect_block(Bytes(8 << 10)).is_err() && DmWritecache.expect_block(Bytes(1024)).is_ok());
    }

    #[test]
    fn a_status_is_read() {
        let words =
            dm::words("0 2097152 writecache 0 16000 15000 16 90 40 2000 100 200 50 1650 0 7 3", TARGET).unwrap();
        let found = statistics(&words, Bytes(4 << 10)).unwrap();
        assert_eq!((found.used_blocks, found.dirty), (Some(1000), Some(Bytes(1000 << 12))));
        let counts =
            [CacheCount::ReadMisses, CacheCount::WriteHits, CacheCount::WritesAbsorbed, CacheCount::WritesBypassed];
        assert_eq!(counts.map(|of| found.count(of)), [Some(50), None, Some(1950), Some(50)]);
        expect_meanings(&DmWritecache, &found);
        // Kernels before 5.15 count nothing.
        assert_eq!(statistics(&words[..4], Bytes(4 << 10)), None);
    }
}
