//! A study on a cache tier by the program itself, with SQLite in its own process: verified like a limit, observed, reported, and closed when it
//! is killed.

mod support;

use proofload_model::facts::tier;
use proofload_model::series;
use std::time::Duration;
use support::{Bench, small_study, text, tiers};

/// A factor: no cache, and one of twice the data before data and log.
const TIER: &str = r#"
[[factor]]
setting = "storage.cache"
levels = [{ percent = 0 }, { percent = 200, accelerate = ["data", "log"] }]
"#;

fn study() -> String {
    let study = small_study("sqlite", TIER, 1);
    let slow = "kind = \"tier\"\nslow.drive = \"15k\"\nslow.raid = \"raid-0\"\nslow.write_cache = \"16MiB\"\ncache.clean_depth = 4\n";
    study.replacen("path = \"data\"\n", &format!("path = \"data\"\n{slow}"), 1)
}

/// The same with a list of three lines, whose file is `list` in the folder.
fn warmed_study(bench: &Bench) -> String {
    let list = bench.path("list");
    let lines = [0, 8192, 16_384].map(|at| format!("{{\"volume\":0,\"at\":{at}}}\n")).concat();
    std::fs::write(&list, format!("{{\"form\":1,\"line_bytes\":8192,\"volumes\":[]}}\n{lines}")).expect("writes");
    let warm = format!("cache.clean_depth = 4\ncache.warm = \"{}\"\n", list.display());
    study().replacen("cache.clean_depth = 4\n", &warm, 1)
}

#[test]
fn a_cache_is_verified_observed_and_told_beside_the_medium_alone() {
    let bench = Bench::new("cache-tier");
    bench.study(&warmed_study(&bench));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    // Windows of two seconds may say nothing; what was recorded must hold all the same.
    let told = format!("{}{}", text(&done.stdout), text(&done.stderr));
    assert!(matches!(done.status.code(), Some(0 | 6)), "{told}");
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert_eq!(record.attempts.len(), 2, "{told}");
    for attempt in &record.attempts {
        let facts = &attempt.facts;
        assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{facts:?}");
        let medium = tier::MEDIUM.text(facts).expect("the medium is told");
        assert_eq!(medium, "modelled: raid-0 of 8 × 15k drives, controller cache 16MiB");
        let mode = tier::MODE.of("log");
        let wanted = if attempt.run.point == 0 { "pass" } else { "write-back" };
        assert_eq!(mode.text(facts), Some(wanted));
        let depth = if attempt.run.point == 0 { None } else { Some("4") };
        assert_eq!(tier::CLEAN_DEPTH.text(facts), depth, "as asked, of a cache alone");
        let lines = if attempt.run.point == 0 { None } else { Some(3.0) };
        assert_eq!(tier::WARMED.number(facts), lines, "as many as the list has, of a cache alone");
        tiers::expect_log_observed(attempt, attempt.run.point == 1);
    }
    let size = tier::CACHE.last(&record.attempts.last().expect("two").facts).expect("its size is told");
    assert!(record.attempts.iter().any(|attempt| tier::CACHE.text(&attempt.facts) == Some("0B")), "{size:?}");
    let page = bench.run(&["report", "x.proof", "--format", "markdown"]);
    let page = text(&page.stdout);
    assert!(page.contains("Benefit of the cache") && page.contains("This medium is modelled"), "{page}");
    expect_forecasts(&bench, &record);
    bench.expect_no_process();
}

#[test]
fn flushes_of_sqlite_are_delayed_by_what_the_study_says_and_for_longer_in_an_experiment() {
    let bench = Bench::new("cache-tier-delayed");
    bench.study(&tiers::delayed("sqlite", "[engine.settings]\nsynchronous = \"FULL\"\n"));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof", "--void", "ok", "--no-report"]);
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    tiers::expect_delay_changed(&bench, "x.proof");
    let page = text(&bench.run(&["report", "x.proof", "--format", "markdown"]).stdout);
    assert!(page.contains("Each flush is delayed by 100 ms, as the study asks for"), "{page}");
    bench.expect_no_process();
}

/// The sample of a run's references is in its record, and sizes are forecast from it or refused with the reason.
fn expect_forecasts(bench: &Bench, record: &proofload_record::Record) {
    for attempt in &record.attempts {
        let of = |name: &series::SeriesName| {
            let found = attempt.series.iter().filter(|one| name.is_of(&one.probe, &one.name));
            found.flat_map(|one| one.samples.iter().map(|sample| (one.component.clone(), sample.2))).collect::<Vec<_>>()
        };
        let sum = |name: &series::SeriesName| of(name).iter().map(|(_, value)| value).sum::<f64>();
        // What a probe that stood still for seconds could not take is told as lost.
        let mut sampled = attempt.series.iter().filter(|one| series::tier::SAMPLED.is_of(&one.probe, &one.name));
        let stood_still = sampled.any(|one| one.samples.iter().any(|(_, over_ns, _)| *over_ns > 1_500_000_000));
        let lost = sum(&series::tier::SAMPLE_LOST);
        assert!(sum(&series::tier::SAMPLED) > 0.0 && (lost == 0.0 || stood_still), "{lost}: {:?}", attempt.run);
        let sized: Vec<_> = of(&series::tier::MISSES_AT);
        assert!(sized.iter().any(|(component, _)| component.starts_with("data ")), "{sized:?}");
        assert!(sized.iter().all(|(component, _)| proofload_model::tier::SizedVolume::parse(component).is_some()));
    }
    let run = |arguments: &[&str]| {
        let done = bench.run(&[&["tier", "predict"], arguments].concat());
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    // Windows of two seconds may be void, or hold too few references.
    match run(&["x.proof", "--percent", "100"]) {
        (Some(0), told, _) => {
            assert!(told.contains("(100 % of the data): TPM ") && told.contains("error unknown"), "{told}")
        }
        (code, _, told) => {
            assert_eq!(code, Some(1), "{told}");
            let reasons = ["valid", "sampled", "too small", "too coarse", "only partly read", "was not observed"];
            assert!(reasons.iter().any(|why| told.contains(why)), "{told}");
        }
    }
    let (code, none, told) = run(&["x.proof", "--size", "5", "--percent", "0", "--json"]);
    assert!(code == Some(2) && none.is_empty() && told.contains("--size 5") && told.contains("--percent 0"), "{told}");
    assert!(matches!(run(&["none.proof", "--percent", "5"]), (Some(1), _, told) if told.contains("none.proof")));
}

#[test]
fn a_killed_study_on_a_tier_goes_on_with_data_that_were_put_back() {
    let bench = Bench::new("cache-tier-killed");
    bench.study(&warmed_study(&bench));
    let mut child = tiers::spawn_until_open(&bench, "tier/control");
    std::thread::sleep(Duration::from_secs(1));
    child.kill().expect("it is ours");
    let _ended = child.wait();
    bench.expect_no_process();
    let (list, away) = (bench.path("list"), bench.path("list.away"));
    std::fs::rename(&list, &away).expect("moves");
    let done = bench.run(&["resume", "x.proof"]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{told}");
    assert!(told.contains("nothing was started: storage.cache.warm: failed to read the list of lines"), "{told}");
    std::fs::rename(&away, &list).expect("moves back");
    tiers::resume(&bench);
}
