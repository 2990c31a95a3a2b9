//! What an observer tells of procedures and of waits of the load's sessions, from answers as the documentation has them. No server has been
//! asked.

use crate::places::{sqlserver, target};
use crate::tds_server::{ColumnForm, Datum, Part, Setup, TdsServer};
use proofload_engine::Observation;
use std::sync::Mutex;

/// An answer with texts and numbers: each row has two texts, and its numbers.
fn keys(rows: &[(&str, &str, &[i64])]) -> Vec<Part> {
    let width = rows.first().map_or(0, |(.., numbers)| numbers.len());
    let text = ColumnForm::Text(200, true);
    let columns = [text; 2].into_iter().chain(std::iter::repeat_n(ColumnForm::Integer(8), width)).collect();
    let row = |(component, key, numbers): &(&str, &str, &[i64])| {
        let texts = [*component, *key].map(Datum::text);
        Part::Row(texts.into_iter().chain(numbers.iter().map(|number| Datum::Integer(*number))).collect())
    };
    let rows = rows.iter().map(row);
    [Part::Columns(columns)].into_iter().chain(rows).collect()
}

/// What a second of a server is: clock, age of the plan, executions, µs of CPU and of time, pages looked up and read.
const SECONDS: [&[i64]; 3] = [
    &[1_000, 60_000, 100, 7_000_000, 9_000_000, 4_000, 10],
    &[2_000, 61_000, 140, 7_250_000, 9_500_000, 5_000, 10],
    &[3_000, 400, 3, 10_000, 10_000, 30, 0],
];

fn told(seen: &[Observation]) -> Vec<(String, f64)> {
    let name = |one: &Observation| format!("{} {}", one.reading.name, one.reading.component).trim_end().to_owned();
    seen.iter().map(|one| (name(one), one.reading.value)).collect()
}

fn expected(found: &[(&str, f64)]) -> Vec<(String, f64)> {
    found.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

#[test]
fn procedures_are_told_by_name_and_a_plan_that_is_gone_is_a_gap() {
    let look = Mutex::new(0);
    let server = TdsServer::start(Setup::default(), move |sql, _| {
        if !sql.contains("sys.dm_exec_procedure_stats") {
            return Vec::new();
        }
        let mut look = look.lock().expect("nobody panicked");
        *look += 1;
        let plan = if *look < 3 { "1 0x05 a" } else { "1 0x05 b" };
        keys(&[("tprocc_payment", plan, SECONDS[*look - 1])])
    });
    let url = server.url("encrypt=none");
    let mut observer = sqlserver().observer(&target(url, &[])).expect("an observer").expect("there is one");
    assert_eq!(told(&observer.observe().expect("observes")), expected(&[]), "the base");
    let second = observer.observe().expect("observes");
    assert!(second.iter().all(|one| !one.cumulative), "rates are formed by plan: {second:?}");
    let rates = [
        ("procedure_gaps", 0.0),
        ("procedure_executions tprocc_payment", 40.0),
        ("procedure_cpu tprocc_payment", 0.25),
        ("procedure_elapsed tprocc_payment", 0.5),
        ("procedure_logical_reads tprocc_payment", 1_000.0),
        ("procedure_physical_reads tprocc_payment", 0.0),
    ];
    assert_eq!(told(&second), expected(&rates));
    assert_eq!(told(&observer.observe().expect("observes")), expected(&[("procedure_gaps", 1.0)]));
}

#[test]
fn waits_of_the_loads_sessions_are_apart_and_another_set_of_them_is_a_gap() {
    let look = Mutex::new(0);
    let server = TdsServer::start(Setup::default(), move |sql, _| {
        if !sql.contains("sys.dm_exec_session_wait_stats") {
            return Vec::new();
        }
        assert!(sql.contains("program_name = 'proofload'"), "not the observer's, nor anybody's: {sql}");
        let mut look = look.lock().expect("nobody panicked");
        *look += 1;
        let sessions = if *look < 3 { "64 17" } else { "65 18" };
        let numbers = [1_000 * *look, 0, 500 * *look, 80 * *look];
        keys(&[("WRITELOG", sessions, numbers.as_slice())])
    });
    let url = server.url("encrypt=none");
    let mut observer = sqlserver().observer(&target(url, &[])).expect("an observer").expect("there is one");
    assert_eq!(told(&observer.observe().expect("observes")), expected(&[]), "the base");
    let waits = [("session_wait_gaps", 0.0), ("session_waits WRITELOG", 500.0), ("session_wait_time WRITELOG", 80.0)];
    assert_eq!(told(&observer.observe().expect("observes")), expected(&waits));
    assert_eq!(told(&observer.observe().expect("observes")), expected(&[("session_wait_gaps", 1.0)]));
}
