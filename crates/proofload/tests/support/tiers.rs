//! What tests of studies on a cache tier share, in process and served.

use super::waiting::wait_beside;
use super::{Bench, small_study, text};
use proofload_model::events::RunEvent;
use proofload_model::facts::tier;
use proofload_model::intervention::{FLUSH_DELAY, InterventionVisit, ResourceClass};
use proofload_model::samples::OperationCounts;
use proofload_model::series::{self, SeriesName};
use proofload_record::{Attempt, State};
use std::process::Child;

/// Sum of the samples of a series of a volume.
pub(crate) fn sum(attempt: &Attempt, name: &SeriesName, volume: &str) -> f64 {
    let found = attempt.series.iter().filter(|one| name.is_of(&one.probe, &one.name) && one.component == volume);
    found.flat_map(|one| &one.samples).map(|sample| sample.2).sum()
}

/// A study of commits of one user, whose flushes are delayed by 100 ms and by nothing else. `more` follows the lines of the storage.
pub(crate) fn delayed(engine: &str, more: &str) -> String {
    let load = "kind = \"ycsb\"\nmix = \"own\"\nupdate = 1.0\nrecords = 500\nvirtual_users = 1";
    let storage = format!("path = \"data\"\nkind = \"tier\"\nslow.drive = \"none\"\nflush_delay = \"100ms\"\n{more}");
    let study = small_study(engine, "restore = \"never\"\n[confirm]\nvisit = \"1s\"\n", 1);
    let study = study.replace("kind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 2\nscale = \"toy\"", load);
    study.replacen("path = \"data\"\n", &storage, 1)
}

/// The log was written and flushed, its flushes are timed, and a cache absorbed all of its writes, unless there is no cache.
pub(crate) fn expect_log_observed(attempt: &Attempt, is_cached: bool) {
    let of = |name: &SeriesName| sum(attempt, name, "log");
    let (writes, absorbed) = (of(&series::tier::WRITES), of(&series::tier::WRITES_ABSORBED));
    assert!(writes > 0.0 && of(&series::tier::FLUSHES) > 0.0, "{:?}", attempt.series);
    let mut times = attempt.series.iter().filter(|one| series::tier::LATENCY.is_of(&one.probe, &one.name));
    assert!(times.any(|one| one.component.starts_with("log flush ")), "{:?}", attempt.series);
    assert_eq!(absorbed, if is_cached { writes } else { 0.0 });
}

/// Starts the study of a folder and waits until its tier has its socket, at this place below the folder of its data.
pub(crate) fn spawn_until_open(bench: &Bench, socket: &str) -> Child {
    let mut child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    wait_beside(&mut child, "a tier is opened", || {
        let places = std::fs::read_dir(bench.path("data/small")).into_iter().flatten().flatten();
        places.map(|place| place.path().join(socket)).find(|path| path.exists())
    });
    child
}

/// Makes an experiment of two blocks with a record whose study delays flushes by 100 ms, and finds the delay changed in the visits that ask for
/// that and in no other, with less throughput, and as asked at the end. The delay is so long because a tenth and a millisecond more than asked is
/// not as asked, and a loaded host wakes threads later than a few milliseconds. Where one visit was not as asked, or the estimate says nothing,
/// the record as it was before gets another experiment: more blocks of the same one would not say more.
pub(crate) fn expect_delay_changed(bench: &Bench, file: &str) {
    let before = std::fs::read(bench.path(file)).expect("a record");
    let mut tries = 0;
    let ours = loop {
        tries += 1;
        std::fs::write(bench.path(file), &before).expect("it is ours");
        let asked = ["--blocks", "2", "--step", "0.5", "--progress", "none", "--no-report"];
        let done = bench.run(&[&["confirm", file], &asked[..]].concat());
        assert_eq!(done.status.code(), Some(0), "{}{}", text(&done.stdout), text(&done.stderr));
        let ours = told_of(bench, file);
        if ours["E"]["x"][0].as_f64() > Some(0.3) || tries == 12 {
            break ours;
        }
    };
    let record = proofload_record::read(&bench.path(file)).expect("a record");
    let attempt = record.experiments.last().expect("an experiment");
    let visits: Vec<_> = attempt
        .events
        .iter()
        .filter_map(|event| match &event.event {
            RunEvent::Visited(visit) => Some(visit),
            _ => None,
        })
        .collect();
    let rate = |visit: &InterventionVisit| {
        let seconds = attempt.intervals.iter().filter(|second| (visit.from..visit.to).contains(&second.index));
        let done: u64 = seconds.flat_map(|second| &second.counts).map(OperationCounts::completed).sum();
        done as f64 / (visit.to - visit.from) as f64
    };
    let mut rates: [Vec<f64>; 2] = Default::default();
    for visit in visits {
        let is_longer = visit.change.lowers(FLUSH_DELAY, ResourceClass::Speed);
        let found = visit.reading(FLUSH_DELAY).and_then(|reading| reading.in_force);
        let wanted = if is_longer { 1.0 / 0.2 } else { 1.0 / 0.1 };
        // A host that wakes threads late delays them longer: then none is said to be in force.
        assert!(found.is_none_or(|found| (found - wanted).abs() < 0.01), "{visit:?}");
        rates[usize::from(is_longer)].extend(found.map(|_| rate(visit)));
    }
    // Five a second, and one that began before: no more commits end on any host where each waits for 200 ms. The most are compared, since a
    // host that stands still makes them fewer, and never more.
    let most = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
    let is_shown = most(&rates[1]) <= 6.0 && most(&rates[1]) < most(&rates[0]);
    assert!(rates.iter().all(|rates| !rates.is_empty()) && is_shown, "{rates:?}");
    let facts = &attempt.facts;
    assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{facts:?}");
    assert_eq!(tier::FLUSH_DELAY.text(facts), Some("100ms"), "it is put back");
    assert!(
        (ours["true"].as_f64().expect("a step") + 0.5).abs() < 0.01 && ours["E"]["x"][0].as_f64() > Some(0.3),
        "{ours}"
    );
}

/// The delay of flushes as the report of a record tells it.
fn told_of(bench: &Bench, file: &str) -> serde_json::Value {
    let told = text(&bench.run(&["report", file, "--format", "json"]).stdout);
    let json: serde_json::Value = serde_json::from_str(&told).expect("JSON is JSON");
    let all = json["attribution"][0]["resources"].as_array().cloned().unwrap_or_default();
    let ours = all.iter().find(|one| one["name"] == FLUSH_DELAY).cloned();
    ours.unwrap_or_else(|| panic!("{all:?}"))
}

/// Goes on with a record of two runs that was broken off, to its end.
pub(crate) fn resume(bench: &Bench) {
    let done = bench.run(&["resume", "x.proof"]);
    assert!(matches!(done.status.code(), Some(0 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let finished = record.attempts.iter().filter(|attempt| attempt.state == State::Finished).count();
    assert_eq!(finished, 2);
    bench.expect_no_process();
}
