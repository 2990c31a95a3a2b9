//! Cases of volumes as block devices of ublk, served by our program: content, flushes and discards, who waits for whom, a server that is killed under a
//! file system, and the end. On a newer kernel than the other groups: Debian 12 builds no ublk.

use super::case::{Case, Figures};
use super::disk::{self, CACHE, ORIGIN, Region, RegionCheck};
use super::programs::{PROOFLOAD, document, expect, line, output, refused, run};
use super::tier_server::{BOUND, SOCKET, TierServer, ended};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Name of the group.
pub(super) const GROUP: &str = "ublk";

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case { name: "refused without the module", boot: 1, run: refused_without_the_module },
    Case { name: "served and answers", boot: 1, run: served },
    Case { name: "content verifies", boot: 1, run: content_verifies },
    Case { name: "flushes and discards arrive", boot: 1, run: flushes_and_discards_arrive },
    Case { name: "hits do not wait for flushes", boot: 1, run: hits_do_not_wait_for_flushes },
    Case { name: "hits do not wait for misses", boot: 1, run: hits_do_not_wait_for_misses },
    Case { name: "load before the kill", boot: 1, run: load_before_the_kill },
    Case { name: "synced is there", boot: 2, run: synced_is_there },
    Case { name: "errors reach the caller", boot: 2, run: errors_reach_the_caller },
    Case { name: "killed under a file system", boot: 2, run: killed_under_a_file_system },
    Case { name: "stopped under a file system", boot: 2, run: stopped_under_a_file_system },
    Case { name: "nothing is left", boot: 2, run: nothing_is_left },
];

/// Where a file system of its device is mounted.
const MOUNT: &str = "/mnt/database";

/// The kernel's list of devices.
const LIST: &str = "/sys/class/ublk-char";

/// Kills under a file system.
const KILLS: u32 = 2;

/// What every flush is delayed by where hits must not wait for it; a hit may take half.
const DELAY: Duration = Duration::from_secs(4);

/// A server of a pool as a block device.
struct BlockServer {
    tier: TierServer,
    /// Its device.
    node: String,
}

impl BlockServer {
    /// Starts one on the two disks, or another cache and origin.
    fn start(more: &str) -> Result<Self, String> {
        Self::start_on(&format!("{CACHE} --origin data={ORIGIN} {more}"))
    }

    fn start_on(words: &str) -> Result<Self, String> {
        let tier = TierServer::start(&format!("{words} --ublk"))?;
        let mut lines = tier.said.lines();
        let node = lines.find_map(|line| line.trim().strip_prefix("ublk ")?.split_once("data at ")?.1.split_once(','));
        let node = node.ok_or_else(|| format!("it names no device: {}", tier.said))?.0.to_owned();
        let found = std::fs::metadata(&node).map_err(|error| format!("{node}: {error}"))?;
        let is_device = std::os::unix::fs::FileTypeExt::is_block_device(&found.file_type());
        expect(is_device, || format!("{node} is no block device"))?;
        Ok(Self { tier, node })
    }

    /// What it said until it was ready.
    fn said(&self) -> &str {
        &self.tier.said
    }

    /// What the kernel says of its device.
    fn attribute(&self, name: &str) -> Result<String, String> {
        let path = format!("/sys/block/{}/{name}", self.node.trim_start_matches("/dev/"));
        std::fs::read_to_string(&path).map(|text| text.trim().to_owned()).map_err(|error| format!("{path}: {error}"))
    }

    /// Stops it within the bound, with its device; what it said of its end.
    fn stop(self) -> Result<String, String> {
        let said = self.tier.stop()?;
        expect(!Path::new(&self.node).exists(), || format!("{} is still there", self.node))?;
        Ok(said)
    }
}

