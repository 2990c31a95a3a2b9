//! What an engine does beside sessions: the database, settings, the observer.

use crate::places::{integers, runtime, sqlserver, target};
use crate::tds_server::{ColumnForm, Datum, Part, Setup, TdsServer};
use proofload_model::step_count::{StepCount, StepUnit};
use std::sync::{Arc, Mutex};

pub(crate) fn texts(rows: &[&[&str]]) -> Vec<Part> {
    let width = rows.first().map_or(1, |row| row.len());
    let kinds = vec![ColumnForm::Text(200, true); width];
    let value = |text: &&str| if text.is_empty() { Datum::Null } else { Datum::text(text) };
    let each = rows.iter().map(|row| Part::Row(row.iter().map(value).collect()));
    [Part::Columns(kinds)].into_iter().chain(each).chain([Part::Count(rows.len() as u64)]).collect()
}

/// What a database says of itself: its mark, its collation, its tables.
fn about(mark: &str, collation: &str, tables: i64) -> Vec<Part> {
    let kinds = vec![ColumnForm::Text(100, true), ColumnForm::Text(100, true), ColumnForm::Integer(4)];
    let mark = if mark.is_empty() { Datum::Null } else { Datum::text(mark) };
    let row = vec![mark, Datum::text(collation), Datum::Integer(tables)];
    vec![Part::Columns(kinds), Part::Row(row), Part::Count(1)]
}

fn check(exists: i64, mark: &'static str, collation: &'static str, tables: i64, expected: Result<&[&str], &str>) {
    let server = TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.starts_with("SELECT count(*)") => integers(&[&[exists]]),
        sql if sql.starts_with("SELECT (SELECT") => about(mark, collation, tables),
        _ => Vec::new(),
    });
    let target = target(server.url("encrypt=none"), &[]);
    assert_eq!(runtime().block_on(sqlserver().has_database(&target)).expect("asks"), exists > 0);
    let made = runtime().block_on(sqlserver().create_database(&target));
    let log = server.log();
    let done: Vec<&str> =
        log.iter().filter_map(|line| line.strip_prefix("batch ")).filter(|line| !line.starts_with("SE")).collect();
    match (made, expected) {
        (Ok(()), Ok(expected)) => assert_eq!(done, expected),
        (Err(error), Err(expected)) => {
            assert!(error.to_string().contains(expected) && done.is_empty(), "{error}: {done:?}");
        }
        (made, _) => panic!("{made:?}: {log:?}"),
    }
}

#[test]
fn a_database_is_made_marked_kept_or_refused() {
    let ours = "Latin1_General_100_BIN2_UTF8";
    let mark = "EXEC sys.sp_addextendedproperty @name = N'proofload', @value = 'proofload:1'";
    let create = "CREATE DATABASE [shop] COLLATE Latin1_General_100_BIN2_UTF8";
    check(0, "", ours, 0, Ok(&[create, "ALTER DATABASE [shop] SET READ_COMMITTED_SNAPSHOT ON", mark]));
    check(1, "", ours, 0, Ok(&[mark]));
    check(1, "proofload:1", ours, 9, Ok(&[]));
    check(1, "proofload:0", ours, 9, Err("another format"));
    check(1, "", ours, 3, Err("Proofload did not make"));
    check(1, "", "SQL_Latin1_General_CP1_CI_AS", 0, Err("not compared by their bytes"));
}

/// What a server says of a database, and what becomes of it where a self-test wants it gone.
fn check_scratch(exists: i64, mark: &'static str, busy: u32, expected: Result<&[&str], &str>) {
    let tries = Mutex::new(busy);
    let server = TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.starts_with("SELECT count(*)") => integers(&[&[exists]]),
        sql if sql.starts_with("SELECT CAST(value") && mark.is_empty() => texts(&[]),
        sql if sql.starts_with("SELECT CAST(value") => texts(&[&[mark]]),
        sql if sql.starts_with("DROP") => {
            let mut left = tries.lock().expect("nobody panicked");
            let is_busy = *left > 0;
            *left = left.saturating_sub(1);
            let message = "Cannot drop database because it is currently in use.";
            let error = Part::Error { number: 3702, severity: 16, procedure: "", line: 1, message };
            if is_busy { vec![error] } else { Vec::new() }
        }
        _ => Vec::new(),
    });
    let target = target(server.url("encrypt=none"), &[]);
    let scratch = sqlserver().scratch_databases().expect("databases of one use");
    let removed = runtime().block_on(scratch.remove(&target, "once"));
    let log = server.log();
    let done: Vec<&str> =
        log.iter().filter_map(|line| line.strip_prefix("batch ")).filter(|line| !line.starts_with("SE")).collect();
    match (removed, expected) {
        (Ok(()), Ok(expected)) => assert_eq!(done, expected),
        (Err(error), Err(expected)) => {
            assert!(error.to_string().contains(expected) && done.is_empty(), "{error}: {done:?}");
        }
        (removed, _) => panic!("{removed:?}: {log:?}"),
    }
}

