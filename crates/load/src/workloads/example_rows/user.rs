//! One virtual user: reads one row after another by keys that it draws.

use super::rows::ExampleTable;
use super::workload_run::ExampleRun;
use crate::drive::VirtualUser;
use crate::operation::Completion;
use proofload_engine::{AnySession, Error, ErrorClass, Flight, Session as _, StatementId, Value};
use proofload_gen::Rng;
use proofload_model::samples::Reading;
use std::sync::Arc;

/// Kinds of operations.
pub(super) const KINDS: &[&str] = &["read"];

/// The only statement of a user.
const READ: StatementId = StatementId(0);

/// A virtual user.
pub(super) struct ExampleUser {
    workload_run: Arc<ExampleRun>,
    session: AnySession,
    flight: Flight,
    rows: ExampleTable,
    keys: Rng,
    key: u64,
}

impl ExampleUser {
    /// A user who is connected and draws its keys from here.
    pub(super) async fn connect(workload_run: Arc<ExampleRun>, rows: ExampleTable, keys: Rng) -> Result<Self, Error> {
        let session = workload_run.connect().await?;
        Ok(Self { workload_run, session, flight: Flight::new(), rows, keys, key: 0 })
    }
}

impl VirtualUser for ExampleUser {
    fn draw(&mut self) -> usize {
        self.key = self.keys.below(self.rows.count);
        0
    }

    async fn run(&mut self) -> Result<Completion, Error> {
        self.flight.clear();
        self.flight.call(READ, &[Value::Integer(self.key.cast_signed())]);
        self.session.fly(&mut self.flight).await?;
        let found = self.flight.row(0, 0).and_then(|row| row.value(0).integer());
        if self.workload_run.keeps_data() && found != Some(self.rows.content(self.key)) {
            return Err(Error::new(ErrorClass::Other, "wrong_value", format!("row {} holds {found:?}", self.key)));
        }
        Ok(Completion::Done)
    }

    /// A read leaves no transaction open.
    async fn recover(&mut self) -> Result<(), Error> {
        Ok(())
    }

    async fn reconnect(&mut self) -> Result<(), Error> {
        self.session = self.workload_run.connect().await?;
        Ok(())
    }

    fn counters(&mut self, into: &mut Vec<Reading>) {
        self.session.counters(into);
    }
}
