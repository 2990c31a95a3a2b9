//! The record as its users see it: what was written is read, nothing changes, a second writer and foreign files are refused.

use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::log_level::LogLevel;
use proofload_model::plan::expand;
use proofload_model::samples::{
    AgentHistogram, AgentSecond, Check, CheckOutcome, ClientSelf, ErrorCount, Fact, HistogramDelta, IntervalSample,
    LatencyClock, Mark, MarkLabel, OfferedLoad, OperationCounts, Reading, Telemetry,
};
use proofload_model::settings::{Settings, Value};
use proofload_model::study::{Factor, Study};
use proofload_model::time::{Moment, Offset, WallTime};
use proofload_record::{AgentRows, AttemptEvent, LogLine, Opening, Recorder, State, prove, read, read_proved};
use std::path::Path;

fn study() -> Study {
    let settings = Settings([("study.name".to_owned(), Value::Text("toy".to_owned()))].into());
    Study {
        settings,
        factors: vec![Factor {
            setting: "limits.cores".to_owned(),
            levels: vec![Value::Integer(1), Value::Integer(2)],
        }],
    }
}

fn create(path: &Path) -> Recorder {
    let study = study();
    let plan = expand(&study);
    Recorder::create(
        path,
        &Opening { study_text: "text", study: &study, plan: &plan, program: "test", at: WallTime(1) },
    )
    .expect("an empty folder takes a record")
}

fn sample(index: u64) -> IntervalSample {
    IntervalSample {
        index,
        counts: vec![OperationCounts { kind: "payment".to_owned(), due: 3, done: 2, failed: 1, ..Default::default() }],
        histograms: [
            ("payment", LatencyClock::Response),
            ("payment", LatencyClock::Service),
            ("", LatencyClock::SendLag),
        ]
        .map(|(kind, clock)| HistogramDelta {
            kind: kind.to_owned(),
            clock,
            count: 2,
            sum_ns: 30,
            max_ns: 20,
            payload: vec![1, 2, 3],
        })
        .to_vec(),
        errors: vec![ErrorCount { kind: "payment".to_owned(), code: "XX".to_owned(), text: "no".to_owned(), count: 1 }],
        client: ClientSelf {
            thread_cpu_ns: vec![5],
            resident_bytes: 7,
            send_lag_ns_p99: None,
            offered: Some(OfferedLoad { due: 4, waiting: 1 }),
            paused_ns: 0,
        },
        engine: vec![],
    }
}

fn check() -> Check {
    Check {
        group: "g".to_owned(),
        name: "n".to_owned(),
        rule: "r".to_owned(),
        found: "f".to_owned(),
        outcome: CheckOutcome::Met,
        offenders: vec![],
        sample: None,
        lost: None,
    }
}

