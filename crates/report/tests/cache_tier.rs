//! Studies on a cache tier: what a cache is worth, hits of the cached volumes alone, and what voids a run on one.

use crate::support::replicated::{faster_first, observe};
use crate::support::{Shape, record};
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::facts;
use proofload_model::readiness::{ReadinessCondition, ReadinessFound};
use proofload_model::series::{SeriesName, tier};
use proofload_model::settings::Value;
use proofload_model::tier::{RequestClass, TierVolume, TimedRequests};
use proofload_model::time::WallTime;
use proofload_record::{Attempt, AttemptEvent, Record, State};
use proofload_report::findings::cache_latency::request_latencies;
use proofload_report::findings::cache_tier::cached;
use proofload_report::findings::{VoidClass, evaluate};
use proofload_report::{Format, render};
use std::collections::BTreeMap;

const CACHE: &str = "storage.cache";

/// A level of a group of settings.
fn level(settings: &[(&str, Value)]) -> Value {
    Value::Table(settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<BTreeMap<_, _>>())
}

/// A study with a cache of 30 % before the data, and one without.
fn study() -> Record {
    repeated(1)
}

/// The same with so many repetitions.
fn repeated(repetitions: u32) -> Record {
    let list = Value::List(vec!["data".to_owned()]);
    let cached = level(&[("percent", Value::Integer(30)), ("accelerate", list)]);
    let none = level(&[("percent", Value::Integer(0))]);
    let mut record = faster_first(&[&[(CACHE, cached)], &[(CACHE, none)]], repetitions);
    record.study.settings.0.insert("storage.kind".to_owned(), Value::Text("tier".to_owned()));
    for attempt in &mut record.attempts {
        let is_cached = attempt.run.point == 0;
        // Counts of seconds scatter twofold; four of five reads hit in each.
        let reads = |second: usize| 1000.0 * (1.0 + (second % 7) as f64 / 6.0);
        see(attempt, tier::READS, "data", reads);
        see(attempt, tier::READ_HITS, "data", move |second| if is_cached { 0.8 * reads(second) } else { 0.0 });
        for (series, rate) in [(tier::WRITES, 100.0), (tier::WRITE_HITS, 60.0), (tier::WRITES_ABSORBED, 90.0)] {
            see(attempt, series, "data", move |_| if is_cached || series.name == "writes" { rate } else { 0.0 });
            see(attempt, series, "log", move |_| if series.name == "writes" { 50.0 } else { 0.0 });
        }
        see(attempt, tier::READS, "log", |_| 0.0);
        see(attempt, tier::READ_HITS, "log", |_| 0.0);
        for volume in ["data", "log"] {
            see(attempt, tier::IN_USE, volume, |_| 4e7);
            see(attempt, tier::DIRTY, volume, |_| 5e6);
            see(attempt, tier::CLEANED, volume, |_| 1e6);
            see(attempt, tier::ERRORS, volume, |_| 0.0);
        }
        see(attempt, tier::DISK_REQUESTS, "", |_| 200.0);
        see(attempt, tier::DISK_BUSY, "", |_| 25.0);
        see(attempt, tier::DISK_QUEUE, "", |_| 1.0);
        see(attempt, tier::DISK_LATE, "", |_| 0.02);
    }
    record
}

fn see(attempt: &mut Attempt, wanted: SeriesName, volume: &str, value: impl Fn(usize) -> f64) {
    observe(attempt, &InstanceName::primary(), wanted, volume, value);
}

