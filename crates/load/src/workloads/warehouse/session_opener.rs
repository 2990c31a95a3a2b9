//! Sessions of streams, prepared by the statements of `session.sql`: the cap of a query, and the number of threads for
//! one. May not run queries.

use super::settings::WarehouseSettings;
use super::suite::{Dialect, PARALLELISM};
use crate::workload::RunRequest;
use crate::workloads::blocking_session::{BlockingSession, integer, runtime};
use crate::workloads::suite::Suite;
use proofload_engine::{AnySession, Engine, Error as EngineError, Session as _, Target, Value};
use proofload_model::error::Error;
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use proofload_model::units::duration_text;
use std::time::Duration;

/// Everything needed to open sessions of streams.
#[derive(Clone)]
pub(super) struct SessionOpener {
    engine: &'static dyn Engine,
    target: Target,
    /// Script for each session; may be empty.
    script: String,
}

impl SessionOpener {
    /// The opening for a job's settings.
    pub(super) fn new(request: &RunRequest, dialect: &Dialect, settings: &WarehouseSettings) -> Result<Self, Error> {
        let mut opener = Self { engine: request.engine, target: request.target.clone(), script: String::new() };
        if let Some(cap) = settings.query_cap {
            opener.cap(&dialect.suite, cap)?;
        }
        if let Some(threads) = settings.parallelism {
            let threads = i64::from(threads);
            let values = [("threads", Value::Integer(threads)), ("helpers", Value::Integer(threads - 1))];
            opener.say(&dialect.suite, PARALLELISM, &values)?;
        }
        Ok(opener)
    }

    /// Caps a query as the dialect says it, else by the client's own setting.
    fn cap(&mut self, suite: &Suite, cap: Duration) -> Result<(), Error> {
        if suite.find("cap").is_none() {
            self.target.place.settings.push(("statement_timeout".to_owned(), duration_text(cap)));
            return Ok(());
        }
        let milliseconds = i64::try_from(cap.as_millis()).unwrap_or(i64::MAX);
        self.say(suite, "cap", &[("milliseconds", Value::Integer(milliseconds))])
    }

    fn say(&mut self, suite: &Suite, name: &str, values: &[(&str, Value<'_>)]) -> Result<(), Error> {
        self.script.push_str(&suite.with_values(name, values)?);
        self.script.push_str(";\n");
        Ok(())
    }

    /// A session that has run the script.
    pub(super) async fn session(&self) -> Result<AnySession, EngineError> {
        let mut session = self.target.connect(async |target| self.engine.connect(target).await).await?;
        self.tell(&mut session).await?;
        Ok(session)
    }

    /// Tells a session all of it, again where something else was said in between.
    pub(super) async fn tell(&self, session: &mut AnySession) -> Result<(), EngineError> {
        if !self.script.is_empty() {
            let told = session.script(&self.script).await;
            told.map_err(|error| error.context("failed to set the limits of a stream's session"))?;
        }
        Ok(())
    }

    /// Facts that such a session reports about itself. Blocking.
    pub(super) fn facts(&self, dialect: &Dialect, settings: &WarehouseSettings) -> Result<Vec<Fact>, Error> {
        let Some(threads) = settings.parallelism else { return Ok(Vec::new()) };
        let runtime = runtime()?;
        let session = runtime.block_on(self.session())?;
        let row =
            BlockingSession { runtime, session }.one_row(&dialect.suite.statement("parallelism_in_force")?.sql)?;
        let found = integer(&row, 0)?;
        let holds = found == i64::from(threads);
        let source = "a session with the settings of the streams";
        Ok(vec![engine::PARALLELISM.compared(threads.to_string(), Some(found), holds, source)])
    }
}