#[test]
fn what_was_written_is_read_and_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    let attempt = recorder.begin_attempt(1, WallTime(2)).unwrap();
    let fact =
        Fact { instance: InstanceName::primary(), number: Some(0.5), ..Fact::observed("host", "kernel", "6", "uname") };
    let reading = Reading { name: "busy".to_owned(), component: "0".to_owned(), unit: "%".to_owned(), value: 12.5 };
    let mark = Mark { moment: Moment(9), offset: Offset(-1), counters: vec![("a".to_owned(), 1), ("b".to_owned(), 2)] };
    let check = check();
    recorder.facts(Some(attempt), std::slice::from_ref(&fact)).unwrap();
    recorder.interval(attempt, &sample(0)).unwrap();
    recorder.interval(attempt, &sample(1)).unwrap();
    let telemetry = Telemetry {
        instance: InstanceName::primary(),
        probe: "cores".to_owned(),
        moment: Moment(1),
        span_ns: 6,
        readings: vec![reading],
    };
    recorder.telemetry(attempt, Offset(5), &telemetry).unwrap();
    recorder.telemetry(attempt, Offset(7), &telemetry).unwrap();
    let host = Telemetry { instance: InstanceName::default(), ..telemetry };
    recorder.telemetry(attempt, Offset(7), &host).unwrap();
    recorder.mark(attempt, MarkLabel::Before, &mark).unwrap();
    recorder.checks(attempt, std::slice::from_ref(&check)).unwrap();
    let window = AttemptEvent {
        offset: Some(Offset(-4)),
        instance: InstanceName::primary(),
        ..AttemptEvent::new(WallTime(3), RunEvent::Window { from: 0, to: 2 })
    };
    recorder.event(Some(attempt), &window).unwrap();
    let line = LogLine {
        attempt: Some(attempt.0),
        at: WallTime(3),
        level: LogLevel::Info,
        source: "server".to_owned(),
        instance: InstanceName::primary(),
        text: "ready".to_owned(),
    };
    recorder.log(&line).unwrap();
    recorder.finish(attempt, WallTime(4)).unwrap();
    let other = recorder.begin_attempt(0, WallTime(5)).unwrap();
    recorder.fail(other, WallTime(6), "server died").unwrap();
    recorder.close().unwrap();
    assert!(!folder.path().join("x.proof-lock").exists() && !folder.path().join("x.proof-wal").exists());

    let record = read(&path).unwrap();
    let finished = record.finished(1).unwrap();
    assert_eq!(finished.intervals, [sample(0), sample(1)]);
    assert_eq!(finished.facts, [fact]);
    let series = finished.series.iter().map(|series| (series.instance.as_str(), series.samples.as_slice()));
    let expected: [(&str, &[_]); 2] =
        [("primary", &[(Offset(5), 6, 12.5), (Offset(7), 6, 12.5)]), ("", &[(Offset(7), 6, 12.5)])];
    assert_eq!(series.collect::<Vec<_>>(), expected);
    assert_eq!((&finished.events[0], &record.logs), (&window, &vec![line]));
    assert_eq!(finished.marks, [("before".to_owned(), mark)]);
    assert_eq!(finished.checks, [check]);
    assert_eq!(finished.window(), Some((0, 2)));
    assert_eq!(finished.seal_holds, Some(true));
    assert_eq!(record.attempts[1].state, State::Failed { reason: "server died".to_owned() });
}

#[test]
fn rows_cannot_be_changed_and_a_forged_one_breaks_the_seal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    let attempt = recorder.begin_attempt(0, WallTime(2)).unwrap();
    recorder.interval(attempt, &sample(0)).unwrap();
    recorder.finish(attempt, WallTime(4)).unwrap();
    recorder.close().unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    for change in ["UPDATE operation SET done = 99", "DELETE FROM event"] {
        let error = connection.execute(change, []).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{error}");
    }
    drop(connection);
    forge(&path, "operation_no_update", "UPDATE operation SET done = 99");
    let record = read(&path).unwrap();
    assert_eq!(record.finished(0).unwrap().seal_holds, Some(false));
    assert_eq!(record.faults, ["rows of attempt 1 were changed after it ended (link 3)"]);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("DROP TRIGGER operation_no_update").unwrap();
    assert!(read(&path).unwrap_err().is_damaged(), "triggers are part of the format");
}

#[test]
fn what_proves_a_record_comes_with_it_also_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    for run in [0, 1] {
        let attempt = recorder.begin_attempt(run, WallTime(2)).unwrap();
        recorder.interval(attempt, &sample(0)).unwrap();
        recorder.finish(attempt, WallTime(4)).unwrap();
    }
    recorder.begin_attempt(1, WallTime(5)).unwrap();
    recorder.commit().unwrap();
    let (record, proof) = read_proved(&path).unwrap();
    assert!(record.being_written && record.faults.is_empty(), "{:?}", record.faults);
    assert_eq!([0, 1].map(|run| record.finished(run).unwrap().seal_holds), [Some(true); 2]);
    assert_eq!(proof, prove(&path).unwrap());
    recorder.close().unwrap();
    forge(&path, "operation_no_update", "UPDATE operation SET done = 99 WHERE attempt = 1");
    let record = read(&path).unwrap();
    assert_eq!([0, 1].map(|run| record.finished(run).unwrap().seal_holds), [Some(false), Some(true)]);
    assert_eq!(record.faults, ["rows of attempt 1 were changed after it ended (link 3)"]);
}

