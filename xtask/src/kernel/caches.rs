//! Cases of the caches of the kernel, driven by our program alone: set up, counted, verified, taken down, recovered after a kill.

use super::case::Figures;
use super::disk::{self, CACHE, ORIGIN, Region, RegionCheck};
use super::programs::{PROOFLOAD, document, expect, line, output, refused, run};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Numbers of the systems, since a function takes a number as its parameter and no text.
pub(super) const DM_CACHE: usize = 0;
pub(super) const DM_WRITECACHE: usize = 1;
pub(super) const BCACHE: usize = 2;

const NAMES: [&str; 3] = ["dm-cache", "dm-writecache", "bcache"];

/// What must be there after a kill, and where the load at the kill writes.
const ACKNOWLEDGED: Region = Region { offset: 0, size: 12, seed: 11, check: RegionCheck::Content };
const AT_THE_KILL: (u32, u32) = (32, 8);

/// How long that load may take until something is dirty.
const UNTIL_DIRTY: Duration = Duration::from_secs(90);

/// What is written and read while the cache is counted.
const COUNTED: Region = Region { offset: 64, size: 4, seed: 7, check: RegionCheck::Crc32c };

/// How late counts of bcache may be. Source: `crates/testbed/src/caches/bcache.rs`.
const LATE: Duration = Duration::from_secs(15);

fn devices<const SYSTEM: usize>() -> String {
    format!("{CACHE} --origin {ORIGIN} --with {}", NAMES[SYSTEM])
}

fn named_twice<const SYSTEM: usize>() -> String {
    format!("tier kernel set-up {} --yes {CACHE},{ORIGIN}", devices::<SYSTEM>())
}

fn statistics<const SYSTEM: usize>() -> Result<Value, String> {
    document(&format!("tier kernel stats {}", devices::<SYSTEM>()))
}

/// The device of the volume, which must be one: fio would make a file.
fn volume<const SYSTEM: usize>() -> Result<String, String> {
    let statistics = statistics::<SYSTEM>()?;
    let volume = statistics["volume"].as_str().unwrap_or_default().to_owned();
    let found = std::fs::metadata(&volume).map_err(|error| format!("{volume}: {error}"))?;
    let is_device = std::os::unix::fs::FileTypeExt::is_block_device(&found.file_type());
    expect(is_device, || format!("{volume} is no block device"))?;
    Ok(volume)
}

/// Devices with content are refused, each by its name and content, although they are named twice.
pub(super) fn content_is_refused<const SYSTEM: usize>() -> Result<Figures, String> {
    line(&format!("mkfs.ext4 -q {ORIGIN}"))?;
    line(&format!("mkswap {CACHE}"))?;
    let parts = ["/dev/vdb", "swap space", "/dev/vdc", "ext4 file system"];
    refused(&named_twice::<SYSTEM>(), 2, &parts)?;
    for device in [CACHE, ORIGIN] {
        line(&format!("wipefs --all --quiet {device}"))?;
    }
    Ok(Figures::new())
}

/// Devices that are not named again, or others than these, are refused.
pub(super) fn unnamed_is_refused<const SYSTEM: usize>() -> Result<Figures, String> {
    let words = format!("tier kernel set-up {}", devices::<SYSTEM>());
    refused(&words, 2, &["add --yes /dev/vdb", "add --yes /dev/vdc"])?;
    refused(&format!("{words} --yes {CACHE}"), 2, &["add --yes /dev/vdc"])?;
    refused(&format!("{words} --yes {CACHE},{ORIGIN},/dev/vda"), 2, &["/dev/vda, which is no device of this command"])?;
    Ok(Figures::new())
}

