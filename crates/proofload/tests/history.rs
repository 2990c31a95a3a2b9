//! `history` over folders of records whose truth is known: levels, damaged files, the cache; a folder as the baseline of a gate.

mod support;

use serde_json::Value;
use std::path::Path;
use std::process::Output;
use support::synthetic::Synthetic;
use support::{Bench, text};

/// Sixteen records, one a day; the throughput falls by a fifth with the eleventh. In folders of two depths, beside files that are none.
fn bench(name: &str) -> Bench {
    let bench = Bench::new(name);
    std::fs::create_dir_all(bench.path("records/more")).expect("a folder");
    for day in 0..16 {
        let rate = if day < 10 { 400.0 } else { 320.0 };
        let folder = if day % 2 == 0 { "records" } else { "records/more" };
        let file = bench.path(&format!("{folder}/day{day:02}.proof"));
        Synthetic { repetitions: 1, day, ..Synthetic::of(rate, 1 + day as u32) }.write(&file);
    }
    let whole = std::fs::read(bench.path("records/day00.proof")).expect("it was written");
    std::fs::write(bench.path("records/short.proof"), &whole[..whole.len() / 3]).expect("a file");
    std::fs::write(bench.path("records/empty.proof"), "").expect("a file");
    std::fs::write(bench.path("records/words.proof"), "no record").expect("a file");
    std::fs::write(bench.path("records/notes.txt"), "no record").expect("a file");
    bench
}

fn run(bench: &Bench, arguments: &[&str]) -> Output {
    bench.command(arguments).env("XDG_CACHE_HOME", bench.path("cache")).output().expect("the program starts")
}

