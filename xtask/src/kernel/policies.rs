//! Cases of policies: the references of a real TPROC-C load through dm-cache with its policy smq, beside what the tier's own policies would hit in
//! a cache of as many bytes.
//!
//! The test `policies` of the program takes the references on the host and writes them as logs of fio. The machine is slow, so that the kernel's
//! policy has more time for each reference than it had under the load.

use super::case::{Case, Figures};
use super::disk::SPARE;
use super::image::OwnProgram;
use super::programs::{self, document, expect, line, run};
use crate::program::cargo;
use serde_json::{Value, json};
use std::path::Path;

/// The group's name.
pub(super) const GROUP: &str = "policies";

/// The cases, by the sizes that the test tries.
pub(super) const CASES: &[Case] = &[
    Case { name: "a cache of 5 % of the data", boot: 1, run: compare::<0> },
    Case { name: "a cache of 10 % of the data", boot: 1, run: compare::<1> },
    Case { name: "a cache of 30 % of the data", boot: 1, run: compare::<2> },
    Case { name: "a cache of 50 % of the data", boot: 1, run: compare::<3> },
];

/// Warehouses and seconds of the load.
const LOAD: &str = "1x60";

/// What the test writes, and its folder inside the machine.
const FILES: [&str; 3] = ["known.json", "first.iolog", "second.iolog"];
const INSIDE: [&str; 3] = ["/known.json", "/first.iolog", "/second.iolog"];

/// The smallest block that dm-cache has: the nearest to the tier's lines.
const BLOCK: u64 = 32 << 10;

/// Room for metadata of so small a cache, beside that of its blocks. Source: `crates/testbed/src/caches/dm_cache.rs`.
const METADATA: u64 = 5 << 20;

const SECTOR: u64 = 512;
const CACHE: &str = "/dev/mapper/cache";
const ORIGIN: &str = "/dev/mapper/origin";

/// Takes the references; the files for the machine.
pub(super) fn take(folder: &Path) -> Result<Vec<OwnProgram<'static>>, String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    let status = cargo()
        .args(["test", "--package", "proofload", "--features", programs::FEATURES, "--test", "policies"])
        .env("PROOFLOAD_POLICIES", LOAD)
        .env("PROOFLOAD_POLICIES_FOLDER", folder)
        .status()
        .map_err(|error| format!("starting cargo: {error}"))?;
    expect(status.success(), || "the references of the load were not taken".to_owned())?;
    let files = FILES.iter().zip(INSIDE);
    Ok(files.map(|(name, inside)| OwnProgram { inside, here: folder.join(name) }).collect())
}

/// What a cache has counted.
struct Counts {
    reads: u64,
    read_hits: u64,
    writes: u64,
    write_hits: u64,
}

impl Counts {
    fn read() -> Result<Self, String> {
        let found = document(&format!("tier kernel stats {CACHE} --origin {ORIGIN} --with dm-cache"))?;
        let count = |name: &str| found["counters"][name].as_u64().ok_or_else(|| format!("no {name} in {found}"));
        Ok(Self {
            reads: count("reads")?,
            read_hits: count("read_hits")?,
            writes: count("writes")?,
            write_hits: count("write_hits")?,
        })
    }
}

/// Share of what has hit, %.
fn percent(hits: u64, all: u64) -> f64 {
    (1e4 * hits as f64 / all.max(1) as f64).round() / 100.0
}

/// Serves the references by a cache of one size, and compares the hits of the second half of them.
fn compare<const SIZE: usize>() -> Result<Figures, String> {
    let text = std::fs::read_to_string(INSIDE[0]).map_err(|error| format!("{}: {error}", INSIDE[0]))?;
    let known: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", INSIDE[0]))?;
    let number = |name: &str| known[name].as_u64().ok_or_else(|| format!("no {name} in {known}"));
    let data = number("data_bytes")?;
    let origin = number("origin_bytes")?.next_multiple_of(BLOCK);
    let share = known["sizes"][SIZE].as_u64().ok_or("no size")?;
    let cache = (data * share / 100).next_multiple_of(BLOCK);
    map("origin", origin, 0)?;
    map("cache", cache + METADATA, origin)?;
    let devices = format!("{CACHE} --origin {ORIGIN} --with dm-cache");
    let found = document(&format!("tier kernel set-up {devices} --block 32KiB --yes {CACHE},{ORIGIN}"))?;
    let volume = found["volume"].as_str().ok_or_else(|| format!("no volume in {found}"))?;
    let blocks = found["blocks"].as_u64();
    expect(blocks == Some(cache / BLOCK), || format!("{blocks:?} blocks, not {}", cache / BLOCK))?;
    let fio = |words: &str| {
        line(&format!(
            "fio --name=references --filename={volume} --direct=1 --ioengine=psync --allow_file_create=0 {words}"
        ))
    };
    fio(&format!("--rw=read --bs={} --size={data}", number("line_bytes")?))?;
    let replay = |log: &str| fio(&format!("--read_iolog={log} --replay_redirect={volume} --replay_no_stall=1"));
    replay(INSIDE[1])?;
    let before = Counts::read()?;
    replay(INSIDE[2])?;
    let after = Counts::read()?;
    document(&format!("tier kernel take-down {devices} --within 120s"))?;
    line("env DM_DISABLE_UDEV=1 dmsetup remove cache origin")?;
    let reads = after.reads - before.reads;
    let smq = percent(after.read_hits - before.read_hits, reads);
    let writes = percent(after.write_hits - before.write_hits, after.writes - before.writes);
    let expected = number("reads")?;
    expect(reads == expected, || format!("{reads} reads were counted, and {expected} replayed"))?;
    let own = known["usual"][SIZE].as_f64().ok_or("the tier's own hits are missing")?;
    expect(own >= smq, || format!("smq hits {smq} % of {reads} reads, and the tier's usual policy {own} %"))?;
    let figures = [
        ("reads", json!(reads)),
        ("smq_%", json!(smq)),
        ("usual_%", json!(own)),
        ("usual_of_32_KiB_%", known["usual_larger"][SIZE].clone()),
        ("lru_%", known["lru"][SIZE].clone()),
        ("smq_writes_%", json!(writes)),
    ];
    Ok(figures.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// Maps a part of the disk. There is no udev, so that device nodes are made by the program itself.
fn map(name: &str, bytes: u64, first: u64) -> Result<(), String> {
    let table = format!("0 {} linear {SPARE} {}", bytes / SECTOR, first / SECTOR);
    run(&["env", "DM_DISABLE_UDEV=1", "dmsetup", "create", name, "--table", &table]).map(drop)
}
