//! bcache: extents of 4 KiB and more in buckets of the cache, all modes. Cache and origin carry superblocks of its own.
//!
//! Of itself it sends past the cache what is sequential (4 MiB) or what comes while the cache is slow (2 ms for a read, 20 ms for a write):
//! on slow devices under test that is everything, so these are set to 0, and what went past is told all the same.
//!
//! Sources: the kernel's Documentation/admin-guide/bcache.rst (files of `/sys`); include/uapi/linux/bcache.h (superblock);
//! drivers/md/bcache/stats.c (totals are updated every 13.6 s) and request.c (only reads are told as hits and misses); make-bcache(8).

use super::cache::{CachePair, KernelCache};
use super::counts::{CacheCount, CacheStatistics};
use super::device::{CacheDevice, SECTOR, little_endian};
use super::step::CacheStep;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_tier::machine::CacheMode;
use std::path::{Path, PathBuf};

/// bcache.
pub(super) struct Bcache;

/// Where devices are made known; one that is known already is no error.
const REGISTER: &str = "/sys/fs/bcache/register_quiet";

/// The number of the superblock, whose place is 4 KiB after the beginning, and the places of the set's number and of the size of blocks.
const MAGIC: [u8; 16] =
    [0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA, 0x82, 0x65, 0xF5, 0x7F, 0x48, 0xBA, 0x6D, 0x81];
const MAGIC_AT: usize = 4096 + 24;
const SET_AT: usize = 4096 + 56;
const BLOCK_AT: usize = 4096 + 192;

/// Buckets of a large cache, and of one that is smaller than [`LARGE`], which needs more of them.
const BUCKETS: (Bytes, Bytes) = (Bytes(512 << 10), Bytes(64 << 10));
const LARGE: Bytes = Bytes::mebi(512);

impl KernelCache for Bcache {
    fn name(&self) -> &'static str {
        "bcache"
    }

    fn mode(&self, mode: CacheMode) -> Option<&'static str> {
        Some(match mode {
            CacheMode::WriteBack => "writeback",
            CacheMode::WriteThrough => "writethrough",
            CacheMode::WriteAround => "writearound",
            CacheMode::Pass => "none",
        })
    }

    fn usual_block(&self) -> Bytes {
        Bytes(4 << 10)
    }

    fn expect_block(&self, block: Bytes) -> Result<(), Error> {
        if block == Bytes(SECTOR) || block == Bytes(4 << 10) {
            return Ok(());
        }
        Err(Error::refused("bcache needs blocks of 512 B or 4 KiB"))
    }

    fn meanings(&self) -> &'static [(CacheCount, &'static str)] {
        &[
            (CacheCount::Reads, "hits, misses and bypassed reads; up to 14 s late, like all counters of bcache"),
            (CacheCount::ReadHits, "reads served entirely from the cache"),
            (CacheCount::ReadMisses, "reads served partly or not at all from the cache"),
            (CacheCount::ReadsBypassed, "reads that were not to be cached, whether or not they were in the cache"),
            (CacheCount::BytesBypassed, "bytes read and written around the cache; rounded to a tenth of their unit"),
        ]
    }

    fn set_up(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
        let bucket = if pair.cache.size >= LARGE { BUCKETS.0 } else { BUCKETS.1 };
        let (cache, origin) = (pair.cache.node.display().to_string(), pair.origin.node.display().to_string());
        let make = ["-w", &pair.block.0.to_string(), "-b", &bucket.0.to_string(), "-C", &cache, "-B", &origin]
            .map(str::to_owned);
        let mut steps = vec![
            (CacheStep::run("modprobe", ["bcache"]), Some(CacheStep::clear(&pair.origin.node, 1))),
            (CacheStep::clear(&pair.cache.node, 1), Some(CacheStep::clear(&pair.cache.node, 1))),
            (CacheStep::run("make-bcache", make), None),
        ];
        steps.extend(in_place(pair));
        Ok(steps)
    }

    fn recognise(&self, pair: &CachePair) -> Result<Option<Bytes>, Error> {
        let heads = [&pair.cache, &pair.origin].map(|device| {
            let head = device.head()?;
            let is_ours = head.get(MAGIC_AT..MAGIC_AT + MAGIC.len()) == Some(&MAGIC[..]);
            let none = || Error::new(format!("{} has no superblock of bcache", device.node.display()));
            if is_ours { Ok(head) } else { Err(none()) }
        });
        let [cache, origin] = heads;
        let (cache, origin) = (cache?, origin?);
        if cache.get(SET_AT..SET_AT + 16) != origin.get(SET_AT..SET_AT + 16) {
            return Err(Error::new(format!(
                "{} belongs to a different bcache set than {}, or was detached from it",
                pair.origin.node.display(),
                pair.cache.node.display()
            )));
        }
        Ok(little_endian(&cache, BLOCK_AT, 2).map(|sectors| Bytes(sectors * SECTOR)))
    }

    fn recover(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
        let mut steps = vec![(CacheStep::run("modprobe", ["bcache"]), None)];
        steps.extend(in_place(pair));
        Ok(steps)
    }

    fn is_in_place(&self, pair: &CachePair) -> bool {
        of(&pair.origin, "cache").exists() && of(&pair.origin, "dev").exists()
    }

    /// Its cut-off and thresholds are not kept on its devices, and udev registers them without.
    fn settings_to_restore(&self, pair: &CachePair) -> Vec<CacheStep> {
        let is_zero = |file: &&str| {
            std::fs::read_to_string(of(&pair.origin, file)).is_ok_and(|text| amount(text.trim()) == Some(0))
        };
        let others = PAST_THE_CACHE.iter().filter(|file| !is_zero(file));
        others.map(|file| CacheStep::write(of(&pair.origin, file), "0")).collect()
    }

    fn statistics(&self, pair: &CachePair, _clock: &dyn Clock) -> Result<CacheStatistics, Error> {
        if !self.is_in_place(pair) {
            return Err(Error::new(format!(
                "no bcache is in place in front of {}; `tier kernel recover` restores it",
                pair.origin.node.display()
            )));
        }
        let volume = std::fs::canonicalize(of(&pair.origin, "dev")).ok();
        let volume = volume.as_deref().and_then(Path::file_name).map(|name| Path::new("/dev").join(name));
        let files = |name: &str| {
            let path = of(&pair.origin, name);
            std::fs::read_to_string(&path)
                .map_err(|error| Error::new(format!("failed to read {}: {error}", path.display())))
        };
        let found = statistics(files)?;
        Ok(CacheStatistics { volume: volume.unwrap_or_default().display().to_string(), block: pair.block, ..found })
    }

    fn drain(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error> {
        // Nothing becomes dirty any more, and what is dirty is written without pauses.
        let words = [
            ("cache_mode", "writethrough"),
            ("writeback_running", "1"),
            ("writeback_delay", "0"),
            ("writeback_percent", "0"),
        ];
        Ok(words.map(|(file, word)| CacheStep::write(of(&pair.origin, file), word)).into())
    }

    fn remove(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error> {
        let mut steps = Vec::new();
        if of(&pair.origin, "cache").exists() {
            steps.push(CacheStep::write(of(&pair.origin, "detach"), "1"));
            steps.push(CacheStep::Vanish(of(&pair.origin, "cache")));
        }
        steps.extend(self.remains(pair));
        steps.push(CacheStep::clear(&pair.cache.node, 1));
        Ok(steps)
    }

    fn remains(&self, pair: &CachePair) -> Vec<CacheStep> {
        let stop = |device: &CacheDevice, file: &str| {
            of(device, file)
                .exists()
                .then(|| [CacheStep::write(of(device, file), "1"), CacheStep::Vanish(folder(device))])
        };
        let both = [stop(&pair.origin, "stop"), stop(&pair.cache, "set/stop")];
        both.into_iter().flatten().flatten().collect()
    }

    fn origin_afterwards(&self) -> &'static str {
        "the origin keeps a bcache superblock, and its content starts 8 KiB later: register it to use it without a cache"
    }
}