#[test]
fn a_scratch_database_is_dropped_only_with_its_mark() {
    let drop = "DROP DATABASE [once]";
    check_scratch(0, "", 0, Ok(&[]));
    check_scratch(1, "proofload:1 selftest", 0, Ok(&[drop]));
    check_scratch(1, "proofload:1 selftest", 2, Ok(&[drop, drop, drop]));
    check_scratch(1, "proofload:1", 0, Err("does not bear the mark"));
    check_scratch(1, "", 0, Err("does not bear the mark"));
}

#[test]
fn settings_of_the_database_are_set_and_all_are_read_back() {
    let durability = Arc::new(Mutex::new("DISABLED"));
    let server = TdsServer::start(Setup::default(), move |sql, _| {
        let mut durability = durability.lock().expect("nobody panicked");
        if sql == "ALTER DATABASE [shop] SET DELAYED_DURABILITY = FORCED" {
            *durability = "FORCED";
        }
        texts(&[
            &["delayed_durability", *durability, "sys.databases"],
            &["MAXDOP", "8", "sys.database_scoped_configurations"],
            &["max server memory (MB)", "2147483647", "sys.configurations"],
            &["version", "16.0.4150.1", "SERVERPROPERTY"],
            &["read_committed_snapshot", "OFF", "sys.databases"],
        ])
    });
    let settings = [
        ("statement_timeout", "90s"),
        ("delayed_durability", "forced"),
        ("maxdop", "8"),
        ("max_server_memory_mb", "4096"),
        ("no_such; setting", "1"),
    ];
    let target = target(server.url("encrypt=none"), &settings);
    let facts = runtime().block_on(sqlserver().verify_settings(&target)).expect("reads");
    let holds = |name: &str| {
        facts.iter().find(|fact| fact.name.contains(name)).unwrap_or_else(|| panic!("no fact for {name}")).holds
    };
    assert_eq!(
        ["delayed_durability", "maxdop", "max_server_memory_mb", "no_such"].map(holds),
        [Some(true), Some(true), Some(false), Some(false)]
    );
    let version = facts.iter().find(|fact| fact.name.contains("version")).expect("the version is told");
    assert_eq!(version.effective.as_deref(), Some("16.0.4150.1"));
    let limit = facts.iter().find(|fact| fact.name == "statement_timeout").expect("our own limit is told");
    assert_eq!((limit.effective.as_deref(), limit.holds), (Some("90s"), Some(true)));
    let versions = facts.iter().find(|fact| fact.name == "read_committed_snapshot").expect("it is observed");
    assert!(versions.holds.is_none() && versions.source.contains("readers wait for writers"), "{versions:?}");
    let log = server.log();
    assert_eq!(log.iter().filter(|line| line.contains("ALTER")).count(), 1, "{log:?}");
}

#[test]
fn an_observer_reads_counters_under_its_own_name() {
    let server = TdsServer::start(Setup::default(), |sql, _| {
        if !sql.contains("dm_os_performance_counters") {
            return Vec::new();
        }
        let text = ColumnForm::Text(60, true);
        let row = |name: &str, component: &str, total, value| {
            Part::Row(vec![
                Datum::text(name),
                Datum::text(component),
                Datum::text("1/s"),
                Datum::Integer(total),
                Datum::Integer(value),
            ])
        };
        let columns = Part::Columns(vec![text, text, text, ColumnForm::Integer(4), ColumnForm::Integer(8)]);
        vec![columns, row("commits", "", 1, 1_000), row("active_sessions", "WRITELOG", 0, 3), Part::Count(2)]
    });
    let mut observer =
        sqlserver().observer(&target(server.url("encrypt=none"), &[])).expect("an observer").expect("there is one");
    let seen = observer.observe().expect("observes");
    let told: Vec<_> = seen
        .iter()
        .map(|one| (one.reading.name.as_str(), one.reading.component.as_str(), one.reading.value, one.cumulative))
        .collect();
    assert_eq!(told, [("commits", "", 1_000.0, true), ("active_sessions", "WRITELOG", 3.0, false)]);
    assert!(server.log()[1].contains("\"proofload observer\""));
    observer.observe().expect("observes again");
    assert!(server.log().iter().all(|line| !line.starts_with("login")), "it stays connected");
}

