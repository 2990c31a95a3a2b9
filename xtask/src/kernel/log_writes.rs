//! Cases of what reaches the device: the kernel's target log-writes keeps what the program asks of the devices of its pool, and a test program of
//! the tier replays that up to every flush and between two, and recovers there.
//!
//! Cache and origin lie on one logged device, so that their requests have one order. Throughput in the machine means nothing; which flush follows
//! which write is the program's own.

use super::case::{Case, Figures};
use super::disk::SPARE;
use super::programs::{PROOFLOAD, expect, line, run};
use super::tier_server::{SOCKET, TierServer};
use serde_json::{Value, json};
use std::process::Command;

/// The group's name.
pub(super) const GROUP: &str = "log-writes";

/// The test program of the tier that reads logs.
pub(super) const TESTS: &str = "/tier-log-tests";

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case { name: "load through the tier", boot: 1, run: load },
    Case { name: "flushed is there", boot: 1, run: flushed_is_there },
    Case { name: "the program recovers", boot: 1, run: the_program_recovers },
    Case { name: "left out flushes are found", boot: 1, run: left_out_flushes_are_found },
    Case { name: "drained is on the origin", boot: 1, run: drained_is_on_the_origin },
];

/// Rounds of the load that is replayed in full, and of the others; each ends with a flush.
const ROUNDS: u32 = 12;
const FEW_ROUNDS: u32 = 4;

/// Sizes of cache and origin, in sectors of 512 bytes: the cache is smaller than what the load writes.
const CACHE: u64 = 1536;
const ORIGIN: u64 = 2048 + 8;

/// Size of a cache that need not clean anything before a drain, unless it is idle.
const LARGE_CACHE: u64 = 16384;

/// Places on the disk that no other case has used, each with room for both devices and their log; in sectors.
const PLACE: u64 = 512 * 1024;
const ROOM: u64 = 64 * 1024;

/// Where the volume of a server is.
const FOLDER: &str = "/run/volumes";

/// Maps a device. There is no udev, so that device nodes are made by the program itself.
fn map(name: &str, table: &str) -> Result<(), String> {
    run(&["env", "DM_DISABLE_UDEV=1", "dmsetup", "create", name, "--table", table]).map(drop)
}

fn unmap(names: &[&str]) -> Result<(), String> {
    names.iter().try_for_each(|name| line(&format!("env DM_DISABLE_UDEV=1 dmsetup remove {name}")).map(drop))
}

/// Devices `cache` and `origin` on a device `logged`, whose log is `log`, at a place of zeros.
fn map_logged(place: u64) -> Result<(), String> {
    line("modprobe fuse")?;
    let first = place * PLACE;
    map("base", &format!("0 {} linear {SPARE} {first}", CACHE + ORIGIN))?;
    map("log", &format!("0 {} linear {SPARE} {}", PLACE - ROOM, first + ROOM))?;
    map("logged", &format!("0 {} log-writes /dev/mapper/base /dev/mapper/log", CACHE + ORIGIN))?;
    map("cache", &format!("0 {CACHE} linear /dev/mapper/logged 0"))?;
    map("origin", &format!("0 {ORIGIN} linear /dev/mapper/logged {CACHE}"))
}

/// Serves the volume of `cache` and `origin` as a file.
fn serve() -> Result<TierServer, String> {
    let _there = std::fs::create_dir(FOLDER);
    TierServer::start(&format!("/dev/mapper/cache --origin data=/dev/mapper/origin --fuse {FOLDER}"))
}

