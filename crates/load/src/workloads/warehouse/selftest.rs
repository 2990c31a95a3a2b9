//! The part of the self-test: the load at scale factor 0.01, its content, and the answers of all queries.

use super::Warehouse;
use super::answers::{Answer, compare, read_csv, written};
use super::settings::WarehouseSettings;
use super::suite::{Dialect, Draw, golden, is_probe};
use super::workload_run::WarehouseRun;
use crate::selftest::{Bench, SelftestPart, Steps, spec};
use crate::workload::{RunRequest, Workload as _, WorkloadRun as _};
use crate::workloads::blocking_session::BlockingSession;
use proofload_engine::Engine;
use proofload_model::error::Error;
use std::sync::Arc;

/// Parts of this workload.
pub(super) const PARTS: &[SelftestPart] = &[SelftestPart { name: "warehouse", lacking, run }];

fn lacking(engine: &dyn Engine) -> Option<String> {
    let capabilities = engine.facts().capabilities;
    if !capabilities.durable {
        return Some("the engine keeps no data".to_owned());
    }
    Dialect::of(engine).err().map(|_| "the workload has no queries for the engine".to_owned())
}

fn run(bench: &Bench, steps: &mut Steps<'_>) -> Result<(), Error> {
    let spec = spec(&Warehouse.facts(), &bench.target, &[("scale_factor", "0.01"), ("check_load", "full")])?;
    let scale = WarehouseSettings::read(&spec.settings)?.scale;
    let request =
        RunRequest { spec, engine: bench.engine, target: bench.target.clone(), progress: Arc::new(|_, _| {}) };
    let workload_run = WarehouseRun::new(request)?;
    let built = workload_run.build().and_then(|_| workload_run.check_data());
    let is_built = built.is_ok();
    steps.end("warehouse: rows of scale factor 0.01, column by column", built);
    if !is_built {
        return Ok(());
    }
    let dialect = Dialect::of(bench.engine)?;
    let mut session = BlockingSession::open(bench.engine, &bench.target)?;
    let wrong = wrong_answers(&dialect, scale, &mut session)?;
    let outcome = if wrong.is_empty() { Ok(()) } else { Err(Error::new(wrong.join("; "))) };
    let queries = dialect.queries.iter().filter(|query| !is_probe(query.name)).count();
    steps.end(&format!("warehouse: golden answers of {queries} queries and of probes"), outcome);
    Ok(())
}

/// The answer of a query, written.
pub(super) fn answer(
    dialect: &Dialect,
    scale: f64,
    session: &mut BlockingSession,
    place: usize,
    draw: Draw,
) -> Result<Answer, Error> {
    let query = dialect.queries.get(place).ok_or_else(|| Error::new(format!("there is no query {place}")))?;
    let context = |error: Error| error.context(query.name);
    let sql = dialect.sql(query, draw, scale).map_err(context)?;
    let rows = session.query(&sql).map_err(|error| context(error.into()))?;
    written(query, &rows).map_err(|what| context(Error::new(what)))
}

/// Queries whose answers are not the golden ones, and how they differ.
pub(super) fn wrong_answers(
    dialect: &Dialect,
    scale: f64,
    session: &mut BlockingSession,
) -> Result<Vec<String>, Error> {
    let mut wrong = Vec::new();
    for (place, query) in dialect.queries.iter().enumerate() {
        let text = golden(scale, query.name).ok_or_else(|| {
            Error::new(format!("there is no golden answer of {} at scale factor {scale}", query.name))
        })?;
        let right = read_csv(query, text).map_err(|what| Error::new(format!("{}: {what}", query.name)))?;
        let found = answer(dialect, scale, session, place, Draw::Validation)
            .map_err(|error| error.to_string())
            .and_then(|found| compare(query, &right, &found).map_err(|what| format!("{}: {what}", query.name)));
        wrong.extend(found.err());
    }
    Ok(wrong)
}
