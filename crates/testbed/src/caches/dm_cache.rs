//! dm-cache: blocks of 32 KiB and more, write-back or write-through, by the policy smq. Metadata and data of the cache share one device,
//! the metadata first.
//!
//! Sources: the kernel's Documentation/admin-guide/device-mapper/cache.rst (table, status, `migration_threshold`) and cache-policies.rst
//! (smq, cleaner); drivers/md/dm-cache-metadata.c (superblock); drivers/md/dm-cache-target.c: a request is counted once for each block that
//! it touches, and by whether the block is in the cache.

use super::cache::{CachePair, KernelCache};
use super::counts::{CacheCount, CacheStatistics};
use super::device::{SECTOR, little_endian};
use super::dm;
use super::step::{CacheStep, DMSETUP};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_tier::machine::CacheMode;

/// dm-cache.
pub(super) struct DmCache;

/// Name of its target.
const TARGET: &str = "cache";

/// Room for metadata beside that of blocks, and for each block. Source: cache_metadata_size of thin-provisioning-tools.
const METADATA: Bytes = Bytes::mebi(4);
const METADATA_OF_BLOCK: u64 = 16;

/// Alignment of the data behind the metadata: a multiple of every block up to it.
const ALIGNMENT: Bytes = Bytes::mebi(1);

/// Least and largest block, and the step between. Source: cache.rst, "block size".
const BLOCKS: (Bytes, Bytes) = (Bytes(32 << 10), Bytes(1 << 30));

/// Sectors that may move between the devices at a time: the kernel's own, and at least eight blocks, below which LVM found that nothing
/// moves. Source: lvmcache(7), `migration_threshold`.
const THRESHOLD: u64 = 2048;
const THRESHOLD_BLOCKS: u64 = 8;

/// Sectors that may move at a time while it is drained: 64 MiB.
const DRAINING: u64 = 131_072;

/// Octal, as the kernel writes it, and its place in the superblock; the place of the size of blocks, in sectors.
const MAGIC: u64 = 0o6_142_003;
const MAGIC_AT: usize = 32;
const BLOCK_AT: usize = 232;

impl KernelCache for DmCache {
    fn name(&self) -> &'static str {
        "dm-cache"
    }

    fn mode(&self, mode: CacheMode) -> Option<&'static str> {
        match mode {
            CacheMode::WriteBack => Some("writeback"),
            CacheMode::WriteThrough => Some("writethrough"),
            CacheMode::Pass => Some("passthrough"),
            CacheMode::WriteAround => None,
        }
    }

    fn usual_block(&self) -> Bytes {
        Bytes(64 << 10)
    }

    fn expect_block(&self, block: Bytes) -> Result<(), Error> {
        if block >= BLOCKS.0 && block <= BLOCKS.1 && block.0.is_multiple_of(BLOCKS.0.0) {
            return Ok(());
        }
        Err(Error::refused(format!("dm-cache needs blocks of {} to {}, in steps of {}", BLOCKS.0, BLOCKS.1, BLOCKS.0)))
    }

    fn meanings(&self) -> &'static [(CacheCount, &'static str)] {
        &[
            (CacheCount::Reads, "read hits and read misses"),
            (CacheCount::ReadHits, "reads of a block that is in the cache, counted for each block of a request"),
            (CacheCount::ReadMisses, "reads of a block that is not in the cache"),
            (CacheCount::Writes, "write hits and write misses"),
            (
                CacheCount::WriteHits,
                "writes to a block that is in the cache; in write-back mode they are only in the cache",
            ),
            (CacheCount::Promotions, "whole blocks copied into the cache"),
            (CacheCount::Evictions, "blocks evicted from the cache (demotions)"),
        ]
    }

    fn set_up(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
        let mut steps: Vec<_> = modules().map(|step| (step, None)).into();
        steps.push((CacheStep::clear(&pair.cache.node, 0), None));
        steps.extend(map(pair)?);
        Ok(steps)
    }

    fn recognise(&self, pair: &CachePair) -> Result<Option<Bytes>, Error> {
        let head = pair.cache.head()?;
        if little_endian(&head, MAGIC_AT, 8) != Some(MAGIC) {
            return Err(Error::new(format!("{} has no metadata of dm-cache", pair.cache.node.display())));
        }
        Ok(little_endian(&head, BLOCK_AT, 4).map(|sectors| Bytes(sectors * SECTOR)))
    }

    fn recover(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
        let mut steps: Vec<_> = modules().map(|step| (step, None)).into();
        steps.extend(self.remains(pair).into_iter().map(|step| (step, None)));
        steps.extend(map(pair)?);
        Ok(steps)
    }

    fn is_in_place(&self, pair: &CachePair) -> bool {
        dm::is_mapped(&pair.name())
    }

    fn statistics(&self, pair: &CachePair, clock: &dyn Clock) -> Result<CacheStatistics, Error> {
        let words = dm::status(&pair.name(), TARGET, clock)?;
        let statistics = statistics(&words).ok_or_else(|| dm::not_understood(TARGET, &words.join(" ")))?;
        Ok(CacheStatistics { volume: dm::node(&pair.name()).display().to_string(), ..statistics })
    }

    fn drain(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error> {
        let name = pair.name();
        let table = table(pair, "cleaner", DRAINING);
        Ok(vec![
            CacheStep::run(DMSETUP, ["suspend", &name]),
            CacheStep::run(DMSETUP, ["reload", &name, "--table", &table]),
            CacheStep::run(DMSETUP, ["resume", &name]),
        ])
    }

    fn remove(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error> {
        let mut steps = dm::remove_mapped(&[pair.name()]);
        steps.extend(self.remains(pair));
        steps.push(CacheStep::clear(&pair.cache.node, 0));
        Ok(steps)
    }

    fn remains(&self, pair: &CachePair) -> Vec<CacheStep> {
        dm::remove_mapped(&[data_name(pair), metadata_name(pair)])
    }

    fn origin_afterwards(&self) -> &'static str {
        "the origin is complete without the cache"
    }
}

