//! A study of PostgreSQL on a cache tier that the program serves to it: verified, observed, and given back when its agent is killed.

#![cfg(feature = "fuse")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_model::facts::tier;
use proofload_model::series;
use proofload_model::tier::{SizedVolume, TierVolume};
use proofload_record::Attempt;
use std::path::Path;
use std::time::Duration;
use support::{Bench, kill, postgresql_here, small_study, text, tiers};

/// A factor: no cache, and one of all data before data and log.
const TIER: &str = r#"
[[factor]]
setting = "storage.cache"
levels = [{ percent = 0 }, { percent = 120, accelerate = ["data", "log"] }]
"#;

fn study() -> String {
    let study = small_study("postgresql", TIER, 1);
    let slow = "kind = \"tier\"\nvolume = \"1GiB\"\nslow.drive = \"15k\"\nslow.raid = \"raid-0\"\nslow.write_cache = \"16MiB\"\ncache.clean_depth = 4\n";
    study.replacen("path = \"data\"\n", &format!("path = \"data\"\n{slow}"), 1)
}

/// Whether a tier can be served here.
fn can_serve(test: &str) -> bool {
    if !postgresql_here(test) {
        return false;
    }
    let can = Path::new("/dev/fuse").exists() && rustix::process::geteuid().is_root();
    if !can {
        println!("SKIPPED: {test}: it needs /dev/fuse and root");
    }
    can
}

/// Mounts and loop devices below a folder.
fn held_below(folder: &Path) -> Vec<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let devices = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices.filter_map(|device| std::fs::read_to_string(device.path().join("loop/backing_file")).ok());
    let all = mounts.lines().map(str::to_owned).chain(files);
    all.filter(|line| line.contains(&*folder.to_string_lossy())).collect()
}

/// The small caches follow the blocks of the volumes: the one of the study's own size, which the data fit into, misses as many reads of them.
fn expect_forecasts(attempt: &Attempt) {
    assert!(tiers::sum(attempt, &series::tier::SAMPLED, "") > 0.0, "{:?}", attempt.series);
    let of = |name: &series::SeriesName| tiers::sum(attempt, name, "data");
    let (reads, missed) = (of(&series::tier::READS), of(&series::tier::READS) - of(&series::tier::READ_HITS));
    let sizes = attempt.series.iter().filter(|one| series::tier::MISSES_AT.is_of(&one.probe, &one.name));
    let of_data =
        sizes.filter_map(|one| SizedVolume::parse(&one.component)).filter(|one| one.volume == TierVolume::Data);
    let largest = of_data.max_by_key(|one| one.size.0).expect("the largest is the study's own");
    let expected = tiers::sum(attempt, &series::tier::MISSES_AT, &largest.to_string());
    // Caches and counters are read one after the other, and a slow probe shifts misses between; followed blocks that are not those of the volume
    // miss none or all.
    let close = missed / 2.0 - 50.0..=2.0 * missed + 50.0;
    assert!(close.contains(&expected), "{missed} of {reads}, not {expected}");
}

#[test]
fn a_server_on_a_tier_is_verified_observed_and_given_back() {
    if !can_serve("cache-tier-server") {
        return;
    }
    let bench = Bench::new("cache-tier-server");
    bench.study(&study());
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    // Windows of two seconds may say nothing; what was recorded must hold all the same.
    let told = format!("{}{}", text(&done.stdout), text(&done.stderr));
    assert!(matches!(done.status.code(), Some(0 | 6)), "{told}");
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert_eq!(record.attempts.len(), 2, "{told}");
    for attempt in &record.attempts {
        let facts = &attempt.facts;
        assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{facts:?}");
        assert_eq!(tier::EXPORT.text(facts), Some("FUSE files and direct loop devices, ext4"));
        let cached = attempt.run.point == 1;
        let wanted = if cached { "write-back" } else { "pass" };
        assert_eq!(tier::MODE.of("log").text(facts), Some(wanted));
        assert_eq!(tier::CACHE.text(facts) == Some("0B"), !cached);
        assert_eq!(tier::CLEAN_DEPTH.text(facts), cached.then_some("4"), "as asked, of a cache alone");
        tiers::expect_log_observed(attempt, cached);
        if cached {
            expect_forecasts(attempt);
        }
    }
    let page = text(&bench.run(&["report", "x.proof", "--format", "markdown"]).stdout);
    assert!(page.contains("Benefit of the cache") && page.contains("This medium is modelled"), "{page}");
    bench.expect_no_process();
    assert_eq!(held_below(&bench.path("data")), Vec::<String>::new());
}

#[test]
fn flushes_of_a_server_are_delayed_by_what_the_study_says_and_for_longer_in_an_experiment() {
    if !can_serve("cache-tier-server-delayed") {
        return;
    }
    let bench = Bench::new("cache-tier-server-delayed");
    bench.study(&tiers::delayed("postgresql", "volume = \"1GiB\"\n"));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof", "--void", "ok", "--no-report"]);
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    tiers::expect_delay_changed(&bench, "x.proof");
    bench.expect_no_process();
    assert_eq!(held_below(&bench.path("data")), Vec::<String>::new());
}

#[test]
fn what_a_killed_agent_has_left_of_a_tier_is_given_back_and_the_study_goes_on() {
    if !can_serve("cache-tier-server-killed") {
        return;
    }
    let bench = Bench::new("cache-tier-server-killed");
    bench.study(&study());
    let mut child = tiers::spawn_until_open(&bench, "control");
    std::thread::sleep(Duration::from_secs(3));
    // The agent too, at once: nobody is left who could unmount.
    for (process, line) in bench.processes() {
        if !line.contains("tier serve") {
            kill(process);
        }
    }
    let _ended = child.wait();
    bench.expect_no_process();
    tiers::resume(&bench);
    assert_eq!(held_below(&bench.path("data")), Vec::<String>::new());
}
