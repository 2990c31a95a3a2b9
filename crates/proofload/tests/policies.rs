//! Policies of a cache on the references of a real TPROC-C load: what each would hit in caches of four sizes. The references are taken at the
//! entry of the tier under SQLite, below its page cache, while the program runs a study.
//!
//! `cargo xtask policies` takes more of them: `PROOFLOAD_POLICIES` is then warehouses and seconds, such as `2x120`. `cargo xtask kernel policies` has them
//! written to `PROOFLOAD_POLICIES_FOLDER`, for the policy of a cache of the kernel.
#![expect(clippy::print_stdout, reason = "the result is a table")]

mod support;

use proofload_tier::block::{OriginBlock, SECTOR_BYTES, SectorSet};
use proofload_tier::control::ControlClient;
use proofload_tier::forecast::{
    MiniatureCache, MiniatureCounts, MiniatureSettings, Reference, SamplePiece, SampleSettings,
};
use proofload_tier::machine::{AccessKind, CacheMode, CleanerSettings};
use proofload_tier::policy::PolicyChoice;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::{Bench, text};

/// Sizes of the cache, % of the data.
const SIZES: [u64; 4] = [5, 10, 30, 50];

/// The policy that a study has if it names none. Source: `proofload_model::tier::tier_plan`.
const USUAL: PolicyChoice = PolicyChoice::TinyLfu;

/// The smallest block of dm-cache, bytes.
const LEAST_BLOCK: u32 = 32 << 10;

/// Points of hit ratio by which the usual policy may be below the best.
const NEAR: f64 = 0.01;

/// Points of hit ratio by which it may be below LRU in a test: some ten reads of the few thousand that are counted then.
const SHORT_OF_LRU: f64 = 0.005;

/// Reads that say nothing: as many may miss by chance.
const CHANCE: f64 = 10.0;

/// Points of hit ratio that are allowed, or those of ten reads where a slow host left so few that they are more.
fn allowed(points: f64, reads: u64) -> f64 {
    points.max(CHANCE / reads.max(1) as f64)
}

/// What was sampled of the load.
struct Trace {
    /// The first piece, which tells rate and sizes.
    first: SamplePiece,
    references: Vec<Reference>,
    lost: u64,
}

fn study(asked: Option<(u32, u32)>) -> String {
    let (scale, seconds) = match asked {
        Some((warehouses, seconds)) => (format!("warehouses = {warehouses}"), seconds),
        None => ("warehouses = 20\nscale = \"toy\"".to_owned(), 3),
    };
    format!(
        r#"
[study]
name = "small"
title = "References of a load"
[workload]
kind = "tprocc"
{scale}
virtual_users = 4
form = "statements"
[engine]
kind = "sqlite"
writers = "queue"
[engine.settings]
cache_size = "{cache}"
[storage]
path = "data"
kind = "tier"
[storage.slow]
drive = "15k"
raid = "raid-0"
write_cache = "64MiB"
[storage.cache]
percent = 120
[procedure]
prewarm = true
warm_up = {{ at_least = "1s", at_most = "3s", round = "1s", tolerance = 0.5 }}
measure = "{seconds}s"
drift_tolerance = 1.0
steal_tolerance = 1.0
"#,
        cache = if asked.is_some() { "8MiB" } else { "256KiB" },
    )
}

fn socket(bench: &Bench) -> Option<PathBuf> {
    let places = std::fs::read_dir(bench.path("data/small")).into_iter().flatten().flatten();
    places.map(|place| place.path().join("tier/control")).find(|path| path.exists())
}

