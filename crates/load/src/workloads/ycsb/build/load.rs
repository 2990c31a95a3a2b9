//! Loads the data: table, chunks side by side, count, sample. Killed at any instant it leaves each chunk noted or not,
//! and goes on from there.

use super::chunk::{CHUNK_RECORDS, RecordSource, chunks};
use super::manifest::{Manifest, chunk_entry, complete_entry, wanted};
use crate::workload::RunRequest;
use crate::workloads::blocking_session::runtime;
use crate::workloads::manifest::{not_empty, unless_noted};
use crate::workloads::side_by_side::side_by_side;
use crate::workloads::ycsb::checks::read_back;
use crate::workloads::ycsb::settings::YcsbSettings;
use crate::workloads::ycsb::store::{BlockingStore, ChunkRows, MANIFEST, StoreAccess, StoreDialect, TABLE};
use proofload_engine::Target;
use proofload_gen::ycsb::Plan;
use proofload_model::error::Error;
use proofload_model::facts::data;
use proofload_model::load_share::{LoadShare, Turns};
use proofload_model::samples::Fact;
use proofload_model::step_count::{StepCount, StepUnit};
use std::sync::atomic::{AtomicU64, Ordering};

/// A load: what, and where.
pub(crate) struct Load<'j> {
    request: &'j RunRequest,
    dialect: &'j StoreDialect,
    settings: &'j YcsbSettings,
    plan: &'j Plan,
    target: Target,
}

impl<'j> Load<'j> {
    /// A load of a job's data. During it the dialect's settings for loads hold.
    pub(crate) fn new(
        request: &'j RunRequest,
        dialect: &'j StoreDialect,
        settings: &'j YcsbSettings,
        plan: &'j Plan,
    ) -> Self {
        let mut target = request.target.clone();
        let extra = dialect.build_settings.iter().cloned();
        target.place.settings.extend(extra);
        Self { request, dialect, settings, plan, target }
    }

    /// Loads, or goes on with a load; then settles the data.
    pub(crate) fn run(&self) -> Result<Vec<Fact>, Error> {
        let manifest = self.begin()?;
        if !manifest.is_complete() {
            self.load_missing(&manifest, &LoadShare::default().turns())?;
            let checked = self.prove()?;
            let entry = complete_entry(self.settings.records);
            let mut session = self.session()?;
            let noted = session.work(async |store| store.note(std::slice::from_ref(&entry)).await);
            noted.or_else(|error| unless_noted(error, is_noted(&mut session, &entry)))?;
            (self.request.progress)("settling the data", None);
            runtime()?.block_on(self.request.engine.after_build(&self.target))?;
            return Ok(self.facts(&checked.to_string()));
        }
        Ok(self.facts("0, the load was already complete"))
    }

    /// Loads the chunks of this agent's share that are not noted.
    pub(crate) fn run_share(&self) -> Result<(), Error> {
        let manifest = self.begin()?;
        let turns = self.request.spec.part.turns();
        if manifest.is_complete() { Ok(()) } else { self.load_missing(&manifest, &turns) }
    }

