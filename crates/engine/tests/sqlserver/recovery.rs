//! The recovery model during a build: switched in a database that was just made, put back when the build is settled, also after a kill.

use crate::places::{integers, runtime, sqlserver, target};
use crate::tds_server::{ColumnForm, Datum, Part, Setup, TdsServer};
use proofload_model::samples::Fact;
use std::sync::{Arc, Mutex};

const BULK_LOGGED: &str = "ALTER DATABASE [shop] SET RECOVERY BULK_LOGGED";
const FULL: &str = "ALTER DATABASE [shop] SET RECOVERY FULL";
const NAME: &str = "build_recovery_model";

/// A server with a database, or without.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BuiltDatabase {
    is_there: bool,
    model: String,
    /// Whether the server does not change its model.
    is_held: bool,
    note: String,
    /// Switches of the model, checkpoints and backups.
    sent: Vec<String>,
}

impl BuiltDatabase {
    fn absent(model: &str) -> Self {
        Self { is_there: false, model: model.to_owned(), is_held: false, note: String::new(), sent: Vec::new() }
    }

    /// What a build leaves that was killed.
    fn killed() -> Self {
        Self { is_there: true, note: "building".to_owned(), ..Self::absent("BULK_LOGGED") }
    }

    fn answer(&mut self, sql: &str) -> Vec<Part> {
        let text = ColumnForm::Text(100, true);
        if sql.starts_with("SELECT count(*)") {
            return integers(&[&[i64::from(self.is_there)]]);
        }
        if sql.starts_with("SELECT (SELECT") {
            let columns = Part::Columns(vec![text, text, ColumnForm::Integer(4)]);
            let collation = Datum::text("Latin1_General_100_BIN2_UTF8");
            return vec![
                columns,
                Part::Row(vec![Datum::text("proofload:1"), collation, Datum::Integer(9)]),
                Part::Count(1),
            ];
        }
        if sql.starts_with("SELECT CAST(d.recovery_model_desc") {
            let columns = Part::Columns(vec![text, ColumnForm::Integer(4), text]);
            let held = Datum::Integer(i64::from(self.is_held));
            return vec![
                columns,
                Part::Row(vec![Datum::text(&self.model), held, Datum::text(&self.note)]),
                Part::Count(1),
            ];
        }
        if sql.starts_with("SELECT v.name") {
            let columns = Part::Columns(vec![text; 3]);
            let row = ["recovery_model", self.model.as_str(), "sys.databases"].map(Datum::text);
            return vec![columns, Part::Row(row.to_vec()), Part::Count(1)];
        }
        if sql.starts_with("CREATE DATABASE") {
            self.is_there = true;
        } else if let Some((_, rest)) = sql.split_once("@name = N'proofload_recovery', @value = '") {
            self.note = rest.split('\'').next().expect("a word").to_owned();
        } else if let Some((_, model)) = sql.split_once(" SET RECOVERY ") {
            assert_eq!(self.note, "building", "it is noted before");
            self.model = model.to_owned();
            self.sent.push(sql.to_owned());
        } else if sql == "CHECKPOINT" || sql.starts_with("BACKUP DATABASE") {
            self.sent.push(sql.to_owned());
        }
        Vec::new()
    }
}

fn with(database: BuiltDatabase) -> (TdsServer, Arc<Mutex<BuiltDatabase>>) {
    let state = Arc::new(Mutex::new(database));
    let shared = Arc::clone(&state);
    let server = TdsServer::start(Setup::default(), move |sql, _| shared.lock().expect("nobody panicked").answer(sql));
    (server, state)
}

fn create(server: &TdsServer, settings: &[(&str, &str)]) {
    let target = target(server.url("encrypt=none"), settings);
    runtime().block_on(sqlserver().create_database(&target)).expect("creates");
}

fn settle(server: &TdsServer) {
    runtime().block_on(sqlserver().after_build(&target(server.url("encrypt=none"), &[]))).expect("settles");
}

fn facts(server: &TdsServer, settings: &[(&str, &str)]) -> Vec<Fact> {
    let target = target(server.url("encrypt=none"), settings);
    runtime().block_on(sqlserver().verify_settings(&target)).expect("reads")
}

