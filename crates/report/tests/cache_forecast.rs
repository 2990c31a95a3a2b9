//! Forecasts by the size of a cache: from records whose law is known, beside what was measured, and why there is none.

use crate::support::replicated::{ever_faster, observe};
use crate::support::{Shape, record};
use proofload_model::deployment::InstanceName;
use proofload_model::facts;
use proofload_model::series::{self, SeriesName, tier};
use proofload_model::settings::Value;
use proofload_model::tier::{CacheSize, SizedVolume, TierVolume};
use proofload_model::units::Bytes;
use proofload_record::{Attempt, Record, SeriesPoint};
use proofload_report::findings::cache_forecast::{SizePlace, cache_forecasts};
use proofload_report::findings::evaluate;
use proofload_report::{ForecastFormat, Format, render, render_forecast};
use std::collections::BTreeMap;

/// Data before the cache.
const DATA: u64 = 100 << 20;
/// Sizes of the points and of the small caches, % of the data.
const SIZES: [u64; 4] = [0, 15, 30, 60];
/// Time of a unit of work away from the drives, and of a request to them, s: one user at work, the others wait for a lock.
const REST: f64 = 0.0005;
const REQUEST: f64 = 0.010;

fn level(percent: u64) -> Value {
    let percent = i64::try_from(percent).expect("small");
    Value::Table(BTreeMap::from([("percent".to_owned(), Value::Integer(percent))]))
}

fn see(attempt: &mut Attempt, wanted: SeriesName, component: &str, value: f64) {
    observe(attempt, &InstanceName::primary(), wanted, component, |_| value);
}

/// A study of four sizes whose throughput is that of one user at work.
fn study() -> Record {
    let levels = SIZES.map(level);
    let points = levels.each_ref().map(|level| [("storage.cache", level.clone())]);
    let [a, b, c, d] = points.each_ref().map(|point| &point[..]);
    let mut record = ever_faster(&[a, b, c, d], 1);
    let settings =
        [("storage.kind", Value::Text("tier".to_owned())), ("storage.slow.write_cache", Value::Bytes(Bytes::mebi(64)))];
    for (setting, value) in settings {
        record.study.settings.0.insert(setting.to_owned(), value);
    }
    let found = evaluate(&record);
    let rates: Vec<f64> = found.points.iter().map(|point| point.throughput.as_ref().expect("measured").value).collect();
    drop(found);
    let misses: Vec<f64> = rates.iter().map(|rate| (1.0 / rate - REST) / REQUEST).collect();
    for attempt in &mut record.attempts {
        let point = attempt.run.point as usize;
        let rate = rates[point];
        attempt.facts.push(facts::tier::DATA.observed(Bytes(DATA), "a test"));
        attempt.series.retain(|one| one.probe != series::group::PROBE && one.probe != series::threads::PROBE);
        see(attempt, tier::READS, "data", rate * misses[0]);
        see(attempt, tier::READ_HITS, "data", rate * (misses[0] - misses[point]));
        see(attempt, tier::WRITES, "data", rate);
        see(attempt, tier::WRITE_HITS, "data", if point > 0 { 0.9 * rate } else { 0.0 });
        see(attempt, tier::WRITES_ABSORBED, "data", if point > 0 { rate } else { 0.0 });
        for log in [tier::READS, tier::READ_HITS, tier::WRITES, tier::WRITE_HITS, tier::WRITES_ABSORBED] {
            see(attempt, log, "log", 0.0);
        }
        for volume in ["data", "log"] {
            for wanted in [tier::IN_USE, tier::DIRTY, tier::CLEANED, tier::ERRORS] {
                see(attempt, wanted, volume, 0.0);
            }
        }
        see(attempt, tier::DISK_REQUESTS, "", rate * misses[point]);
        see(attempt, tier::DISK_BUSY, "", 10.0);
        see(attempt, tier::DISK_QUEUE, "", rate * misses[point] * REQUEST);
        see(attempt, tier::DISK_LATE, "", 0.0);
        see(attempt, tier::SAMPLED, "", 500.0);
        see(attempt, tier::SAMPLE_LOST, "", 0.0);
        for (place, percent) in SIZES.iter().enumerate().skip(1) {
            let of = SizedVolume { volume: TierVolume::Data, size: Bytes(DATA * percent / 100) }.to_string();
            see(attempt, tier::MISSES_AT, &of, rate * misses[place]);
            see(attempt, tier::LRU_MISSES_AT, &of, rate * (misses[place] + misses[0]) / 2.0);
            see(attempt, tier::WRITE_MISSES_AT, &of, 0.1 * rate);
            see(attempt, tier::CLEANED_AT, &of, rate * 4096.0);
        }
    }
    record
}

/// The same after a change of each attempt at a point.
fn changed(point: impl Fn(u32) -> bool, change: impl Fn(&mut Attempt)) -> Record {
    let mut record = study();
    record.attempts.iter_mut().filter(|attempt| point(attempt.run.point)).for_each(change);
    record
}

