//! The commands of a cache tier: a pool is made, served, killed, drained, checked.

mod support;

use serde_json::Value;
use support::nbd::NbdClient;
use support::pools::{Server, fail, format, succeed, zeros};
use support::{Bench, text};

const SERVE: [&str; 4] = ["--origin", "data=data", "--nbd", "nbd"];

/// Lines stay dirty however long a slow host takes between two requests.
const NO_IDLE_CLEANING: [&str; 2] = ["--clean-after", "1h"];

fn json(said: &str) -> Value {
    serde_json::from_str(said).expect("the command writes JSON")
}

/// 8 KiB that tell their block.
fn block(number: u64) -> Vec<u8> {
    (0..8192_u64).map(|byte| (number * 31 + byte / 512 + 1) as u8).collect()
}

#[test]
fn what_was_flushed_survives_a_kill_of_the_server() {
    let bench = Bench::new("tier-kill");
    format(&bench, 8);
    let server = Server::start(&bench, &SERVE);
    assert!(server.said.contains("after a clean stop") && server.said.contains("B a line"), "{}", server.said);
    let mut client = NbdClient::connect(&bench.path("nbd"));
    assert_eq!(client.bytes, (64 << 20) - 4096);
    (0..200).for_each(|number| client.write(number * 3 * 8192, &block(number)));
    client.flush();
    (0..50).for_each(|number| client.write((number * 3 + 1) * 8192, &[0xee; 8192]));
    server.kill();
    let server = Server::start(&bench, &SERVE);
    assert!(server.said.contains("after a crash"), "{}", server.said);
    let mut client = NbdClient::connect(&bench.path("nbd"));
    for number in 0..200 {
        assert_eq!(client.read(number * 3 * 8192, 8192), block(number), "block {number}");
    }
    succeed(&bench.run(&["tier", "stop", "control"]));
    assert_eq!(server.wait(), (Some(0), String::new()));
    let said = succeed(&bench.run(&["tier", "check", "cache", "--origin", "data=data"]));
    assert!(said.starts_with("sound: cache") && said.contains("closed; opened 2 times"), "{said}");
    let drained = ["tier", "drain", "--cache", "cache", "--origin", "data=data", "--detach"];
    assert!(succeed(&bench.run(&drained)).contains("detached from the cache"));
    let origin = std::fs::read(bench.path("data")).unwrap();
    for number in 0..200 {
        let at = (number * 3 * 8192) as usize;
        assert_eq!(origin[at..at + 8192], block(number), "block {number} of the origin");
    }
    bench.expect_no_process();
}

#[test]
fn figures_of_an_open_pool_are_those_of_what_was_done() {
    let bench = Bench::new("tier-stats");
    format(&bench, 8);
    let server = Server::start(&bench, &[&SERVE[..], &NO_IDLE_CLEANING, &["--page-cache"]].concat());
    let mut client = NbdClient::connect(&bench.path("nbd"));
    (0..40).for_each(|number| client.write(number * 8192, &block(number)));
    (0..10).for_each(|number| client.write(number * 8192, &block(number)));
    client.flush();
    (0..30).for_each(|number| drop(client.read(number * 8192, 8192)));
    (0..10).for_each(|number| drop(client.read((1000 + number) * 8192, 8192)));
    let said = json(&succeed(&bench.run(&["tier", "stats", "control", "--json"])));
    let volume = &said["volumes"][0];
    let counters = &volume["counters"];
    let found = ["writes", "write_hits", "writes_absorbed", "reads", "read_hits", "read_misses", "flushes"];
    assert_eq!(found.map(|name| counters[name].as_u64().unwrap()), [50, 10, 50, 40, 30, 10, 1], "{said:#}");
    assert_eq!((&volume["read_hit_ratio"], &volume["write_hit_ratio"]), (&0.75.into(), &0.2.into()));
    assert_eq!((&volume["write_absorbed_ratio"], &volume["mode"]), (&1.0.into(), &"write-back".into()));
    assert_eq!(volume["times"]["flush"]["count"], 1);
    assert_eq!(said["pool"]["clean_depth"], 8);
    assert_eq!((&volume["lines"], &said["since_open"]), (&50.into(), &true.into()));
    let said = succeed(&bench.run(&["tier", "stats", "control"]));
    let answer =
        "data: 75.0 % of 40 reads hit; of 50 writes 20.0 % hit a line and 100.0 % were absorbed by the cache; ";
    assert!(said.starts_with(answer), "{said}");
    let said = json(&succeed(&bench.run(&["tier", "stats", "control", "--over", "100ms", "--json"])));
    assert_eq!((&said["volumes"][0]["counters"]["writes"], &said["since_open"]), (&0.into(), &false.into()));
    let said = succeed(&bench.run(&["tier", "drain", "control"]));
    assert_eq!(said, "drained: no line is dirty\n");
    let said = json(&succeed(&bench.run(&["tier", "stats", "control", "--json"])));
    let cleaned = &said["volumes"][0]["counters"]["cleaned_lines"];
    assert_eq!((cleaned, &said["pool"]["dirty_lines"]), (&40.into(), &0.into()));
    support::kill_gently(server.child.id());
    assert_eq!(server.wait(), (Some(0), String::new()));
}