/// A dry run tells every command, and both devices stay as they were: their first 4 MiB and their last one are compared.
pub(super) fn dry_run_changes_nothing<const SYSTEM: usize>() -> Result<Figures, String> {
    let ends = format!("for disk in {CACHE} {ORIGIN}; do head -c 4194304 $disk; tail -c 1048576 $disk; done | md5sum");
    let sums = || run(&["sh", "-c", &ends]);
    let before = sums()?;
    let plan = document(&format!("{} --dry-run", named_twice::<SYSTEM>()))?;
    let steps = plan["steps"].as_array().map_or(0, Vec::len);
    expect(steps > 2 && plan["against"].is_null(), || format!("the plan is {plan}"))?;
    expect(sums()? == before, || "a device has changed".to_owned())?;
    expect(!line("dmsetup ls")?.contains("proofload"), || "something is mapped".to_owned())?;
    Ok([("steps".to_owned(), json!(steps))].into_iter().collect())
}

/// The cache is made, and says what it is.
pub(super) fn set_up<const SYSTEM: usize>() -> Result<Figures, String> {
    let found = document(&named_twice::<SYSTEM>())?;
    expect(found["mode"] == "writeback" && found["faults"] == json!([]), || format!("it is {found}"))?;
    volume::<SYSTEM>()?;
    let again = named_twice::<SYSTEM>();
    refused(&again, 2, &["refuse to make part of a cache"])?;
    Ok(Figures::new())
}

/// What is written comes back with its checksums, also when it is read again from the cache.
pub(super) fn content_verifies<const SYSTEM: usize>() -> Result<Figures, String> {
    let volume = volume::<SYSTEM>()?;
    let sums = Region { offset: 0, size: 8, seed: 3, check: RegionCheck::Crc32c };
    sums.write(&volume)?;
    sums.verify(&volume)?;
    sums.verify(&volume)?;
    let region = Region { check: RegionCheck::Content, ..sums };
    region.write(&volume)?;
    region.verify(&volume)?;
    let other = Region { seed: 4, ..region };
    other.write(&volume)?;
    other.verify(&volume)?;
    expect(region.verify(&volume).is_err(), || {
        "what was overwritten still verifies: the check finds nothing".to_owned()
    })?;
    Ok(Figures::new())
}

/// A volume that is mounted is not taken down.
pub(super) fn in_use_is_refused<const SYSTEM: usize>() -> Result<Figures, String> {
    let volume = volume::<SYSTEM>()?;
    line(&format!("mkfs.ext4 -q -E lazy_itable_init=1,nodiscard {volume}"))?;
    line(&format!("mount {volume} /mnt"))?;
    let done = refused(&format!("tier kernel take-down {}", devices::<SYSTEM>()), 2, &["is in use; free it (umount"]);
    line("umount /mnt")?;
    done?;
    self::volume::<SYSTEM>().map(|_| Figures::new())
}

/// A take-down whose time is over leaves the cache in place and says how much is dirty.
pub(super) fn drain_is_bounded<const SYSTEM: usize>() -> Result<Figures, String> {
    let volume = volume::<SYSTEM>()?;
    Region { offset: 128, size: 16, seed: 9, check: RegionCheck::Content }.write(&volume)?;
    let words = format!("{PROOFLOAD} tier kernel take-down {} --within 500ms --json", devices::<SYSTEM>());
    let output = output(&words.split(' ').collect::<Vec<_>>())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let outcome: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
    let left = outcome["dirty_bytes"].as_u64();
    let holds = output.status.code() == Some(1) && outcome["taken_down"] == false && left > Some(0);
    expect(holds, || format!("{}: {outcome}", output.status))?;
    expect(Path::new(&volume).exists(), || format!("{volume} is gone"))?;
    Ok([("left_bytes".to_owned(), json!(left))].into_iter().collect())
}