/// Takes the sample of the tier as long as the program runs, and leaves that of the load. The tier is opened anew for what else is done with the
/// data, and then the sample begins again: an audit after the load reads all of it, as no load does, and nothing but the load writes much.
fn trace(bench: &Bench) -> Trace {
    let mut child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let (mut first, mut openings, mut next, mut lost) = (None, vec![Vec::new()], 0, 0);
    while child.try_wait().expect("it is ours").is_none() {
        let client = socket(bench).and_then(|path| ControlClient::connect(&path).ok());
        while let Some(piece) = client.as_ref().and_then(|client| client.sampled_since(next).ok()) {
            if piece.first < next {
                openings.push(Vec::new());
                lost += piece.first;
            }
            lost += piece.first.saturating_sub(next);
            next = piece.first + piece.references.len() as u64;
            openings.last_mut().expect("one was there").extend_from_slice(&piece.references);
            let is_last = piece.is_last;
            first.get_or_insert(piece);
            if is_last {
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let writes = |one: &Vec<Reference>| one.iter().filter(|one| one.kind == AccessKind::Write).count();
    let references = openings.into_iter().max_by_key(writes).unwrap_or_default();
    let ended = child.wait_with_output().expect("it is ours");
    let told = format!("{}{}", text(&ended.stdout), text(&ended.stderr));
    assert!(matches!(ended.status.code(), Some(0 | 6)), "{told}");
    Trace { first: first.unwrap_or_else(|| panic!("no tier was open: {told}")), references, lost }
}

/// Counts of the second half of the references, with a cache that read all data in order before the first.
fn counts(trace: &Trace, policy: PolicyChoice, percent: u64) -> Option<MiniatureCounts> {
    let settings = &trace.first.settings;
    let mut cache = MiniatureCache::new(MiniatureSettings {
        policy,
        lines: u32::try_from(settings.data_lines * percent / 100).expect("some GiB"),
        rate: settings.rate,
        modes: vec![CacheMode::WriteBack, CacheMode::Pass],
        dirty_target: CleanerSettings::usual().target,
    })?;
    trace.first.reads_of_data(0).for_each(|one| cache.serve(&one));
    let (begin, end) = trace.references.split_at(trace.references.len() / 2);
    begin.iter().for_each(|one| cache.serve(one));
    let before = cache.counts(0);
    end.iter().for_each(|one| cache.serve(one));
    let after = cache.counts(0);
    Some(MiniatureCounts {
        reads: after.reads - before.reads,
        read_misses: after.read_misses - before.read_misses,
        writes: after.writes - before.writes,
        write_misses: after.write_misses - before.write_misses,
        cleaned_sectors: after.cleaned_sectors - before.cleaned_sectors,
    })
}

fn hits(misses: u64, all: u64) -> f64 {
    if all > 0 { 1.0 - misses as f64 / all as f64 } else { 0.0 }
}

/// Prints whether the usual policy is where it should be; says where it is not.
fn judge(found: &[(PolicyChoice, Vec<Option<f64>>)], reads: u64) -> Vec<String> {
    let of = |wanted: PolicyChoice| &found.iter().find(|(policy, _)| *policy == wanted).expect("all are there").1;
    let mut faults = Vec::new();
    for (place, percent) in SIZES.iter().enumerate() {
        let (Some(own), Some(lru)) = (of(USUAL)[place], of(PolicyChoice::Lru)[place]) else { continue };
        let best = found.iter().filter_map(|(_, ratios)| ratios[place]).fold(0.0, f64::max);
        let above_lru = if own >= lru { "not below LRU" } else { "BELOW LRU" };
        let near = if best - own <= NEAR { "within a point of the best" } else { "MORE THAN A POINT BELOW THE BEST" };
        let told = format!(
            "{percent:>3} %: {} is {above_lru} ({:+.2} points) and {near} ({:+.2})",
            USUAL.name(),
            100.0 * (own - lru),
            100.0 * (own - best)
        );
        println!("{told}");
        if own < lru - allowed(SHORT_OF_LRU, reads) || own < best - allowed(NEAR, reads) {
            faults.push(told);
        }
    }
    faults
}

/// The same references by larger lines.
fn with_larger_lines(trace: &Trace, line_bytes: u32) -> Trace {
    let (times, sectors) = (u64::from(line_bytes / trace.first.line_bytes), trace.first.line_bytes / SECTOR_BYTES);
    let larger = |one: &Reference| {
        let block = OriginBlock::new(one.block.volume(), one.block.index() / times);
        let place = u32::try_from(one.block.index() % times).expect("a few") * sectors;
        Reference { block, sectors: SectorSet(one.sectors.0 << place), ..*one }
    };
    let settings = SampleSettings { rate: 1.0, data_lines: trace.first.settings.data_lines.div_ceil(times) };
    Trace {
        first: SamplePiece { settings, line_bytes, references: Vec::new(), ..trace.first },
        references: trace.references.iter().map(larger).collect(),
        lost: trace.lost,
    }
}

/// Writes both halves of the references as logs of fio, and what the second would hit. Source: fio's manual, trace file format 2.
fn write_for_the_kernel(folder: &Path, trace: &Trace, found: &[(PolicyChoice, Vec<Option<f64>>)]) {
    let SampleSettings { rate, data_lines } = trace.first.settings;
    assert!(rate >= 1.0, "a sample of {rate} of the lines is no load for larger blocks");
    let line_bytes = u64::from(trace.first.line_bytes);
    let (begin, end) = trace.references.split_at(trace.references.len() / 2);
    let (mut reads, mut blocks) = (0, data_lines);
    for (name, half) in [("first.iolog", begin), ("second.iolog", end)] {
        let mut log = "fio version 2 iolog\n/dev/null add\n/dev/null open\n".to_owned();
        reads = 0;
        // The database's log is not in the cache.
        for one in half.iter().filter(|one| one.block.volume() == 0) {
            let word = match one.kind {
                AccessKind::Read => "read",
                AccessKind::Write => "write",
                AccessKind::Discard => continue,
            };
            reads += u64::from(one.kind == AccessKind::Read);
            blocks = blocks.max(one.block.index() + 1);
            log.push_str(&format!("/dev/null {word} {} {line_bytes}\n", one.block.index() * line_bytes));
        }
        std::fs::write(folder.join(name), log + "/dev/null close\n").expect("it can be written");
    }
    let percent = |ratio: &Option<f64>| ratio.map(|ratio| (1e4 * ratio).round() / 100.0);
    let of = |wanted: PolicyChoice| {
        let ratios = &found.iter().find(|(policy, _)| *policy == wanted).expect("all are there").1;
        ratios.iter().map(percent).collect::<Vec<_>>()
    };
    let larger = with_larger_lines(trace, LEAST_BLOCK);
    let of_larger = SIZES.map(|size| counts(&larger, USUAL, size).map(|one| hits(one.read_misses, one.reads)));
    let known = serde_json::json!({
        "data_bytes": data_lines * line_bytes,
        "origin_bytes": blocks * line_bytes,
        "line_bytes": line_bytes,
        "sizes": SIZES,
        "reads": reads,
        "usual": of(USUAL),
        "usual_larger": of_larger.each_ref().map(percent),
        "lru": of(PolicyChoice::Lru),
    });
    std::fs::write(folder.join("known.json"), known.to_string()).expect("it can be written");
}

#[test]
fn every_policy_is_tried_on_references_of_a_real_load() {
    let asked = std::env::var("PROOFLOAD_POLICIES").ok().map(|text| {
        let (warehouses, seconds) = text.split_once('x').expect("warehouses x seconds");
        (warehouses.parse().expect("a number"), seconds.parse().expect("a number"))
    });
    // A host that stands still for seconds may lose references, or leave few.
    let mut tries = 0;
    let trace = loop {
        tries += 1;
        let bench = Bench::new("policies");
        bench.study(&study(asked));
        let trace = trace(&bench);
        bench.expect_no_process();
        if tries == 6 || trace.lost == 0 && trace.references.len() >= 5_000 {
            break trace;
        }
    };
    let settings = &trace.first.settings;
    println!(
        "{} references of {} lines of data, {:.0} % of the lines in the sample, {} lost",
        trace.references.len(),
        settings.data_lines,
        100.0 * settings.rate,
        trace.lost
    );
    assert!(trace.references.len() > 1_000 && trace.lost == 0, "too few, or some were lost: {}", trace.lost);
    println!("hits of reads (of writes), %, in caches of {SIZES:?} % of the data");
    let (mut found, mut counted) = (Vec::new(), 0);
    for policy in PolicyChoice::ALL {
        let all: Vec<Option<MiniatureCounts>> = SIZES.iter().map(|percent| counts(&trace, policy, *percent)).collect();
        let reads: Vec<Option<f64>> = all.iter().map(|one| one.map(|one| hits(one.read_misses, one.reads))).collect();
        let cell = |one: &Option<MiniatureCounts>| match one {
            Some(one) => format!(
                "{:6.2} ({:5.1})",
                100.0 * hits(one.read_misses, one.reads),
                100.0 * hits(one.write_misses, one.writes)
            ),
            None => "too small".to_owned(),
        };
        println!("{:<10} {}", policy.name(), all.iter().map(cell).collect::<Vec<_>>().join("  "));
        let known: Vec<f64> = reads.iter().flatten().copied().collect();
        counted = all.iter().flatten().map(|one| one.reads).fold(counted, u64::max);
        let near = allowed(NEAR, counted);
        assert!(
            known.len() >= 2 && known.windows(2).all(|pair| pair[1] >= pair[0] - near),
            "{}: {known:?}",
            policy.name()
        );
        found.push((policy, reads));
    }
    if let Some(folder) = std::env::var_os("PROOFLOAD_POLICIES_FOLDER") {
        write_for_the_kernel(Path::new(&folder), &trace, &found);
    }
    let faults = judge(&found, counted);
    assert!(faults.is_empty(), "the usual policy is not where it should be: {faults:?}");
}