#[test]
fn the_answer_is_how_many_times_the_throughput_with_the_hits_of_the_cached_volumes() {
    let record = study();
    let findings = evaluate(&record);
    let points = cached(&findings);
    let times = points[0].times.as_ref().expect("it has a cache").as_ref().expect("both are valid");
    assert!(times.value() > 1.5 && times.interval().bounds().is_some(), "{times:?}");
    assert!(points[1].times.is_none(), "the point without one is what it is compared with");
    let share =
        |share: &Option<proofload_report::findings::Measured>| share.clone().expect("there were").expect("known");
    let hits = share(&points[0].both.read_hits);
    let (low, high) = hits.interval().bounds().expect("seconds are many");
    assert!(
        (hits.value() - 80.0).abs() < 1e-9 && high - low < 1e-6,
        "what counts have in common is no scatter: {hits:?}"
    );
    let writes = [&points[0].both.write_hits, &points[0].both.absorbed].map(|one| share(one).value());
    assert!((writes[0] - 60.0).abs() < 1e-9 && (writes[1] - 90.0).abs() < 1e-9, "the log is not cached: {writes:?}");
    let response = share(&points[0].medium.response);
    assert!((response.value() - 5.0).abs() < 1e-9, "one of 200 a second under way takes 5 ms: {response:?}");
    let page = render(&record, Format::Markdown).unwrap();
    let summary = page.split("## 1 ").next().unwrap();
    let lead =
        "**With a cache of 30\u{a0}% of the data for data throughput is 5.7 times that of the slow medium alone.**";
    assert!(summary.contains(lead) && summary.contains("Read hits: 80.0 %"), "{summary}");
    for part in [
        "Benefit of the cache",
        "The slow medium is modelled: raid-5 of 8 × 7.2k drives, no controller cache. This medium is modelled",
        "| no cache | log | not cached |",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Published results and these"), "the study names none");
    let json: serde_json::Value = serde_json::from_str(&render(&record, Format::Json).unwrap()).unwrap();
    let (cached, alone) = (&json["cache_tier"][0], &json["cache_tier"][1]);
    assert!(
        cached["times_without_cache"]["value"].as_f64() == Some(times.value())
            && alone["times_without_cache"].is_null()
    );
    let hits = cached["volumes"]["data"]["read_hits"]["value"].as_f64().unwrap_or_default();
    assert!((hits - 80.0).abs() < 1e-9 && cached["volumes"]["log"]["mode"].is_null(), "{cached}");
    let other = render(&crate::support::record(&Shape::memory(2)), Format::Markdown).unwrap();
    assert!(!other.contains("Benefit of the cache"), "a study without a tier has no such section");
}

#[test]
fn how_far_a_cache_was_filled_from_its_list_stands_in_the_section() {
    let mut record = study();
    let before = render(&record, Format::Markdown).unwrap();
    assert!(!before.contains("filled from a list"), "nobody asked for one");
    record.study.settings.0.insert("storage.cache.warm".to_owned(), Value::Text("lines".to_owned()));
    let cached = record.attempts.iter_mut().find(|attempt| attempt.run.point == 0).expect("it ran");
    cached.facts.push(facts::tier::WARM_NAMED.observed(1_200_u64, "a test"));
    cached.facts.push(facts::tier::WARMED.compared("1200", Some(1_100_u64), true, "a test"));
    let page = render(&record, Format::Markdown).unwrap();
    let told = page.split("each new cache was filled from a list of lines").nth(1).expect("it is told");
    let told = told.split("\n").next().unwrap();
    assert!(told.contains("1,100 of 1,200 lines.") && told.matches(" lines").count() == 1, "{told}");
    let cached = record.attempts.iter_mut().find(|attempt| attempt.run.point == 0).expect("it ran");
    for (reason, lines) in [("no_room", 1_u64), ("repeated", 60), ("no_volume", 39), ("beyond_data", 0)] {
        cached.facts.push(facts::tier::NOT_WARMED.of(reason).observed(lines, "a test"));
    }
    let page = render(&record, Format::Markdown).unwrap();
    let reasons = "1,100 of 1,200 lines (not filled: 60 named before, 39 of no volume of this database, 1 without room in the cache).";
    assert!(page.contains(reasons), "{page}");
}

#[test]
fn lines_of_the_first_finished_run_are_told_where_the_first_one_failed() {
    let mut record = repeated(2);
    record.study.settings.0.insert("storage.cache.warm".to_owned(), Value::Text("lines".to_owned()));
    let cached: Vec<_> = record.attempts.iter_mut().filter(|attempt| attempt.run.point == 0).collect();
    assert_eq!(cached.len(), 2, "two repetitions");
    for (attempt, lines) in cached.into_iter().zip([100_u64, 200]) {
        if lines == 100 {
            attempt.state = State::Failed { reason: "a device failed".to_owned() };
        }
        attempt.facts.push(facts::tier::WARM_NAMED.observed(300_u64, "a test"));
        attempt.facts.push(facts::tier::WARMED.compared("300", Some(lines), true, "a test"));
    }
    let page = render(&record, Format::Markdown).unwrap();
    let told = page.split("In the first finished run of each point: ").nth(1).expect("it is told");
    assert!(told.split("\n").next().unwrap().contains("200 of 300 lines"), "{told}");
}

/// The study with times at its cached point: hits of 0.1 ms, and misses of 5 ms but for one second in ten, whose misses take 100 ms.
fn timed() -> Record {
    let mut record = study();
    for attempt in record.attempts.iter_mut().filter(|attempt| attempt.run.point == 0) {
        let of = |class, up_to_ns| TimedRequests { volume: TierVolume::Data, class, up_to_ns }.to_string();
        see(attempt, tier::LATENCY, &of(RequestClass::Hit, 106_495), |_| 900.0);
        see(
            attempt,
            tier::LATENCY,
            &of(RequestClass::Miss, 5_242_879),
            |second| if second % 10 == 0 { 0.0 } else { 80.0 },
        );
        see(
            attempt,
            tier::LATENCY,
            &of(RequestClass::Miss, 100_663_295),
            |second| if second % 10 == 0 { 80.0 } else { 0.0 },
        );
        for (series, rate) in [
            (tier::WRITES_BYPASSED, 2.0),
            (tier::EVICTIONS, 30.0),
            (tier::PROMOTED, 4e6),
            (tier::FLUSHES, 12.0),
            (tier::CLEAN_WRITES, 1e6 / 32_768.0),
        ] {
            see(attempt, series, "data", move |_| rate);
        }
    }
    record
}

#[test]
fn times_of_requests_are_percentiles_of_all_seconds_together() {
    let record = timed();
    let findings = evaluate(&record);
    let points = cached(&findings);
    let found = request_latencies(&findings, &points[0]);
    let classes: Vec<&str> = found.iter().map(|one| one.class.word()).collect();
    assert_eq!(classes, ["hit", "miss"], "there was no flush");
    let (hit, miss) = (&found[0], &found[1]);
    let value = |time: &proofload_report::findings::Measured| time.as_ref().expect("many requests").value();
    assert!((value(&hit.p50) - 0.106_495).abs() < 1e-9 && (value(&hit.p99) - 0.106_495).abs() < 1e-9, "{hit:?}");
    // A tenth of all misses are slow: the mean of the seconds' 99th percentiles would be 15 ms.
    assert!((value(&miss.p50) - 5.242_879).abs() < 1e-9 && (value(&miss.p99) - 100.663_295).abs() < 1e-9, "{miss:?}");
    assert!(hit.count > 10 * miss.count && miss.count > 0, "{hit:?} {miss:?}");
    assert!(request_latencies(&findings, &points[1]).is_empty(), "no times were recorded there");
    let page = render(&record, Format::Markdown).unwrap();
    let table = page.split("Latency of requests to the cache tier").nth(1).expect("a table");
    assert!(table.contains("| data | miss |") && table.contains("| data | hit |"), "{table}");
    let json: serde_json::Value = serde_json::from_str(&render(&record, Format::Json).unwrap()).unwrap();
    let told = &json["cache_tier"][0]["volumes"]["data"]["latencies"]["miss"];
    assert!(told["count"].as_u64() == Some(miss.count) && told["p99"]["unit"] == "ms", "{told}");
    let before = render(&study(), Format::Markdown).unwrap();
    assert!(!before.contains("Latency of requests to the cache tier"), "records of earlier versions have none");
}

#[test]
fn what_bypassed_was_evicted_and_promoted_stands_beside_the_mean_run_of_the_cleaner() {
    let record = timed();
    let findings = evaluate(&record);
    let data = cached(&findings)[0].both.clone();
    let known = |value: &proofload_report::findings::Measured| value.as_ref().expect("it was observed").value();
    let share = |value: &Option<proofload_report::findings::Measured>| known(value.as_ref().expect("there were"));
    let found = [share(&data.bypassed), known(&data.evictions), known(&data.promoted), share(&data.clean_run)];
    let wanted = [2.0, 30.0, 4.0, 32.0];
    assert!(found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6), "{found:?}");
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("Bypasses, evictions, promotions, flushes and cleaning of the cached volumes"), "{page}");
    assert!(page.contains("Mean run of the cleaner"), "{page}");
}

