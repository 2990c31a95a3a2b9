//! Records as rows of one table, by prepared statements. Allocates nothing per operation once the memory has grown.

use super::any::{ChunkRows, MANIFEST, TABLE};
use super::dialect::StoreDialect;
use crate::workloads::dialect::BuildSteps;
use crate::workloads::suite::Suite;
use crate::workloads::ycsb::settings::Form;
use proofload_engine::{
    AnySession, Column, ColumnKind, Control, DocumentBuffer, DocumentRef, Error, Fields, Flight, OwnedValue, RowSource,
    Session as _, Statement, StatementId, Table, Value,
};
use proofload_model::samples::Reading;

/// Statements that come once, before those of single fields.
const READ_ALL: StatementId = StatementId(0);
const SCAN_ALL: StatementId = StatementId(1);
const INSERT: StatementId = StatementId(2);
const UPDATE_ALL: StatementId = StatementId(3);
/// Number of those.
const SINGLE: u16 = 4;

/// A session with its statements prepared.
pub(crate) struct SqlStore {
    session: AnySession,
    suite: Suite,
    steps: BuildSteps,
    form: Form,
    fields: u16,
    flight: Flight,
}

/// Statement on one field.
#[derive(Clone, Copy)]
enum FieldStatement {
    Read,
    Scan,
    Update,
}

impl SqlStore {
    /// Prepares nothing yet: the table may not be there.
    pub(super) fn new(session: AnySession, dialect: &StoreDialect, fields: u16) -> Result<Self, Error> {
        let (suite, steps) = dialect
            .suite
            .clone()
            .zip(dialect.steps)
            .ok_or_else(|| Error::other("an SQL session without statements"))?;
        Ok(Self { session, suite, steps, form: dialect.form, fields, flight: Flight::new() })
    }

    /// Prepares the statements of the operations.
    pub(super) async fn prepare(&mut self) -> Result<(), Error> {
        let names = ["read_all", "scan_all", "insert", "update_all"].map(str::to_owned).into_iter();
        let of_fields =
            (0..self.fields).flat_map(|field| ["read", "scan", "update"].map(|what| format!("{what}_{field}")));
        let statements: Vec<Statement> =
            names.chain(of_fields).map(|name| self.statement(&name).cloned()).collect::<Result<_, _>>()?;
        self.session.prepare(&statements).await
    }

    fn statement(&self, name: &str) -> Result<&Statement, Error> {
        self.suite.statement(name).map_err(|error| Error::other(error.to_string()))
    }

    /// The statement on one field.
    fn of_field(what: FieldStatement, field: u16) -> StatementId {
        StatementId(SINGLE + 3 * field + what as u16)
    }

    pub(super) async fn read(&mut self, key: &str, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        let statement = match fields {
            Fields::All => READ_ALL,
            Fields::One(field) => Self::of_field(FieldStatement::Read, field),
        };
        self.run(statement, &[Value::Text(key)]).await?;
        if let Some(row) = self.flight.row(0, 0) {
            found.begin(key);
            add(found, row, 0, fields)?;
        }
        Ok(())
    }

    pub(super) async fn scan(
        &mut self,
        key: &str,
        limit: u32,
        fields: Fields,
        found: &mut DocumentBuffer,
    ) -> Result<(), Error> {
        let statement = match fields {
            Fields::All => SCAN_ALL,
            Fields::One(field) => Self::of_field(FieldStatement::Scan, field),
        };
        self.run(statement, &[Value::Text(key), Value::Integer(limit.into())]).await?;
        for index in 0..self.flight.rows(0) {
            let Some(row) = self.flight.row(0, index) else { break };
            found.begin(text(row.value(0))?);
            add(found, row, 1, fields)?;
        }
        Ok(())
    }

    pub(super) async fn update(&mut self, record: DocumentRef<'_>) -> Result<u64, Error> {
        self.flight.clear();
        let Some(place) = self.add_update(record)? else { return Ok(0) };
        self.fly_to(place).await
    }

    /// Begins a transaction and updates in it; [`SqlStore::commit`] ends it.
    pub(super) async fn begin_update(&mut self, record: DocumentRef<'_>) -> Result<u64, Error> {
        self.flight.clear();
        self.flight.control(Control::Begin);
        let Some(place) = self.add_update(record)? else { return Ok(0) };
        self.fly_to(place).await
    }

