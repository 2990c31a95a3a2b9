//! Open CAS: lines of 4 to 64 KiB, all modes, by its program casadm. **Untested on the real thing**: its module is no part of the kernel and
//! is not packaged; the reading of its statistics is tested on texts as its documentation shows them.
//!
//! Sources: Open CAS Linux Administration Guide, "Configuration tool details" and "Monitoring": commands, `--output-format csv`, meaning of
//! the statistics.

use super::cache::{CachePair, KernelCache};
use super::counts::{CacheCount, CacheStatistics};
use super::step::{CacheStep, PROGRAM, output_of};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_tier::machine::CacheMode;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Open CAS.
pub(super) struct OpenCas;

const CASADM: &str = "casadm";

/// Blocks in its statistics, whatever the size of a line.
const BLOCK: Bytes = Bytes(4 << 10);

/// Largest number of a cache.
const MOST_CACHES: u64 = 16_384;

impl KernelCache for OpenCas {
    fn name(&self) -> &'static str {
        "open-cas"
    }

    fn mode(&self, mode: CacheMode) -> Option<&'static str> {
        Some(match mode {
            CacheMode::WriteBack => "wb",
            CacheMode::WriteThrough => "wt",
            CacheMode::WriteAround => "wa",
            CacheMode::Pass => "pt",
        })
    }

    fn usual_block(&self) -> Bytes {
        BLOCK
    }

    fn expect_block(&self, block: Bytes) -> Result<(), Error> {
        let sizes = [4, 8, 16, 32, 64].map(|kibibytes| Bytes(kibibytes << 10));
        if sizes.contains(&block) {
            Ok(())
        } else {
            Err(Error::refused("Open CAS needs lines of 4, 8, 16, 32 or 64 KiB"))
        }
    }

    fn meanings(&self) -> &'static [(CacheCount, &'static str)] {
        &[
            (CacheCount::Reads, "read requests, including pass-through"),
            (CacheCount::ReadHits, "read requests found entirely in the cache"),
            (CacheCount::ReadPartialHits, "read requests found partly in the cache (partial misses)"),
            (CacheCount::ReadMisses, "read requests not found in the cache (full misses)"),
            (CacheCount::Writes, "write requests, including pass-through"),
            (CacheCount::WriteHits, "write requests whose lines were all in the cache"),
            (CacheCount::WritesBypassed, "write requests that passed through"),
            (CacheCount::ReadsBypassed, "read requests that passed through"),
        ]
    }

    fn set_up(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
        let id = number(pair).to_string();
        let mode = self.mode(pair.mode).unwrap_or("wt");
        let (cache, origin) = (pair.cache.node.display().to_string(), pair.origin.node.display().to_string());
        let line = (pair.block.0 >> 10).to_string();
        let start = [
            "--start-cache",
            "--cache-id",
            &id,
            "--cache-device",
            &cache,
            "--cache-mode",
            mode,
            "--cache-line-size",
            &line,
        ];
        let add = ["--add-core", "--cache-id", &id, "--core-id", CORE, "--core-device", &origin];
        // Of itself it sends long sequential runs past the cache.
        let all = ["--set-param", "--name", "seq-cutoff", "--cache-id", &id, "--core-id", CORE, "--policy", "never"];
        Ok(vec![
            (CacheStep::run("modprobe", ["cas_cache"]), None),
            (CacheStep::run(CASADM, start), Some(stop(&id))),
            (CacheStep::run(CASADM, add), None),
            (CacheStep::run(CASADM, all), None),
            (CacheStep::Appear(volume(pair)), None),
        ])
    }

    /// Its program looks itself when it loads a cache, and refuses others.
    fn recognise(&self, _pair: &CachePair) -> Result<Option<Bytes>, Error> {
        Ok(None)
    }

    fn recover(&self, pair: &CachePair) -> Result<Vec<(CacheStep, Option<CacheStep>)>, Error> {
        let cache = pair.cache.node.display().to_string();
        Ok(vec![
            (CacheStep::run("modprobe", ["cas_cache"]), None),
            (
                CacheStep::run(CASADM, ["--start-cache", "--load", "--cache-device", &cache]),
                Some(stop(&number(pair).to_string())),
            ),
            (CacheStep::Appear(volume(pair)), None),
        ])
    }

    fn is_in_place(&self, pair: &CachePair) -> bool {
        volume(pair).exists()
    }

    fn statistics(&self, pair: &CachePair, clock: &dyn Clock) -> Result<CacheStatistics, Error> {
        let id = number(pair).to_string();
        let words = ["--stats", "--cache-id", &id, "--core-id", CORE, "--output-format", "csv"].map(str::to_owned);
        let text = output_of(CASADM, &words, PROGRAM, clock)?;
        let found = statistics(&text).ok_or_else(|| Error::new(format!("unexpected output of casadm: {text:?}")))?;
        Ok(CacheStatistics { volume: volume(pair).display().to_string(), ..found })
    }

    fn drain(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error> {
        let id = number(pair).to_string();
        Ok(vec![
            CacheStep::run(
                CASADM,
                ["--set-cache-mode", "--cache-id", &id, "--cache-mode", "wt", "--flush-cache", "no"],
            ),
            CacheStep::run(CASADM, ["--set-param", "--name", "cleaning", "--cache-id", &id, "--policy", "acp"]),
        ])
    }

    fn remove(&self, pair: &CachePair) -> Result<Vec<CacheStep>, Error> {
        let cache = pair.cache.node.display().to_string();
        Ok(vec![stop(&number(pair).to_string()), CacheStep::run(CASADM, ["--zero-metadata", "--device", &cache])])
    }

    fn remains(&self, _pair: &CachePair) -> Vec<CacheStep> {
        Vec::new()
    }

    fn origin_afterwards(&self) -> &'static str {
        "the origin is complete without the cache"
    }
}