#[test]
fn a_delay_of_flushes_is_said_where_the_medium_is() {
    let page = |delay: Option<u64>| {
        let mut record = study();
        let delay = delay.map(|ms| Value::Duration(std::time::Duration::from_millis(ms)));
        record.study.settings.0.extend(delay.map(|delay| ("storage.flush_delay".to_owned(), delay)));
        render(&record, Format::Markdown).unwrap()
    };
    assert!(page(Some(5)).contains("Each flush is delayed by 5 ms, as the study asks for: it was durable before"));
    assert!(!page(None).contains("flush is delayed"));
}

#[test]
fn the_share_of_the_stroke_under_the_data_is_said_where_the_medium_is() {
    let page = |stroke: Option<f64>| {
        let mut record = study();
        let stroke = stroke.map(|share| ("storage.slow.stroke".to_owned(), Value::Number(share)));
        record.study.settings.0.extend(stroke);
        render(&record, Format::Markdown).unwrap()
    };
    assert!(page(None).contains("The data lie contiguously from the outer edge of the drives"));
    assert!(page(Some(0.03)).contains("The data are spread over 3 % of the stroke of the drives"));
}

#[test]
fn published_results_stand_beside_it() {
    let mut record = study();
    record.study.settings.0.insert("study.reference".to_owned(), Value::Text("das-cache".to_owned()));
    let page = render(&record, Format::Markdown).unwrap();
    let table = page.split("Published results and these").nth(1).expect("a table");
    assert!(
        table.contains("10.9")
            && table.contains("37.7")
            && table.contains("this study, cache of 30\u{a0}% of the data for data"),
        "{table}"
    );
}