/// A server with one setting, processors, and what is noted of them.
#[derive(Debug)]
struct Changed {
    memory: i64,
    advanced: i64,
    affinity: String,
    notes: String,
    settings: Vec<String>,
    /// MiB that it has, look by look; the last stays.
    allocated: Vec<i64>,
}

impl Changed {
    fn untouched() -> Self {
        Self {
            memory: 2_147_483_647,
            advanced: 0,
            affinity: "AUTO".to_owned(),
            notes: String::new(),
            settings: Vec::new(),
            allocated: Vec::new(),
        }
    }

    fn uses(&mut self) -> Vec<Part> {
        let now = self.allocated.first().copied().map(|mebi| integers(&[&[mebi << 20, mebi << 20]]));
        if self.allocated.len() > 1 {
            self.allocated.remove(0);
        }
        now.unwrap_or_default()
    }

    fn answer(&mut self, sql: &str) -> Vec<Part> {
        let number = |text: &str| {
            text.rsplit(", ").next().and_then(|rest| rest.split(';').next()?.parse().ok()).expect("a number")
        };
        if let Some((_, name)) = sql.split_once("FROM sys.configurations c WHERE c.name = N'") {
            let value = if name.starts_with("show") { self.advanced } else { self.memory };
            return texts(&[&[&value.to_string()]]);
        }
        if sql.contains("dm_os_process_memory") {
            return self.uses();
        }
        if sql.starts_with("SELECT v.name") {
            let memory = self.memory.to_string();
            return texts(&[
                &["max server memory (MB)", &memory, "sys.configurations"],
                &["maxdop", "8", "sys.database_scoped_configurations"],
            ]);
        }
        if sql.starts_with("SELECT CAST(value_in_use") {
            return texts(&[&[&self.advanced.to_string()]]);
        }
        if sql.starts_with("SELECT CAST(value AS") {
            return if self.notes.is_empty() { Vec::new() } else { texts(&[&[&self.notes]]) };
        }
        if sql.starts_with("SELECT 'online_schedulers'") {
            let count = if self.affinity == "AUTO" { "64" } else { "32" };
            return texts(&[&["online_schedulers", count, "sys.dm_os_schedulers"]]);
        }
        if sql.starts_with("SELECT CASE") {
            return texts(&[&[&self.affinity.clone()]]);
        }
        if let Some((_, value)) = sql.split_once("@value = '") {
            self.notes = value.split('\'').next().expect("a text").to_owned();
            return Vec::new();
        }
        if sql.contains("sp_dropextendedproperty") {
            self.notes = String::new();
        } else if sql.contains("N'max server memory (MB)'") {
            assert_eq!(self.advanced, 1, "it is advanced");
            self.memory = number(sql);
        } else if sql.contains("N'show advanced options'") {
            self.advanced = number(sql);
        } else if let Some((_, processors)) = sql.split_once("CPU = ") {
            self.affinity = processors.to_owned();
        }
        if sql.contains("RECONFIGURE") || sql.contains("AFFINITY CPU") {
            self.settings.push(sql.to_owned());
        }
        Vec::new()
    }
}

fn changed(begin: Changed) -> (TdsServer, Arc<Mutex<Changed>>) {
    let state = Arc::new(Mutex::new(begin));
    let shared = Arc::clone(&state);
    let server = TdsServer::start(Setup::default(), move |sql, _| shared.lock().expect("nobody panicked").answer(sql));
    (server, state)
}