fn modules() -> [CacheStep; 2] {
    ["dm-cache", "dm-cache-smq"].map(|module| CacheStep::run("modprobe", [module]))
}

fn metadata_name(pair: &CachePair) -> String {
    format!("{}-metadata", pair.name())
}

fn data_name(pair: &CachePair) -> String {
    format!("{}-data", pair.name())
}

/// Room for metadata at the beginning of the cache.
fn metadata(pair: &CachePair) -> Bytes {
    let blocks = pair.cache.size.0 / pair.block.0;
    let needed = METADATA.0 + blocks * METADATA_OF_BLOCK;
    Bytes(needed.next_multiple_of(ALIGNMENT.0.max(pair.block.0)))
}

/// The steps that map the parts of the cache and the volume.
fn map(pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
    let metadata = metadata(pair);
    let data = pair.cache.size.0.saturating_sub(metadata.0) / pair.block.0 * pair.block.0;
    if data < pair.block.0 {
        return Err(Error::refused(format!(
            "{} has {}: after {metadata} of metadata there is no room for a block of {}",
            pair.cache.node.display(),
            pair.cache.size,
            pair.block
        )));
    }
    let linear = |first: u64, length: u64| {
        format!("0 {} linear {} {}", length / SECTOR, pair.cache.node.display(), first / SECTOR)
    };
    let blocks = pair.block.0 / SECTOR;
    let threshold = THRESHOLD.max(THRESHOLD_BLOCKS * blocks);
    Ok(vec![
        dm::create(&metadata_name(pair), &linear(0, metadata.0)),
        dm::create(&data_name(pair), &linear(metadata.0, data)),
        dm::create(&pair.name(), &table(pair, "smq", threshold)),
        (CacheStep::Appear(dm::node(&pair.name())), None),
    ])
}

fn table(pair: &CachePair, policy: &str, threshold: u64) -> String {
    format!(
        "0 {} {TARGET} {} {} {} {} 2 metadata2 {} {policy} 2 migration_threshold {threshold}",
        pair.origin.sectors(),
        dm::node(&metadata_name(pair)).display(),
        dm::node(&data_name(pair)).display(),
        pair.origin.node.display(),
        pair.block.0 / SECTOR,
        DmCache.mode(pair.mode).unwrap_or("writethrough"),
    )
}