/// Changes rows as somebody would who knows SQLite: the trigger out of the way, and back again.
fn forge(path: &Path, trigger: &str, change: &str) {
    let connection = rusqlite::Connection::open(path).expect("it opens");
    let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let made: String = connection.query_row(sql, [trigger], |row| row.get(0)).expect("a trigger");
    connection.execute_batch(&format!("DROP TRIGGER {trigger}; {change}; {made}")).expect("SQLite carries it out");
}

#[test]
fn what_is_shared_voids_all_and_what_is_not_voids_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let holds = |path: &Path| {
        let record = read(path).unwrap();
        [0, 1].map(|run| record.finished(run).unwrap().seal_holds)
    };
    let make = || {
        let _removed = std::fs::remove_file(&path);
        let mut recorder = create(&path);
        for run in [0, 1] {
            let attempt = recorder.begin_attempt(run, WallTime(2)).unwrap();
            recorder.interval(attempt, &sample(0)).unwrap();
            recorder.finish(attempt, WallTime(4)).unwrap();
        }
        recorder.close().unwrap();
    };
    make();
    assert_eq!(holds(&path), [Some(true); 2]);
    forge(&path, "failure_no_update", "UPDATE failure SET text = 'x' WHERE attempt = 2");
    assert_eq!(holds(&path), [Some(true), Some(false)]);
    make();
    forge(&path, "session_no_update", "UPDATE session SET program = 'x'");
    assert_eq!(holds(&path), [Some(false); 2]);
    make();
    // Another's row is a row of nobody that the chain knows.
    forge(&path, "interval_no_update", "INSERT INTO event VALUES (77, NULL, 1, NULL, 'steady', '', '', 1)");
    assert_eq!(holds(&path), [Some(false); 2]);
    make();
    forge(&path, "link_no_delete", "DELETE FROM link WHERE kind = 'closed'");
    assert_eq!(holds(&path), [Some(false); 2], "it was closed");
    make();
    forge(&path, "link_no_delete", "DELETE FROM link WHERE id > 3");
    assert_eq!(holds(&path), [Some(false), None], "a finished attempt without its seal");
}

#[test]
fn a_killed_writer_leaves_a_chain_that_holds_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    let kept = recorder.begin_attempt(0, WallTime(2)).unwrap();
    recorder.interval(kept, &sample(0)).unwrap();
    recorder.finish(kept, WallTime(3)).unwrap();
    let left = recorder.begin_attempt(1, WallTime(4)).unwrap();
    recorder.document(WallTime(4), "fio", "text").unwrap();
    recorder.facts(None, &[Fact::observed("host", "kernel", "6", "uname")]).unwrap();
    recorder.interval(left, &sample(0)).unwrap();
    recorder.commit().unwrap();
    recorder.interval(left, &sample(1)).unwrap();
    drop(recorder);
    let proof = prove(&path).unwrap();
    assert_eq!((proof.faults.as_slice(), proof.closed), (&[] as &[String], false));
    let mut recorder = Recorder::resume(&path, "test", WallTime(5)).unwrap();
    let again = recorder.begin_attempt(1, WallTime(6)).unwrap();
    recorder.interval(again, &sample(0)).unwrap();
    recorder.finish(again, WallTime(7)).unwrap();
    recorder.close().unwrap();
    let proof = prove(&path).unwrap();
    assert_eq!((proof.faults.as_slice(), proof.closed), (&[] as &[String], true));
    let record = read(&path).unwrap();
    assert_eq!([0, 1].map(|run| record.finished(run).unwrap().seal_holds), [Some(true); 2]);
    forge(&path, "interval_no_update", "UPDATE interval SET client = '{}' WHERE attempt = 2");
    assert_eq!(prove(&path).unwrap().faults.len(), 1, "what was left is covered once somebody goes on");
}

/// What one of several load agents did.
fn of_agent(agent: u32, number: u64) -> AgentSecond {
    AgentSecond {
        agent,
        number,
        completed: 5,
        count: 5,
        sum_ns: 50,
        max_ns: 20,
        client: sample(0).client,
        ..AgentSecond::default()
    }
}