fn seen(state: &Mutex<BuiltDatabase>) -> BuiltDatabase {
    state.lock().expect("nobody panicked").clone()
}

#[test]
fn a_database_that_was_just_made_is_built_under_bulk_logged_and_measured_under_full() {
    let (server, state) = with(BuiltDatabase::absent("FULL"));
    create(&server, &[("recovery_model", "full")]);
    assert_eq!((seen(&state).model.as_str(), seen(&state).note.as_str()), ("BULK_LOGGED", "building"));
    // Another agent of the same build asks for the model of the runs: it is not switched in mid-build.
    create(&server, &[("recovery_model", "full")]);
    assert_eq!(seen(&state).sent, [BULK_LOGGED]);
    settle(&server);
    assert_eq!(seen(&state).sent, [BULK_LOGGED, FULL, "CHECKPOINT"], "a checkpoint comes last");
    let facts = facts(&server, &[("recovery_model", "full")]);
    let built = facts.iter().find(|fact| fact.name == NAME).expect("it is told");
    assert_eq!((built.effective.as_deref(), built.holds), (Some("BULK_LOGGED"), None));
    assert!(built.source.contains("FULL before the build"), "{built:?}");
    let asked = facts.iter().find(|fact| fact.name == "recovery_model").expect("it is compared");
    assert_eq!(asked.holds, Some(true));
    // A run on data that are there.
    create(&server, &[]);
    settle(&server);
    assert_eq!(seen(&state).sent, [BULK_LOGGED, FULL, "CHECKPOINT", "CHECKPOINT"]);
}

/// What is sent of a model that may not be switched, or need not be.
fn left_alone(database: BuiltDatabase) {
    let (server, state) = with(database.clone());
    create(&server, &[]);
    settle(&server);
    let facts = facts(&server, &[]);
    assert!(facts.iter().all(|fact| fact.name != NAME), "{facts:?}");
    assert_eq!(seen(&state), BuiltDatabase { is_there: true, sent: vec!["CHECKPOINT".to_owned()], ..database });
}

#[test]
fn other_databases_and_other_models_are_left_alone() {
    left_alone(BuiltDatabase { is_there: true, ..BuiltDatabase::absent("FULL") });
    left_alone(BuiltDatabase { is_held: true, ..BuiltDatabase::absent("FULL") });
    left_alone(BuiltDatabase::absent("SIMPLE"));
    left_alone(BuiltDatabase::absent("BULK_LOGGED"));
}

#[test]
fn a_build_that_was_killed_goes_on_and_leaves_no_wrong_model() {
    let (server, state) = with(BuiltDatabase::killed());
    create(&server, &[]);
    assert_eq!(seen(&state), BuiltDatabase::killed(), "it goes on as it is");
    settle(&server);
    assert_eq!((seen(&state).model.as_str(), seen(&state).note.as_str()), ("FULL", "built"));
    // Killed between the note and the switch.
    let (server, state) = with(BuiltDatabase { model: "FULL".to_owned(), ..BuiltDatabase::killed() });
    create(&server, &[]);
    assert_eq!(seen(&state).sent, [BULK_LOGGED]);
}

#[test]
fn a_model_that_a_killed_build_has_left_is_put_back_before_anything_is_measured_or_backed_up() {
    let (server, state) = with(BuiltDatabase::killed());
    let facts = facts(&server, &[("recovery_model", "full")]);
    assert!(facts.iter().any(|fact| fact.name == "recovery_model" && fact.holds == Some(true)), "{facts:?}");
    assert_eq!(seen(&state).sent, [FULL]);
    let (server, state) = with(BuiltDatabase::killed());
    let backups = sqlserver().backups().expect("the server keeps them");
    let target = target(server.url("encrypt=none"), &[]);
    runtime().block_on(backups.keep(&target, "tprocc 1", &|_, _| {})).expect("keeps");
    let sent = seen(&state).sent;
    assert!(sent.len() == 2 && sent[0] == FULL && sent[1].starts_with("BACKUP DATABASE"), "{sent:?}");
    assert_eq!((seen(&state).model.as_str(), seen(&state).note.as_str()), ("FULL", "built"));
}