#[track_caller]
fn json(bench: &Bench, more: &[&str]) -> Value {
    let output = run(bench, &[&["history", "records", "--json"], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on stdout")
}

#[test]
fn a_change_of_level_is_found_and_damaged_files_are_told() {
    let bench = bench("history");
    let output = run(&bench, &["history", "records"]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    for wanted in [
        "! Throughput at virtual users 4 fell by 2",
        "day10.proof",
        "2026-09-21",
        "3 files are left out:",
        "words.proof",
    ] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    assert!(told.lines().all(|line| line.chars().count() <= 110), "{told}");
    let found = json(&bench, &[]);
    let study = &found["studies"][0];
    assert_eq!(
        (study["records"].as_array().map(Vec::len), found["skipped"].as_array().map(Vec::len)),
        (Some(16), Some(3))
    );
    assert_eq!(study["records"][3]["points"][0]["estimand"], "as given");
    let throughput = study["tracks"].as_array().expect("tracks").iter().filter(|track| track["metric"] == "throughput");
    for track in throughput {
        let changes = track["changes"].as_array().expect("changes");
        assert_eq!(changes.len(), 1, "{track}");
        let ends_with = |name: &str| changes[0]["record"].as_str().is_some_and(|file| file.ends_with(name));
        assert!(ends_with("day10.proof") && changes[0]["better"] == false, "{track}");
    }
}

#[test]
fn the_page_shows_each_figure_by_date() {
    let bench = bench("history-page");
    let output = run(&bench, &["history", "records", "-o", "history.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(bench.path("history.html")).expect("it was written");
    for wanted in ["16 records", "3 files", "Changes of level", "fell by 2", "<svg", "day15.proof", "2026-10-06"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    let output = run(&bench, &["history", "records", "--study", "other"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("there are synthetic"), "{}", text(&output.stderr));
    let output = run(&bench, &["history", "absent"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("absent"), "{}", text(&output.stderr));
}

#[test]
fn the_cache_may_be_old_damaged_or_missing() {
    let bench = bench("history-cache");
    let fresh = json(&bench, &["--no-cache"]);
    assert!(!bench.path("cache").exists());
    assert_eq!(json(&bench, &[]), fresh);
    let cache = bench.path("cache/proofload/history.jsonl");
    assert_eq!(std::fs::read_to_string(&cache).expect("it was kept").lines().count(), 17);
    // What is remembered is used: a record that says otherwise in the cache is believed.
    let kept = std::fs::read_to_string(&cache).expect("a text").replace("proofload 0.1.0", "proofload 9.9.9");
    std::fs::write(&cache, kept).expect("a file");
    assert_eq!(json(&bench, &[])["studies"][0]["records"][3]["program"], "proofload 9.9.9");
    // A file that changed is read again, one that is gone is forgotten.
    Synthetic { repetitions: 1, ..Synthetic::of(100.0, 99) }.write_anew(&bench.path("records/day00.proof"));
    std::fs::remove_file(bench.path("records/day02.proof")).expect("it is there");
    let again = json(&bench, &[]);
    let records = again["studies"][0]["records"].as_array().expect("records");
    assert_eq!((records.len(), &records[0]["program"]), (15, &"proofload 0.1.0".into()));
    std::fs::write(&cache, "nothing of ours\n").expect("a file");
    assert_eq!(json(&bench, &[])["studies"][0]["records"].as_array().map(Vec::len), Some(15));
}

#[test]
fn a_folder_is_the_baseline_of_a_gate_by_its_newest_record() {
    let bench = bench("history-gate");
    let gate = |candidate: &str| {
        let lenient = ["--tolerance", "5%", "--undecided", "pass", "--not-in-turns", "warn"];
        run(&bench, &[&["gate", "records", candidate][..], &lenient].concat())
    };
    let output = gate("records/more/day15.proof");
    let told = text(&output.stderr);
    assert!(told.contains(&format!("baseline: {}", Path::new("records/day14.proof").display())), "{told}");
    assert_eq!(output.status.code(), Some(0), "{told}{}", text(&output.stdout));
    std::fs::write(bench.path("records/day15.proof"), "").expect("a file");
    Synthetic { repetitions: 1, ..Synthetic::of(200.0, 77) }.write(&bench.path("slow.proof"));
    assert_ne!(gate("slow.proof").status.code(), Some(0));
    std::fs::create_dir(bench.path("none")).expect("a folder");
    let output = run(&bench, &["gate", "none", "slow.proof", "--tolerance", "5%"]);
    assert!(text(&output.stderr).contains("no intact record of the study synthetic"), "{}", text(&output.stderr));
}

/// Changes one row of a record, as a stranger would.
fn tamper(file: &Path) {
    let connection = rusqlite::Connection::open(file).expect("it opens");
    let body = "SELECT sql FROM sqlite_master WHERE name = 'fact_no_update'";
    let trigger: String = connection.query_row(body, [], |row| row.get(0)).expect("it has the trigger");
    let change = format!("DROP TRIGGER fact_no_update; UPDATE fact SET effective = '64'; {trigger}");
    connection.execute_batch(&change).expect("it is changed");
}

#[test]
fn a_record_that_was_changed_is_no_baseline_and_no_part_of_a_history() {
    let bench = bench("history-changed");
    json(&bench, &[]);
    tamper(&bench.path("records/day14.proof"));
    let found = json(&bench, &[]);
    assert_eq!(found["studies"][0]["records"].as_array().map(Vec::len), Some(15));
    let skipped = found["skipped"].as_array().expect("files");
    let changed = skipped.iter().find(|one| one["file"].as_str().is_some_and(|file| file.ends_with("day14.proof")));
    assert!(changed.is_some_and(|one| one["why"].as_str().is_some_and(|why| why.contains("changed"))), "{found}");
    let output =
        run(&bench, &["gate", "records", "records/more/day15.proof", "--tolerance", "5%", "--undecided", "pass"]);
    let told = text(&output.stderr);
    assert!(told.contains("not a baseline: records/day14.proof: it was changed after it was written"), "{told}");
    assert!(told.contains("baseline: records/more/day13.proof"), "{told}");
}
