//! What `cargo xtask answers` asks for: golden answers of a scale factor, written or checked, on which two engines that
//! have nothing in common agree. Minutes long at scale factor 1, so not part of every test run: without the chore's
//! request nothing is done.

use super::case::Case;
use super::data::lines;
use super::official;
use crate::workload::WorkloadRun as _;
use crate::workloads::warehouse::answers::{Answer, compare, read_csv, write_csv};
use crate::workloads::warehouse::data::{GENERATOR, Table};
use crate::workloads::warehouse::suite::{Dialect, Draw, Query, golden};
use proofload_engine::engine;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The chore's request: `write 1`, `check 0.1`, `check 0.1 mariadb` for one engine against the stored answers, or `tables 0.01 FOLDER` for the
/// official table files alone, which another program is asked with.
const ASKED: &str = "PROOFLOAD_ANSWERS";

/// The engines that must agree, each with the settings that a scale factor of 1 wants.
const ENGINES: [(&str, &[(&str, &str)]); 2] = [
    ("duckdb", &[]),
    (
        "postgresql",
        &[
            ("shared_buffers", "1GB"),
            ("work_mem", "64MB"),
            ("maintenance_work_mem", "512MB"),
            ("max_wal_size", "8GB"),
            ("synchronous_commit", "off"),
            ("jit", "off"),
        ],
    ),
];

/// Settings that a scale factor of 1 wants of engines that are only compared with what is stored.
const CHECKED_ALONE: &[(&str, &[(&str, &str)])] = &[
    (
        "mariadb",
        &[
            ("innodb_buffer_pool_size", "2GiB"),
            ("innodb_log_file_size", "1GiB"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("tmp_table_size", "256MiB"),
            ("max_heap_table_size", "256MiB"),
        ],
    ),
    (
        "mysql",
        &[
            ("innodb_buffer_pool_size", "2GiB"),
            ("innodb_redo_log_capacity", "1GiB"),
            ("innodb_flush_log_at_trx_commit", "2"),
        ],
    ),
];

/// One engine's answers to all queries with their validation values.
struct QueryAnswer {
    /// Name and version.
    engine: String,
    answers: Vec<Answer>,
}

/// Loads and asks one engine.
fn answered(name: &str, settings: &[(&str, &str)], scale: &str) -> (QueryAnswer, Case) {
    let changes = [("scale_factor", scale), ("check_load", "counts")];
    let started = Instant::now();
    let case = Case::with_engine_settings(name, settings, &changes).unwrap_or_else(|reason| panic!("{name}: {reason}"));
    case.workload_run().build().unwrap();
    eprintln!("{name} loaded in {:.0} s", started.elapsed().as_secs_f64());
    let (mut session, mut answers) = (case.session(), Vec::new());
    for (place, query) in case.dialect.queries.iter().enumerate() {
        let started = Instant::now();
        answers.push(case.answer(&mut session, place, Draw::Validation));
        let (seconds, rows) = (started.elapsed().as_secs_f64(), answers[place].len());
        eprintln!("{name} {} {seconds:.2} s, {rows} rows", query.name);
    }
    drop(session);
    let engine = format!("{name} {}", case.request.engine.locate().unwrap().version);
    (QueryAnswer { engine, answers }, case)
}

/// Differences between right answers and others, one a query.
fn differences(queries: &[Query], right: &[Answer], found: &QueryAnswer) -> Vec<String> {
    let pairs = queries.iter().zip(right.iter().zip(&found.answers));
    let differing = pairs.filter_map(|(query, (right, answer))| Some((query, compare(query, right, answer).err()?)));
    differing.map(|(query, what)| format!("{} of {}: {what}", query.name, found.engine)).collect()
}

/// The stored answers of a scale factor.
fn stored(queries: &[Query], scale: f64) -> Vec<Answer> {
    let read = |query: &Query| {
        let text = golden(scale, query.name).unwrap_or_else(|| panic!("there is no golden answer of {}", query.name));
        read_csv(query, text).unwrap()
    };
    queries.iter().map(read).collect()
}

/// Writes the answers, and beside them who agreed.
fn write(queries: &[Query], answers: &[Answer], scale: &str, agreed: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../suites/warehouse/answers/sf{scale}"));
    std::fs::create_dir_all(&folder).unwrap();
    for (query, answer) in queries.iter().zip(answers) {
        std::fs::write(folder.join(format!("{}.csv", query.name)), write_csv(query, answer)).unwrap();
    }
    std::fs::write(folder.join("agreed.toml"), agreed).unwrap();
}

/// Text that says which engines agreed on what, and within which bounds.
fn agreed(scale: &str, queries: usize, engines: &[&str], official: Option<usize>) -> String {
    let mut text = format!(
        "# Written by `cargo xtask answers`: who agreed on these golden answers.\nscale_factor = {scale}\ngenerator = \"{GENERATOR}\"\n\
         queries = {queries}\nengines = [{}]\nbounds = \"sums and averages 0.01, ratios 0.0001, everything else equal\"\n",
        engines.iter().map(|engine| format!("\"{engine}\"")).collect::<Vec<_>>().join(", ")
    );
    if let Some(met) = official {
        text += &format!("official_kit = \"{met} of {met} met within the bounds of clause 2.1.3.5\"\n");
    }
    text
}

/// The settings that a scale factor of 1 wants of an engine.
fn settings_of(name: &str) -> &'static [(&'static str, &'static str)] {
    let mut known = ENGINES.iter().chain(CHECKED_ALONE);
    known.find(|(engine, _)| *engine == name).map_or(&[][..], |(_, settings)| *settings)
}