/// Runs a test by its name on a place, with the sizes of both devices in bytes; one that skips itself has failed. What it has counted are figures.
fn test(name: &str, place: &str, cache: u64, rounds: u32) -> Result<Figures, String> {
    let told = format!("{place} {} {} {rounds}", cache * 512, ORIGIN * 512);
    let mut command = Command::new("timeout");
    command.args(["240", TESTS, name, "--exact", "--nocapture"]).env("PROOFLOAD_LOG_WRITES", &told);
    let output = command.output().map_err(|error| format!("{TESTS}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let has_passed = output.status.success() && text.contains("ok. 1 passed") && !text.contains("SKIPPED");
    expect(has_passed, || format!("{name} on {told}: {}: {}", output.status, text.replace('\n', " | ")))?;
    let figures = text.lines().filter_map(|line| line.strip_prefix("figure ")?.split_once(' '));
    Ok(figures.map(|(name, count)| (name.to_owned(), json!(count.parse::<u64>().ok()))).collect())
}

/// Makes a pool on the logged devices and writes rounds to it through the served file; the server is left to the caller.
fn load_on(place: u64, rounds: u32, map: fn(u64) -> Result<(), String>) -> Result<TierServer, String> {
    map(place)?;
    line(&format!("{PROOFLOAD} tier format /dev/mapper/cache --origin data=/dev/mapper/origin"))?;
    let server = serve()?;
    test("rounds_are_written_and_marked", &format!("{FOLDER}/data"), CACHE, rounds)?;
    Ok(server)
}

/// The program serves a pool on logged devices, and a load writes rounds to it.
fn load() -> Result<Figures, String> {
    let server = load_on(0, ROUNDS, map_logged)?;
    let stats = super::programs::document(&format!("tier stats {SOCKET}"))?;
    server.stop()?;
    unmap(&["origin", "cache", "logged"])?;
    let counters = &stats["volumes"][0]["counters"];
    let count = |name: &str| counters[name].as_u64().unwrap_or(0);
    // Otherwise the log has nothing of the cleaner, of lines that were given up, and of discards.
    for name in ["cleaned_lines", "evictions", "discards", "flushes"] {
        expect(count(name) > 0, || format!("no {name}: {counters}"))?;
    }
    let figures = ["writes", "discards", "cleaned_lines", "evictions", "flushes", "writes_bypassed"];
    Ok(figures.map(|name| (name.to_owned(), Value::from(count(name)))).into_iter().collect())
}

/// Every state up to a flush and between two: what was flushed before is there. A mark moved ahead and a flush left out of the log are found.
fn flushed_is_there() -> Result<Figures, String> {
    test("what_was_flushed_is_in_every_state_of_the_log", "/dev/mapper/log", CACHE, ROUNDS)
}

/// The program itself recovers on a device that has what was durable at a flush, twice, and serves what was flushed.
fn the_program_recovers() -> Result<Figures, String> {
    map("replayed", &format!("0 {} linear {SPARE} {PLACE}", CACHE + ORIGIN))?;
    map("cache", &format!("0 {CACHE} linear /dev/mapper/replayed 0"))?;
    map("origin", &format!("0 {ORIGIN} linear /dev/mapper/replayed {CACHE}"))?;
    let figures = test("the_last_round_is_written_to_a_device", "/dev/mapper/log", CACHE, ROUNDS)?;
    for is_last in [false, true] {
        line(&format!("{PROOFLOAD} tier check /dev/mapper/cache --origin data=/dev/mapper/origin"))?;
        let server = serve()?;
        test("a_served_volume_has_the_last_round", &format!("{FOLDER}/data"), CACHE, ROUNDS)?;
        if is_last { server.stop().map(drop)? } else { server.kill()? }
    }
    unmap(&["origin", "cache", "replayed", "log", "base"])?;
    Ok(figures)
}

/// Makes the proof fail by flushes that the kernel answers and does not send on, as if the program had sent none.
fn left_out_flushes_are_found() -> Result<Figures, String> {
    let server = load_on(2, FEW_ROUNDS, |place| {
        map_logged(place)?;
        ["cache", "origin"].into_iter().try_for_each(drop_flushes_of)
    })?;
    server.stop()?;
    unmap(&["origin", "cache", "logged"])?;
    let figures = test("a_run_without_flushes_is_found", "/dev/mapper/log", CACHE, FEW_ROUNDS)?;
    unmap(&["log", "base"])?;
    Ok(figures)
}

/// Has the kernel take a device for one without a volatile cache, to which flushes are not sent.
fn drop_flushes_of(name: &str) -> Result<(), String> {
    let minor = line(&format!("dmsetup info -c --noheadings -o minor {name}"))?;
    let file = format!("/sys/block/dm-{}/queue/write_cache", minor.trim());
    let failed = |error: std::io::Error| format!("{file}: {error}");
    let before = std::fs::read_to_string(&file).map_err(failed)?;
    std::fs::write(&file, "write through").map_err(failed)?;
    let after = std::fs::read_to_string(&file).map_err(failed)?;
    let has_changed = before.trim() == "write back" && after.trim() == "write through";
    expect(has_changed, || format!("{file} was {before:?} and is {after:?}"))
}

/// What a drain has acknowledged lies on the origin, durable without its cache. Here the origin alone is logged.
fn drained_is_on_the_origin() -> Result<Figures, String> {
    let server = load_on(3, FEW_ROUNDS, |place| {
        let first = place * PLACE;
        map("base", &format!("0 {ORIGIN} linear {SPARE} {first}"))?;
        map("cache", &format!("0 {LARGE_CACHE} linear {SPARE} {}", first + ORIGIN))?;
        map("log", &format!("0 {} linear {SPARE} {}", PLACE - ROOM, first + ROOM))?;
        map("logged", &format!("0 {ORIGIN} log-writes /dev/mapper/base /dev/mapper/log"))?;
        map("origin", &format!("0 {ORIGIN} linear /dev/mapper/logged 0"))
    })?;
    line(&format!("{PROOFLOAD} tier drain {SOCKET} --within 120s"))?;
    run(&["dmsetup", "message", "logged", "0", "mark", "drained"])?;
    server.kill()?;
    unmap(&["origin", "logged"])?;
    let figures = test("what_was_drained_is_on_the_origin", "/dev/mapper/log", 0, FEW_ROUNDS)?;
    unmap(&["cache", "log", "base"])?;
    Ok(figures)
}