#[test]
fn more_clean_writes_at_once_than_there_may_be_are_refused() {
    let bench = Bench::new("tier-depth");
    format(&bench, 8);
    for depth in ["0", "65"] {
        let asked = [&["tier", "serve", "cache", "--control", "control"], &SERVE[..], &["--clean-depth", depth]];
        let said = fail(&bench.run(&asked.concat()), 2);
        assert!(said.contains("--clean-depth") && said.contains("a whole number from 1 to 64"), "{said}");
    }
}

#[test]
fn marks_of_the_cleaner_that_cannot_be_are_all_told_with_their_limits() {
    let bench = Bench::new("tier-marks");
    format(&bench, 8);
    let marks = ["--clean-to", "60%", "--bypass-from", "150%", "--clean-age", "10ms", "--clean-depth", "many"];
    let asked =
        [&["tier", "serve", "cache", "--control", "control"], &SERVE[..], &marks[..], &["--quota", "data=5%"][..]];
    let said = fail(&bench.run(&asked.concat()), 2);
    let wanted = [
        "--clean-to: --clean-to (60%) is above --clean-from (50%); lower the first to at most 50%",
        "--bypass-from: \"150%\" must be a share from 0.01 to 1",
        "--clean-age: \"10ms\" must be a duration from 1s to 720h",
        "--clean-depth: \"many\" must be a whole number from 1 to 64, or \"auto\"",
        "--quota: only used with several cached volumes; remove it",
    ];
    wanted.iter().for_each(|part| assert!(said.contains(part), "{part}: {said}"));
}

#[test]
fn marks_and_times_of_the_cleaner_are_told_by_the_open_pool() {
    let bench = Bench::new("tier-cleaner");
    format(&bench, 8);
    let asked = ["--clean-depth", "auto", "--dirty-target", "12.5%", "--bypass-from", "1", "--clean-age", "1m"];
    let server = Server::start(&bench, &[&SERVE[..], &asked].concat());
    let told = "cleaner   auto writes at once, 12.5% dirty, without pause from 50% down to 45%, bypass \
                from 100%, all after 1s without requests, each after 1m";
    assert!(server.said.contains(told), "{}", server.said);
    let said = json(&succeed(&bench.run(&["tier", "stats", "control", "--json"])));
    let pool = &said["pool"];
    assert_eq!((&pool["clean_depth"], &pool["clean_depth_auto"]), (&8.into(), &true.into()));
    let marks = ["dirty_target", "clean_to", "clean_from", "bypass_from"].map(|mark| pool[mark].as_f64());
    assert_eq!(marks, [0.125, 0.45, 0.5, 1.0].map(Some));
    assert_eq!((&pool["clean_after_ns"], &pool["clean_age_ns"]), (&1_000_000_000.into(), &60_000_000_000_u64.into()));
    assert_eq!(said["volumes"][0]["quota_lines"], serde_json::Value::Null);
}