/// The server is changed with leave alone; every old value is noted before, and put back also by who knows nothing of the change.
#[test]
fn settings_of_the_server_are_changed_with_leave_and_put_back() {
    let (server, state) = changed(Changed::untouched());
    let seen = || {
        let state = state.lock().expect("nobody panicked");
        (state.memory, state.advanced, state.affinity.clone(), state.notes.clone())
    };
    let asked = [("max_server_memory_mb", "65536"), ("online_schedulers", "32")];
    let verified = |leave: &[(&str, &str)]| {
        let target = target(server.url("encrypt=none"), &[&asked[..], leave].concat());
        let facts = runtime().block_on(sqlserver().verify_settings(&target)).expect("reads");
        assert!(facts.iter().all(|fact| !fact.name.contains("changes")));
        asked.map(|(name, _)| facts.iter().find(|fact| fact.name.contains(name)).expect("a fact").holds)
    };
    assert_eq!(verified(&[]), [Some(false); 2]);
    assert_eq!(verified(&[("changes", "refused")]), [Some(false); 2]);
    assert_eq!(seen(), (2_147_483_647, 0, "AUTO".to_owned(), String::new()), "nothing is changed without leave");
    let allowed = [("changes", "allowed")];
    for _ in 0..2 {
        assert_eq!(verified(&allowed), [Some(true); 2]);
        let notes = "show advanced options=0;max server memory (MB)=2147483647;process affinity=AUTO";
        assert_eq!(seen(), (65_536, 1, "0 TO 31".to_owned(), notes.to_owned()));
    }
    let changes = sqlserver().server_changes().expect("it can be changed");
    runtime()
        .block_on(changes.put_back(&target(server.url("encrypt=none"), &[])))
        .expect("without leave nothing is done");
    assert_eq!(seen().0, 65_536);
    // As after a kill: what is to be put back is known to the server alone.
    runtime().block_on(changes.put_back(&target(server.url("encrypt=none"), &allowed))).expect("puts back");
    assert_eq!(seen(), (2_147_483_647, 0, "AUTO".to_owned(), String::new()));
    let last = state.lock().expect("nobody panicked").settings.last().cloned();
    assert_eq!(last.as_deref(), Some("EXEC sys.sp_configure N'show advanced options', 0; RECONFIGURE"));
}

/// What a self-test asks before it changes anything: the values in force of settings that are only named, and nothing is sent that changes.
#[test]
fn values_in_force_are_told_of_what_is_asked_without_leave() {
    let (server, state) = changed(Changed::untouched());
    let asked = [("max_server_memory_mb", "2048"), ("online_schedulers", "1")];
    let target = target(server.url("encrypt=none"), &asked);
    let facts = runtime().block_on(sqlserver().verify_settings(&target)).expect("reads");
    let value = |name: &str| facts.iter().find(|fact| fact.name == name).and_then(|fact| fact.effective.as_deref());
    assert_eq!(asked.map(|(name, _)| value(name)), [Some("2147483647"), Some("64")]);
    assert!(state.lock().expect("nobody panicked").settings.is_empty());
}

/// A run that was killed has left its limit of memory: one that asks for none is not measured under it.
#[test]
fn what_a_killed_run_has_left_is_put_back_or_voids_the_next() {
    let left = Changed {
        memory: 65_536,
        advanced: 1,
        notes: "show advanced options=0;max server memory (MB)=2147483647".to_owned(),
        ..Changed::untouched()
    };
    let (server, state) = changed(left);
    let verified = |settings: &[(&str, &str)]| {
        runtime().block_on(sqlserver().verify_settings(&target(server.url("encrypt=none"), settings))).expect("reads")
    };
    let facts = verified(&[]);
    let of_memory: Vec<_> = facts.iter().filter(|fact| fact.name == "max_server_memory_mb").collect();
    let [fact] = &of_memory[..] else { panic!("{of_memory:?}") };
    let told = (fact.requested.as_deref(), fact.effective.as_deref(), fact.holds);
    assert_eq!(told, (Some("2147483647"), Some("65536"), Some(false)));
    assert!(fact.source.contains("engine.changes"), "{fact:?}");
    assert_eq!(state.lock().expect("nobody panicked").memory, 65_536, "nothing is changed without leave");
    let facts = verified(&[("changes", "allowed"), ("online_schedulers", "32")]);
    assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{facts:?}");
    let state = state.lock().expect("nobody panicked");
    assert_eq!((state.memory, state.advanced, state.affinity.as_str()), (2_147_483_647, 0, "0 TO 31"));
    assert_eq!(state.notes, "process affinity=AUTO");
}