    pub(super) async fn commit(&mut self) -> Result<(), Error> {
        self.flight.clear();
        self.flight.control(Control::Commit);
        self.session.fly(&mut self.flight).await
    }

    /// Adds the call of an update; its place, `None` for one of no field.
    fn add_update(&mut self, record: DocumentRef<'_>) -> Result<Option<usize>, Error> {
        let mut values = record.values();
        let (first, others) = (values.next(), values.next().is_some());
        match first {
            None => Ok(None),
            Some((field, value)) if !others => {
                let statement = Self::of_field(FieldStatement::Update, field);
                Ok(Some(self.flight.call(statement, &[Value::Text(record.key()), Value::Text(utf8(value)?)])))
            }
            Some(_) => self.add_whole(UPDATE_ALL, record).map(Some),
        }
    }

    pub(super) async fn insert(&mut self, record: &DocumentBuffer) -> Result<(), Error> {
        let record = record.get(0).ok_or_else(|| Error::other("an insertion without a record"))?;
        self.flight.clear();
        let place = self.add_whole(INSERT, record)?;
        match self.fly_to(place).await? {
            1 => Ok(()),
            count => Err(Error::other(format!("an insertion of one record touched {count}"))),
        }
    }

    /// Adds a call whose parameters are the key and all fields; its place.
    fn add_whole(&mut self, statement: StatementId, record: DocumentRef<'_>) -> Result<usize, Error> {
        record.values().try_for_each(|(_, value)| utf8(value).map(drop))?;
        let values = record.values().map(|(_, value)| Value::Text(utf8(value).unwrap_or_default()));
        Ok(self.flight.call_each(statement, std::iter::once(Value::Text(record.key())).chain(values)))
    }

