//! A session on a server of the tests, and what is sent on it.

use crate::tds_server::{Datum, Part, TdsServer};
use proofload_engine::{
    AnySession, Control, Engine, Error, Flight, Session as _, Statement, StatementId, Target, Value, engine,
};
use proofload_model::wire::DataLocation;

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

pub(crate) fn sqlserver() -> &'static dyn Engine {
    engine("sqlserver").expect("it is registered")
}

/// The password is handed over as an agent gets it: the environment of a test is everybody's.
pub(crate) fn target(url: String, settings: &[(&str, &str)]) -> Target {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let place =
        DataLocation { engine: "sqlserver".to_owned(), folder: String::new(), url: Some(url), settings, tier: None };
    let mut target = Target::new(place, None);
    target.endpoints = target.endpoints.with_password(Some(proofload_model::secret::Secret::of(b"s3cret")));
    target
}

pub(crate) async fn open(server: &TdsServer) -> Result<AnySession, Error> {
    sqlserver().connect(&target(server.url("encrypt=none"), &[])).await
}

pub(crate) async fn connect(server: &TdsServer) -> AnySession {
    open(server).await.expect("connects")
}

pub(crate) fn statement(name: &str, sql: &str, parameters: &[&str], columns: u16) -> Statement {
    let parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
    Statement { name: name.to_owned(), sql: sql.to_owned(), parameters, columns }
}

/// Begins, calls, ends.
pub(crate) async fn fly(
    session: &mut AnySession,
    calls: &[(u16, &[Value<'_>])],
    end: Control,
) -> Result<Flight, Error> {
    let mut flight = Flight::new();
    flight.control(Control::Begin);
    for (id, parameters) in calls {
        flight.call(StatementId(*id), parameters);
    }
    flight.control(end);
    session.fly(&mut flight).await.map(|()| flight)
}

pub(crate) fn deadlock() -> Part {
    Part::Error { number: 1205, severity: 13, procedure: "", line: 1, message: "Transaction was deadlocked." }
}

/// Rows of integers.
pub(crate) fn integers(rows: &[&[i64]]) -> Vec<Part> {
    let kinds = vec![crate::tds_server::ColumnForm::Integer(8); rows.first().map_or(1, |row| row.len())];
    let each = rows.iter().map(|row| Part::Row(row.iter().map(|number| Datum::Integer(*number)).collect()));
    [Part::Columns(kinds)].into_iter().chain(each).chain([Part::Count(rows.len() as u64)]).collect()
}

/// What a log has beyond logging on.
pub(crate) fn after_login(log: &[String]) -> Vec<&str> {
    let from = log.iter().position(|line| line.starts_with("batch SET NOCOUNT")).map_or(0, |place| place + 1);
    log[from..].iter().map(String::as_str).collect()
}
