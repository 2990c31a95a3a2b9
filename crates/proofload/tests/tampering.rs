//! A record that was damaged or changed after it was written: never a silent difference. Every change is an error, a broken seal that
//! voids, or makes no difference to the report. `PROOFLOAD_TAMPERING=1000` asks for so many flipped bits instead of a sample.

mod support;

use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::log_level::LogLevel;
use proofload_model::samples::{AgentHistogram, AgentSecond, ClientSelf, ErrorCount, Fact, IntervalSample, Telemetry};
use proofload_model::samples::{HistogramDelta, LatencyClock, Reading};
use proofload_model::time::{Moment, Offset, WallTime};
use proofload_record::{AttemptEvent, AttemptId, LogLine, Recorder};
use proofload_report::{Format, render};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use support::synthetic::{BEGUN, Synthetic};

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Error,
    BrokenSeal,
    EqualReport,
    Silent,
}

/// A finished record with rows in every table and pages of every kind, and its report.
struct Specimen {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
    report: String,
}

impl Specimen {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("whole.proof");
        Synthetic { repetitions: 2, ..Synthetic::of(40.0, 7) }.write(&path);
        continue_it(&path);
        // A page of the free list: what a record never has of itself.
        let connection = Connection::open(&path).expect("the record opens");
        let free = "CREATE TABLE gone (x TEXT); INSERT INTO gone VALUES (hex(randomblob(9000))); DROP TABLE gone;";
        connection.execute_batch(free).expect("a table comes and goes");
        drop(connection);
        let report = report(&path).expect("the whole record has a report");
        assert!(!report.contains("record_faults"), "{report}");
        Self { bytes: std::fs::read(&path).expect("it is a file"), report, folder }
    }

    fn copy(&self) -> PathBuf {
        let path = self.folder.path().join("changed.proof");
        std::fs::write(&path, &self.bytes).expect("a copy is written");
        path
    }

    fn outcome(&self, path: &Path) -> Outcome {
        match report(path) {
            Err(_) => Outcome::Error,
            Ok(report) if report.contains("record_faults") => Outcome::BrokenSeal,
            Ok(report) if report == self.report => Outcome::EqualReport,
            Ok(_) => Outcome::Silent,
        }
    }
}

fn report(path: &Path) -> Result<String, String> {
    let record = proofload_record::read(path).map_err(|error| error.to_string())?;
    render(&record, Format::Json).map_err(|error| error.to_string())
}

/// Another session, in which a run with several load agents fails.
fn continue_it(path: &Path) {
    let at = WallTime(BEGUN.0 + 900_000_000);
    let mut recorder = Recorder::resume(path, "proofload 0.1.0", at).expect("it goes on");
    let found = Fact { number: Some(2.5), ..Fact::observed("calibration", "device_read_mb_s", "2.5000", "a pass") };
    recorder.facts(None, std::slice::from_ref(&found)).expect("a fact fits");
    let calibrated = RunEvent::Calibrated { key: "k".to_owned(), facts: vec![found] };
    recorder.event(None, &AttemptEvent::new(at, calibrated)).expect("an event fits");
    recorder.document(at, "fio.json", &"a long document ".repeat(2_000)).expect("a document fits");
    recorder.log(&line(None, at)).expect("a line fits");
    recorder.commit().expect("it is kept");
    let attempt = recorder.begin_attempt(0, at).expect("an attempt begins");
    for number in 0..400 {
        fill_second(&mut recorder, attempt, number);
    }
    recorder.log(&line(Some(attempt), at)).expect("a line fits");
    recorder.fail(attempt, at, "server died").expect("it fails");
    recorder.close().expect("it closes");
}

fn line(attempt: Option<AttemptId>, at: WallTime) -> LogLine {
    let (level, source, text) = (LogLevel::Info, "conductor".to_owned(), "a line".to_owned());
    LogLine { attempt: attempt.map(|attempt| attempt.0), at, level, source, instance: InstanceName::primary(), text }
}