/// Reads `<metadata block> <used>/<all> <block> <used>/<all> <read hits> <read misses> <write hits> <write misses> <demotions>
/// <promotions> <dirty> <features> … <metadata mode> <needs_check or ->`.
fn statistics(words: &[String]) -> Option<CacheStatistics> {
    if words == ["Fail"] {
        return Some(CacheStatistics { faults: vec!["the cache has failed".to_owned()], ..CacheStatistics::default() });
    }
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let block = number(2)? * SECTOR;
    let (used, all) = words.get(3)?.split_once('/')?;
    let [hits, misses, write_hits, write_misses, demotions, promotions, dirty] = [4, 5, 6, 7, 8, 9, 10].map(number);
    let features = usize::try_from(number(11)?).ok()?;
    let features = words.get(12..12 + features)?;
    let own = |word: &&String| ["writeback", "writethrough", "passthrough"].contains(&word.as_str());
    let tail = words.get(words.len().checked_sub(2)?..)?;
    let mut faults = Vec::new();
    if tail[0] != "rw" {
        faults.push(format!("metadata are {}", tail[0]));
    }
    if tail[1] == "needs_check" {
        faults.push("metadata need cache_check".to_owned());
    }
    let dirty = dirty?;
    Some(CacheStatistics {
        mode: features.iter().find(own)?.clone(),
        block: Bytes(block),
        blocks: Some(all.parse().ok()?),
        used_blocks: Some(used.parse().ok()?),
        dirty: Some(Bytes(dirty * block)),
        is_clean: dirty == 0,
        faults,
        counts: [
            (CacheCount::Reads, hits? + misses?),
            (CacheCount::ReadHits, hits?),
            (CacheCount::ReadMisses, misses?),
            (CacheCount::Writes, write_hits? + write_misses?),
            (CacheCount::WriteHits, write_hits?),
            (CacheCount::Promotions, promotions?),
            (CacheCount::Evictions, demotions?),
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

    fn pair(cache_mebibytes: u64, block: Bytes) -> CachePair {
        CachePair {
            cache: CacheDevice::imagined("vdb", cache_mebibytes),
            origin: CacheDevice::imagined("vdc", 1024),
            mode: CacheMode::WriteBack,
            block,
        }
    }

    #[test]
    fn metadata_and_data_share_the_cache() {
        let steps = DmCache.set_up(&pair(128, Bytes(64 << 10))).unwrap();
        let told: Vec<String> =
            steps.iter().map(|(step, _)| step.to_string().replace("DM_DISABLE_UDEV=1 ", "")).collect();
        let volume = "0 2097152 cache /dev/mapper/proofload-vdc-metadata /dev/mapper/proofload-vdc-data /dev/vdc 128 2 metadata2 \
                      writeback smq 2 migration_threshold 2048";
        let expected = [
            "modprobe dm-cache".to_owned(),
            "modprobe dm-cache-smq".to_owned(),
            CacheStep::clear("/dev/vdb".as_ref(), 0).to_string(),
            "dmsetup create proofload-vdc-metadata --table '0 10240 linear /dev/vdb 0'".to_owned(),
            "dmsetup create proofload-vdc-data --table '0 251904 linear /dev/vdb 10240'".to_owned(),
            format!("dmsetup create proofload-vdc --table '{volume}'"),
            "# wait until /dev/mapper/proofload-vdc is there".to_owned(),
        ];
        assert_eq!(told, expected);
        assert!(steps[3..6].iter().all(|(_, undo)| undo.is_some()));
        assert!(DmCache.set_up(&pair(5, Bytes(64 << 10))).unwrap_err().to_string().contains("no room for a block"));
        assert!(DmCache.expect_block(Bytes(48 << 10)).is_err() && DmCache.expect_block(Bytes(96 << 10)).is_ok());
    }

    /// A line of a kernel 6.1.
    #[test]
    fn a_status_is_read() {
        let line = "0 2097152 cache 8 46/1280 128 766/1968 8676 1289 3735 566 0 766 753 3 metadata2 writeback no_discard_passdown 2 \
                    migration_threshold 2048 smq 0 rw - ";
        let found = statistics(&dm::words(line, TARGET).unwrap()).unwrap();
        assert_eq!((found.mode.as_str(), found.block, found.blocks), ("writeback", Bytes(64 << 10), Some(1968)));
        assert_eq!((found.used_blocks, found.dirty), (Some(766), Some(Bytes(753 << 16))));
        assert_eq!(found.count(CacheCount::Reads), Some(9965));
        assert_eq!(found.count(CacheCount::WriteHits), Some(3735));
        assert!(found.faults.is_empty() && !found.is_clean);
        expect_meanings(&DmCache, &found);
        let broken = line.replace("rw -", "ro needs_check");
        assert_eq!(statistics(&dm::words(&broken, TARGET).unwrap()).unwrap().faults.len(), 2);
        assert_eq!(dm::words(line, "writecache"), None);
        assert_eq!(statistics(&["8".to_owned()]), None);
        assert_eq!(statistics(&["Fail".to_owned()]).unwrap().faults, ["the cache has failed"]);
    }
}
