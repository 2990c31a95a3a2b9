//! Builds the data: schema, rows in chunks, indexes, statistics. Killed at any instant it leaves each part done or
//! absent, and goes on from there.

use super::chunk_loader::{self, Part};
use super::manifest::{self, Manifest};
use super::rows_loaded::RowsLoaded;
use crate::workload::{ProgressSink, RunRequest};
use crate::workloads::blocking_session::{BlockingSession, integer, runtime, text};
use crate::workloads::manifest::{begun, not_empty, unless_noted};
use crate::workloads::side_by_side::side_by_side;
use crate::workloads::tprocc::checks::{self, conditions, totals};
use crate::workloads::tprocc::dialect::Dialect;
use crate::workloads::tprocc::procedures;
use crate::workloads::tprocc::settings::TproccSettings;
use proofload_engine::Target;
use proofload_gen::tprocc::Departure;
use proofload_gen::tprocc::population::{Chunk, Population, Table};
use proofload_model::error::Error;
use proofload_model::facts::data;
use proofload_model::samples::{CheckOutcome, Fact};
use proofload_model::step_count::{StepCount, StepUnit};
use std::sync::atomic::{AtomicU64, Ordering};

/// A build: what to build, and where.
pub(crate) struct Build<'j> {
    request: &'j RunRequest,
    dialect: &'j Dialect,
    settings: TproccSettings,
    population: Population,
    target: Target,
}

impl<'j> Build<'j> {
    /// A build of a job's data. During it the dialect's build settings hold.
    pub(crate) fn new(request: &'j RunRequest, dialect: &'j Dialect, settings: TproccSettings) -> Self {
        let mut target = request.target.clone();
        let extra = dialect.build_settings.iter().cloned();
        target.place.settings.extend(extra);
        Self { request, dialect, settings, population: settings.population(&request.spec), target }
    }

    /// Builds, or goes on with a build; then settles the data.
    pub(crate) fn run(&self) -> Result<Vec<Fact>, Error> {
        let manifest = self.begin()?;
        if !manifest.is_complete() {
            let pending: Vec<Chunk> = self.chunks().filter(|chunk| !manifest.has(*chunk)).collect();
            self.load(&pending, &manifest)?;
            self.finish(&manifest)?;
        }
        let progress: &ProgressSink = &self.request.progress;
        procedures::install(&mut self.session()?, self.dialect)?;
        progress("settling the data", None);
        runtime()?.block_on(self.request.engine.after_build(&self.target))?;
        self.facts()
    }

    /// Loads the chunks of this agent's share that are not noted.
    pub(crate) fn run_share(&self) -> Result<(), Error> {
        let manifest = self.begin()?;
        let turns = self.request.spec.part.turns();
        let own = (0..).zip(self.chunks()).filter(|(number, _)| turns.has(*number)).map(|(_, chunk)| chunk);
        let pending: Vec<Chunk> = own.filter(|chunk| !manifest.has(*chunk)).collect();
        if manifest.is_complete() { Ok(()) } else { self.load(&pending, &manifest) }
    }

    /// Makes the empty tables unless they are there; refuses what is not ours or does not fit.
    pub(crate) fn begin(&self) -> Result<Manifest, Error> {
        runtime()?.block_on(self.request.engine.create_database(&self.target))?;
        let fitting = |session: &mut _| self.fitting_manifest(session);
        begun(&mut self.session()?, fitting, |session| self.make_tables(session))
    }

    /// The manifest, if there is one; an error when it does not fit.
    fn fitting_manifest(&self, session: &mut BlockingSession) -> Result<Option<Manifest>, Error> {
        let manifest = Manifest::read(session, self.dialect)?;
        if let Some(manifest) = &manifest {
            manifest.fits(&manifest::wanted(&self.settings, &self.population))?;
        }
        Ok(manifest)
    }

    /// Makes the empty tables and the manifest in one step, in an empty database only.
    fn make_tables(&self, session: &mut BlockingSession) -> Result<(), Error> {
        let foreign = session.query(&self.dialect.suite.statement("foreign_tables")?.sql)?;
        if let Some(first) = foreign.first() {
            return Err(not_empty(&format!("a table {}", text(first, 0)?)));
        }
        let suite = &self.dialect.suite;
        let made = format!("{};\n{};", suite.statement("manifest_schema")?.sql, suite.statement("schema")?.sql);
        let mut notes = String::new();
        for (name, value) in &manifest::wanted(&self.settings, &self.population) {
            notes.push_str(&manifest::add(self.dialect, name, value)?);
        }
        let script = self.dialect.steps.script(&made, &notes);
        session.script(&script).map_err(|error| error.context("failed to create the tables"))
    }