#[test]
fn a_new_cache_is_warmed_by_the_list_of_an_old_one() {
    let bench = Bench::new("tier-warm");
    format(&bench, 8);
    let server = Server::start(&bench, &SERVE);
    let mut client = NbdClient::connect(&bench.path("nbd"));
    (0..100).for_each(|number| client.write(number * 3 * 8192, &block(number)));
    client.flush();
    succeed(&bench.run(&["tier", "stop", "control"]));
    assert_eq!(server.wait(), (Some(0), String::new()));
    let dumped = succeed(&bench.run(&["tier", "dump", "cache", "--lines", "--json"]));
    // Each line once more.
    let lines = dumped.split_once('\n').expect("lines behind the first object").1;
    std::fs::write(bench.path("list"), format!("{dumped}{lines}")).unwrap();
    succeed(&bench.run(&["tier", "drain", "--cache", "cache", "--origin", "data=data", "--detach"]));
    std::fs::remove_file(bench.path("cache")).unwrap();
    succeed(&bench.run(&["tier", "format", "cache", "--origin", "data=data", "--size", "16MiB"]));
    let asked = [&["tier", "serve", "cache", "--control", "control"], &SERVE[..], &["--warm", "data"][..]];
    assert!(fail(&bench.run(&asked.concat()), 1).contains("failed to read the list of lines data"));
    let server = Server::start(&bench, &[&SERVE[..], &["--warm", "list", "--warm-rate", "1GiB"]].concat());
    assert!(server.said.contains("warming   from list, at most 1 GiB per second"), "{}", server.said);
    let lines = || json(&succeed(&bench.run(&["tier", "stats", "control", "--json"])))["volumes"][0]["lines"].clone();
    // At most a minute on any host.
    let is_warm = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        lines() == 100
    });
    assert!(is_warm, "{} lines are in the cache", lines());
    succeed(&bench.run(&["tier", "stop", "control"]));
    let (code, said) = server.wait();
    assert_eq!(code, Some(0), "{said}");
    let told = "warmed: 100 lines read, 0 were in the cache, 0 are of no cached volume, 100 were named before";
    assert!(said.contains(told), "{said}");
}

#[test]
fn flushes_are_delayed_as_asked_and_told() {
    let bench = Bench::new("tier-delay");
    format(&bench, 8);
    let said = fail(
        &bench.run(
            &[&["tier", "serve", "cache", "--control", "control"], &SERVE[..], &["--flush-delay", "5001ms"]].concat(),
        ),
        2,
    );
    assert!(said.contains("--flush-delay: at most 5s"), "{said}");
    let server = Server::start(&bench, &[&SERVE[..], &["--page-cache", "--flush-delay", "300ms"]].concat());
    assert!(server.said.contains("each delayed by 300ms"), "{}", server.said);
    let mut client = NbdClient::connect(&bench.path("nbd"));
    client.write(0, &block(1));
    let begun = std::time::Instant::now();
    client.flush();
    assert!(begun.elapsed() >= std::time::Duration::from_millis(300), "{:?}", begun.elapsed());
    let said = json(&succeed(&bench.run(&["tier", "stats", "control", "--json"])));
    assert_eq!(said["pool"]["flush_delay_ns"], 300_000_000);
    assert!(said["volumes"][0]["times"]["flush"]["ns_p50"].as_u64() >= Some(300_000_000), "{said:#}");
    assert!(succeed(&bench.run(&["tier", "stats", "control"])).contains("\nflushes: each delayed by 300 ms"));
    succeed(&bench.run(&["tier", "stop", "control"]));
    assert_eq!(server.wait().0, Some(0));
}