/// A server that takes the statement and keeps its value is not told to be as before, and its note stays.
#[test]
fn a_value_that_is_not_put_back_is_told_and_stays_noted() {
    let notes = "process affinity=AUTO";
    let server = TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.starts_with("SELECT CAST(value AS") => texts(&[&[notes]]),
        sql if sql.starts_with("SELECT CASE") => texts(&[&["0,1"]]),
        _ => Vec::new(),
    });
    let changes = sqlserver().server_changes().expect("it can be changed");
    let target = target(server.url("encrypt=none"), &[("changes", "allowed")]);
    let error = runtime().block_on(changes.put_back(&target)).expect_err("it is not").to_string();
    assert!(error.contains("process affinity") && error.contains("still has \"0,1\""), "{error}");
    assert!(server.log().iter().all(|line| !line.contains("extendedproperty")), "the note stays");
}

/// A limit of memory is verified by what the server uses, which it gives back in its own time.
#[test]
fn a_limit_of_memory_is_in_force_once_the_server_has_given_memory_back() {
    let (server, state) = changed(Changed { allocated: vec![90_000, 60_000], ..Changed::untouched() });
    let asked = [("max_server_memory_mb", "65536"), ("changes", "allowed")];
    let target = target(server.url("encrypt=none"), &asked);
    let facts = runtime().block_on(sqlserver().verify_settings(&target)).expect("reads");
    let used = facts.iter().find(|fact| fact.name == "memory_allocated").expect("it is told");
    assert_eq!((used.holds, &used.effective), (Some(true), &used.requested), "{used:?}");
    assert_eq!(state.lock().expect("nobody panicked").allocated, [60_000], "it was waited for");
}

/// The server keeps the data of a label, tells how far it is, and puts them back while nobody else is connected.
#[test]
fn the_server_keeps_the_data_and_puts_them_back() {
    let kept = Arc::new(Mutex::new(String::new()));
    let server = TdsServer::start(Setup::default(), move |sql, _| {
        let mut kept = kept.lock().expect("nobody panicked");
        if sql.contains("@value = '") {
            let given = sql.split("@value = '").nth(1).and_then(|rest| rest.split("' ELSE").next());
            *kept = given.expect("a text").replace("\'\'", "'");
        }
        match sql {
            sql if sql.starts_with("SELECT CAST(value") && !kept.is_empty() => texts(&[&[&*kept]]),
            sql if sql.starts_with("BACKUP") => {
                vec![Part::Message("50 percent processed."), Part::Message("100 percent processed.")]
            }
            // What was noted after the backup is not in it.
            sql if sql.contains("RESTORE DATABASE") => {
                kept.clear();
                vec![
                    Part::Message("99 percent processed."),
                    Part::Message("RESTORE DATABASE successfully processed 9 pages."),
                ]
            }
            _ => Vec::new(),
        }
    });
    let target = target(server.url("encrypt=none"), &[("backup", "/backups/o'shop.bak")]);
    let backups = sqlserver().backups().expect("the server keeps them");
    let heard = Mutex::new(Vec::new());
    let progress = |what: &str, count: Option<StepCount>| {
        let StepCount { done, total, unit } = count.expect("the server tells how much");
        assert_eq!(unit, StepUnit::Percent);
        heard.lock().expect("nobody panicked").push(format!("{what} {done} of {total}"));
    };
    let is_kept = |label: &str| runtime().block_on(backups.is_kept(&target, label)).expect("looks");
    assert!(!is_kept("sqlserver tprocc 1"));
    runtime().block_on(backups.keep(&target, "sqlserver tprocc 1", &progress)).expect("keeps");
    assert!(is_kept("sqlserver tprocc 1") && !is_kept("sqlserver tprocc 2"));
    server.log();
    runtime().block_on(backups.restore(&target, "sqlserver tprocc 1", &progress)).expect("restores");
    assert!(is_kept("sqlserver tprocc 1"), "it is noted again");
    let log = server.log();
    let done: Vec<&str> =
        log.iter().filter_map(|line| line.strip_prefix("batch ")).filter(|line| line.contains("DATABASE ")).collect();
    // A client that has the place of the one session is not ended by the first statement.
    let others = "DECLARE @k nvarchar(max) = N''; \
        SELECT @k += N'BEGIN TRY KILL ' + CAST(session_id AS nvarchar(10)) + N'; END TRY BEGIN CATCH END CATCH; ' \
        FROM sys.dm_exec_sessions WHERE database_id = DB_ID(N'shop') AND session_id <> @@SPID AND is_user_process = 1; \
        EXEC (@k); ";
    let expected = [
        "ALTER DATABASE [shop] SET SINGLE_USER WITH ROLLBACK IMMEDIATE; \
         RESTORE DATABASE [shop] FROM DISK = N'/backups/o''shop.bak' WITH REPLACE, CHECKSUM, STATS = 5",
        "ALTER DATABASE [shop] SET MULTI_USER",
    ];
    assert_eq!(done, expected.map(|batch| format!("{others}{batch}")));
    assert!(log.iter().any(|line| line.contains("login of me to \"master\"")), "{log:?}");
    let expected =
        ["backing up the database 50 of 100", "backing up the database 100 of 100", "restoring the database 99 of 100"];
    assert_eq!(*heard.lock().expect("nobody panicked"), expected);
}