    /// One call; returns the rows touched.
    async fn run(&mut self, statement: StatementId, parameters: &[Value<'_>]) -> Result<u64, Error> {
        self.flight.clear();
        let place = self.flight.call(statement, parameters);
        self.fly_to(place).await
    }

    /// Runs what was added; the rows that the call at a place touched.
    async fn fly_to(&mut self, place: usize) -> Result<u64, Error> {
        self.session.fly(&mut self.flight).await?;
        Ok(self.flight.answer(place).affected())
    }

    pub(super) async fn recover(&mut self) -> Result<(), Error> {
        self.flight.clear();
        self.flight.control(Control::Rollback);
        self.session.fly(&mut self.flight).await
    }

    /// One chunk with its note in one transaction.
    pub(super) async fn load(&mut self, chunk: &mut ChunkRows<'_>, note: (&str, &str)) -> Result<(), Error> {
        self.session.script("BEGIN").await?;
        match self.load_rows(chunk, note).await {
            Ok(()) => self.session.script("COMMIT").await,
            Err(error) => {
                // The first error counts; a rollback that fails says the same again.
                let _failed = self.session.script("ROLLBACK").await;
                Err(error)
            }
        }
    }

    async fn load_rows(&mut self, chunk: &mut ChunkRows<'_>, note: (&str, &str)) -> Result<(), Error> {
        let json = self.form == Form::Json;
        let names: Vec<String> = (0..chunk.fields).map(|field| format!("field{field}")).collect();
        let mut columns = vec![Column { name: "ycsb_key", kind: ColumnKind::Text }];
        if json {
            columns.push(Column { name: "ycsb_value", kind: ColumnKind::Json });
        } else {
            columns.extend(names.iter().map(|name| Column { name, kind: ColumnKind::Text }));
        }
        let mut rows = Rows { chunk, batch: DocumentBuffer::new(), place: 0, names: &names, json, text: String::new() };
        self.session.append(&Table { name: TABLE, columns: &columns }, &mut rows).await?;
        self.note(&[(note.0.to_owned(), note.1.to_owned())]).await
    }

    pub(super) async fn create(&mut self, entries: &[(String, String)]) -> Result<(), Error> {
        let (schema, manifest) = (self.statement("schema")?, self.statement("manifest_schema")?);
        let made = format!("{};\n{};", manifest.sql, schema.sql);
        let mut notes = String::new();
        for entry in entries {
            notes.push_str(&self.note_sql(entry)?);
        }
        self.session.script(&self.steps.script(&made, &notes)).await
    }

    pub(super) async fn note(&mut self, entries: &[(String, String)]) -> Result<(), Error> {
        for entry in entries {
            let sql = self.note_sql(entry)?;
            self.session.script(&sql).await?;
        }
        Ok(())
    }

    fn note_sql(&self, (entry, content): &(String, String)) -> Result<String, Error> {
        let values = [("entry", Value::Text(entry)), ("content", Value::Text(content))];
        let sql = self.suite.with_values("manifest_add", &values).map_err(|error| Error::other(error.to_string()))?;
        Ok(sql + ";\n")
    }

    pub(super) async fn notes(&mut self) -> Result<Vec<(String, String)>, Error> {
        if !self.tables().await?.iter().any(|table| table == MANIFEST) {
            return Ok(Vec::new());
        }
        let sql = self.statement("manifest_rows")?.sql.clone();
        let rows = self.session.query(&sql).await?;
        rows.into_iter().map(|row| Ok((owned_text(row.first())?, owned_text(row.get(1))?))).collect()
    }

    pub(super) async fn tables(&mut self) -> Result<Vec<String>, Error> {
        let sql = self.statement("tables")?.sql.clone();
        self.session.query(&sql).await?.into_iter().map(|row| owned_text(row.first())).collect()
    }

    pub(super) async fn count(&mut self) -> Result<u64, Error> {
        let sql = self.statement("count")?.sql.clone();
        let rows = self.session.query(&sql).await?;
        let count = rows.first().and_then(|row| row.first()).and_then(|value| value.as_value().integer());
        count.map(i64::unsigned_abs).ok_or_else(|| Error::other("counting the records returned no number"))
    }

    pub(super) fn counters(&mut self, into: &mut Vec<Reading>) {
        self.session.counters(into);
    }
}

/// Adds the values of a row from column `first` on to the record begun last.
fn add(found: &mut DocumentBuffer, row: proofload_engine::Row<'_>, first: usize, fields: Fields) -> Result<(), Error> {
    for column in first..row.width() {
        let field = match fields {
            Fields::One(field) => field,
            Fields::All => u16::try_from(column - first).unwrap_or(u16::MAX),
        };
        match row.value(column) {
            Value::Null => {}
            value => found.put(field, text(value)?.as_bytes()),
        }
    }
    Ok(())
}

fn text(value: Value<'_>) -> Result<&str, Error> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(Error::other(format!("a column of the table is {other:?}, but must be text"))),
    }
}

fn owned_text(value: Option<&OwnedValue>) -> Result<String, Error> {
    match value {
        Some(OwnedValue::Text(text)) => Ok(text.clone()),
        other => Err(Error::other(format!("a query returned {other:?}, but text is expected"))),
    }
}

/// Values are drawn as ASCII.
fn utf8(value: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(value).map_err(|_| Error::other("a value of the workload is not text"))
}

/// The records of a chunk as rows for the engine.
struct Rows<'c, 'b, 'n> {
    chunk: &'c mut ChunkRows<'b>,
    batch: DocumentBuffer,
    place: usize,
    names: &'n [String],
    json: bool,
    text: String,
}

impl RowSource for Rows<'_, '_, '_> {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.place == self.batch.len() {
            self.batch.clear();
            self.place = 0;
            if !(self.chunk.next)(&mut self.batch) {
                return false;
            }
        }
        let Some(record) = self.batch.get(self.place) else { return false };
        self.place += 1;
        // Values are ASCII without quotes or backslashes: text as it stands is JSON too.
        let ascii = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        if self.json {
            self.text.clear();
            for (field, value) in record.values() {
                self.text.push(if self.text.is_empty() { '{' } else { ',' });
                for part in ["\"", &self.names[usize::from(field)], "\":\"", ascii(value), "\""] {
                    self.text.push_str(part);
                }
            }
            self.text.push('}');
            sink(&[Value::Text(record.key()), Value::Text(&self.text)]);
        } else {
            let mut row = Vec::with_capacity(self.names.len() + 1);
            row.push(Value::Text(record.key()));
            row.extend(record.values().map(|(_, value)| Value::Text(ascii(value))));
            sink(&row);
        }
        true
    }
}