fn fill_second(recorder: &mut Recorder, attempt: AttemptId, number: u64) {
    let error = ErrorCount { kind: "read".to_owned(), code: "XX".to_owned(), text: "no".to_owned(), count: 1 };
    let sample = IntervalSample {
        index: number,
        counts: vec![],
        histograms: vec![],
        errors: vec![error],
        client: ClientSelf::default(),
        engine: vec![],
    };
    recorder.interval(attempt, &sample).expect("an interval fits");
    for agent in 0..2 {
        let second = AgentSecond { agent, number, completed: 3, count: 3, ..AgentSecond::default() };
        recorder.agent_second(attempt, &second).expect("a second fits");
    }
    let (kind, clock, payload) = (String::new(), LatencyClock::Response, vec![1, 2, 3]);
    let delta = HistogramDelta { kind, clock, count: 2, sum_ns: 30, max_ns: 20, payload };
    recorder.agent_histogram(attempt, &AgentHistogram { agent: 0, delta }).expect("a histogram fits");
    let reading =
        Reading { name: "busy".to_owned(), component: "0".to_owned(), unit: "%".to_owned(), value: number as f64 };
    let telemetry = Telemetry {
        instance: InstanceName::default(),
        probe: "cores".to_owned(),
        moment: Moment(0),
        span_ns: 1_000_000_000,
        readings: vec![reading],
    };
    recorder.telemetry(attempt, Offset(number as i64), &telemetry).expect("a reading fits");
}

/// A reproducible source of numbers. Source: Marsaglia, "Xorshift RNGs", 2003, the triple 13, 7, 17.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Bytes of a page.
const PAGE: usize = 4096;

/// Pages by kind: the first byte of a page of a b-tree says it. Source: SQLite's file format, section 1.6.
fn pages(bytes: &[u8]) -> BTreeMap<&'static str, Vec<usize>> {
    let mut pages: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    let free = free_pages(bytes);
    for page in 0..bytes.len() / PAGE {
        let kind = match bytes[page * PAGE + if page == 0 { 100 } else { 0 }] {
            _ if page == 0 => "header",
            _ if free.contains(&page) => "free",
            2 => "index interior",
            5 => "table interior",
            10 => "index leaf",
            13 => "table leaf",
            _ => "overflow",
        };
        pages.entry(kind).or_default().push(page);
    }
    pages
}

/// Pages of the free list, from its first trunk on.
fn free_pages(bytes: &[u8]) -> Vec<usize> {
    let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
    let (mut trunk, mut free) = (word(32), Vec::new());
    while trunk != 0 {
        let at = (trunk - 1) * PAGE;
        free.push(trunk - 1);
        free.extend((0..word(at + 4)).map(|leaf| word(at + 8 + 4 * leaf) - 1));
        trunk = word(at);
    }
    free
}

/// Any byte of a page; every second time one that SQLite reads, since much of a page is often empty.
fn byte_of(kind: &str, page: &[u8], flip: usize, chance: &mut Chance) -> usize {
    if flip.is_multiple_of(2) {
        return chance.below(PAGE);
    }
    let word = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
    let read: Vec<usize> = match kind {
        "header" => (0..100).collect(),
        "overflow" | "free" => (0..PAGE).collect(),
        // Header, pointers to cells, and cells. Source: SQLite's file format, section 1.6.
        _ => (0..12 + 2 * word(3)).chain(word(5)..PAGE).collect(),
    };
    read[chance.below(read.len())]
}

#[test]
fn no_flipped_bit_changes_a_report_silently() {
    let specimen = Specimen::new();
    let flips = std::env::var("PROOFLOAD_TAMPERING").map_or(140, |asked| asked.parse().expect("a number of flips"));
    let pages = pages(&specimen.bytes);
    let kinds: Vec<&str> = pages.keys().copied().collect();
    let all = ["free", "header", "index interior", "index leaf", "overflow", "table interior", "table leaf"];
    assert_eq!(kinds, all, "a page of every kind");
    let (mut chance, mut found) = (Chance(42), BTreeMap::new());
    for flip in 0..flips {
        let kind = kinds[(flip / 2) % kinds.len()];
        let page = pages[kind][chance.below(pages[kind].len())];
        let (byte, bit) =
            (page * PAGE + byte_of(kind, &specimen.bytes[page * PAGE..][..PAGE], flip, &mut chance), chance.below(8));
        let mut bytes = specimen.bytes.clone();
        bytes[byte] ^= 1 << bit;
        let path = specimen.folder.path().join("flipped.proof");
        std::fs::write(&path, &bytes).expect("a copy is written");
        let outcome = specimen.outcome(&path);
        assert_ne!(outcome, Outcome::Silent, "bit {bit} of byte {byte}, a page of kind {kind}");
        *found.entry((kind, outcome)).or_insert(0) += 1;
    }
    println!("{flips} flipped bits: {found:#?}");
}