/// Restores while others get in before it so many times; how often it was tried, and the error.
fn restored_beside_others(times: u32) -> (usize, Result<(), String>) {
    let left = Mutex::new(times);
    let server = TdsServer::start(Setup::default(), move |sql, _| {
        let mut left = left.lock().expect("nobody panicked");
        if !sql.contains("RESTORE DATABASE") || *left == 0 {
            return Vec::new();
        }
        *left -= 1;
        let message = "Exclusive access could not be obtained because the database is in use.";
        vec![Part::Error { number: 3101, severity: 16, procedure: "", line: 1, message }]
    });
    let target = target(server.url("encrypt=none"), &[]);
    let backups = sqlserver().backups().expect("the server keeps them");
    let restored = runtime().block_on(backups.restore(&target, "sqlserver tprocc 1", &|_, _| {}));
    let log = server.log();
    let batches = |part: &str| log.iter().filter(|line| line.starts_with("batch ") && line.contains(part)).count();
    assert_eq!(batches("SET MULTI_USER"), 1, "whatever came of it: {log:?}");
    (batches("RESTORE DATABASE"), restored.map_err(|error| error.to_string()))
}

/// A client that takes the place of the one session is ended by the next try, three times at most.
#[test]
fn a_restore_is_tried_again_where_another_client_got_in_before_it() {
    assert_eq!(restored_beside_others(0), (1, Ok(())));
    assert_eq!(restored_beside_others(2), (3, Ok(())));
    let (tries, error) = restored_beside_others(9);
    let error = error.expect_err("others are always there before it");
    assert!(tries == 3 && error.contains("stop what connects to database shop") && error.contains("3101"), "{error}");
    assert!(error.contains("ALTER ANY CONNECTION") && !error.contains("MULTI_USER"), "it is open again: {error}");
}

/// What is told of a restore after which another client keeps the place of the one session; `restores`: that the restore itself succeeds.
fn left_to_one_session(restores: bool) -> String {
    let server = TdsServer::start(Setup::default(), move |sql, _| {
        if !sql.contains("SET MULTI_USER") && (restores || !sql.contains("RESTORE DATABASE")) {
            return Vec::new();
        }
        let message = "The database is in single-user mode, and a user is currently connected to it.";
        vec![Part::Error { number: 5064, severity: 16, procedure: "", line: 1, message }]
    });
    let target = target(server.url("encrypt=none"), &[]);
    let backups = sqlserver().backups().expect("the server keeps them");
    let restored = runtime().block_on(backups.restore(&target, "sqlserver tprocc 1", &|_, _| {}));
    let tries = server.log().iter().filter(|line| line.contains("SET MULTI_USER")).count();
    assert_eq!(tries, 3, "the client is ended by the next try");
    restored.expect_err("nobody else gets in").to_string()
}

#[test]
fn a_database_that_is_left_to_one_session_is_told_with_the_statement_that_opens_it() {
    let errors = [true, false].map(left_to_one_session);
    for error in &errors {
        assert!(
            error.contains("in SINGLE_USER") && error.contains("run ALTER DATABASE [shop] SET MULTI_USER"),
            "{error}"
        );
    }
    assert!(!errors[0].contains("other clients took it") && errors[1].contains("other clients took it"), "{errors:?}");
}

