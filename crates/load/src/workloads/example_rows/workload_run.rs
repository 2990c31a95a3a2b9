//! The opened fixture: builds its table, runs virtual users, and compares every row afterwards.

use super::rows::{AppendedRows, ExampleTable};
use super::user::{ExampleUser, KINDS};
use crate::drive::{Retry, UserContext};
use crate::workload::{LocalFuture, RunRequest, WorkloadRun};
use crate::workloads::blocking_session::{BlockingSession, runtime};
use crate::workloads::suite::{Suite, SuiteFile};
use proofload_engine::{AnySession, Column, ColumnKind, Error as EngineError, ErrorClass, Session as _, Table};
use proofload_gen::Seed;
use proofload_model::error::Error;
use proofload_model::facts::{client, data};
use proofload_model::samples::{Check, CheckOutcome, Fact, OperationCounts};
use proofload_model::settings::setting;
use proofload_model::wire::load::DataState;
use std::sync::Arc;

const STATEMENTS: SuiteFile<'_> =
    SuiteFile { path: "workloads/example_rows/statements.sql", text: include_str!("statements.sql") };

const NUMBER: ColumnKind = ColumnKind::Integer { bits: 64 };
const TABLE: Table<'_> = Table {
    name: "example_row",
    columns: &[Column { name: "id", kind: NUMBER }, Column { name: "content", kind: NUMBER }],
};

/// The workload with its job.
pub(super) struct ExampleRun {
    request: RunRequest,
    suite: Suite,
    rows: ExampleTable,
    users: u32,
}

impl ExampleRun {
    /// Takes a job; reads its settings.
    pub(super) fn new(request: RunRequest) -> Result<Self, Error> {
        let settings = &request.spec.settings;
        let rows = ExampleTable::read(settings, request.spec.data_seed)?;
        let users = settings.count(setting::WORKLOAD_VIRTUAL_USERS)?;
        Ok(Self { suite: Suite::read(&[STATEMENTS])?, rows, users, request })
    }

    /// Whether the engine keeps what it is given.
    pub(super) fn keeps_data(&self) -> bool {
        self.request.engine.facts().capabilities.durable
    }

    /// A session that is ready for reads.
    pub(super) async fn connect(&self) -> Result<AnySession, EngineError> {
        let read = self.suite.statement("read").map_err(|error| EngineError::other(error.to_string()))?;
        let engine = self.request.engine;
        let mut session = self.request.target.connect(async |target| engine.connect(target).await).await?;
        session.prepare(std::slice::from_ref(read)).await?;
        Ok(session)
    }

    fn session(&self) -> Result<BlockingSession, EngineError> {
        BlockingSession::open(self.request.engine, &self.request.target)
    }

    fn sql(&self, name: &str) -> Result<&str, Error> {
        Ok(&self.suite.statement(name)?.sql)
    }

    /// Compares the whole table. A build leaves all rows or no table.
    fn state(&self, session: &mut BlockingSession) -> Result<DataState, Error> {
        match session.query(self.sql("all")?) {
            Ok(found) => Ok(match self.rows.difference(&found) {
                None => DataState::Fits,
                Some(why) => DataState::Differs { why },
            }),
            Err(lost) if lost.class() == ErrorClass::ConnectionLost => Err(lost.into()),
            Err(error) => Ok(DataState::Empty { why: format!("there is no table {}: {error}", TABLE.name) }),
        }
    }

    /// Makes the table with its rows in one transaction.
    fn fill(&self, session: &mut BlockingSession) -> Result<(), Error> {
        session.script(&format!("BEGIN;\n{}", self.sql("schema")?))?;
        let mut source = AppendedRows { rows: self.rows, next: 0 };
        let BlockingSession { runtime, session: engine_session } = &mut *session;
        match runtime.block_on(engine_session.append(&TABLE, &mut source)) {
            Ok(_) => session.script("COMMIT"),
            Err(error) => {
                session.roll_back();
                Err(error.into())
            }
        }
    }

    async fn run_user(self: Arc<Self>, number: u32, mut context: UserContext) -> Result<(), Error> {
        let keys = Seed(self.request.spec.input_seed).of(number.into()).rng();
        let rows = self.rows;
        let mut user = ExampleUser::connect(self, rows, keys).await?;
        let Some(origin) = context.ready().await else { return Ok(()) };
        context.drive(origin, &mut user, Retry { at_most: 10 }).await
    }
}

impl WorkloadRun for ExampleRun {
    fn kinds(&self) -> &'static [&'static str] {
        KINDS
    }

    fn users(&self) -> u32 {
        self.users
    }

    fn client_threads(&self) -> Option<u32> {
        None
    }

    fn build(&self) -> Result<Vec<Fact>, Error> {
        if !self.keeps_data() {
            return Ok(Vec::new());
        }
        let RunRequest { engine, target, .. } = &self.request;
        runtime()?.block_on(engine.create_database(target))?;
        let mut session = self.session()?;
        if matches!(self.state(&mut session)?, DataState::Empty { .. }) {
            self.fill(&mut session)?;
        }
        self.state(&mut session)?.must_fit()?;
        session.runtime.block_on(engine.after_build(target))?;
        Ok(vec![data::ROWS.observed(self.rows.count, "compared one by one")])
    }

    fn data_state(&self) -> Result<DataState, Error> {
        if self.keeps_data() { self.state(&mut self.session()?) } else { Ok(DataState::Fits) }
    }

    fn begin(&self) -> Result<Vec<Fact>, Error> {
        Ok(vec![client::INPUT_SEED.observed(self.request.spec.input_seed, "inputs of the run")])
    }

    fn run_session(self: Arc<Self>, session: u32, context: UserContext) -> LocalFuture<'static, Result<(), Error>> {
        Box::pin(self.run_user(session, context))
    }

    fn counters(&self) -> Result<Vec<(String, i64)>, EngineError> {
        if !self.keeps_data() {
            return Ok(Vec::new());
        }
        let sql = self.sql("count").map_err(|error| EngineError::other(error.to_string()))?;
        let row = self.session()?.one_row(sql)?;
        let rows = row.first().and_then(|value| value.as_value().integer());
        Ok(rows.map(|rows| ("rows".to_owned(), rows)).into_iter().collect())
    }

    fn verify(&self, _totals: &[OperationCounts]) -> Result<Vec<Check>, Error> {
        if !self.keeps_data() {
            return Ok(Vec::new());
        }
        let difference = self.rows.difference(&self.session()?.query(self.sql("all")?)?);
        Ok(vec![Check {
            group: "data".to_owned(),
            name: "rows read back".to_owned(),
            rule: "reads change nothing: every row holds what the build wrote".to_owned(),
            found: difference.clone().unwrap_or_else(|| format!("{} rows are as they were built", self.rows.count)),
            outcome: if difference.is_none() { CheckOutcome::Met } else { CheckOutcome::Failed },
            offenders: difference.into_iter().collect(),
            sample: None,
            lost: None,
        }])
    }
}