/// Columns of a table, with their types.
fn columns(connection: &Connection, table: &str) -> Vec<(String, String)> {
    let mut statement = connection.prepare(&format!("PRAGMA table_info({table})")).expect("the table is there");
    let rows = statement.query_map([], |row| Ok((row.get(1)?, row.get(2)?))).expect("it has columns");
    rows.collect::<Result<_, _>>().expect("they have names")
}

/// Every change of a single row: each column of each table, each table with a row less, a row twice, two rows changing places.
fn edits(connection: &Connection, round: usize) -> Vec<String> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").expect("a schema");
    let tables = statement.query_map([], |row| row.get::<_, String>(0)).expect("tables").flatten();
    let tables: Vec<String> = tables.filter(|name| !name.starts_with("sqlite_")).collect();
    let mut chance = Chance(round as u64 + 1);
    let mut edits = Vec::new();
    for table in &tables {
        let count: usize =
            connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("a count");
        assert!(count > 0, "{table} has rows");
        let mut row = || {
            let place = chance.below(count);
            format!("id = (SELECT id FROM {table} ORDER BY id LIMIT 1 OFFSET {place})")
        };
        let columns = columns(connection, table);
        for (column, kind) in &columns {
            let value = match kind.as_str() {
                "TEXT" => format!("coalesce({column}, '') || 'x'"),
                "BLOB" => format!("CAST({column} || x'01' AS BLOB)"),
                _ => format!("coalesce({column}, 0) + 1000000"),
            };
            edits.push(format!("UPDATE {table} SET {column} = {value} WHERE {}", row()));
        }
        edits.push(format!("DELETE FROM {table} WHERE {}", row()));
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        // A second row of the same; where a key forbids that, of the next attempt.
        let copied = names.iter().map(|name| match *name {
            "id" => format!("(SELECT max(id) + 1 FROM {table})"),
            "number" => "number + 5000".to_owned(),
            name => name.to_owned(),
        });
        let copied: Vec<String> = copied.collect();
        edits.push(format!("INSERT INTO {table} SELECT {} FROM {table} WHERE {}", copied.join(", "), row()));
    }
    edits
}

