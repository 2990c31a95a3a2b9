//! YCSB as a workload: its place in the list of workloads.

use super::settings::{NAME, SETTINGS, YcsbSettings, of_mix};
use super::store::StoreDialect;
use super::workload_run::YcsbRun;
use crate::division::{each_has_one, indivisible};
use crate::selftest::SelftestPart;
use crate::workload::{Rating, RunRequest, Work, Workload, WorkloadRun, is_blocking};
use proofload_gen::Seed;
use proofload_gen::ycsb::Kind;
use proofload_model::catalogue::{Contradiction, WorkloadFacts};
use proofload_model::error::Error;
use proofload_model::intervention::{HOLD, HOT_ROWS, POOL};
use proofload_model::settings::{Settings, setting};
use proofload_model::units::Bytes;
use std::sync::Arc;

/// The key-value workload in YCSB's vocabulary.
#[derive(Debug)]
pub struct Ycsb;

/// Contradictions: shares that are no mix, sizes that are no data, several load agents, and users too few for them.
fn contradictions(settings: &Settings) -> Vec<Contradiction> {
    let of_mix = of_mix(settings);
    let read = match YcsbSettings::read(settings) {
        Ok(read) if of_mix.is_empty() => read,
        _ => return of_mix,
    };
    if let Err(error) = read.plan_of(Seed(1), Seed(1)) {
        return vec![Contradiction::new(read.unfit_setting(), error.to_string())];
    }
    let engine = settings.text(setting::ENGINE_KIND).ok().and_then(proofload_engine::engine);
    let engine = engine.and_then(|engine| StoreDialect::of(engine, read.form, read.shape.fields).err());
    if let Some(error) = engine {
        return vec![Contradiction::new(setting::ENGINE_KIND, error.to_string())];
    }
    each_has_one(settings, read.users, "virtual users").into_iter().chain(of_live(settings, &read)).collect()
}

/// Contradictions of what experiments change: rows that are not there, transactions without updates or on documents, and a pool that is not
/// shared on one thread.
fn of_live(settings: &Settings, read: &YcsbSettings) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let mut add = |setting, reason: String| found.push(Contradiction::new(setting, reason));
    if read.hot_rows.is_some_and(|rows| rows > read.records) {
        add(HOT_ROWS, format!("there are {} records; use no more of them", read.records));
    }
    let engine = settings.text(setting::ENGINE_KIND).ok().and_then(proofload_engine::engine);
    if read.hold.is_some() {
        if read.mix.share(Kind::Update) + read.mix.share(Kind::ReadModifyWrite) == 0.0 {
            add(HOLD, "holds updates, but the mix has none; remove it or change the mix".to_owned());
        }
        let dialect = engine.and_then(|engine| StoreDialect::of(engine, read.form, read.shape.fields).ok());
        if dialect.is_some_and(|dialect| !dialect.has_transactions()) {
            add(HOLD, "needs transactions, but records are documents here; remove it".to_owned());
        }
    }
    let Some(pool) = read.pool else { return found };
    if pool > read.users {
        found.push(Contradiction::new(
            POOL,
            format!("there are {} users; let them share no more connections", read.users),
        ));
    }
    if read.client_threads.is_some_and(|threads| threads > 1) {
        let reason = "a connection belongs to one client thread; set workload.client_threads = 1 or remove it";
        found.push(Contradiction::new(POOL, reason));
    }
    if engine.is_some_and(is_blocking) {
        let reason = "each user of an embedded database has a thread of its own; remove it";
        found.push(Contradiction::new(POOL, reason));
    }
    found.extend(indivisible(settings, "workload.pool is shared by all users; use one load agent"));
    found
}

impl Workload for Ycsb {
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: NAME,
            title: "key-value: reads, updates, inserts, scans of records by key, as YCSB defines them",
            settings: SETTINGS,
            needs_sql: false,
            operations: || super::user::KINDS,
            contradictions,
            raw_bytes,
        }
    }

    fn sessions(&self, settings: &Settings) -> u32 {
        settings.count(setting::WORKLOAD_VIRTUAL_USERS).unwrap_or(1)
    }

    fn rewrites_values(&self) -> bool {
        true
    }

    fn data_label(&self, settings: &Settings, seed: u64) -> String {
        match YcsbSettings::read(settings) {
            Ok(settings) => settings.label(seed),
            Err(error) => format!("{NAME} with invalid settings: {error}"),
        }
    }

    fn rating(&self, settings: &Settings) -> Rating {
        if settings.get(setting::WORKLOAD_OPERATIONS).is_some() { Rating::ToItsEnd } else { Rating::Window }
    }

    fn work(&self, settings: &Settings) -> Option<Work> {
        let operations = u64::try_from(settings.integer(setting::WORKLOAD_OPERATIONS).ok()?).ok()?;
        Some(Work { operations, word: "operations", at_most: None })
    }

    fn selftest(&self) -> &'static [SelftestPart] {
        super::selftest::PARTS
    }

    fn open(&self, request: RunRequest) -> Result<Arc<dyn WorkloadRun>, Error> {
        Ok(Arc::new(YcsbRun::new(request)?))
    }
}

/// Size of the rows, without indexes; 0 for faulty settings.
fn raw_bytes(settings: &Settings) -> Bytes {
    YcsbSettings::read(settings).map(|settings| settings.expected_bytes()).unwrap_or_default()
}
