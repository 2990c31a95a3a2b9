//! Loads the data: schema, chunks side by side, indexes, proof, sizes. Killed at any instant it leaves each part noted
//! or absent, and goes on from there.

use super::manifest::{self, DONE, Manifest, chunk_entry, index_entry};
use super::{chunk, prove};
use crate::workload::RunRequest;
use crate::workloads::blocking_session::{BlockingSession, integer, runtime, text};
use crate::workloads::manifest::{COMPLETE, begun, not_empty, unless_noted};
use crate::workloads::side_by_side::side_by_side;
use crate::workloads::warehouse::data::{Chunk, Content, Table};
use crate::workloads::warehouse::settings::{BY_SHIP_DATE, WarehouseSettings};
use crate::workloads::warehouse::suite::{Dialect, Moment};
use proofload_engine::{Statement, Target};
use proofload_model::error::Error;
use proofload_model::facts::data;
use proofload_model::load_share::{LoadShare, Turns};
use proofload_model::samples::Fact;
use proofload_model::step_count::{StepCount, StepUnit};
use std::sync::atomic::{AtomicU64, Ordering};

/// A load: what, and where.
pub(crate) struct Load<'j> {
    request: &'j RunRequest,
    dialect: &'j Dialect,
    settings: &'j WarehouseSettings,
    target: Target,
}

impl<'j> Load<'j> {
    /// A load of a job's data. During it the dialect's settings for loads hold.
    pub(crate) fn new(request: &'j RunRequest, dialect: &'j Dialect, settings: &'j WarehouseSettings) -> Self {
        let mut target = request.target.clone();
        let extra = dialect.build_settings.iter().cloned();
        target.place.settings.extend(extra);
        Self { request, dialect, settings, target }
    }

    /// Loads, or goes on with a load; then settles the data.
    pub(crate) fn run(&self) -> Result<Vec<Fact>, Error> {
        let manifest = self.begin()?;
        if !manifest.is_complete() {
            self.load_missing(&manifest)?;
            self.make_indexes(&manifest)?;
            self.prove()?;
            (self.request.progress)("settling the data", None);
            runtime()?.block_on(self.request.engine.after_build(&self.target))?;
            self.end()?;
        }
        let mut session = self.session()?;
        data_facts(&self.manifest(&mut session)?, self.settings)
    }

    /// Loads the chunks of this agent's share that are not noted.
    pub(crate) fn run_share(&self) -> Result<(), Error> {
        let manifest = self.begin()?;
        if manifest.is_complete() { Ok(()) } else { self.load_own(&manifest, &self.request.spec.part.turns()) }
    }

    fn session(&self) -> Result<BlockingSession, Error> {
        Ok(BlockingSession::open(self.request.engine, &self.target)?)
    }

    fn manifest(&self, session: &mut BlockingSession) -> Result<Manifest, Error> {
        Manifest::read(session, &self.dialect.suite)?.ok_or_else(|| Error::new("the manifest is missing"))
    }

    fn sessions(&self) -> usize {
        self.settings.loaders.unwrap_or(self.dialect.loaders)
    }

    /// Makes the empty tables unless they are there; refuses what is not ours or does not fit.
    pub(crate) fn begin(&self) -> Result<Manifest, Error> {
        runtime()?.block_on(self.request.engine.create_database(&self.target))?;
        let fitting = |session: &mut _| self.fitting_manifest(session);
        begun(&mut self.session()?, fitting, |session| self.make_tables(session))
    }

    /// The manifest, if there is one; an error when it does not fit.
    fn fitting_manifest(&self, session: &mut BlockingSession) -> Result<Option<Manifest>, Error> {
        let manifest = Manifest::read(session, &self.dialect.suite)?;
        if let Some(manifest) = &manifest {
            manifest.fits(&self.settings.data())?;
        }
        Ok(manifest)
    }

    /// Makes the empty tables and the manifest in one step, in an empty database only.
    fn make_tables(&self, session: &mut BlockingSession) -> Result<(), Error> {
        let suite = &self.dialect.suite;
        if let Some(first) = session.query(&suite.statement("foreign_tables")?.sql)?.first() {
            return Err(not_empty(&format!("a table {}", text(first, 0)?)));
        }
        self.prepare_layout(session)?;
        let (mut made, mut notes) = (String::new(), String::new());
        let (before, after) = (self.of_layout(Moment::Before), self.of_layout(Moment::After));
        let schema = [Some(suite.statement("manifest_schema")?), Some(suite.statement("schema")?)];
        for statement in [schema[0], before, schema[1], after].into_iter().flatten() {
            made.push_str(&format!("{};\n", statement.sql));
        }
        for (name, value) in &self.settings.data() {
            notes.push_str(&manifest::add(suite, name, value)?);
        }
        session
            .script(&self.dialect.steps.script(&made, &notes))
            .map_err(|error| error.context("failed to create the tables"))
    }