/// What lets requests past the cache unless it is 0: length of a sequential run in bytes, and times of the cache in µs.
const PAST_THE_CACHE: [&str; 3] =
    ["sequential_cutoff", "cache/congested_read_threshold_us", "cache/congested_write_threshold_us"];

/// The folder of bcache under that of a device.
fn folder(device: &CacheDevice) -> PathBuf {
    device.folder.join("bcache")
}

fn of(device: &CacheDevice, file: &str) -> PathBuf {
    folder(device).join(file)
}

/// Makes both known, waits until they have found each other, and lets nothing past the cache.
fn in_place(pair: &CachePair) -> Vec<(CacheStep, Option<CacheStep>)> {
    let register = |device: &CacheDevice| CacheStep::write(REGISTER, device.node.display().to_string());
    let stop = |device: &CacheDevice, file: &str| Some(CacheStep::write(of(device, file), "1"));
    let gone = |device: &CacheDevice| Some(CacheStep::Vanish(folder(device)));
    let mode = Bcache.mode(pair.mode).unwrap_or("writethrough");
    let mut steps = vec![
        (register(&pair.cache), gone(&pair.cache)),
        (CacheStep::Appear(of(&pair.cache, "set")), stop(&pair.cache, "set/stop")),
        (register(&pair.origin), gone(&pair.origin)),
        (CacheStep::Appear(of(&pair.origin, "cache")), stop(&pair.origin, "stop")),
        (CacheStep::Appear(of(&pair.origin, "dev")), None),
        (CacheStep::write(of(&pair.origin, "cache_mode"), mode), None),
    ];
    steps.extend(PAST_THE_CACHE.map(|file| (CacheStep::write(of(&pair.origin, file), "0"), None)));
    steps
}