/// Compares one engine's answers with the stored ones and, at scale factor 1, with those of the official kit.
fn check_alone(name: &str, scale: &str) {
    let (found, case) = answered(name, settings_of(name), scale);
    let queries = &case.dialect.queries;
    let mut wrong = differences(queries, &stored(queries, case.settings.scale), &found);
    if scale == "1" {
        wrong.extend(official::differences(queries, &found.answers));
    }
    assert!(wrong.is_empty(), "{} does not give the stored answers:\n{}", found.engine, wrong.join("\n"));
    eprintln!("{} gives the {} stored answers at scale factor {scale}", found.engine, queries.len());
}

/// Writes the official table files.
fn write_tables(scale: f64, folder: &Path) {
    for table in Table::ALL {
        std::fs::write(folder.join(format!("{}.tbl", table.name())), lines(table, scale)).unwrap();
    }
}

#[test]
fn engines_agree_on_golden_answers_when_the_chore_asks() {
    let Some(asked) = std::env::var_os(ASKED) else { return };
    let asked = asked.into_string().unwrap();
    let mut words = asked.splitn(3, ' ');
    let (task, scale) = words.next().zip(words.next()).expect("a task and a scale factor");
    match (task, words.next()) {
        ("tables", Some(folder)) => return write_tables(scale.parse().unwrap(), Path::new(folder)),
        (_, Some(engine)) => return check_alone(engine, scale),
        (_, None) => {}
    }
    let [(one, case), (other, _)] = ENGINES.map(|(name, settings)| answered(name, settings, scale));
    let queries = &case.dialect.queries;
    let mut wrong = differences(queries, &one.answers, &other);
    if task == "check" {
        let right = stored(queries, case.settings.scale);
        wrong.extend(differences(queries, &right, &one));
        wrong.extend(differences(queries, &right, &other));
    }
    let official = (scale == "1").then(|| official::differences(queries, &one.answers));
    wrong.extend(official.iter().flatten().cloned());
    assert!(wrong.is_empty(), "engines, stored answers or the official kit do not agree:\n{}", wrong.join("\n"));
    if task == "write" {
        let official = official.is_some().then_some(official::QUERIES);
        let text = agreed(scale, queries.len(), &[&one.engine, &other.engine], official);
        write(queries, &one.answers, scale, &text);
    }
    eprintln!("{} and {} agree on {} answers at scale factor {scale}", one.engine, other.engine, queries.len());
}

#[test]
fn every_scale_factor_with_answers_has_all_of_them_and_says_who_agreed() {
    let dialect = Dialect::of(engine("sqlite").unwrap()).unwrap();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../suites/warehouse/answers");
    let folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(folders.len() >= 3, "{folders:?}");
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy();
        let scale = name.strip_prefix("sf").unwrap();
        assert_eq!(stored(&dialect.queries, scale.parse().unwrap()).len(), dialect.queries.len());
        let said = std::fs::read_to_string(folder.join("agreed.toml")).unwrap();
        for line in [format!("scale_factor = {scale}\n"), format!("generator = \"{GENERATOR}\"\n")] {
            assert!(said.contains(&line), "{name}: {line}");
        }
    }
}