/// The reasons for which the cached point is void after a change.
fn voids(change: impl Fn(&mut Attempt)) -> Vec<(VoidClass, String)> {
    let mut record = study();
    record.attempts.iter_mut().filter(|attempt| attempt.run.point == 0).for_each(change);
    let findings = evaluate(&record);
    findings.points[0].runs[0].voids.iter().map(|void| (void.class, void.text.clone())).collect()
}

/// Puts other values into a series.
fn put(attempt: &mut Attempt, wanted: SeriesName, value: f64) {
    let of = attempt.series.iter_mut().filter(|series| wanted.is_of(&series.probe, &series.name));
    of.for_each(|series| series.samples.iter_mut().for_each(|sample| sample.2 = value));
}

#[test]
fn how_late_the_medium_was_stands_in_one_line() {
    let mut record = study();
    assert!(!render(&record, Format::Markdown).unwrap().contains("beyond the model, as"), "no record has it");
    for attempt in &mut record.attempts {
        see(attempt, tier::DISK_LATE_P50, "", |_| 0.125);
        see(attempt, tier::DISK_LATE_P99, "", |second| if second % 7 == 3 { 4.5 } else { 0.5 });
        see(attempt, tier::DISK_OUTRUN_P50, "", |_| 2.0);
        see(attempt, tier::DISK_OUTRUN_P99, "", |_| 3.0);
    }
    let page = render(&record, Format::Markdown).unwrap();
    let line = page.lines().find(|line| line.contains("beyond the model, as")).expect("it is told");
    for part in ["median 0.125 ms, 99th percentile 4.5 ms", "slower than the model: median 2 ms, 99th percentile 3 ms"]
    {
        assert!(line.contains(part), "{part}: {line}");
    }
    let json: serde_json::Value = serde_json::from_str(&render(&record, Format::Json).unwrap()).unwrap();
    assert!(json.to_string().contains("\"later_than_response_ms\":{\"p50\":0.125,\"p99\":4.5}"), "{json}");
}