/// What a server of this major version and edition is told before anything is made in it or read of it; `None`: it is taken.
fn refusal(major: i64, edition: i64, version: &'static str) -> Option<String> {
    let server = TdsServer::start(Setup::default(), move |sql, _| match sql {
        sql if sql.starts_with("SELECT CAST(SERVERPROPERTY(") => {
            let kinds = vec![ColumnForm::Integer(4), ColumnForm::Integer(4), ColumnForm::Text(128, true)];
            let row = vec![Datum::Integer(major), Datum::Integer(edition), Datum::text(version)];
            vec![Part::Columns(kinds), Part::Row(row), Part::Count(1)]
        }
        sql if sql.starts_with("SELECT count(*)") => integers(&[&[1]]),
        sql if sql.starts_with("SELECT (SELECT") => about("proofload:1", "Latin1_General_100_BIN2_UTF8", 9),
        _ => Vec::new(),
    });
    let target = target(server.url("encrypt=none"), &[]);
    let created = runtime().block_on(sqlserver().create_database(&target));
    let verified = runtime().block_on(sqlserver().verify_settings(&target)).map(drop);
    let scratch = sqlserver().scratch_databases().expect("databases of one use");
    let made = runtime().block_on(scratch.make(&target, "once"));
    let [created, verified, made] =
        [created, verified, made].map(|outcome| outcome.err().map(|error| error.to_string()));
    assert_eq!([&verified, &made], [&created; 2]);
    let log = server.log();
    let makes_once = log.iter().any(|line| line.starts_with("batch CREATE DATABASE [once]"));
    assert_eq!(makes_once, created.is_none(), "{log:?}");
    created
}

#[test]
fn a_server_that_is_too_old_is_refused_with_its_version() {
    assert_eq!([refusal(15, 3, "15.0.2000.5"), refusal(16, 2, "16.0.4150.1")], [None, None]);
    assert_eq!([refusal(12, 5, "12.0.2000.8"), refusal(12, 8, "12.0.2000.8")], [None, None], "Azure's say nothing");
    let refused = refusal(13, 3, "13.0.5026.0").expect("it is of 2016");
    assert!(refused.contains("SQL Server 13.0.5026.0") && refused.contains("2019"), "{refused}");
}

/// A server with one column store, whose groups after a build are these: state, why they are small, number, rows.
fn with_row_groups(groups: &'static [(&'static str, &'static str, i64, i64)]) -> TdsServer {
    TdsServer::start(Setup::default(), move |sql, _| {
        if sql.contains("i.type = 5") {
            return texts(&[&["lineitem_columns", "lineitem"]]);
        }
        if !sql.contains("row_group_physical_stats") {
            return Vec::new();
        }
        let text = ColumnForm::Text(128, true);
        let columns = vec![text, text, text, ColumnForm::Integer(8), ColumnForm::Integer(8)];
        let row = |(state, trimmed, count, rows): &(&str, &str, i64, i64)| {
            let words = ["lineitem", *state, *trimmed].map(Datum::text);
            Part::Row(words.into_iter().chain([count, rows].map(|number| Datum::Integer(*number))).collect())
        };
        let each = groups.iter().map(row);
        [Part::Columns(columns)].into_iter().chain(each).chain([Part::Count(groups.len() as u64)]).collect()
    })
}

/// A build is settled when all groups of a column store are compressed; what they are like is told.
#[test]
fn column_stores_are_compressed_or_the_build_has_failed() {
    let settled =
        |server: &TdsServer| runtime().block_on(sqlserver().after_build(&target(server.url("encrypt=none"), &[])));
    let whole = with_row_groups(&[
        ("COMPRESSED", "BULKLOAD", 7, 1_400_000),
        ("COMPRESSED", "NO_TRIM", 2, 2_097_152),
        ("TOMBSTONE", "", 1, 900),
        ("INVISIBLE", "", 1, 700),
    ]);
    settled(&whole).expect("what is left over or being built counts for nothing");
    let facts =
        runtime().block_on(sqlserver().verify_settings(&target(whole.url("encrypt=none"), &[]))).expect("reads");
    let fact = facts.iter().find(|fact| fact.name == "row_groups.lineitem").expect("it is told");
    let expected = "7 COMPRESSED (BULKLOAD) with 1400000 rows; 2 COMPRESSED (NO_TRIM) with 2097152 rows";
    assert_eq!(fact.effective.as_deref(), Some(expected));
    let open = with_row_groups(&[("COMPRESSED", "NO_TRIM", 2, 2_097_152), ("OPEN", "", 1, 900)]);
    let error = settled(&open).expect_err("a group is open").to_string();
    assert!(error.contains("compress lineitem: 1 row groups with 900 rows are OPEN"), "{error}");
}
