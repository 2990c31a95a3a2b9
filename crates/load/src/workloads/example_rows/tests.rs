//! The fixture on engines that keep data and on the one that does not, as a load agent goes it.

use crate::real_clock::RealClock;
use crate::role::LoadRole;
use crate::workloads::blocking_session::BlockingSession;
use crate::workloads::support::{Place, Special};
use crate::workloads::workload;
use proofload_engine::engine;
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{CheckOutcome, OperationCounts};
use proofload_model::settings::{Settings, Value};
use proofload_model::time::{Moment, WallTime};
use proofload_model::wire::load::{
    Build, CheckData, Connect, DataState, LoadService as _, Open, ReadMark, Start, Stop, Verify,
};
use proofload_model::wire::{Event, LoadSpec};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn spec(place: &Place) -> LoadSpec {
    let values = [
        ("workload.kind", Value::Text("example_rows".to_owned())),
        ("workload.rows", Value::Integer(1000)),
        ("workload.virtual_users", Value::Integer(2)),
    ];
    LoadSpec {
        workload: "example_rows".to_owned(),
        settings: Settings(values.into_iter().map(|(path, value)| (path.to_owned(), value)).collect()),
        place: place.target.place.clone(),
        endpoints: place.target.address().map(str::to_owned).into_iter().collect(),
        data_seed: 1,
        input_seed: 2,
        load_time: WallTime(1_767_225_600_000_000),
        part: LoadShare::default(),
    }
}

/// A load agent with the fixture open, and what it tells.
fn role(place: &Place) -> (LoadRole, Receiver<Event>) {
    let (sender, events) = channel();
    let sender = Mutex::new(sender);
    let hear = move |event| {
        let _nobody_listens = sender.lock().expect("nobody panics here").send(event);
    };
    let mut role = LoadRole::new(Arc::new(RealClock(Instant::now())), Arc::new(hear));
    role.open(Open { spec: Box::new(spec(place)) }).expect("it opens");
    (role, events)
}

/// Load for a second, and on until something was done in one; returns what was done.
fn run_a_second(role: &mut LoadRole, events: &Receiver<Event>) -> Vec<OperationCounts> {
    role.connect(Connect {}).expect("users connect");
    role.start(Start { at: Moment(0) }).expect("it starts");
    let (begun, patience) = (Instant::now(), Duration::from_secs(60));
    loop {
        match events.recv_timeout(patience).expect("a second ends") {
            Event::Interval(second)
                if second.counts.iter().any(|counts| counts.done > 0) || begun.elapsed() > patience =>
            {
                break;
            }
            Event::LoadFailed { error } => panic!("{error}"),
            _ => {}
        }
    }
    role.stop(Stop {}).expect("it stops").totals
}

fn place(name: &str) -> Result<Place, String> {
    let engine = engine(name).expect("it is built in");
    Place::new(engine, &[], &Special { prefix: "proofload-example-", kept: true, ..Special::default() })
}

/// Builds twice, runs a second, verifies; then changes a row, which is noticed.
fn check_run(place: &Place) {
    let (mut role, events) = role(place);
    assert_ne!(role.check_data(CheckData {}).ok(), Some(DataState::Fits));
    for _ in 0..2 {
        role.build(Build {}).expect("it is built");
        assert_eq!(role.check_data(CheckData {}).expect("it is checked"), DataState::Fits);
    }
    let totals = run_a_second(&mut role, &events);
    let [reads] = &totals[..] else { panic!("{totals:?}") };
    assert!(reads.kind == "read" && reads.done > 0 && reads.failed == 0, "{reads:?}");
    assert_eq!(role.mark(ReadMark {}).expect("counters").counters, [("rows".to_owned(), 1000)]);
    let outcome = |role: &mut LoadRole| {
        let checks = role.verify(Verify { totals: totals.clone() }).expect("it is verified");
        checks.iter().map(|check| check.outcome).collect::<Vec<_>>()
    };
    assert_eq!(outcome(&mut role), [CheckOutcome::Met]);
    let engine = engine(&place.target.place.engine).expect("it is built in");
    let mut session = BlockingSession::open(engine, &place.target).expect("it connects");
    session.script("UPDATE example_row SET content = -1 WHERE id = 7").expect("the script runs");
    assert_eq!(outcome(&mut role), [CheckOutcome::Failed]);
    assert!(matches!(role.check_data(CheckData {}), Ok(DataState::Differs { .. })));
}

#[test]
fn a_workload_of_a_folder_and_a_line_runs_on_sqlite() {
    check_run(&place("sqlite").expect("SQLite is built in"));
}

#[test]
fn a_workload_of_a_folder_and_a_line_runs_on_an_engine_of_a_folder_and_a_line() {
    check_run(&place("example").expect("the fixture is built in"));
}

#[test]
fn a_workload_of_a_folder_and_a_line_runs_on_postgresql() {
    match place("postgresql") {
        Ok(place) => check_run(&place),
        Err(reason) => {
            assert!(std::env::var_os("PROOFLOAD_REQUIRE_POSTGRESQL").is_none(), "PostgreSQL is required: {reason}");
            eprintln!("SKIPPED: postgresql: {reason}");
        }
    }
}

#[test]
fn the_null_engine_answers_it_and_proves_nothing() {
    let place = place("null").expect("it is built in");
    let (mut role, events) = role(&place);
    role.build(Build {}).expect("there is nothing to build");
    let totals = run_a_second(&mut role, &events);
    assert!(totals.iter().all(|reads| reads.done > 0 && reads.failed == 0), "{totals:?}");
    assert!(role.verify(Verify { totals }).expect("it is verified").is_empty());
}

#[test]
fn it_stands_in_the_list() {
    assert_eq!(workload("example_rows").map(|workload| workload.facts().title), Some("a fixture of the tests"));
}