/// Makes a change as somebody would who knows SQLite: triggers out of the way, and back again.
fn edit(path: &Path, change: &str) -> usize {
    let connection = Connection::open(path).expect("the record opens");
    let mut statement =
        connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").expect("a schema");
    let triggers: Vec<(String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("triggers")
        .collect::<Result<_, _>>()
        .expect("they have names");
    drop(statement);
    for (name, _) in &triggers {
        connection.execute_batch(&format!("DROP TRIGGER {name}")).expect("it goes");
    }
    let changed = connection.execute(change, []).expect("SQLite carries it out");
    for (_, sql) in &triggers {
        connection.execute_batch(sql).expect("it comes back");
    }
    changed
}

#[test]
fn no_edited_row_changes_a_report_silently() {
    let specimen = Specimen::new();
    let connection = Connection::open(specimen.copy()).expect("the record opens");
    // The sample is every third change, the whole is every change, of other rows each time.
    let (rounds, step) = if std::env::var_os("PROOFLOAD_TAMPERING").is_some() { (2, 1) } else { (1, 3) };
    let changes: Vec<String> = (0..rounds).flat_map(|round| edits(&connection, round)).step_by(step).collect();
    drop(connection);
    let mut found = BTreeMap::new();
    for change in &changes {
        let path = specimen.copy();
        assert_eq!(edit(&path, change), 1, "{change}");
        let outcome = specimen.outcome(&path);
        // A changed row is told, also where the report would be equal.
        assert!(matches!(outcome, Outcome::Error | Outcome::BrokenSeal), "{change}: {outcome:?}");
        *found.entry(outcome).or_insert(0) += 1;
    }
    println!("{} edited rows: {found:#?}", changes.len());
}

/// The attacks that once gave other results under a seal that fitted.
#[test]
fn results_do_not_change_places_and_void_does_not_become_valid() {
    let specimen = Specimen::new();
    for change in [
        "UPDATE attempt SET run_index = 3 - run_index WHERE id < 5",
        "UPDATE event SET name = 'not_steady' WHERE name = 'warmed_up'",
        "UPDATE event SET detail = '{\"from\":6,\"to\":12}' WHERE name = 'window'",
        "DELETE FROM link",
        "DELETE FROM link WHERE id = (SELECT max(id) FROM link)",
        "DELETE FROM link WHERE kind = 'finished'",
        "UPDATE document SET body = replace(body, '\"null\"', '\"sqlite\"') WHERE name = 'study.json'",
        "PRAGMA user_version = 3",
        "DELETE FROM sample",
        "DROP TABLE link",
    ] {
        let path = specimen.copy();
        if change.starts_with("UPDATE") || change.starts_with("DELETE") {
            assert!(edit(&path, change) > 0, "{change}");
        } else {
            Connection::open(&path).expect("the record opens").execute_batch(change).expect("SQLite carries it out");
        }
        let valid = report(&path).is_ok_and(|report| !report.contains("record_faults"));
        assert!(!valid, "{change}: the report says nothing");
        let proof = proofload_record::prove(&path);
        assert!(proof.is_err() || proof.is_ok_and(|proof| !proof.faults.is_empty()), "{change}: the chain holds");
    }
}

#[test]
fn what_does_not_prove_itself_is_not_continued_and_stays_as_it_is() {
    let specimen = Specimen::new();
    for change in [
        "UPDATE document SET body = replace(body, '\"null\"', '\"sqlite\"') WHERE name = 'study.json'",
        "DELETE FROM link WHERE id = (SELECT max(id) FROM link)",
    ] {
        let path = specimen.copy();
        assert!(edit(&path, change) > 0, "{change}");
        let before = std::fs::read(&path).expect("it is a file");
        let error = Recorder::resume(&path, "proofload 0.1.0", BEGUN).expect_err("it is refused");
        assert!(error.is_damaged(), "{change}: {error}");
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_proofload")).arg("resume").arg(&path).output();
        let done = done.expect("it starts");
        assert_eq!(done.status.code(), Some(10), "{change}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(std::fs::read(&path).expect("it is a file") == before, "{change}: a byte was written");
    }
    // Rows of one run make that run void, and no other.
    let path = specimen.copy();
    assert!(edit(&path, "UPDATE mark SET value = value + 1 WHERE id = 1") > 0);
    Recorder::resume(&path, "proofload 0.1.0", BEGUN).expect("the others stand");
}

#[test]
fn a_window_that_no_load_can_have_had_voids_and_takes_no_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("foreign.proof");
    Synthetic::of(40.0, 7).write(&path);
    for (from, to) in [(5, 1_000_000_000_000), (u64::MAX >> 1, u64::MAX >> 1)] {
        let at = WallTime(BEGUN.0 + 900_000_000);
        let mut recorder = Recorder::resume(&path, "proofload 0.1.0", at).expect("it goes on");
        let attempt = recorder.begin_attempt(0, at).expect("an attempt begins");
        (0..3).for_each(|number| fill_second(&mut recorder, attempt, number));
        let window = AttemptEvent::new(at, RunEvent::Window { from, to });
        recorder.event(Some(attempt), &window).expect("an event fits");
        recorder.finish(attempt, at).expect("the run is sealed");
        recorder.close().expect("it closes");
        let record = proofload_record::read(&path).expect("it is read");
        assert_eq!(record.faults, Vec::<String>::new(), "its chain holds");
        let told = render(&record, Format::Json).expect("it is rendered");
        assert!(told.contains("beyond the 3 recorded seconds of load"), "{told}");
        render(&record, Format::Html).expect("it is rendered");
    }
}