#[test]
fn rows_of_load_agents_are_read_and_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    let attempt = recorder.begin_attempt(0, WallTime(2)).unwrap();
    recorder.interval(attempt, &sample(0)).unwrap();
    for (agent, number) in [(0, 1), (1, 0), (0, 0)] {
        recorder.agent_second(attempt, &of_agent(agent, number)).unwrap();
    }
    let histogram =
        AgentHistogram { agent: 1, delta: HistogramDelta { kind: String::new(), ..sample(0).histograms[0].clone() } };
    recorder.agent_histogram(attempt, &histogram).unwrap();
    assert!(recorder.agent_second(attempt, &of_agent(0, 0)).is_err(), "a second comes once");
    recorder.finish(attempt, WallTime(4)).unwrap();
    recorder.close().unwrap();
    let finished = read(&path).unwrap().finished(0).unwrap().clone();
    let seconds = [(0, 0), (1, 0), (0, 1)].map(|(agent, number)| of_agent(agent, number)).to_vec();
    assert_eq!(finished.agents, AgentRows { seconds, histograms: vec![histogram] });
    assert_eq!(finished.seal_holds, Some(true));
    forge(&path, "agent_interval_no_update", "UPDATE agent_interval SET completed = 6");
    assert_eq!(read(&path).unwrap().finished(0).unwrap().seal_holds, Some(false));
}

/// Makes an empty record one of an older format: before 5 each reading had a row, before 4 nothing named an instance, before 3 there were no tables of load agents.
fn as_format(path: &Path, format: i32) {
    let connection = rusqlite::Connection::open(path).expect("the file is there");
    let names = "ALTER TABLE fact DROP COLUMN instance; ALTER TABLE fact DROP COLUMN number; \
                 ALTER TABLE event DROP COLUMN instance; ALTER TABLE event DROP COLUMN version; ALTER TABLE log DROP COLUMN instance; \
                 ALTER TABLE series DROP COLUMN instance; ALTER TABLE series RENAME COLUMN component TO instance;";
    let seal = "DROP TABLE link; CREATE TABLE seal (id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL UNIQUE, sha256 TEXT NOT NULL) STRICT;";
    let agents = if format < 3 { "DROP TABLE agent_interval; DROP TABLE agent_histogram;" } else { "" };
    let samples = "DROP TABLE series_set; DROP TABLE sample; CREATE TABLE sample (id INTEGER PRIMARY KEY, series INTEGER NOT NULL, \
                   offset_ns INTEGER NOT NULL, span_ns INTEGER NOT NULL, value REAL NOT NULL) STRICT;";
    let script = format!("{names} {seal} {agents} {samples} PRAGMA user_version = {format}");
    connection.execute_batch(&script).expect("they are there");
}

#[test]
fn records_of_the_formats_before_are_continued_sealed_and_read() {
    for format in [1, 2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.proof");
        create(&path).close().unwrap();
        as_format(&path, format);
        let mut recorder = Recorder::resume(&path, "test", WallTime(2)).unwrap();
        let attempt = recorder.begin_attempt(0, WallTime(2)).unwrap();
        let reading = Reading { name: "busy".to_owned(), component: "3".to_owned(), unit: "%".to_owned(), value: 12.5 };
        let interval = IntervalSample { engine: vec![reading.clone()], ..sample(0) };
        recorder.interval(attempt, &interval).unwrap();
        let readings = vec![reading];
        let (instance, probe) = (InstanceName::primary(), "cores".to_owned());
        let telemetry = Telemetry { instance, probe, moment: Moment(1), span_ns: 6, readings };
        recorder.telemetry(attempt, Offset(5), &telemetry).unwrap();
        let fact = |name: &str, text: &str| Fact::observed("limit", name, text, "cgroup");
        let facts = [fact("cpu", "0.5 CPU s/s"), fact("memory.max", "64MiB"), fact("any", "words")];
        recorder.facts(Some(attempt), &facts).unwrap();
        recorder.finish(attempt, WallTime(4)).unwrap();
        recorder.close().unwrap();
        let finished = read(&path).unwrap().finished(0).unwrap().clone();
        assert_eq!((finished.agents, finished.seal_holds), (AgentRows::default(), Some(true)));
        let numbers = [Some(0.5), Some(f64::from(64 << 20)), None];
        let facts: Vec<Fact> = facts.into_iter().zip(numbers).map(|(fact, number)| Fact { number, ..fact }).collect();
        assert_eq!((finished.intervals, finished.facts), (vec![interval], facts));
        let series = &finished.series[0];
        assert_eq!((series.component.as_str(), &series.instance), ("3", &InstanceName::default()));
    }
}