    /// `Ok` when the failed step has been noted since this load read the manifest: `entry`, as `content`. See [`unless_noted`].
    fn unless_noted(
        &self,
        session: &mut BlockingSession,
        failed: Error,
        entry: &str,
        content: &str,
    ) -> Result<(), Error> {
        session.roll_back();
        unless_noted(failed, self.manifest(session).map(|manifest| manifest.text(entry) == Some(content)))
    }

    /// The layout's statement of a moment, if it has one.
    fn of_layout(&self, moment: Moment) -> Option<&Statement> {
        self.dialect.suite.find(&self.settings.layout.statement(moment))
    }

    /// Makes what the layout needs of the server; the error says what is still missing.
    fn prepare_layout(&self, session: &mut BlockingSession) -> Result<(), Error> {
        let word = self.settings.layout.store.word();
        if let Some(statement) = self.of_layout(Moment::Prepare) {
            let context = |error: Error| error.context(format!("failed to prepare the server to store {word}"));
            session.script(&statement.sql).map_err(context)?;
        }
        let of_order = self.settings.ordered.then_some(Moment::OrderMissing);
        for moment in [Some(Moment::Missing), of_order].into_iter().flatten() {
            let Some(statement) = self.of_layout(moment) else { continue };
            if let Some(row) = session.query(&statement.sql)?.first() {
                return Err(Error::new(format!("to store {word}, the server needs {}", text(row, 0)?)));
            }
        }
        Ok(())
    }

    /// Loads every chunk that is not noted.
    pub(crate) fn load_missing(&self, manifest: &Manifest) -> Result<(), Error> {
        self.load_own(manifest, &LoadShare::default().turns())
    }

    /// Loads every chunk of an agent's part that is not noted.
    fn load_own(&self, manifest: &Manifest, turns: &Turns) -> Result<(), Error> {
        let numbered = (0..).zip(Chunk::all(self.settings.scale, self.settings.chunk_orders));
        let all: Vec<Chunk> = numbered.filter(|(number, _)| turns.has(*number)).map(|(_, chunk)| chunk).collect();
        let missing: Vec<Chunk> = all.iter().copied().filter(|chunk| !manifest.has(&chunk_entry(*chunk))).collect();
        let loaded = AtomicU64::new((all.len() - missing.len()) as u64);
        side_by_side(
            self.sessions(),
            &missing,
            || self.session(),
            |session, chunk| {
                self.load_chunk(session, *chunk)
                    .map_err(|error| error.context(format!("failed to load {}", chunk_entry(*chunk))))?;
                let done = loaded.fetch_add(1, Ordering::Relaxed) + 1;
                let count = StepCount::of(done, all.len() as u64, StepUnit::Chunks);
                (self.request.progress)("loading tables", Some(count));
                Ok(())
            },
        )
    }

    /// Loads one chunk and notes it, in one transaction.
    pub(crate) fn load_chunk(&self, session: &mut BlockingSession, chunk: Chunk) -> Result<(), Error> {
        session.script("BEGIN")?;
        let entry = chunk_entry(chunk);
        let content = match self.append_chunk(session, chunk) {
            Ok(content) => content.text(chunk.table),
            Err(error) => {
                session.roll_back();
                return unless_noted(error, self.manifest(session).map(|manifest| manifest.has(&entry)));
            }
        };
        let note = manifest::add(&self.dialect.suite, &entry, &content)?;
        let ended = session.script(&format!("{note}COMMIT;"));
        ended.or_else(|error| self.unless_noted(session, error, &entry, &content))
    }

    /// Appends the rows of a chunk in the open transaction.
    pub(crate) fn append_chunk(&self, session: &mut BlockingSession, chunk: Chunk) -> Result<Content, Error> {
        chunk::append(session, chunk, self.settings.scale, self.dialect.dates)
    }

