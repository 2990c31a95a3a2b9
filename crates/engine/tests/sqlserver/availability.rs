//! Availability groups and what an observer reads beside counters, from answers as the documentation has them: no group has been asked.

use crate::places::{sqlserver, target};
use crate::tds_server::{ColumnForm, Datum, Misbehaviour, Part, Setup, TdsServer};
use proofload_engine::{Observation, Observer, ReplicationWatch};
use proofload_model::deployment::InstanceName;
use proofload_model::replication::{Confirmation, ReplicationAsked, ReplicationMode};
use proofload_model::units::Bytes;
use std::sync::{Arc, Mutex};

/// The answer to `availability.sql`: a row for each replica with its name and ten numbers, and the end of the log.
fn group(replicas: &[(&str, [i64; 10])]) -> Vec<Part> {
    let mut columns = vec![ColumnForm::Text(256, true)];
    columns.extend([ColumnForm::Integer(8); 11]);
    let row = |(name, numbers): &(&str, [i64; 10])| {
        let numbers = numbers.iter().map(|number| Datum::Integer(*number)).chain([Datum::Integer(4_096)]);
        Part::Row([Datum::text(name)].into_iter().chain(numbers).collect())
    };
    let rows = replicas.iter().map(row);
    [Part::Columns(columns)].into_iter().chain(rows).chain([Part::Count(replicas.len() as u64)]).collect()
}

/// Local, role, connected, mode, state, suspended, participant, KiB to send, KiB to redo, required secondaries.
const PRIMARY: (&str, [i64; 10]) = ("DB1", [1, 1, 1, 1, 2, 0, 1, 0, 0, 0]);
const IN_STEP: (&str, [i64; 10]) = ("DB2\\A", [0, 2, 1, 1, 2, 0, 1, 2, 6, 0]);
const AWAY: (&str, [i64; 10]) = ("DB2\\A", [0, 2, 0, 1, 0, 0, 0, 0, 0, 0]);

fn watch(urls: &str, mode: ReplicationMode) -> Box<dyn ReplicationWatch> {
    let standbys = vec![InstanceName::standby(1)];
    let asked = ReplicationAsked { mode, standbys, confirmation: Confirmation::Any(1), presented_as: Vec::new() };
    let facet = sqlserver().existing_replication().expect("groups of servers that run are watched");
    assert!(facet.modes().contains(&mode) && facet.session_settings(mode).is_empty());
    facet.watch(&target(urls.to_owned(), &[]), &asked).expect("nothing is connected yet")
}

#[test]
fn a_group_is_read_each_second_and_a_secondary_that_goes_is_told() {
    let replicas = Arc::new(Mutex::new(vec![PRIMARY, IN_STEP]));
    let shared = Arc::clone(&replicas);
    let server = TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.contains("sys.availability_replicas") => group(&shared.lock().expect("nobody panicked")),
        _ => Vec::new(),
    });
    let mut watch = watch(&server.url("encrypt=none"), ReplicationMode::RemoteFlush);
    let seen = watch.read().expect("reads");
    assert_eq!((seen.out_of_force, seen.unprotected, seen.log_end), (None, false, Some(Bytes(4_096))));
    let [standby] = &seen.standbys[..] else { panic!("{:?}", seen.standbys) };
    assert_eq!((standby.name.as_str(), standby.unsent, standby.unapplied), ("DB2\\A", Bytes(2_048), Bytes(8_192)));
    assert!(server.log().iter().any(|line| line.contains("\"proofload observer\"")));
    *replicas.lock().expect("nobody panicked") = vec![PRIMARY, AWAY];
    let seen = watch.read().expect("reads");
    let why = seen.out_of_force.unwrap_or_default();
    assert!(why.ends_with("DB2\\A is not connected") && seen.unprotected && seen.standbys.is_empty(), "{why}");
    assert!(server.log().iter().all(|line| !line.starts_with("login")), "it stays connected");
}

#[test]
fn an_account_that_may_not_see_the_group_is_told_what_it_needs() {
    let server = TdsServer::start(Setup::default(), |sql, _| {
        let message = "VIEW SERVER STATE permission was denied.";
        let denied = Part::Error { number: 300, severity: 14, procedure: "", line: 1, message };
        if sql.contains("dm_hadr") { vec![denied] } else { Vec::new() }
    });
    let error = watch(&server.url("encrypt=none"), ReplicationMode::Async).read().expect_err("it may not");
    assert!(error.to_string().contains("VIEW ANY DEFINITION"), "{error}");
}