/// Number of the only core of a cache.
const CORE: &str = "1";

fn stop(id: &str) -> CacheStep {
    CacheStep::run(CASADM, ["--stop-cache", "--cache-id", id])
}

/// Number of the cache: made of the name, so that it is the same without being written down. FNV-1a.
fn number(pair: &CachePair) -> u64 {
    let hash = pair
        .name()
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    1 + hash % MOST_CACHES
}

fn volume(pair: &CachePair) -> PathBuf {
    format!("/dev/cas{}-{CORE}", number(pair)).into()
}

/// Reads a line of titles and a line of values.
fn statistics(text: &str) -> Option<CacheStatistics> {
    let mut lines = text.lines();
    let (titles, values) = (lines.next()?.split(','), lines.next()?.split(','));
    // Releases differ in capitals.
    let all: BTreeMap<String, &str> =
        titles.map(|title| title.trim().to_lowercase()).zip(values.map(str::trim)).collect();
    let requests = |name: &str| all.get(&format!("{name} [requests]"))?.parse::<u64>().ok();
    let blocks = |name: &str| all.get(&format!("{name} [4kib blocks]"))?.parse::<u64>().ok();
    let (past_reads, past_writes) = (requests("pass-through reads")?, requests("pass-through writes")?);
    let (occupied, free, dirty) = (blocks("occupancy")?, blocks("free"), blocks("dirty")?);
    let status = all.get("status").filter(|status| !["Active", "Running"].contains(*status));
    // Statistics of a core do not say the mode in every release.
    let mode = all.get("write policy").map_or("mode not reported", |mode| mode);
    Some(CacheStatistics {
        mode: mode.to_owned(),
        block: BLOCK,
        blocks: free.map(|free| occupied + free),
        used_blocks: Some(occupied),
        dirty: Some(Bytes(dirty * BLOCK.0)),
        is_clean: dirty == 0,
        faults: status.map(|status| format!("the core is {status}")).into_iter().collect(),
        counts: [
            (CacheCount::Reads, requests("read total")? + past_reads),
            (CacheCount::ReadHits, requests("read hits")?),
            (CacheCount::ReadPartialHits, requests("read partial misses")?),
            (CacheCount::ReadMisses, requests("read full misses")?),
            (CacheCount::Writes, requests("write total")? + past_writes),
            (CacheCount::WriteHits, requests("write hits")?),
            (CacheCount::WritesBypassed, past_writes),
            (CacheCount::ReadsBypassed, past_reads),
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

    fn pair() -> CachePair {
        CachePair {
            cache: CacheDevice::imagined("vdb", 128),
            origin: CacheDevice::imagined("vdc", 1024),
            mode: CacheMode::WriteBack,
            block: Bytes(8 << 10),
        }
    }

    #[test]
    fn statistics_in_the_form_of_the_documentation_are_read() {
        let text = "Core Id,Core Device,Exported Object,Core Size [4KiB Blocks],Core Size [GiB],Dirty for [s],Dirty for,Status,\
                    Occupancy [4KiB Blocks],Occupancy [%],Free [4KiB Blocks],Free [%],Clean [4KiB Blocks],Clean [%],\
                    Dirty [4KiB Blocks],Dirty [%],Read hits [Requests],Read hits [%],Read partial misses [Requests],\
                    Read partial misses [%],Read full misses [Requests],Read full misses [%],Read total [Requests],Read total [%],\
                    Write hits [Requests],Write hits [%],Write partial misses [Requests],Write partial misses [%],\
                    Write full misses [Requests],Write full misses [%],Write total [Requests],Write total [%],\
                    Pass-Through reads [Requests],Pass-Through reads [%],Pass-Through writes [Requests],Pass-Through writes [%]\n\
                    1,/dev/vdc,/dev/cas1-1,262144,1.00,12,12 [s],Active,1000,3.0,31000,97.0,900,90.0,100,10.0,\
                    80,40.0,5,2.5,15,7.5,100,50.0,60,30.0,10,5.0,30,15.0,100,50.0,7,0.0,3,0.0\n";
        let found = statistics(text).unwrap();
        assert_eq!((found.blocks, found.used_blocks, found.dirty), (Some(32_000), Some(1000), Some(Bytes(100 << 12))));
        let counts = [CacheCount::Reads, CacheCount::ReadPartialHits, CacheCount::Writes, CacheCount::WritesBypassed];
        assert_eq!(counts.map(|of| found.count(of)), [Some(107), Some(5), Some(103), Some(3)]);
        assert!(found.faults.is_empty() && !found.is_clean);
        expect_meanings(&OpenCas, &found);
        assert_eq!(statistics(&text.replace("4KiB Blocks", "4KiB blocks")), Some(found), "an older release");
        let inactive = statistics(&text.replace("Active", "Inactive")).unwrap();
        assert_eq!(inactive.faults, ["the core is Inactive"]);
        assert_eq!(statistics("Error"), None);
        assert_eq!(statistics(&text.replace("Dirty [4KiB", "Mud [4KiB")), None);
    }

    #[test]
    fn the_number_of_a_cache_follows_from_its_name() {
        let told: Vec<String> = OpenCas.set_up(&pair()).unwrap().iter().map(|(step, _)| step.to_string()).collect();
        let id = number(&pair());
        assert!((1..=MOST_CACHES).contains(&id));
        let start =
            format!("casadm --start-cache --cache-id {id} --cache-device /dev/vdb --cache-mode wb --cache-line-size 8");
        assert_eq!(told[1], start);
        assert_eq!(told.last().unwrap(), &format!("# wait until /dev/cas{id}-1 is there"));
        assert_eq!(OpenCas.recover(&pair()).unwrap().len(), 3);
    }
}
