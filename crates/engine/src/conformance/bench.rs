//! A database to check: sessions, tables, statements.

use super::expect::some;
use super::words::Words;
use crate::contract::{Control, Decimal, Engine, Error, Flight, Session as _, Statement, StatementId, Target, Value};
use crate::engines::AnySession;

pub(super) const INSERT: StatementId = StatementId(0);
pub(super) const SELECT: StatementId = StatementId(1);
pub(super) const UPDATE: StatementId = StatementId(2);
pub(super) const BUMP: StatementId = StatementId(3);
pub(super) const COUNT: StatementId = StatementId(4);

/// An empty database of an engine, and what the suite may do beside it.
pub struct Bench<'a> {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Its database.
    pub target: &'a Target,
    /// Words of the engine.
    pub words: Words,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("engine", &self.engine.about().name).finish_non_exhaustive()
    }
}

/// A statement of the suite.
pub(super) fn statement(name: &str, sql: &str, parameters: &[&str], columns: u16) -> Statement {
    let parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
    Statement { name: name.to_owned(), sql: sql.to_owned(), parameters, columns }
}

impl<'a> Bench<'a> {
    /// A bench on a database that is there.
    ///
    /// # Errors
    /// The engine has no words for the suite.
    pub fn new(engine: &'static dyn Engine, target: &'a Target) -> Result<Self, Error> {
        Ok(Self { engine, target, words: Words::of(engine)? })
    }

    /// A new session.
    pub(super) async fn connect(&self) -> Result<AnySession, Error> {
        self.target.connect(async |target| self.engine.connect(target).await).await
    }

    /// A session with the statements of the suite.
    pub(super) async fn prepared(&self) -> Result<AnySession, Error> {
        let mut session = self.connect().await?;
        session.prepare(&self.statements()).await?;
        Ok(session)
    }

    fn statements(&self) -> Vec<Statement> {
        let returning = "UPDATE kept SET big = big + :by WHERE id = :id RETURNING big, name";
        let bump = self.words.bump.as_deref().unwrap_or(returning);
        vec![
            statement(
                "insert",
                "INSERT INTO kept (id, big, amount, name, moment) VALUES (:id, :big, :amount, :name, :at)",
                &["name", "id", "big", "amount", "at"],
                0,
            ),
            statement(
                "select",
                "SELECT id, big, amount, name, moment FROM kept WHERE id >= :low ORDER BY id",
                &["low"],
                5,
            ),
            statement("update", "UPDATE kept SET big = big + :by WHERE id <= :high", &["high", "by"], 0),
            statement("bump", bump, &["id", "by"], 2),
            statement("count", "SELECT count(*) FROM kept", &[], 1),
        ]
    }

    /// Makes the tables of the suite.
    pub(super) async fn make_tables(&self) -> Result<(), Error> {
        let [integer, big, decimal, text, time] = &self.words.types;
        let columns =
            format!("id {integer} NOT NULL PRIMARY KEY, big {big}, amount {decimal}, name {text}, moment {time}");
        let script = format!("CREATE TABLE kept ({columns}); CREATE TABLE bulk ({columns})");
        self.connect().await?.script(&script).await
    }
}

/// Cents as a value.
pub(super) fn cents(units: i64) -> Value<'static> {
    Value::Decimal(Decimal { units, scale: 2 })
}

/// Flies these calls as one transaction.
pub(super) async fn fly(
    session: &mut AnySession,
    calls: &[(StatementId, &[Value<'_>])],
    end: Control,
) -> Result<Flight, Error> {
    let mut flight = Flight::new();
    flight.control(Control::Begin);
    for (statement, parameters) in calls {
        flight.call(*statement, parameters);
    }
    flight.control(end);
    session.fly(&mut flight).await.map(|()| flight)
}

/// Number of rows that are kept.
pub(super) async fn count(session: &mut AnySession) -> Result<i64, Error> {
    let flight = fly(session, &[(COUNT, &[])], Control::Commit).await?;
    some("a count", flight.row(1, 0).and_then(|row| row.value(0).integer()))
}