/// Runs a line that must end within the bound, however it ends.
fn bounded(words: &str) -> Result<ExitStatus, String> {
    let all = words.split_ascii_whitespace().collect::<Vec<_>>();
    let mut command = Command::new(all[0]);
    command.args(&all[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ended(&mut command.spawn().map_err(|error| format!("{words}: {error}"))?, words)
}

/// An empty pool on the two disks.
fn format() -> Result<(), String> {
    line(&format!("{PROOFLOAD} tier format {CACHE} --origin data={ORIGIN} --yes {CACHE},{ORIGIN}")).map(drop)
}

/// Counters of the volume since the pool was opened.
fn counters() -> Result<Value, String> {
    Ok(document(&format!("tier stats {SOCKET}"))?["volumes"][0]["counters"].clone())
}

fn grown(before: &Value, name: &str) -> Result<u64, String> {
    let after = counters()?;
    let count = |of: &Value| of[name].as_u64().ok_or_else(|| format!("{name} is not counted: {of}"));
    Ok(count(&after)? - count(before)?)
}

/// Devices in the kernel's list.
fn listed() -> Vec<String> {
    let entries = std::fs::read_dir(LIST).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A server without the driver refuses, says what is missing, and leaves nothing that serves.
fn refused_without_the_module() -> Result<Figures, String> {
    format()?;
    let words = format!("tier serve {CACHE} --origin data={ORIGIN} --control {SOCKET} --ublk");
    refused(&words, 1, &["opened /dev/ublk-control", "CONFIG_BLK_DEV_UBLK", "modprobe ublk_drv"])?;
    expect(!Path::new(SOCKET).exists(), || "its socket is there".to_owned())?;
    Ok(Figures::new())
}

/// The device has the volume's size, blocks of 4 KiB, a volatile cache and forced writes; it goes with its server.
fn served() -> Result<Figures, String> {
    line("modprobe ublk_drv")?;
    let server = BlockServer::start("")?;
    expect(server.said().contains("after a clean stop"), || {
        format!("the refusal has opened the pool: {}", server.said())
    })?;
    let bytes = document(&format!("tier stats {SOCKET}"))?["volumes"][0]["bytes"].as_u64().unwrap_or(0);
    let sectors = (bytes / 4096 * 8).to_string();
    let expected = [
        ("size", &*sectors),
        ("queue/logical_block_size", "4096"),
        ("queue/physical_block_size", "4096"),
        ("queue/write_cache", "write back"),
        ("queue/fua", "1"),
        ("queue/discard_granularity", "4096"),
    ];
    for (name, value) in expected {
        let found = server.attribute(name)?;
        expect(found == value, || format!("{name} is {found}, not {value}"))?;
    }
    line(&format!("dd if={} of=/dev/null bs=8k count=4 iflag=direct", server.node))?;
    let said = server.stop()?;
    expect(said.is_empty() && listed().is_empty(), || format!("{said}: {:?}", listed()))?;
    Ok([("sectors".to_owned(), json!(bytes / 512))].into_iter().collect())
}

/// What is written comes back with its checksums, from the cache and after a stop.
fn content_verifies() -> Result<Figures, String> {
    format()?;
    let server = BlockServer::start("")?;
    let sums = Region { offset: 0, size: 3, seed: 3, check: RegionCheck::Crc32c };
    sums.write(&server.node)?;
    sums.verify(&server.node)?;
    let region = Region { offset: 16, check: RegionCheck::Content, ..sums };
    region.write(&server.node)?;
    region.verify(&server.node)?;
    let other = Region { seed: 4, ..region };
    other.write(&server.node)?;
    let checked = region.verify(&server.node);
    expect(checked.is_err(), || "what was overwritten still verifies: the check finds nothing".to_owned())?;
    let deep = format!(
        "fio --name=deep --filename={} --direct=1 --ioengine=libaio --iodepth=32 --bs=4k-256k --rw=randwrite --offset=32m --size=6m \
         --verify=crc32c --verify_fatal=1 --allow_file_create=0",
        server.node
    );
    line(&deep)?;
    server.stop()?;
    let server = BlockServer::start("")?;
    sums.verify(&server.node)?;
    other.verify(&server.node)?;
    server.stop().map(|_| Figures::new())
}

/// Flushes, forced writes, discards and writes of zeros reach the volume and do what they say.
fn flushes_and_discards_arrive() -> Result<Figures, String> {
    format()?;
    let server = BlockServer::start("")?;
    let node = server.node.clone();
    let region = Region { offset: 0, size: 1, seed: 9, check: RegionCheck::Content };
    let before = counters()?;
    region.write(&node)?;
    let flushed = grown(&before, "flushes")?;
    expect(flushed >= 1, || "a sync of the device was no flush of the volume".to_owned())?;
    let before = counters()?;
    line(&format!("dd if=/dev/urandom of={node} bs=8k count=5 seek=1000 oflag=direct,dsync"))?;
    let forced = grown(&before, "flushes")?;
    // A forced write, and the sync of the device behind it.
    expect(forced >= 10, || format!("5 forced writes and their syncs were {forced} flushes"))?;
    let before = counters()?;
    line(&format!("blkdiscard --offset 0 --length 524288 {node}"))?;
    let discarded = grown(&before, "discards")?;
    expect(discarded >= 64, || format!("512 KiB were {discarded} discards of lines"))?;
    let before = counters()?;
    line(&format!("fallocate --zero-range --offset 524288 --length 524288 {node}"))?;
    let zeroed = grown(&before, "discards")?;
    expect(zeroed >= 64, || format!("zeros over 512 KiB were {zeroed} discards of lines"))?;
    let sum = |of: &str| run(&["sh", "-c", &format!("{of} | md5sum")]);
    let found = sum(&format!("dd if={node} bs=64k count=16 iflag=direct 2>/dev/null"))?;
    expect(found == sum("head -c 1048576 /dev/zero")?, || "what was discarded is still there".to_owned())?;
    server.stop()?;
    let figures = [("flushes", flushed), ("forced", forced), ("discards", discarded), ("zeroed", zeroed)];
    Ok(figures.map(|(name, value)| (name.to_owned(), json!(value))).into_iter().collect())
}

/// While a flush waits, what is in the cache is read at once, by the same processor and so through the same queue.
fn hits_do_not_wait_for_flushes() -> Result<Figures, String> {
    format()?;
    let server = BlockServer::start("")?;
    let node = server.node.clone();
    Region { offset: 0, size: 1, seed: 9, check: RegionCheck::Content }.write(&node)?;
    server.stop()?;
    let server = BlockServer::start(&format!("--flush-delay {}s", DELAY.as_secs()))?;
    let node = server.node.clone();
    let begun = Instant::now();
    let mut flush = Command::new("taskset")
        .args(["1", "dd", "if=/dev/zero", &format!("of={node}"), "bs=4k", "count=1", "seek=900", "conv=fsync,notrunc"])
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("dd: {error}"))?;
    let (mut slowest, mut reads) = (Duration::ZERO, 0);
    while flush.try_wait().map_err(|error| error.to_string())?.is_none() {
        expect(begun.elapsed() < BOUND, || "the flush hangs".to_owned())?;
        let read = Instant::now();
        line(&format!("taskset 1 dd if={node} of=/dev/null bs=8k count=1 iflag=direct"))?;
        slowest = slowest.max(read.elapsed());
        reads += 1;
    }
    let flushed = begun.elapsed();
    expect(flushed >= DELAY, || format!("the flush took {flushed:?}, so nothing has waited"))?;
    expect(reads > 3 && slowest < DELAY / 2, || format!("{reads} hits, the slowest in {slowest:?}"))?;
    server.stop()?;
    let figures = [
        ("hits", json!(reads)),
        ("slowest_ms", json!(slowest.as_millis() as u64)),
        ("flush_ms", json!(flushed.as_millis() as u64)),
    ];
    Ok(figures.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// While many reads wait for the slow disk, what is in the cache is read much sooner, by the same processor and so through the same queue.
fn hits_do_not_wait_for_misses() -> Result<Figures, String> {
    format()?;
    let server = BlockServer::start("")?;
    let node = server.node.clone();
    Region { offset: 0, size: 1, seed: 9, check: RegionCheck::Content }.write(&node)?;
    let words = |name: &str, more: &str| {
        format!(
            "--name={name} --filename={node} --direct=1 --bs=8k --rw=randread --time_based --allow_file_create=0 \
             --cpus_allowed=0 --output-format=json {more}"
        )
    };
    let misses = words("misses", "--ioengine=libaio --iodepth=24 --offset=64m --size=160m --runtime=12");
    let mut load = Command::new("fio");
    load.args(misses.split_ascii_whitespace()).stdout(Stdio::piped()).stderr(Stdio::null());
    let load = load.spawn().map_err(|error| format!("fio: {error}"))?;
    std::thread::sleep(Duration::from_secs(4));
    let hits = line(&format!("fio {}", words("hits", "--ioengine=psync --size=1m --runtime=4")))?;
    let load = load.wait_with_output().map_err(|error| format!("fio: {error}"))?;
    let (hit, miss) = (median_ns(&hits)?, median_ns(&String::from_utf8_lossy(&load.stdout))?);
    expect(hit < miss / 4, || format!("a hit takes {hit} ns beside misses of {miss} ns"))?;
    server.stop()?;
    let figures = [("hit_us_p50", hit / 1000), ("miss_us_p50", miss / 1000)];
    Ok(figures.map(|(name, value)| (name.to_owned(), json!(value))).into_iter().collect())
}

/// Median of the completions of reads in fio's document.
fn median_ns(text: &str) -> Result<u64, String> {
    let text = text.find('{').map_or(text, |at| &text[at..]);
    let document: Value = serde_json::from_str(text).map_err(|error| format!("fio: {error}: {text}"))?;
    let median = document["jobs"][0]["read"]["clat_ns"]["percentile"]["50.000000"].as_u64();
    median.filter(|ns| *ns > 0).ok_or_else(|| format!("fio tells no median: {document}"))
}

/// What is synced before the machine is killed, while a server and a load go on.
const SYNCED: Region = Region { offset: 0, size: 1, seed: 21, check: RegionCheck::Content };

fn load_before_the_kill() -> Result<Figures, String> {
    format()?;
    let server = BlockServer::start("")?;
    SYNCED.write(&server.node)?;
    let mut load = disk::endless_writes(&server.node, 16, 4)?;
    std::thread::sleep(Duration::from_secs(2));
    let ended = load.try_wait().map_err(|error| error.to_string())?;
    expect(ended.is_none(), || format!("the load has ended: {ended:?}"))?;
    // Both go on until the machine is killed.
    std::mem::forget(server);
    Ok(Figures::new())
}

/// The pool recovers after a kill of the machine, and what was synced by its device is there.
fn synced_is_there() -> Result<Figures, String> {
    line("modprobe ublk_drv")?;
    let server = BlockServer::start("")?;
    expect(server.said().contains("after a crash"), || server.said().to_owned())?;
    SYNCED.verify(&server.node)?;
    server.stop().map(|_| Figures::new())
}

/// What the volume cannot read is an error of input and output, and all else is still served.
fn errors_reach_the_caller() -> Result<Figures, String> {
    for (name, size) in [("cache", 16), ("origin", 64)] {
        let file = std::fs::File::create(format!("/tmp/{name}")).and_then(|file| file.set_len(size << 20));
        file.map_err(|error| format!("/tmp/{name}: {error}"))?;
    }
    let devices = "/tmp/cache --origin data=/tmp/origin --page-cache";
    line(&format!("{PROOFLOAD} tier format {devices} --yes /tmp/cache,/tmp/origin"))?;
    let server = BlockServer::start_on(devices)?;
    let node = server.node.clone();
    // The end of the origin is gone, as a part of a disk.
    let cut = std::fs::OpenOptions::new().write(true).open("/tmp/origin").and_then(|file| file.set_len(8 << 20));
    cut.map_err(|error| format!("/tmp/origin: {error}"))?;
    let read = |at: u32| {
        output(&[
            "dd",
            &format!("if={node}"),
            "of=/dev/null",
            "bs=1M",
            "count=1",
            "iflag=direct",
            &format!("skip={at}"),
        ])
    };
    let failed = read(32)?;
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    expect(!failed.status.success() && said.contains("Input/output error"), || format!("{}: {said}", failed.status))?;
    let served = read(2)?;
    expect(served.status.success(), || String::from_utf8_lossy(&served.stderr).into_owned())?;
    server.tier.kill()?;
    Ok(Figures::new())
}

/// A file of the mounted file system: written and synced, and its sum.
fn synced_file(name: &str) -> Result<String, String> {
    line(&format!("dd if=/dev/urandom of={MOUNT}/{name} bs=64k count=32 conv=fsync"))?;
    sum(name)
}

fn sum(name: &str) -> Result<String, String> {
    line(&format!("md5sum {MOUNT}/{name}"))
}

fn mount(node: &str) -> Result<(), String> {
    line(&format!("mkdir -p {MOUNT}"))?;
    line(&format!("mount -t ext4 {node} {MOUNT}")).map(drop)
}

/// A server that is killed under load below a mounted file system hangs nobody; the next start says what is left, and removes it when it is
/// free; what was synced is there.
fn killed_under_a_file_system() -> Result<Figures, String> {
    format()?;
    let mut server = BlockServer::start("")?;
    let left = server.said().lines().filter(|line| line.contains("left")).count();
    expect(left == 0 && listed().len() == 1, || format!("{}: {:?}", server.said(), listed()))?;
    line(&format!("mkfs.ext4 -q -E nodiscard {}", server.node))?;
    let mut kept: Vec<(String, String)> = Vec::new();
    let mut slowest = Duration::ZERO;
    for round in 1..=KILLS {
        mount(&server.node)?;
        for (name, before) in &kept {
            let found = sum(name)?;
            expect(found == *before, || format!("{name} was {before} and is {found}"))?;
        }
        let name = format!("synced-{round}");
        kept.push((name.clone(), synced_file(&name)?));
        line(&format!("dd if=/dev/zero of={MOUNT}/load bs=1M count=8 conv=fsync"))?;
        let mut load = disk::endless_writes(&format!("{MOUNT}/load"), 0, 8)?;
        std::thread::sleep(Duration::from_secs(2));
        let still = load.try_wait().map_err(|error| error.to_string())?;
        expect(still.is_none(), || format!("the load has ended: {still:?}"))?;
        let begun = Instant::now();
        server.tier.kill()?;
        let status = ended(&mut load, "the load")?;
        expect(!status.success(), || "the load went on without a server".to_owned())?;
        let written = bounded(&format!("dd if=/dev/zero of={MOUNT}/late bs=4k count=1 conv=fsync"))?;
        expect(!written.success(), || "a write was synced without a server".to_owned())?;
        // While it is mounted, the next server says so, and serves another device.
        let second = BlockServer::start("")?;
        expect(second.said().contains(&format!("it is mounted at {MOUNT}")), || second.said().to_owned())?;
        second.stop()?;
        let unmounted = bounded(&format!("umount {MOUNT}"))?;
        expect(unmounted.success(), || format!("umount: {unmounted}"))?;
        slowest = slowest.max(begun.elapsed());
        server = BlockServer::start("")?;
        let clean = !server.said().contains("left") && listed().len() == 1;
        expect(clean, || format!("{}: {:?}", server.said(), listed()))?;
    }
    mount(&server.node)?;
    for (name, before) in &kept {
        expect(sum(name)? == *before, || format!("{name} has changed"))?;
    }
    line(&format!("umount {MOUNT}"))?;
    line(&format!("e2fsck -f -n {}", server.node))?;
    server.stop()?;
    let figures = [("kills", json!(KILLS)), ("until_unmounted_s", json!(slowest.as_secs_f64()))];
    Ok(figures.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// A stop below a mounted file system ends within its bound, names it, and what was written is there afterwards.
fn stopped_under_a_file_system() -> Result<Figures, String> {
    format()?;
    let server = BlockServer::start("")?;
    line(&format!("mkfs.ext4 -q -E nodiscard {}", server.node))?;
    mount(&server.node)?;
    // Not synced: it is in memory.
    line(&format!("dd if=/dev/urandom of={MOUNT}/written bs=64k count=32"))?;
    let before = sum("written")?;
    let begun = Instant::now();
    let said = server.stop()?;
    let took = begun.elapsed();
    expect(said.contains(&format!("it is mounted at {MOUNT}")), || format!("it said {said:?}"))?;
    let unmounted = bounded(&format!("umount {MOUNT}"))?;
    expect(unmounted.success(), || format!("umount: {unmounted}"))?;
    let server = BlockServer::start("")?;
    mount(&server.node)?;
    let after = sum("written")?;
    line(&format!("umount {MOUNT}"))?;
    line(&format!("e2fsck -f -n {}", server.node))?;
    server.stop()?;
    expect(after == before, || format!("it was {before} and is {after}"))?;
    Ok([("stop_s".to_owned(), json!(took.as_secs_f64()))].into_iter().collect())
}

/// The driver holds nothing in the end, and its module can go.
fn nothing_is_left() -> Result<Figures, String> {
    expect(listed().is_empty(), || format!("{:?}", listed()))?;
    line("rmmod ublk_drv").map(|_| Figures::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_read_from_fios_document() {
        let text = r#"fio: a note {"jobs":[{"read":{"clat_ns":{"percentile":{"50.000000":1234}}}}]}"#;
        assert_eq!(median_ns(text), Ok(1234));
        assert!(median_ns(r#"{"jobs":[]}"#).is_err());
    }
}