    /// Makes every key and index that is not noted, each with its note in one transaction.
    fn make_indexes(&self, manifest: &Manifest) -> Result<(), Error> {
        let suite = &self.dialect.suite;
        let order = [self.settings.layout.statement(Moment::Order)];
        let all: &[String] = if self.settings.layout.indexed {
            suite.names_in("indexes.sql")
        } else if self.settings.ordered {
            &order
        } else {
            &[]
        };
        let names = all.iter().filter(|name| !manifest.has(&index_entry(name)));
        let missing: Vec<&String> = names.collect();
        let count = StepCount::of(0, missing.len() as u64, StepUnit::Indexes);
        (self.request.progress)("making indexes", Some(count));
        side_by_side(
            self.sessions(),
            &missing,
            || self.session(),
            |session, name| {
                let entry = index_entry(name);
                let note = manifest::add(suite, &entry, DONE)?;
                let script = self.dialect.steps.script(&format!("{};", suite.statement(name)?.sql), &note);
                let ended = session
                    .script(&script)
                    .map_err(|error| error.context(format!("failed to create the index {name}")));
                ended.or_else(|error| self.unless_noted(session, error, &entry, DONE))
            },
        )
    }

    /// The load is complete only when what is stored is what was sent.
    fn prove(&self) -> Result<(), Error> {
        let mut session = self.session()?;
        let manifest = self.manifest(&mut session)?;
        if let Some(statement) = self.of_layout(Moment::Otherwise) {
            prove::layout(&mut session, statement, self.settings.layout.store.word())?;
        }
        if self.settings.ordered {
            let statement = self.dialect.suite.statement(&self.settings.layout.statement(Moment::OrderOtherwise))?;
            let words = format!("{} in the order of {BY_SHIP_DATE}", self.settings.layout.store.word());
            prove::layout(&mut session, statement, &words)?;
        }
        drop(session);
        let checked = AtomicU64::new(0);
        side_by_side(
            self.sessions(),
            &Table::ALL,
            || self.session(),
            |session, table| {
                let sent = manifest.content(*table)?;
                prove::count(session, &self.dialect.count, *table, &sent)?;
                if self.settings.check_all_rows {
                    prove::columns(session, *table, self.settings.scale, &sent)?;
                }
                let done = checked.fetch_add(1, Ordering::Relaxed) + 1;
                let count = StepCount::of(done, Table::ALL.len() as u64, StepUnit::Tables);
                (self.request.progress)("checking tables", Some(count));
                Ok(())
            },
        )
    }

    /// Notes the sizes and the end.
    fn end(&self) -> Result<(), Error> {
        let (mut session, suite) = (self.session()?, &self.dialect.suite);
        let sizes = session.one_row(&suite.statement("sizes")?.sql)?;
        let sizes = manifest::add_sizes(suite, integer(&sizes, 0)?, integer(&sizes, 1)?)?;
        let ended = session.script(&format!("BEGIN; {sizes} {} COMMIT;", manifest::add_complete(suite)?));
        ended.or_else(|error| self.unless_noted(&mut session, error, COMPLETE, DONE))
    }
}

/// Facts about the data, from the manifest.
pub(crate) fn data_facts(manifest: &Manifest, settings: &WarehouseSettings) -> Result<Vec<Fact>, Error> {
    let noted = |(name, value): (&str, String)| data::NOTED.of(&name.replace(' ', "_")).observed(value, "the manifest");
    let mut facts: Vec<Fact> = settings.data().into_iter().map(noted).collect();
    for table in Table::ALL {
        let content = manifest.content(table)?;
        facts.push(data::ROWS_OF.of(table.name()).observed(content.rows, "counted after the load"));
    }
    let raw = manifest.raw_bytes()?;
    facts.push(data::RAW_BYTES.observed(raw, "the official text form of the rows that were sent"));
    if let Some((tables, indexes)) = manifest.sizes() {
        let source = "the engine, after the build";
        facts.push(data::TABLE_BYTES.observed(tables, source));
        facts.push(data::INDEX_BYTES.observed(indexes, source));
        facts.push(data::COMPRESSION.observed(ratio(raw, tables), "raw bytes / bytes of tables"));
        let both = ratio(raw, tables + indexes);
        facts.push(data::COMPRESSION_WITH_INDEXES.observed(both, "raw bytes / bytes of tables and indexes"));
    }
    let checked = if settings.check_all_rows { "rows and a hash of every column" } else { "rows" };
    facts.push(data::CHECKED_AFTER_LOAD.observed(checked, "the load"));
    Ok(facts)
}

fn ratio(raw: u64, stored: u64) -> String {
    format!("{:.3}", raw as f64 / stored.max(1) as f64)
}