/// A server of a group: whether its database takes writes, and how it sees the group.
fn member(writes: &'static str, replicas: &'static [(&'static str, [i64; 10])]) -> TdsServer {
    TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.contains("Updateability") => {
            vec![Part::Columns(vec![ColumnForm::Text(20, true)]), Part::Row(vec![Datum::text(writes)]), Part::Count(1)]
        }
        sql if sql.contains("sys.availability_replicas") => group(replicas),
        _ => Vec::new(),
    })
}

/// A URL of several servers.
pub(crate) fn url_of(servers: &[&TdsServer]) -> String {
    let host = |server: &&TdsServer| {
        let url = server.url("");
        url.split(['@', '/']).find(|part| part.starts_with("localhost")).expect("it has a host").to_owned()
    };
    let hosts: Vec<String> = servers.iter().map(host).collect();
    format!("sqlserver://me@{}/shop?encrypt=none", hosts.join(","))
}

/// A host that takes connections and says nothing.
fn silent() -> TdsServer {
    let misbehaviour = Misbehaviour { silent: true, ..Misbehaviour::default() };
    TdsServer::start(Setup { misbehaviour, ..Setup::default() }, |_, _| Vec::new())
}

/// The first that is read of up to ten tries: on a busy machine the host that answers may be late, too; one that is never asked stays hidden however often it is tried.
fn tried<T>(mut read: impl FnMut() -> Option<T>) -> Option<T> {
    (0..10).find_map(|_| read())
}

#[test]
fn a_host_that_does_not_answer_does_not_hide_the_primary_behind_it() {
    let (silent, primary) = (silent(), member("READ_WRITE", &[PRIMARY, IN_STEP]));
    let mut watch = watch(&url_of(&[&silent, &primary]), ReplicationMode::RemoteFlush);
    let seen = tried(|| watch.read().ok()).expect("the second host is asked in time");
    assert_eq!((seen.out_of_force, seen.standbys.len()), (None, 1));
}

#[test]
fn of_several_hosts_the_one_that_takes_writes_is_observed() {
    let host = |writes: &'static str, value: i64| {
        TdsServer::start(Setup::default(), move |sql, _| match sql {
            sql if sql.contains("Updateability") => {
                let columns = Part::Columns(vec![ColumnForm::Text(20, true)]);
                vec![columns, Part::Row(vec![Datum::text(writes)]), Part::Count(1)]
            }
            sql if sql.contains("dm_os_performance_counters") => counters(vec![counter("memory_in_use", "", value)]),
            _ => Vec::new(),
        })
    };
    let (silent, secondary, primary) = (silent(), host("READ_ONLY", 1), host("READ_WRITE", 2));
    let hosts = target(url_of(&[&silent, &secondary, &primary]), &[]);
    let mut observer = sqlserver().observer(&hosts).expect("the URL is understood").expect("there is one");
    let primary_is_seen = |seen: &Vec<Observation>| seen.first().is_some_and(|one| one.reading.value == 2.0);
    tried(|| observer.observe().ok().filter(primary_is_seen)).expect("the primary is observed");
}

#[test]
fn of_several_hosts_the_primary_is_watched() {
    const SECONDARY: (&str, [i64; 10]) = ("DB2\\A", [1, 2, 1, 1, 2, 0, 1, 0, 0, 0]);
    let (primary, secondary) = (member("READ_WRITE", &[PRIMARY, IN_STEP]), member("READ_ONLY", &[SECONDARY]));
    let seen = watch(&url_of(&[&secondary, &primary]), ReplicationMode::RemoteFlush).read().expect("reads");
    assert_eq!((seen.out_of_force, seen.standbys.len()), (None, 1));
    let alone = watch(&url_of(&[&secondary]), ReplicationMode::RemoteFlush).read().expect("reads");
    assert_eq!(alone.out_of_force.as_deref(), Some("DB2\\A is not the primary replica"));
    assert!(alone.unprotected && alone.log_end.is_none());
}

fn observer(server: &TdsServer) -> Box<dyn Observer> {
    sqlserver().observer(&target(server.url("encrypt=none"), &[])).expect("an observer").expect("there is one")
}

/// A row of a counter that stands.
fn counter(name: &str, component: &str, value: i64) -> Part {
    let texts = [name, component, "B"].map(Datum::text);
    Part::Row(texts.into_iter().chain([0, value].map(Datum::Integer)).collect())
}

fn counters(rows: Vec<Part>) -> Vec<Part> {
    let text = ColumnForm::Text(60, true);
    let columns = vec![text, text, text, ColumnForm::Integer(4), ColumnForm::Integer(8)];
    [Part::Columns(columns)].into_iter().chain(rows).collect()
}