/// A component's samples: offset, span in nanoseconds, value.
type ComponentSamples = (String, Vec<(Offset, u64, f64)>);

/// Telemetry of a host, of one probe.
fn readings(probe: &str, readings: &[(&str, f64)]) -> Telemetry {
    let reading = |(component, value): &(&str, f64)| Reading {
        name: "busy".to_owned(),
        component: (*component).to_owned(),
        unit: "%".to_owned(),
        value: *value,
    };
    Telemetry {
        instance: InstanceName::default(),
        probe: probe.to_owned(),
        moment: Moment(0),
        span_ns: 6,
        readings: readings.iter().map(reading).collect(),
    }
}

#[test]
fn readings_of_a_moment_come_back_to_their_series_whatever_else_was_read_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    let first = recorder.begin_attempt(0, WallTime(2)).unwrap();
    let moments = [
        readings("cores", &[("0", 1.0), ("1", 2.0)]),
        readings("devices", &[("sda", f64::INFINITY)]),
        // A core that is read no more, one in another place, one that gives no number, and nothing at all.
        readings("cores", &[("1", -0.0), ("0", 1e300)]),
        readings("cores", &[("0", f64::NAN), ("1", 5.0)]),
        readings("cores", &[("0", f64::NAN)]),
        readings("cores", &[]),
    ];
    for (moment, telemetry) in (0..).zip(&moments) {
        recorder.telemetry(first, Offset(moment), telemetry).unwrap();
    }
    recorder.finish(first, WallTime(3)).unwrap();
    let second = recorder.begin_attempt(1, WallTime(4)).unwrap();
    recorder.telemetry(second, Offset(9), &moments[0]).unwrap();
    recorder.finish(second, WallTime(5)).unwrap();
    recorder.close().unwrap();
    let record = read(&path).unwrap();
    let samples = |run: u32| -> Vec<ComponentSamples> {
        let series = &record.finished(run).unwrap().series;
        series.iter().map(|one| (one.component.clone(), one.samples.clone())).collect()
    };
    let of = |component: &str, samples: &[(i64, f64)]| {
        let samples = samples.iter().map(|(at, value)| (Offset(*at), 6, *value)).collect();
        (component.to_owned(), samples)
    };
    let expected =
        [of("0", &[(0, 1.0), (2, 1e300)]), of("1", &[(0, 2.0), (2, -0.0), (3, 5.0)]), of("sda", &[(1, f64::INFINITY)])];
    assert_eq!(samples(0), expected);
    assert_eq!(samples(1), [of("0", &[(9, 1.0)]), of("1", &[(9, 2.0)])]);
    let rows: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT count(*) FROM sample", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 5, "one for each moment that has a reading");
}