fn put(attempt: &mut Attempt, wanted: SeriesName, value: f64) {
    let ours = attempt.series.iter_mut().filter(|one| wanted.is_of(&one.probe, &one.name));
    ours.for_each(|one| one.samples.iter_mut().for_each(|sample| sample.2 = value));
}

#[test]
fn measured_sizes_are_forecast_from_the_others_and_sizes_between_lie_between() {
    let record = study();
    let findings = evaluate(&record);
    let forecasts = cache_forecasts(&findings);
    let [forecast] = forecasts.as_slice() else { panic!("one group: {forecasts:?}") };
    assert_eq!(forecast.points.iter().map(|point| point.size.0 * 100 / DATA).collect::<Vec<_>>(), SIZES);
    assert!(forecast.curve_error().is_some_and(|error| error < 0.001), "{:?}", forecast.curve_error());
    let places = [SizePlace::Below, SizePlace::Between, SizePlace::Between, SizePlace::Above];
    for (point, place) in forecast.points.iter().zip(places) {
        let left_out = forecast.left_out(point.point).expect("it is one of them").expect("three others");
        assert_eq!(left_out.forecast.place, place);
        assert!(left_out.error.abs() < 0.02, "{}: {left_out:?}", point.size);
        assert!(
            !left_out.forecast.calibrated.contains(&point.point) && !left_out.forecast.traced.contains(&point.point)
        );
    }
    let between = forecast.at(Bytes(DATA * 20 / 100)).expect("it is sampled");
    let [low, high] = [&forecast.points[1], &forecast.points[2]];
    assert!((low.headline..high.headline).contains(&between.headline), "{between:?}");
    assert!(between.lru_read_hits < between.read_hits && (between.write_hits - 0.9).abs() < 0.01, "{between:?}");
    assert!(between.error.is_some_and(|error| error < 0.02), "{between:?}");
    assert!(forecast.at(Bytes(DATA * 14 / 100)).unwrap_err().contains("too coarse for a cache below 15 MiB"));
    assert!(forecast.left_out(77).is_none());
}

#[test]
fn a_forecast_is_told_first_and_what_it_rests_on_after_it() {
    let record = study();
    let sizes = [CacheSize::PercentOfData(20), CacheSize::Bytes(Bytes::mebi(1))];
    let text = render_forecast(&record, &sizes, ForecastFormat::Text).unwrap().replace('\u{a0}', " ");
    let mut lines = text.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("20 MiB (20 % of the data): TPM ") && first.contains("% of reads hit (LRU "), "{text}");
    let second = lines.next().unwrap();
    assert!(
        second.contains("that of the sizes in between")
            && second.contains("calibrated on cache of 15 % of the data and cache of 30 % of the data"),
        "{text}"
    );
    assert!(text.contains("1 MiB (1 % of the data): no forecast: the reference sample"), "{text}");
    assert!(text.contains("cache of 60 % of the data (60 MiB): ") && text.contains("no cache; forecast"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&render_forecast(&record, &sizes, ForecastFormat::Json).unwrap()).unwrap();
    let found = &json["forecasts"][0];
    assert_eq!((json["form"].as_u64(), found["data_bytes"].as_u64()), (Some(1), Some(DATA)));
    assert_eq!(found["sizes"][0]["calibrated_on_points"], serde_json::json!([1, 2]));
    assert_eq!(found["sizes"][0]["throughput"]["unit"], "1/min");
    assert!(found["sizes"][1]["missing"].is_string() && found["points"][2]["from_the_others"]["error"].is_f64());
    let page = render(&record, Format::Markdown).unwrap();
    let table = page.split("Forecasts for other cache sizes").nth(1).expect("a table");
    assert!(table.contains("20 % of the data, 20\u{a0}MiB") && !table.contains("| 5 % of the data"));
    let report: serde_json::Value = serde_json::from_str(&render(&record, Format::Json).unwrap()).unwrap();
    assert_eq!(report["cache_forecasts"][0]["points"], found["points"], "the report has the same");
}

#[test]
fn beyond_the_measured_sizes_an_error_is_told_only_as_far_as_one_was_found() {
    // As many misses as the largest measured cache, and a tenth of them.
    let record = changed(
        |_| true,
        |attempt| {
            let largest = SizedVolume { volume: TierVolume::Data, size: Bytes(DATA * 60 / 100) }.to_string();
            let of_largest: Vec<_> = attempt.series.iter().filter(|one| one.component == largest).cloned().collect();
            for (percent, share) in [(65, 0.99), (100, 0.1)] {
                let size = SizedVolume { volume: TierVolume::Data, size: Bytes(DATA * percent / 100) };
                for one in &of_largest {
                    let samples = one.samples.iter().map(|(at, span, value)| (*at, *span, value * share)).collect();
                    attempt.series.push(SeriesPoint { component: size.to_string(), samples, ..one.clone() });
                }
            }
        },
    );
    let findings = evaluate(&record);
    let forecasts = cache_forecasts(&findings);
    let at = |percent: u64| forecasts[0].at(Bytes(DATA * percent / 100)).expect("it is sampled");
    let (near, far) = (at(65), at(100));
    assert_eq!([near.place, far.place], [SizePlace::Above; 2]);
    assert!(near.error.is_some() && far.headline > near.headline && far.error.is_none(), "{near:?}, {far:?}");
    let text = render_forecast(&record, &[CacheSize::PercentOfData(100)], ForecastFormat::Text).unwrap();
    assert!(text.contains("error unknown: the largest size was forecast from nearer ones"), "{text}");
}