/// Counts are plausible: what was written and read shows in them, and what is not counted is absent.
pub(super) fn counters<const SYSTEM: usize>() -> Result<Figures, String> {
    let volume = volume::<SYSTEM>()?;
    COUNTED.write(&volume)?;
    // Warm: blocks that are read again and again are brought into the cache, by whole blocks in dm-cache.
    disk::read(&volume, COUNTED.offset + COUNTED.size, 1)?;
    for _ in 0..4 {
        COUNTED.verify(&volume)?;
    }
    if SYSTEM == BCACHE {
        std::thread::sleep(LATE);
    }
    let before = statistics::<SYSTEM>()?;
    COUNTED.verify(&volume)?;
    COUNTED.write(&volume)?;
    if SYSTEM == BCACHE {
        std::thread::sleep(LATE);
    }
    let after = statistics::<SYSTEM>()?;
    let count = |of: &Value, name: &str| of["counters"][name].as_u64();
    let grown = |name: &str| Some(count(&after, name)? - count(&before, name)?);
    let figures: Figures = after["counters"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, _)| Some((name.clone(), json!(grown(name)?))))
        .collect();
    let told = || format!("{before} {after}");
    let blocks = u64::from(COUNTED.size) * 1024 / 8;
    let hits = grown("read_hits").unwrap_or(0);
    expect(grown("reads") >= Some(blocks), || format!("too few reads of {blocks}: {}", told()))?;
    // A verify that follows four others of the same region.
    let least = if SYSTEM == DM_WRITECACHE { 0 } else { blocks / 2 };
    expect(hits >= least, || format!("{hits} hits of {blocks}: {}", told()))?;
    if SYSTEM == BCACHE {
        expect(grown("bytes_bypassed") == Some(0), || format!("something went past the cache: {}", told()))?;
        expect(count(&after, "writes").is_none(), || "bcache counts no writes".to_owned())?;
    } else {
        expect(grown("writes") >= Some(blocks), || format!("too few writes of {blocks}: {}", told()))?;
        let (hits, absorbed) = (grown("write_hits"), grown("writes_absorbed"));
        let plausible = if SYSTEM == DM_CACHE {
            hits > Some(0) && absorbed.is_none()
        } else {
            hits.is_none() && absorbed == grown("writes")
        };
        expect(plausible, told)?;
    }
    Ok(figures)
}