#[test]
fn a_record_of_format_4_is_continued_as_it_is_and_its_chain_holds() {
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-4-memory.proof");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    std::fs::copy(stored, &path).unwrap();
    let before = read(&path).unwrap().attempts;
    let mut recorder = Recorder::resume(&path, "test", WallTime(2)).unwrap();
    let attempt = recorder.begin_attempt(0, WallTime(2)).unwrap();
    for moment in 0..3 {
        let telemetry = readings("cores", &[("0", f64::from(moment)), ("1", 7.0)]);
        recorder.telemetry(attempt, Offset(moment.into()), &telemetry).unwrap();
    }
    recorder.finish(attempt, WallTime(3)).unwrap();
    recorder.close().unwrap();
    let (record, proof) = read_proved(&path).unwrap();
    assert_eq!((proof.format, proof.closed, proof.faults), (4, true, vec![]));
    let seals: Vec<_> = record.attempts.iter().map(|attempt| attempt.seal_holds).collect();
    assert_eq!(seals, vec![Some(true); before.len() + 1]);
    for (then, now) in before.iter().zip(&record.attempts) {
        assert_eq!(then.series, now.series);
    }
    let busy: Vec<f64> = record.finished(0).unwrap().series[0].samples.iter().map(|sample| sample.2).collect();
    assert_eq!(busy, [0.0, 1.0, 2.0]);
    // A reading that was changed is found as it is today.
    forge(&path, "sample_no_update", "UPDATE sample SET value = value + 1 WHERE id = 3");
    assert!(!prove(&path).unwrap().faults.is_empty());
}

#[test]
fn a_second_writer_an_existing_file_a_foreign_file_and_a_newer_format_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let recorder = create(&path);
    assert!(Recorder::resume(&path, "test", WallTime(2)).unwrap_err().is_in_use());
    assert!(read(&path).unwrap().being_written);
    drop(recorder);
    assert!(!read(&path).unwrap().being_written);
    let study = study();
    let plan = expand(&study);
    let opening = Opening { study_text: "", study: &study, plan: &plan, program: "test", at: WallTime(1) };
    assert!(Recorder::create(&path, &opening).unwrap_err().to_string().contains("proofload resume"));

    let foreign = folder.path().join("notes.txt");
    std::fs::write(&foreign, "a text that is long enough to be no database at all".repeat(20)).unwrap();
    assert!(read(&foreign).unwrap_err().is_not_a_record());
    assert!(Recorder::resume(&foreign, "test", WallTime(2)).unwrap_err().is_not_a_record());

    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    assert!(read(&path).unwrap_err().is_newer_format());
}

/// A record that was killed and whose file alone was deleted leaves its last commits behind; they never get into the next one.
#[test]
fn commits_that_a_deleted_record_left_are_no_part_of_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    recorder.begin_attempt(0, WallTime(2)).unwrap();
    recorder.commit().unwrap();
    let (left, kept) = (folder.path().join("x.proof-wal"), folder.path().join("kept"));
    std::fs::copy(&left, &kept).unwrap();
    drop(recorder);
    std::fs::remove_file(&path).unwrap();
    std::fs::rename(&kept, &left).unwrap();
    let study = study();
    let plan = expand(&study);
    let opening = Opening { study_text: "text", study: &study, plan: &plan, program: "test", at: WallTime(1) };
    let refused = Recorder::create(&path, &opening).expect_err("what was left is in the way").to_string();
    assert!(refused.contains("x.proof-wal contains the last commits of a record"), "{refused}");
    std::fs::remove_file(&left).unwrap();
    drop(Recorder::create(&path, &opening).unwrap());
    assert!(read(&path).unwrap().attempts.is_empty());
}

#[test]
fn what_was_not_committed_is_lost_and_what_was_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    let attempt = recorder.begin_attempt(0, WallTime(2)).unwrap();
    recorder.interval(attempt, &sample(0)).unwrap();
    recorder.commit().unwrap();
    recorder.interval(attempt, &sample(1)).unwrap();
    drop(recorder);
    let record = read(&path).unwrap();
    assert_eq!(record.attempts[0].intervals, [sample(0)]);
    assert_eq!(record.attempts[0].state, State::Open);
}

#[test]
fn a_record_that_is_deleted_or_replaced_is_missed_at_the_next_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.proof");
    let mut recorder = create(&path);
    recorder.commit().expect("it is there");
    std::fs::rename(&path, folder.path().join("moved.proof")).expect("it can be moved");
    std::fs::write(&path, "another file").expect("it can be written");
    let told = recorder.commit().expect_err("it is another file").to_string();
    assert!(told.contains("was deleted or replaced while it was being written"), "{told}");
    assert_eq!(recorder.close().expect_err("it stays so").to_string(), told);
}