/// Reads its files.
fn statistics(read: impl Fn(&str) -> Result<String, Error>) -> Result<CacheStatistics, Error> {
    let number = |file: &str| {
        let text = read(file)?;
        amount(text.trim())
            .ok_or_else(|| Error::new(format!("unexpected content of bcache's {file}: {:?}", text.trim())))
    };
    let total = |name: &str| number(&format!("stats_total/{name}"));
    let (hits, misses) = (total("cache_hits")?, total("cache_misses")?);
    let past = total("cache_bypass_hits")? + total("cache_bypass_misses")?;
    let state = read("state")?.trim().to_owned();
    let modes = read("cache_mode")?;
    let mode = modes.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(modes.trim(), |(mode, _)| mode);
    let faults = match state.as_str() {
        "clean" | "dirty" => Vec::new(),
        other => vec![format!("the origin is {other}")],
    };
    Ok(CacheStatistics {
        mode: mode.to_owned(),
        dirty: Some(Bytes(number("dirty_data")?)),
        is_clean: state == "clean",
        faults,
        counts: [
            (CacheCount::Reads, hits + misses + past),
            (CacheCount::ReadHits, hits),
            (CacheCount::ReadMisses, misses),
            (CacheCount::ReadsBypassed, past),
            (CacheCount::BytesBypassed, total("bypassed")?),
        ]
        .into(),
        ..CacheStatistics::default()
    })
}

/// A number as bcache writes it: `5`, `4.0k`, `1.3M`. Source: drivers/md/bcache/util.c, `bch_hprint`.
fn amount(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let power = match &text[digits.len()..] {
        "" => 0,
        unit => 1 + "kMGTPE".find(unit)?,
    };
    let (whole, tenths) = digits.split_once('.').unwrap_or((digits, "0"));
    let (whole, tenths): (u64, u64) = (whole.parse().ok()?, tenths.parse().ok()?);
    let unit = 1_u64.checked_shl(u32::try_from(power).ok()? * 10)?;
    whole.checked_mul(unit)?.checked_add(tenths.checked_mul(unit)? / 10)
}

#[cfg(test)]
mod tests {
    use super::super::counts::expect_meanings;
    use super::*;

    #[test]
    fn numbers_with_units_are_read() {
        let found = ["0", "17", "4.0k", "1.3M", "2.0G", "", "x", "1.3Q"].map(amount);
        assert_eq!(found, [Some(0), Some(17), Some(4096), Some(1_363_148), Some(2 << 30), None, None, None]);
    }

    #[test]
    fn files_are_read_and_a_missing_one_is_named() {
        let read = |file: &str| {
            let text = match file {
                "stats_total/cache_hits" => "900\n",
                "stats_total/cache_misses" => "90\n",
                "stats_total/cache_bypass_hits" => "3\n",
                "stats_total/cache_bypass_misses" => "7\n",
                "stats_total/bypassed" => "1.5M\n",
                "state" => "dirty\n",
                "dirty_data" => "16.0M\n",
                "cache_mode" => "writethrough [writeback] writearound none\n",
                other => return Err(Error::new(format!("no {other}"))),
            };
            Ok(text.to_owned())
        };
        let found = statistics(read).unwrap();
        assert_eq!((found.mode.as_str(), found.dirty, found.is_clean), ("writeback", Some(Bytes::mebi(16)), false));
        assert_eq!((found.count(CacheCount::Reads), found.read_hit_ratio()), (Some(1000), Some(0.9)));
        assert_eq!(found.write_hit_ratio(), None, "bcache does not count writes");
        expect_meanings(&Bcache, &found);
        let lost = |file: &str| if file == "state" { Ok("inconsistent\n".to_owned()) } else { read(file) };
        assert_eq!(statistics(lost).unwrap().faults, ["the origin is inconsistent"]);
        let none = |file: &str| if file == "dirty_data" { Err(Error::new("no file")) } else { read(file) };
        assert!(statistics(none).unwrap_err().to_string().contains("no file"));
    }

    #[test]
    fn nothing_is_let_past_the_cache() {
        let pair = CachePair {
            cache: CacheDevice::imagined("vdb", 128),
            origin: CacheDevice::imagined("vdc", 1024),
            mode: CacheMode::WriteBack,
            block: Bytes(4 << 10),
        };
        let told: Vec<String> = Bcache.set_up(&pair).unwrap().iter().map(|(step, _)| step.to_string()).collect();
        assert_eq!(told[2], "make-bcache -w 4096 -b 65536 -C /dev/vdb -B /dev/vdc");
        assert_eq!(told[3], "echo /dev/vdb > /sys/fs/bcache/register_quiet");
        let folder = "/sys/devices/block/vdc/bcache";
        for file in ["sequential_cutoff", "cache/congested_read_threshold_us", "cache/congested_write_threshold_us"] {
            assert!(told.contains(&format!("echo 0 > {folder}/{file}")), "{file}: {told:#?}");
        }
        assert!(told.contains(&format!("echo writeback > {folder}/cache_mode")));
    }
}