#[test]
fn a_drain_before_slow_drives_is_bounded_and_says_how_long_the_rest_takes() {
    let bench = Bench::new("tier-slow");
    // 1,500 dirty lines are less than the share of the cache from which they are cleaned under load.
    format(&bench, 64);
    let slow = ["--slow", "raid-5:4x15k", "--page-cache", "--clean-depth", "1"];
    let server = Server::start(&bench, &[&SERVE[..], &NO_IDLE_CLEANING, &slow].concat());
    assert!(server.said.contains("modelled: raid-5 of 4 × 15k drives"), "{}", server.said);
    let mut client = NbdClient::connect(&bench.path("nbd"));
    // No two neighbours: each line is read, and written a revolution later, in some 6 ms, a batch of 256 in two seconds, all in twelve. A host
    // whose timers are late has a batch in five, too.
    (0..1_500).for_each(|number| client.write(number * 5 * 8192, &block(number)));
    client.flush();
    let said = fail(&bench.run(&["tier", "drain", "control", "--within", "5s"]), 1);
    let lines = said.split(": ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().replace(',', "");
    assert!((1..1_500).contains(&lines.parse::<u32>().unwrap()), "{said}");
    assert!(said.starts_with("not drained within 5.00 s: ") && said.contains(" more at "), "{said}");
    let said = json(&succeed(&bench.run(&["tier", "stats", "control", "--json"])));
    let disk = &said["slow_disks"][0];
    assert!(disk["requests"].as_u64().unwrap() >= 10 && disk["busy_ns"].as_u64().unwrap() > 100_000_000, "{said:#}");
    assert!(disk["drives_at_work_mean"].as_f64().unwrap() > 0.0 && disk["modelled"] == true, "{said:#}");
    assert!(succeed(&bench.run(&["tier", "stats", "control"])).contains("\nslow disk, modelled: "));
    succeed(&bench.run(&["tier", "stop", "control"]));
    assert_eq!(server.wait().0, Some(0));
    let dump = json(succeed(&bench.run(&["tier", "dump", "cache", "--json"])).lines().next().unwrap());
    let volume = &dump["volumes"][0];
    let ranges = volume["dirty_ranges"].as_array().unwrap();
    assert!(dump["line_bytes"] == 8192 && volume["bytes"].as_u64() > Some(0), "{dump}");
    assert_eq!(volume["dirty_lines"], ranges.len());
    assert!(ranges.iter().all(|range| range[1].as_u64().unwrap() - range[0].as_u64().unwrap() == 8192), "{dump}");
}

#[test]
fn lines_are_dumped_and_damage_is_found() {
    let bench = Bench::new("tier-dump");
    format(&bench, 8);
    let server = Server::start(&bench, &[SERVE.as_slice(), &NO_IDLE_CLEANING].concat());
    let mut client = NbdClient::connect(&bench.path("nbd"));
    client.write(5 * 8192, &block(5));
    client.write(9 * 8192 + 4096, &[7; 4096]);
    client.flush();
    support::kill_gently(server.child.id());
    assert_eq!(server.wait().0, Some(0));
    let said = succeed(&bench.run(&["tier", "dump", "cache", "--lines"]));
    let expected = "volume 0: 2 lines, 2 dirty\n  dirty bytes 40960 to 49152\n  dirty bytes 77824 to 81920\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.contains(" 0 40960 11 11 ") && said.contains(" 0 73728 01 01 "), "{said}");
    let content = std::fs::read(bench.path("cache")).unwrap();
    let place = content.windows(4096).rposition(|bytes| bytes == [7; 4096]).unwrap();
    let mut damaged = content.clone();
    damaged[place] = 8;
    std::fs::write(bench.path("cache"), damaged).unwrap();
    let said = fail(&bench.run(&["tier", "check", "cache"]), 5);
    assert!(
        said.starts_with("NOT SOUND: cache") && said.contains("1 dirty and damaged: their content is lost"),
        "{said}"
    );
    assert!(said.contains("volume 0, byte 77824"), "{said}");
    let said = json(&text(&bench.run(&["tier", "check", "cache", "--json"]).stdout));
    assert_eq!(
        (&said["sound"], &said["sectors"], &said["fault_counts"]["lost"]),
        (&false.into(), &3.into(), &1.into())
    );
    succeed(&bench.run(&["tier", "check", "cache", "--no-data"]));
}

#[test]
fn devices_that_do_not_belong_together_are_refused_by_name() {
    let bench = Bench::new("tier-foreign");
    format(&bench, 8);
    let serve =
        |arguments: &[&str]| bench.run(&[&["tier", "serve", "cache", "--control", "control"], arguments].concat());
    let said = fail(&serve(&["--origin", "data=none"]), 1);
    assert!(said.contains("none: it is missing"), "{said}");
    zeros(&bench, "stranger", 64 << 20);
    let said = fail(&serve(&["--origin", "data=stranger"]), 1);
    assert!(said.contains("origin 0 (stranger): it is missing or was never formatted"), "{said}");
    let said = fail(&serve(&["--origin", "data=data", "--origin", "log=stranger"]), 1);
    assert!(said.contains("1 origins of the cache, of which 2"), "{said}");
    let old = std::fs::read(bench.path("data")).unwrap();
    let server = Server::start(&bench, &SERVE);
    let said = fail(&bench.run(&["tier", "check", "cache"]), 1);
    assert!(said.contains("cache: another process has it open"), "{said}");
    support::kill_gently(server.child.id());
    server.wait();
    std::fs::write(bench.path("data"), old).unwrap();
    let said = fail(&serve(&["--origin", "data=data"]), 1);
    assert!(said.contains("origin 0 (data): it was opened 0 times and the cache 1 times"), "{said}");
    let said = fail(&bench.run(&["tier", "check", "cache", "--origin", "data=data"]), 5);
    assert!(said.contains("FAULT") && said.contains("older copy"), "{said}");
    assert!(!bench.path("control").exists());
    fail(&bench.run(&["tier", "stats", "control"]), 1);
}

#[test]
fn a_kernel_without_ublk_is_told_what_it_lacks_and_the_pool_is_left_alone() {
    if std::path::Path::new("/dev/ublk-control").exists() {
        return println!("SKIPPED: this kernel has ublk");
    }
    let bench = Bench::new("tier-ublk");
    format(&bench, 8);
    let output = bench.run(&["tier", "serve", "cache", "--control", "control", "--origin", "data=data", "--ublk"]);
    if cfg!(feature = "ublk") {
        let said = fail(&output, 1);
        assert!(said.contains("CONFIG_BLK_DEV_UBLK") && said.contains("modprobe ublk_drv"), "{said}");
    } else {
        let said = fail(&output, 2);
        assert!(said.contains("--features ublk"), "{said}");
    }
    let server = Server::start(&bench, &SERVE);
    assert!(server.said.contains("after a clean stop"), "{}", server.said);
}

#[test]
fn a_drain_of_a_damaged_cache_writes_back_the_rest_and_lists_what_is_left() {
    let bench = Bench::new("tier-salvage");
    format(&bench, 8);
    let server = Server::start(&bench, &[SERVE.as_slice(), &NO_IDLE_CLEANING].concat());
    let mut client = NbdClient::connect(&bench.path("nbd"));
    (0..40).for_each(|number| client.write(number * 8192, &block(number)));
    client.flush();
    drop(client);
    succeed(&bench.run(&["tier", "stop", "control"]));
    assert_eq!(server.wait(), (Some(0), String::new()));
    let mut cache = std::fs::read(bench.path("cache")).unwrap();
    let at = (0..cache.len() - 8192).step_by(4096).find(|at| cache[*at..at + 8192] == block(3)).unwrap();
    cache[at + 100] ^= 1;
    std::fs::write(bench.path("cache"), &cache).unwrap();
    let drain = ["tier", "drain", "--cache", "cache", "--origin", "data=data", "--detach"];
    let said = fail(&bench.run(&drain), 1);
    assert!(said.starts_with("NOT drained: 316 KiB written back, 4 KiB in 1 line left in the cache\n"), "{said}");
    assert!(said.contains("lost        data, bytes 24576 to 28672") && said.contains("a backup"), "{said}");
    let origin = std::fs::read(bench.path("data")).unwrap();
    for number in (0..40_u64).filter(|number| *number != 3) {
        let at = (number * 8192) as usize;
        assert_eq!(origin[at..at + 8192], block(number), "block {number} of the origin");
    }
    let said = json(&fail(&bench.run(&[&drain[..], &["--json"]].concat()), 1));
    assert_eq!(said["skipped"], serde_json::json!([{ "volume": 0, "at": 24576, "bytes": 4096, "kind": "lost" }]));
    assert_eq!((&said["detached"], &said["left_bytes"]), (&false.into(), &4096.into()));
    bench.expect_no_process();
}

#[test]
fn a_cache_shrinks_and_grows_while_nobody_serves_it_and_loses_nothing() {
    let bench = Bench::new("tier-resize");
    format(&bench, 8);
    let whole = std::fs::metadata(bench.path("cache")).expect("a file").len();
    let resize = |size: &str, more: &[&str]| {
        let asked = ["tier", "resize", "cache", "--origin", "data=data", "--size", size];
        bench.run(&[&asked[..], more].concat())
    };
    let server = Server::start(&bench, &[&SERVE[..], &NO_IDLE_CLEANING].concat());
    let mut client = NbdClient::connect(&bench.path("nbd"));
    // Less than the share of the cache from which lines are cleaned under load, and more lines than are left.
    (0..190).for_each(|number| client.write(number * 3 * 8192, &block(number)));
    client.flush();
    let said = fail(&resize("1MiB", &[]), 1);
    assert!(said.contains("another process has it open") && said.contains("proofload tier stop"), "{said}");
    // After a crash as well.
    server.kill();
    let said = fail(&resize("1MiB", &["--within", "0s"]), 1);
    assert!(said.contains("not cleaned in time") && said.contains("lines as before"), "{said}");
    assert_eq!(std::fs::metadata(bench.path("cache")).expect("a file").len(), whole);
    let done = json(&succeed(&resize("1MiB", &["--json"])));
    let [before, lines, most] = ["lines_before", "lines", "most_lines"].map(|name| done[name].as_u64().expect(name));
    assert!(before == most && (8..256).contains(&lines) && done["form"] == 1, "{done:#}");
    assert!(done["cleaned_bytes"].as_u64() > Some(0) && done["dirty_lines"].as_u64() <= Some(lines), "{done:#}");
    let shrunk = std::fs::metadata(bench.path("cache")).expect("a file").len();
    assert!(shrunk <= 1 << 20 && done["cache_bytes"] == shrunk, "{shrunk} {done:#}");
    let check = ["tier", "check", "cache", "--origin", "data=data"];
    assert!(succeed(&bench.run(&check)).starts_with("sound: cache"));
    let expect_all = |more: &[&str]| {
        let server = Server::start(&bench, &[&SERVE[..], more].concat());
        let mut client = NbdClient::connect(&bench.path("nbd"));
        (0..190).for_each(|number| assert_eq!(client.read(number * 3 * 8192, 8192), block(number), "block {number}"));
        succeed(&bench.run(&["tier", "stop", "control"]));
        assert_eq!(server.wait().0, Some(0));
    };
    expect_all(&[]);
    let said = succeed(&resize("8MiB", &[]));
    assert!(said.starts_with("resized: cache from ") && said.contains("  cleaned "), "{said}");
    assert!(std::fs::metadata(bench.path("cache")).expect("a file").len() > 7 << 20);
    expect_all(&NO_IDLE_CLEANING);
    assert!(succeed(&bench.run(&check)).starts_with("sound: cache"));
    let large = fail(&resize("9MiB", &[]), 2);
    assert!(large.contains("--size: 9 MiB is too large") && large.contains("--detach"), "{large}");
    let small = fail(&resize("1KiB", &["--json"]), 2);
    assert!(small.contains("too small") && small.contains("\"exit\""), "{small}");
}

#[test]
fn a_cache_that_does_not_grow_gives_its_room_back() {
    let bench = Bench::new("tier-no-growth");
    format(&bench, 8);
    let resize = |size: &str, origin: &str| {
        let origin = format!("data={origin}");
        bench.run(&["tier", "resize", "cache", "--origin", &origin, "--size", size])
    };
    succeed(&resize("1MiB", "data"));
    let length = || std::fs::metadata(bench.path("cache")).expect("a file").len();
    let shrunk = length();
    assert!(shrunk <= 1 << 20, "{shrunk}");
    zeros(&bench, "stranger", 64 << 20);
    // The one fails before the devices are open, the other after.
    for origin in ["none", "stranger"] {
        let said = fail(&resize("8MiB", origin), 1);
        assert!(said.contains(origin) && said.contains("it is missing"), "{said}");
        assert!(!said.contains("keeps the room"), "{said}");
        assert_eq!(length(), shrunk, "{origin}");
    }
    assert!(succeed(&bench.run(&["tier", "check", "cache", "--origin", "data=data"])).starts_with("sound: cache"));
    succeed(&resize("8MiB", "data"));
    assert!(length() > 7 << 20);
}

#[test]
fn what_formatting_would_lose_is_named_twice() {
    let bench = Bench::new("tier-format");
    format(&bench, 8);
    let server = Server::start(&bench, &[SERVE.as_slice(), &NO_IDLE_CLEANING].concat());
    let mut client = NbdClient::connect(&bench.path("nbd"));
    client.write(0, &block(1));
    client.flush();
    server.kill();
    let format = ["tier", "format", "cache", "--origin", "data=data"];
    let said = fail(&bench.run(&format), 2);
    assert!(said.contains("cache is the cache of a pool and has 1 line that no origin has"), "{said}");
    assert!(said.contains("--yes cache,data"), "{said}");
    let said = fail(&bench.run(&[&format[..], &["--yes", "cache"]].concat()), 2);
    assert!(said.contains("data is the origin of a pool") && !said.contains("cache is the cache"), "{said}");
    let said = fail(&bench.run(&[&format[..], &["--yes", "cache,other"]].concat()), 2);
    assert!(said.contains("--yes names other"), "{said}");
    assert_eq!(json(&succeed(&bench.run(&["tier", "check", "cache", "--json"])))["volumes"][0]["dirty_lines"], 1);
    succeed(&bench.run(&[&format[..], &["--yes", "cache,data"]].concat()));
    assert_eq!(json(&succeed(&bench.run(&["tier", "check", "cache", "--json"])))["volumes"][0]["lines"], 0);
    std::fs::write(bench.path("photos"), vec![1; 1 << 20]).unwrap();
    zeros(&bench, "new", 8 << 20);
    let said = fail(&bench.run(&["tier", "format", "photos", "--origin", "data=new"]), 2);
    assert!(said.contains("photos has content of another program"), "{said}");
    assert_eq!(std::fs::read(bench.path("photos")).unwrap(), vec![1; 1 << 20]);
}

#[test]
fn faults_of_a_command_line_come_all_at_once() {
    let bench = Bench::new("tier-usage");
    let said = fail(
        &bench.run(&[
            "tier",
            "serve",
            "cache",
            "--control",
            "control",
            "--origin",
            "disk=a",
            "--origin",
            "data=b",
            "--mode",
            "back",
            "--policy",
            "mru",
            "--slow",
            "raid-5:2x7.2k",
            "--within",
            "1",
            "--nbd",
            "log=x",
        ]),
        2,
    );
    for fault in [
        "\"disk\"",
        "--mode back",
        "\"mru\"",
        "raid-5 cannot have 2 drives; it needs 3 to 64",
        "--within",
        "--nbd log=x: the pool has no volume",
    ] {
        assert!(said.contains(fault), "{fault} in {said}");
    }
    let said = fail(&bench.run(&["tier", "format", "cache", "--origin", "data=b", "--line", "6KiB"]), 2);
    assert!(said.contains("--line: line size is 6144") && said.contains("--size"), "{said}");
    assert_eq!(bench.run(&["tier", "drain"]).status.code(), Some(2));
    assert_eq!(bench.run(&["tier", "drain", "control", "--cache", "c"]).status.code(), Some(2));
}

/// A loop device over a file of zeros, gone with the test.
struct LoopDevice(String);

impl LoopDevice {
    /// `None` where there is no right to one.
    fn over(bench: &Bench, name: &str) -> Option<Self> {
        let file = zeros(bench, name, 64 << 20);
        let made = std::process::Command::new("losetup").args(["--show", "-f"]).arg(file).output().ok()?;
        made.status.success().then(|| Self(text(&made.stdout).trim().to_owned()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _detached = std::process::Command::new("losetup").args(["-d", &self.0]).status();
    }
}

#[test]
fn a_cache_of_the_kernel_is_planned_and_its_devices_are_named_twice() {
    let bench = Bench::new("tier-kernel");
    let (Some(cache), Some(origin)) = (LoopDevice::over(&bench, "cache"), LoopDevice::over(&bench, "origin")) else {
        println!("SKIPPED: there is no right to loop devices");
        return;
    };
    let (cache, origin) = (cache.0.as_str(), origin.0.as_str());
    let command = |with: &str, more: &[&str]| {
        bench.run(&[&["tier", "kernel", "set-up", cache, "--origin", origin, "--with", with], more].concat())
    };
    for (with, program) in [
        ("dm-cache", "dmsetup create"),
        ("dm-writecache", "dmsetup create"),
        ("bcache", "make-bcache"),
        ("open-cas", "casadm --start-cache"),
    ] {
        let said = succeed(&command(with, &["--dry-run"]));
        assert!(said.contains(program) && said.contains(cache) && said.contains(origin), "{said}");
        assert!(
            said.contains(&format!("(add --yes {cache})")) && said.contains(&format!("(add --yes {origin})")),
            "{said}"
        );
        let both = format!("{cache},{origin}");
        let plan = json(&succeed(&command(with, &["--dry-run", "--json", "--yes", &both])));
        assert!(plan["against"].is_null() && plan["steps"].as_array().unwrap().len() > 2, "{plan:#}");
        let said = fail(&command(with, &["--yes", cache]), 2);
        assert!(
            said.contains(&format!("(add --yes {origin})")) && !said.contains(&format!("(add --yes {cache})")),
            "{said}"
        );
        let said = fail(&command(with, &["--yes", &format!("{both},/dev/sda")]), 2);
        assert!(said.contains("/dev/sda, which is not a device of this command"), "{said}");
        let said = fail(&bench.run(&["tier", "kernel", "stats", cache, "--origin", origin, "--with", with]), 1);
        assert!(said.contains("is not") || said.contains("has no"), "{said}");
    }
    for device in [cache, origin] {
        let content = std::fs::read(device).unwrap();
        assert!(content == vec![0; content.len()], "{device} was written");
    }
}

#[test]
fn what_a_cache_of_the_kernel_cannot_be_is_refused() {
    let bench = Bench::new("tier-kernel-usage");
    zeros(&bench, "file", 1 << 20);
    let said = fail(
        &bench.run(&["tier", "kernel", "set-up", "file", "--origin", "file", "--with", "zfs", "--mode", "back"]),
        2,
    );
    assert!(
        said.contains("unknown cache \"zfs\"; use one of dm-cache") && said.contains("--mode: unknown mode"),
        "{said}"
    );
    let said =
        fail(&bench.run(&["tier", "kernel", "set-up", "file", "--origin", "file", "--with", "bcache", "--dry-run"]), 1);
    assert!(said.contains("it is not a block device"), "{said}");
    let modes = [
        "tier",
        "kernel",
        "set-up",
        "file",
        "--origin",
        "file",
        "--with",
        "dm-writecache",
        "--mode",
        "write-through",
        "--dry-run",
    ];
    assert!(fail(&bench.run(&modes), 2).contains("dm-writecache has no mode write-through"));
    let blocks =
        ["tier", "kernel", "set-up", "file", "--origin", "file", "--with", "dm-cache", "--block", "48KiB", "--dry-run"];
    assert!(fail(&bench.run(&blocks), 2).contains("dm-cache needs blocks of"));
}