#[test]
fn an_engine_that_keeps_its_log_among_its_data_has_one_volume() {
    let record =
        changed(|_| true, |attempt| attempt.series.retain(|one| one.probe != tier::PROBE || one.component != "log"));
    let of = |record: &Record| cache_forecasts(&evaluate(record))[0].at(Bytes(DATA * 20 / 100)).expect("it is sampled");
    assert_eq!(of(&record), of(&study()), "the log of these has no use");
    let page = render(&record, Format::Markdown).unwrap();
    assert!(!page.contains("| log |"), "{page}");
}

#[test]
fn a_forecast_from_a_point_where_writes_bypassed_the_cache_says_so() {
    let bypassing = |rate: f64| {
        let one = |attempt: &mut Attempt| see(attempt, tier::WRITES_BYPASSED, "data", rate);
        let mut record = changed(|point| point == 1, one);
        record.attempts.iter_mut().filter(|attempt| attempt.run.point != 1).for_each(|attempt| {
            see(attempt, tier::WRITES_BYPASSED, "data", 0.0);
        });
        record
    };
    let record = bypassing(5.0);
    let at = |percent: u32, record: &Record| {
        render_forecast(record, &[CacheSize::PercentOfData(percent)], ForecastFormat::Text).unwrap()
    };
    let asked = |text: String| text.split("measured sizes").next().unwrap_or_default().to_owned();
    let (near, far) = (asked(at(20, &record)), asked(at(50, &record)));
    assert!(near.contains("writes bypassed the cache at ") && near.contains("not simulated"), "{near}");
    assert!(!far.contains("bypassed"), "it rests on other points: {far}");
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("% of writes): bypasses are not simulated"), "{page}");
    let json = render_forecast(&record, &[CacheSize::PercentOfData(20)], ForecastFormat::Json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["forecasts"][0]["sizes"][0]["bypasses_at_points"], serde_json::json!([1]));
    let none = bypassing(0.0);
    assert!(!at(20, &none).contains("bypassed") && !render(&none, Format::Markdown).unwrap().contains("bypasses are"));
}

#[test]
fn with_two_sizes_there_is_a_forecast_whose_error_is_not_known() {
    let record = changed(|point| point > 1, |attempt| put(attempt, tier::ERRORS, 1.0));
    let text = render_forecast(&record, &[CacheSize::PercentOfData(30)], ForecastFormat::Text).unwrap();
    assert!(text.contains("error unknown: with 2 sizes"), "{text}");
    assert!(text.contains("not forecast: no two other sizes were measured"), "{text}");
    assert!(render(&record, Format::Markdown).unwrap().contains("the error of a forecast is unknown"));
}

#[track_caller]
fn check_refused(record: &Record, why: &str) {
    let found = render_forecast(record, &[CacheSize::PercentOfData(30)], ForecastFormat::Text);
    let error = found.expect_err("it says nothing of other sizes").to_string();
    assert!(error.contains(why), "{error}");
    if record.study.settings.text("storage.kind") == Ok("tier") {
        let page = render(record, Format::Markdown).expect("there are points");
        assert!(!page.contains("Forecasts for other cache sizes"), "{why}");
    }
}

#[test]
fn what_says_nothing_of_other_sizes_is_refused() {
    check_refused(&record(&Shape::memory(2)), "no point in the record has a cache tier");
    let failed = |attempt: &mut Attempt| put(attempt, tier::ERRORS, 1.0);
    check_refused(&changed(|point| point > 0, failed), "no point with a cache is valid");
    check_refused(&changed(|point| point != 1, failed), "two valid points that differ only in cache size");
    let of_sample = |one: &proofload_record::SeriesPoint| {
        one.probe == tier::PROBE && (one.name.ends_with("_at") || one.name.starts_with("sample"))
    };
    let old = changed(|_| true, |attempt| attempt.series.retain(|one| !of_sample(one)));
    check_refused(&old, "no references were sampled: an earlier version wrote the record");
    check_refused(
        &changed(|_| true, |attempt| put(attempt, tier::SAMPLE_LOST, 50.0)),
        "9 % of the sample was overwritten",
    );
    check_refused(
        &changed(|_| true, |attempt| put(attempt, tier::SAMPLED, 0.1)),
        "references were sampled in the window",
    );
    let mut paced = study();
    paced.study.settings.0.insert("workload.pacing".to_owned(), Value::Text("paced".to_owned()));
    let error = render_forecast(&paced, &[], ForecastFormat::Text).unwrap_err().to_string();
    assert!(error.contains("users are paced") || error.contains("no point with a cache is valid"), "{error}");
    let error =
        render_forecast(&study(), &[CacheSize::PercentOfData(1)], ForecastFormat::Json).unwrap_err().to_string();
    assert!(error.contains("too coarse for a cache below 15 MiB; measure it"), "{error}");
}