    /// `Ok` when the failed step has been noted since this build read the manifest; see [`unless_noted`].
    fn unless_noted(
        &self,
        session: &mut BlockingSession,
        failed: Error,
        is_noted: impl FnOnce(&Manifest) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        session.roll_back();
        let noted = self.manifest(session).and_then(|manifest| is_noted(&manifest));
        unless_noted(failed, noted)
    }

    /// Every chunk of the data.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Chunk> + use<> {
        Chunk::all(self.settings.warehouses)
    }

    /// Loads chunks, several at a time where the engine gains by it, beside those that the manifest has.
    pub(crate) fn load(&self, chunks: &[Chunk], manifest: &Manifest) -> Result<(), Error> {
        let loaded = RowsLoaded::new(&self.settings, manifest, &self.request.progress)?;
        self.on_all(chunks, |session, chunk| self.load_chunk(session, *chunk, &loaded))
    }

    /// Does work on all items, by as many sessions as the engine gains by.
    fn on_all<T: Sync>(
        &self,
        items: &[T],
        work: impl Fn(&mut BlockingSession, &T) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        side_by_side(self.dialect.loaders, items, || self.session(), work)
    }

    /// Loads one chunk and notes it, in one transaction.
    fn load_chunk(&self, session: &mut BlockingSession, chunk: Chunk, loaded: &RowsLoaded<'_>) -> Result<(), Error> {
        session.script("BEGIN")?;
        let mut sent = 0;
        let mut more = |rows| {
            sent += rows;
            loaded.add(rows);
        };
        let parts = match self.load_rows(session, chunk, &mut more) {
            Ok(parts) => parts,
            Err(error) => {
                loaded.take_back(sent);
                return self.unless_noted(session, error, |manifest| Ok(manifest.has(chunk)));
            }
        };
        let notes = manifest::add_chunk(self.dialect, chunk, &parts)?;
        let ended = session.script(&format!("{notes}COMMIT;"));
        ended.or_else(|error| self.unless_noted(session, error, |manifest| manifest.holds(chunk, &parts)))
    }

    /// Loads the rows of a chunk in the open transaction, and says every so often how many more there are.
    pub(crate) fn load_rows(
        &self,
        session: &mut BlockingSession,
        chunk: Chunk,
        more: &mut dyn FnMut(u64),
    ) -> Result<Vec<Part>, Error> {
        chunk_loader::load(session, &self.population, chunk, more).map_err(|error| match chunk.warehouse() {
            Some(w_id) => error.context(format!("failed to load {} of warehouse {w_id}", chunk.name())),
            None => error.context(format!("failed to load {}", chunk.name())),
        })
    }

    /// Indexes, statistics and the proof that the data are right; each noted when done.
    fn finish(&self, manifest: &Manifest) -> Result<(), Error> {
        let missing: Vec<&String> = self
            .dialect
            .suite
            .names_in("indexes.sql")
            .iter()
            .filter(|name| manifest.content(&index_entry(name)).is_none())
            .collect();
        let progress = |ended: u64| {
            let count = StepCount::of(ended, missing.len() as u64, StepUnit::Indexes);
            (self.request.progress)("making indexes", Some(count));
        };
        let ended = AtomicU64::new(0);
        progress(0);
        self.on_all(&missing, |session, name| {
            let (entry, sql) = (index_entry(name), &self.dialect.suite.statement(name)?.sql);
            let note = manifest::add(self.dialect, &entry, "yes")?;
            let made = session.script(&self.dialect.steps.script(&format!("{sql};"), &note));
            made.or_else(|error| {
                let is_noted = |manifest: &Manifest| Ok(manifest.content(&entry).is_some());
                self.unless_noted(session, error.context(entry.as_str()), is_noted)
            })?;
            progress(ended.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(())
        })?;
        let mut session = self.session()?;
        session.script(&self.dialect.suite.statement("analyze")?.sql)?;
        if self.keeps_data() {
            (self.request.progress)("checking the data", None);
            self.prove(&mut session)?;
        }
        let totals = if self.keeps_data() {
            totals::Totals::read(&mut session, self.dialect)?
        } else {
            totals::Totals::default()
        };
        let named: Vec<(String, String)> =
            totals.named().into_iter().map(|(name, value)| (format!("total {name}"), value.to_string())).collect();
        let mut script = "BEGIN;\n".to_owned();
        for (entry, value) in &named {
            script.push_str(&manifest::add(self.dialect, entry, value)?);
        }
        script.push_str(&manifest::add_complete(self.dialect)?);
        let ended = session.script(&format!("{script}COMMIT;"));
        ended.or_else(|error| {
            let equal = |manifest: &Manifest| {
                let total = |(entry, value): &(String, String)| manifest.content(entry) == Some(value);
                Ok(manifest.is_complete() && named.iter().all(total))
            };
            self.unless_noted(&mut session, error, equal)
        })
    }

    /// Every table has the rows that were drawn, and all consistency conditions hold.
    fn prove(&self, session: &mut BlockingSession) -> Result<(), Error> {
        let manifest = self.manifest(session)?;
        for table in Table::ALL {
            let (name, noted) = (table.name(), manifest.table(table)?.rows);
            let found = integer(&session.one_row(&format!("SELECT {} FROM {name}", self.dialect.count))?, 0)?;
            if u64::try_from(found) != Ok(noted) {
                return Err(Error::new(format!("{name} has {found} rows, but {noted} were loaded")));
            }
        }
        let found = conditions::examine(session, self.dialect, &self.settings, &self.request.progress)?;
        let checks = checks::excused(conditions::checks(&found), &self.population.profile);
        match checks.into_iter().find(|check| check.outcome == CheckOutcome::Failed) {
            Some(check) => Err(Error::new(format!("after the load, {} does not hold: {}", check.name, check.found))),
            None => Ok(()),
        }
    }

    /// Facts about the build.
    fn facts(&self) -> Result<Vec<Fact>, Error> {
        let source = "manifest";
        let mut facts: Vec<Fact> = manifest::wanted(&self.settings, &self.population)
            .into_iter()
            .map(|(name, value)| data::NOTED.of(&name.replace(' ', "_")).observed(value, source))
            .collect();
        if !self.keeps_data() {
            return Ok(facts);
        }
        let mut session = self.session()?;
        let manifest = self.manifest(&mut session)?;
        let mut rows = 0;
        for table in Table::ALL {
            let content = manifest.table(table)?;
            rows += content.rows;
            facts.push(data::ROWS_OF.of(table.name()).observed(content.rows, source));
            facts.push(data::CONTENT_HASH_OF.of(table.name()).observed(content.to_string(), source));
        }
        facts.push(data::ROWS.observed(rows, source));
        let bytes = integer(&session.one_row(&self.dialect.suite.statement("database_bytes")?.sql)?, 0)?;
        facts.push(data::BYTES.observed(bytes, "the engine, after the build"));
        if let Some(version) = procedures::version_of_all(self.dialect)? {
            facts.push(data::PROCEDURES.observed(version, source));
        }
        facts.push(data::CONDITIONS_AT_LOAD.observed(self.conditions_at_load(), "checked after the load"));
        Ok(facts)
    }

    /// `12 of 12 hold`, or fewer and why.
    fn conditions_at_load(&self) -> &'static str {
        match self.population.profile.has(Departure::AmountsSwapped) {
            false => "12 of 12 hold",
            true => "10 of 12 hold; 10 and 12 are not applicable under departure 13 (amounts-swapped)",
        }
    }

    /// A session with the settings of the build.
    pub(crate) fn session(&self) -> Result<BlockingSession, Error> {
        Ok(BlockingSession::open(self.request.engine, &self.target)?)
    }

    fn manifest(&self, session: &mut BlockingSession) -> Result<Manifest, Error> {
        Manifest::read(session, self.dialect)?.ok_or_else(|| Error::new("the manifest is missing"))
    }

    fn keeps_data(&self) -> bool {
        self.request.engine.facts().capabilities.durable
    }
}

/// The manifest's entry of an index.
fn index_entry(name: &str) -> String {
    format!("index {name}")
}