/// What a version lacks is asked for once; everything else is still read.
#[test]
fn what_a_server_lacks_is_left_out_of_what_is_observed() {
    let server = TdsServer::start(Setup::default(), |sql, _| match sql {
        sql if sql.contains("dm_db_file_space_usage") => {
            let message = "Invalid object name.";
            vec![Part::Error { number: 208, severity: 16, procedure: "", line: 1, message }]
        }
        sql if sql.contains("log_send_queue_size") => counters(vec![counter("log_send_queue", "DB2", 2_048)]),
        sql if sql.contains("dm_os_performance_counters") => counters(vec![counter("memory_in_use", "", 9)]),
        _ => Vec::new(),
    });
    let mut observer = observer(&server);
    for _ in 0..2 {
        let seen = observer.observe().expect("observes");
        let told: Vec<_> = seen.iter().map(|one| (one.reading.name.as_str(), one.reading.component.as_str())).collect();
        assert_eq!(told, [("memory_in_use", ""), ("log_send_queue", "DB2")]);
    }
    let asked = server.log().iter().filter(|line| line.contains("dm_db_file_space_usage")).count();
    assert_eq!(asked, 1, "it is not asked again for what it lacks");
}

/// A server whose counters are there, and that answers to a text with this name as told.
fn failing(name: &'static str, answer: Part) -> TdsServer {
    TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.contains(name) => vec![answer.clone()],
        sql if sql.contains("dm_os_performance_counters") => counters(vec![counter("memory_in_use", "", 9)]),
        _ => Vec::new(),
    })
}

fn refused() -> Part {
    let message = "Lock request time out period exceeded.";
    Part::Error { number: 1222, severity: 16, procedure: "", line: 1, message }
}

/// What may be missing costs no counters, and is asked for again.
#[test]
fn an_optional_text_that_fails_does_not_take_the_counters_away() {
    let check = |name: &'static str, answer: Part| {
        let server = failing(name, answer.clone());
        let mut observer = observer(&server);
        for _ in 0..2 {
            let seen = observer.observe().unwrap_or_else(|error| panic!("{name}, {answer:?}: {error}"));
            let told: Vec<_> = seen.iter().map(|one| (one.reading.name.as_str(), one.reading.value)).collect();
            assert_eq!(told, [("memory_in_use", 9.0)], "{name}, {answer:?}");
        }
        server.log()
    };
    let count = |log: &[String], of: &str| log.iter().filter(|line| line.contains(of)).count();
    let log = check("dm_db_file_space_usage", refused());
    assert_eq!(count(&log, "dm_db_file_space_usage"), 2, "it is asked again: {log:?}");
    check("dm_os_threads", refused());
    for (name, answer) in [("log_send_queue_size", Part::Close), ("dm_os_threads", Part::Silence)] {
        let log = check(name, answer);
        assert_eq!(count(&log, "login of"), 2, "{name}: the link is made anew: {log:?}");
    }
}

#[test]
fn an_optional_text_that_is_refused_does_not_cost_the_link() {
    let server = failing("dm_os_threads", refused());
    let mut observer = observer(&server);
    let stays = tried(|| {
        server.log();
        observer.observe().ok()?;
        let log = server.log();
        let has_asked = log.iter().any(|line| line.contains("dm_os_threads"));
        (has_asked && log.iter().all(|line| !line.starts_with("login"))).then_some(())
    });
    stays.expect("it observes again without logging on");
}

/// A worker, its time, and what it does; an empty text is nothing.
fn thread(number: i64, time: i64, program: &str, command: &str) -> Part {
    let text = |text: &str| if text.is_empty() { Datum::Null } else { Datum::text(text) };
    let numbers = [number, time, 1].map(Datum::Integer);
    Part::Row(numbers.into_iter().chain([text(program), text(command), Datum::Null]).collect())
}

#[test]
fn threads_of_a_server_are_told_by_their_roles() {
    let looks = Mutex::new(0);
    let server = TdsServer::start(Setup::default(), move |sql, _| {
        if !sql.contains("dm_os_threads") {
            return Vec::new();
        }
        let mut looks = looks.lock().expect("nobody panicked");
        *looks += 1;
        let (number, text) = (ColumnForm::Integer(8), ColumnForm::Text(128, true));
        let columns = Part::Columns(vec![number, number, number, text, text, text]);
        let writer = thread(41, 1_000 + 400 * *looks, "", "LOG WRITER");
        vec![columns, writer, thread(42, 70 * *looks, "proofload", "SELECT"), Part::Count(2)]
    });
    let mut observer = observer(&server);
    observer.observe().expect("observes");
    observer.observe().expect("observes again");
    let times: Vec<_> =
        observer.role_times().iter().map(|one| (one.role.as_str(), one.time.as_millis(), one.threads)).collect();
    assert_eq!(times, [("log writer", 400, 1), ("session", 70, 1)]);
    assert!(observer.thread_roles().is_empty(), "its numbers of threads are not those of the kernel");
}