#[test]
fn drives_that_answer_late_and_requests_that_fail_void_a_run() {
    assert_eq!(voids(|_| ()), []);
    let late = voids(|attempt| put(attempt, tier::DISK_LATE, 0.15));
    assert!(matches!(late.as_slice(), [(VoidClass::Host, text)] if text.contains("15 % later")), "{late:?}");
    let taken_at_once = voids(|attempt| {
        put(attempt, tier::DISK_QUEUE, 0.02);
        put(attempt, tier::DISK_LATE, 0.02);
    });
    assert_eq!(taken_at_once, [], "0.1 ms each: the drives bind nothing");
    let failed = voids(|attempt| put(attempt, tier::ERRORS, 0.1));
    assert!(matches!(failed.as_slice(), [(VoidClass::Verification, _)]), "{failed:?}");
    let in_warm_up = voids(|attempt| {
        let of = attempt.series.iter_mut().filter(|series| tier::ERRORS.is_of(&series.probe, &series.name));
        of.for_each(|series| series.samples.first_mut().expect("there are some").2 = 1.0);
    });
    assert!(
        matches!(in_warm_up.as_slice(), [(VoidClass::Verification, _)]),
        "it may have lost its cache: {in_warm_up:?}"
    );
}

#[test]
fn without_a_point_without_a_cache_there_is_no_ratio_and_no_answer() {
    let mut record = record(&Shape::memory(2));
    record.study.settings.0.insert("storage.kind".to_owned(), Value::Text("tier".to_owned()));
    record.study.settings.0.insert("storage.cache.percent".to_owned(), Value::Integer(30));
    let findings = evaluate(&record);
    let points = cached(&findings);
    let why = points[0].times.clone().expect("it has a cache").expect_err("nothing to compare with");
    assert!(why.contains("no matching point without a cache"), "{why}");
    let page = render(&record, Format::Markdown).unwrap();
    assert!(!page.contains("Compared with the slow medium alone") && page.contains("Benefit of the cache"), "{page}");
}

#[test]
fn a_cache_that_still_fills_when_measurement_begins_is_told_with_what_to_do() {
    let mut record = study();
    let found = |holds, drift: f64| ReadinessFound {
        condition: ReadinessCondition::CacheHits,
        value: 0.62,
        drift,
        bounds: (drift - 0.01, drift + 0.01),
        seconds: 60,
        holds,
    };
    let page = |record: &Record| render(record, Format::Markdown).unwrap();
    assert!(!page(&record).contains("after warm-up"), "nothing was observed");
    for (attempt, found) in record.attempts.iter_mut().zip([found(true, 0.005), found(false, 0.08)]) {
        attempt.events.push(AttemptEvent::new(WallTime(0), RunEvent::Readiness(vec![found])));
    }
    let text = page(&record);
    for part in [
        "✗ Caches and standbys after warm-up: 1 of 2 conditions hold",
        "caches or standbys still moved when measurement began",
        "procedure.warm_up.at_least",
        "reads found in the cache: 62.0 %, not ready, drift +8.0 points",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("drift +0.5 points"), "what holds is counted only");
}
