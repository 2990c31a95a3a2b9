//! Records that earlier versions wrote, one per format and kind of study at least: each is read, and gives the JSON report that the
//! version gave which wrote format 3, or its own where that is later. The records lie in `records/` with the studies that made them.

use proofload_analysis::latency::histograms_read;
use proofload_record::{FORMAT, Record};
use proofload_report::findings::evaluate;
use proofload_report::{Format, render};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records")
}

fn records() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder is part of the repository");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut records: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "proof")).collect();
    records.sort();
    records
}

/// A copy, so that nothing that SQLite leaves beside a record lands in the repository.
fn render_copy(record: &Path) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("study.proof");
    std::fs::copy(record, &copy).expect("the record is copied");
    render(&proofload_record::read(&copy).expect("the record is read"), Format::Json).expect("the report is rendered")
}

#[test]
fn records_of_earlier_formats_give_the_json_that_they_gave() {
    let records = records();
    for format in 1..=FORMAT {
        let prefix = format!("format-{format}-");
        let named =
            |record: &&PathBuf| record.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        assert!(records.iter().any(|record| named(&record)), "no record of format {format}");
    }
    for record in records {
        let expected = std::fs::read_to_string(record.with_extension("json")).expect("the report of then");
        let rendered = render_copy(&record);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(record.with_extension("json"), &rendered).expect("the report is written");
            continue;
        }
        assert!(rendered == expected, "{}: {}", record.display(), first_difference(&expected, &rendered));
    }
}

/// Decoding is most of the work of a record of a long load: who decodes again makes its report take as much longer.
#[test]
fn a_report_decodes_no_stored_histogram_twice() {
    for path in records() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = folder.path().join("study.proof");
        std::fs::copy(&path, &copy).expect("the record is copied");
        let record = proofload_record::read(&copy).expect("the record is read");
        let stored = stored_histograms(&record);
        let decoded = |work: &dyn Fn()| {
            let before = histograms_read();
            work();
            histograms_read() - before
        };
        let by_findings = decoded(&|| drop(evaluate(&record)));
        assert!((1..=stored).contains(&by_findings), "{}: {by_findings} of {stored}", path.display());
        for format in [Format::Html, Format::Json, Format::Text] {
            let by_report = decoded(&|| drop(render(&record, format).expect("the report is rendered")));
            assert!(by_report <= stored, "{}, {format:?}: {by_report} of {stored}", path.display());
        }
    }
}

/// Histograms of a record's seconds, and of its load agents, of which each is asked for two clocks.
fn stored_histograms(record: &Record) -> u64 {
    let of_attempts = record.attempts.iter().map(|attempt| {
        let of_seconds: usize = attempt.intervals.iter().map(|second| second.histograms.len()).sum();
        of_seconds + 2 * attempt.agents.histograms.len()
    });
    of_attempts.sum::<usize>() as u64
}

/// The first line that differs, as it was and as it is.
fn first_difference(expected: &str, rendered: &str) -> String {
    let differing = expected.lines().zip(rendered.lines()).enumerate().find(|(_, (was, is))| was != is);
    differing.map_or_else(
        || format!("{} lines became {}", expected.lines().count(), rendered.lines().count()),
        |(line, (was, is))| format!("line {}: {was} became {is}", line + 1),
    )
}