    fn access(&self) -> StoreAccess<'_> {
        StoreAccess {
            engine: self.request.engine,
            target: &self.target,
            dialect: self.dialect,
            settings: self.settings,
        }
    }

    fn session(&self) -> Result<BlockingStore, Error> {
        BlockingStore::open(self.access())
    }

    /// Makes the empty table unless it is there; refuses what is not ours or does not fit.
    pub(crate) fn begin(&self) -> Result<Manifest, Error> {
        if self.settings.adopted {
            return Err(Error::new(
                "workload.data is \"adopted\": the data come from another client, and Proofload neither loads nor replaces them; set engine.url to a database with these data",
            ));
        }
        runtime()?.block_on(self.request.engine.create_database(&self.target))?;
        let mut session = self.session()?;
        let wanted = wanted(self.settings.data(self.request.spec.data_seed), self.plan);
        if let Some(manifest) = fitting_manifest(&mut session, &wanted)? {
            return Ok(manifest);
        }
        match make_table(&mut session, &wanted) {
            Ok(()) => Ok(Manifest::default()),
            // A client killed with its COMMIT under way may have made it since.
            Err(error) => fitting_manifest(&mut self.session()?, &wanted)?.ok_or(error),
        }
    }

    /// Loads every chunk of the agent's part that is not noted, several sessions taking one after another.
    fn load_missing(&self, manifest: &Manifest, turns: &Turns) -> Result<(), Error> {
        let own: Vec<u64> = (0..chunks(self.settings.records)).filter(|chunk| turns.has(*chunk)).collect();
        let missing: Vec<u64> = own.iter().copied().filter(|chunk| !manifest.has(*chunk)).collect();
        let loaded = AtomicU64::new((own.len() - missing.len()) as u64);
        let records = (own.len() as u64 * CHUNK_RECORDS).min(self.settings.records);
        side_by_side(
            self.settings.loaders.unwrap_or(self.dialect.loaders),
            &missing,
            || self.session(),
            |session, chunk| {
                self.load_chunk(session, *chunk)?;
                let done = loaded.fetch_add(1, Ordering::Relaxed) + 1;
                let count = StepCount::of((done * CHUNK_RECORDS).min(records), records, StepUnit::Records);
                (self.request.progress)("loading records", Some(count));
                Ok(())
            },
        )
    }

    fn load_chunk(&self, session: &mut BlockingStore, number: u64) -> Result<(), Error> {
        let mut source = RecordSource::new(self.plan, number, self.settings.batch);
        let note = (chunk_entry(number), source.len().to_string());
        let mut next = |into: &mut _| source.next(into);
        let mut rows = ChunkRows { next: &mut next, fields: self.settings.shape.fields };
        let ended = session.work(async |store| store.load(&mut rows, (&note.0, &note.1)).await);
        let ended = ended.or_else(|error| unless_noted(error, is_noted(session, &note)));
        ended.map_err(|error| error.context(format!("failed to load chunk {number}")))
    }

    /// The load is complete only when the count is right and the sample is.
    fn prove(&self) -> Result<u64, Error> {
        if !self.request.engine.facts().capabilities.durable {
            return Ok(0);
        }
        (self.request.progress)("counting the records", None);
        let found = self.session()?.work(async |store| store.count().await)?;
        let wanted = self.settings.records;
        if found != wanted {
            return Err(Error::new(format!(
                "the load ended with {found} records, but {wanted} were sent; the load is not complete"
            )));
        }
        let read = read_back::run(self.access(), self.plan, wanted, &self.request.progress)?;
        match read.offenders.first() {
            None => Ok(read.checked),
            Some(first) => Err(Error::new(format!(
                "{} of {} records read back after the load are wrong, such as {first}; the load is not complete",
                read.wrong, read.checked
            ))),
        }
    }

    fn facts(&self, checked: &str) -> Vec<Fact> {
        let settings = self.settings;
        let shape = format!("{} fields of {} characters", settings.shape.fields, settings.shape.length);
        vec![
            data::RECORDS.observed(settings.records, "the manifest"),
            data::RECORD_SHAPE.observed(shape, "the manifest"),
            data::READ_BACK.observed(checked, "compared byte by byte"),
        ]
    }
}

/// The manifest, if there is one; an error when it does not fit.
fn fitting_manifest(session: &mut BlockingStore, wanted: &[(String, String)]) -> Result<Option<Manifest>, Error> {
    let manifest = Manifest::read(session)?;
    if let Some(manifest) = &manifest {
        manifest.fits(wanted)?;
    }
    Ok(manifest)
}

/// Makes the empty table and the manifest, in an empty database only.
fn make_table(session: &mut BlockingStore, wanted: &[(String, String)]) -> Result<(), Error> {
    let tables = session.work(async |store| store.tables().await)?;
    // A table beside a manifest without entries is that of a load that was killed before it noted anything.
    let is_begun = tables.iter().any(|name| name == MANIFEST);
    if let Some(name) = tables.iter().find(|name| *name != MANIFEST && !(is_begun && *name == TABLE)) {
        return Err(not_empty(name));
    }
    session.work(async |store| store.create(wanted).await).map_err(|error| error.context("failed to create the table"))
}

/// Whether the manifest holds this entry by now.
fn is_noted(session: &mut BlockingStore, entry: &(String, String)) -> Result<bool, Error> {
    Ok(Manifest::read(session)?.is_some_and(|manifest| manifest.holds(entry)))
}