/// Drained and removed, with everything on the origin; the devices are free afterwards.
pub(super) fn taken_down<const SYSTEM: usize>() -> Result<Figures, String> {
    let region = Region { seed: 5, ..ACKNOWLEDGED };
    let volume = volume::<SYSTEM>()?;
    region.write(&volume)?;
    let dirty = statistics::<SYSTEM>()?["dirty_bytes"].as_u64();
    let begun = Instant::now();
    let outcome = document(&format!("tier kernel take-down {} --within 120s", devices::<SYSTEM>()))?;
    expect(outcome["taken_down"] == true, || format!("it is {outcome}"))?;
    expect(!Path::new(&volume).exists(), || format!("{volume} is still there"))?;
    expect(!line("dmsetup ls")?.contains("proofload"), || "something is still mapped".to_owned())?;
    on_the_origin::<SYSTEM>(region)?;
    let figures = [("dirty_before_bytes", json!(dirty)), ("take_down_s", json!(begun.elapsed().as_secs_f64()))];
    Ok(figures.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// Verifies on the origin alone. Content before bcache begins 8 KiB after its beginning.
fn on_the_origin<const SYSTEM: usize>(region: Region) -> Result<(), String> {
    if SYSTEM != BCACHE {
        return region.verify(ORIGIN);
    }
    line("modprobe loop")?;
    let device = line(&format!("losetup --show --find --offset 8192 {ORIGIN}"))?;
    let verified = region.verify(device.trim());
    line(&format!("losetup --detach {}", device.trim()))?;
    verified?;
    // Until now it is a device of bcache, which a new set-up must refuse.
    refused(&named_twice::<SYSTEM>(), 2, &["a bcache device"])?;
    line(&format!("wipefs --all --quiet {ORIGIN}")).map(drop)
}

/// What a set-up left that was killed in the middle is removed by taking down.
pub(super) fn remains<const SYSTEM: usize>() -> Result<Figures, String> {
    match SYSTEM {
        DM_CACHE => {
            for part in ["metadata", "data"] {
                let table = format!("0 8192 linear {CACHE} 0");
                run(&["dmsetup", "create", &format!("proofload-vdc-{part}"), "--table", &table])?;
            }
        }
        BCACHE => {
            line(&format!("make-bcache -w 4096 -b 65536 -C {CACHE}"))?;
            std::fs::write("/sys/fs/bcache/register_quiet", CACHE).map_err(|error| format!("register: {error}"))?;
        }
        _ => {}
    }
    let outcome = document(&format!("tier kernel take-down {}", devices::<SYSTEM>()))?;
    expect(outcome["was_in_place"] == false, || format!("it is {outcome}"))?;
    expect(!line("dmsetup ls")?.contains("proofload"), || "something is still mapped".to_owned())?;
    expect(!Path::new("/sys/block/vdb/bcache").exists(), || "bcache still has the cache".to_owned())?;
    line(&format!("wipefs --all --quiet {CACHE}"))?;
    Ok(Figures::new())
}

/// What is acknowledged before the kill, and a load that goes on until then.
pub(super) fn load_before_the_kill<const SYSTEM: usize>() -> Result<Figures, String> {
    document(&named_twice::<SYSTEM>())?;
    let volume = volume::<SYSTEM>()?;
    ACKNOWLEDGED.write(&volume)?;
    let (offset, size) = AT_THE_KILL;
    let mut load = disk::endless_writes(&volume, offset, size)?;
    let end = Instant::now() + UNTIL_DIRTY;
    // dm-cache first has to find out what is worth a place.
    let dirty = loop {
        std::thread::sleep(Duration::from_secs(1));
        let ended = load.try_wait().map_err(|error| error.to_string())?;
        expect(ended.is_none(), || format!("the load has ended: {ended:?}"))?;
        let dirty = statistics::<SYSTEM>()?["dirty_bytes"].as_u64();
        if dirty > Some(0) {
            break dirty;
        }
        expect(Instant::now() < end, || "nothing is dirty, so a kill proves nothing".to_owned())?;
    };
    Ok([("dirty_at_the_kill_bytes".to_owned(), json!(dirty))].into_iter().collect())
}

/// Puts the cache in place again after the kill; until then nothing of it may be taken down.
pub(super) fn recovered<const SYSTEM: usize>() -> Result<Figures, String> {
    refused(&named_twice::<SYSTEM>(), 2, &["refuse to make part of a cache /dev/vdb"])?;
    refused(&format!("tier kernel take-down {}", devices::<SYSTEM>()), 2, &["put it in place again first"])?;
    let begun = Instant::now();
    let found = document(&format!("tier kernel recover {}", devices::<SYSTEM>()))?;
    let seconds = begun.elapsed().as_secs_f64();
    expect(found["faults"] == json!([]), || format!("it is {found}"))?;
    if SYSTEM == BCACHE {
        // As udev leaves it, which registers devices without what is not kept on them.
        let cutoff = "/sys/block/vdc/bcache/sequential_cutoff";
        std::fs::write(cutoff, "4194304").map_err(|error| format!("{cutoff}: {error}"))?;
        document(&format!("tier kernel recover {}", devices::<SYSTEM>()))?;
        let now = line(&format!("cat {cutoff}"))?;
        expect(["0", "0.0k"].contains(&now.trim()), || format!("the cut-off is {now}"))?;
    }
    refused(&format!("tier kernel recover {}", devices::<SYSTEM>()), 2, &["is in place"])?;
    let figures = [("dirty_after_bytes", found["dirty_bytes"].clone()), ("recovery_s", json!(seconds))];
    Ok(figures.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// What was acknowledged before the kill is there, through the cache.
pub(super) fn acknowledged_is_there<const SYSTEM: usize>() -> Result<Figures, String> {
    ACKNOWLEDGED.verify(&volume::<SYSTEM>()?)?;
    Ok(Figures::new())
}
