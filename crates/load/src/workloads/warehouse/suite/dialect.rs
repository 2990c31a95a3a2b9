//! How the workload speaks to each engine: folders of the suite, the form of dates, and what differs when data are loaded. May not
//! contain SQL.

use super::files::{self, STANDARD};
use super::lists::Lists;
use super::parameters::Draw;
use super::query::Query;
use crate::workloads::suite::{Suite, SuiteFile};
use proofload_engine::Engine;
use proofload_model::error::Error;

/// How dates are sent to an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::workloads::warehouse) enum Dates {
    /// As dates.
    Native,
    /// As ISO text, which sorts like the dates.
    Text,
}

/// How to speak to one engine.
#[derive(Debug)]
pub(in crate::workloads::warehouse) struct Dialect {
    /// Statements of schema, manifest, indexes and sizes.
    pub(in crate::workloads::warehouse) suite: Suite,
    pub(in crate::workloads::warehouse) dates: Dates,
    /// Settings that hold during the load only.
    pub(in crate::workloads::warehouse) build_settings: &'static [(&'static str, &'static str)],
    /// Sessions that load at the same time, unless the study says otherwise.
    pub(in crate::workloads::warehouse) loaders: usize,
    /// All queries, in the order of [`files::kinds`].
    pub(in crate::workloads::warehouse) queries: Vec<Query>,
    lists: Lists,
}

/// What the code knows of an engine; the rest is in the suite.
struct Way {
    folder: &'static str,
    dates: Dates,
    build_settings: &'static [(&'static str, &'static str)],
    loaders: usize,
}

/// The engines, by name. SQLite: one writer at a time; nothing of a load need survive a crash of the machine, the settling at its
/// end syncs.
const WAYS: &[Way] = &[
    Way { folder: "sqlite", dates: Dates::Text, build_settings: &[("synchronous", "OFF")], loaders: 1 },
    Way { folder: "postgresql", dates: Dates::Native, build_settings: &[], loaders: 4 },
    Way { folder: "duckdb", dates: Dates::Native, build_settings: &[], loaders: 2 },
];

/// Is there a dialect for an engine? The error names those that there are.
pub(in crate::workloads::warehouse) fn known(engine: &str) -> Result<(), Error> {
    way(engine).map(drop)
}

fn way(engine: &str) -> Result<&'static Way, Error> {
    WAYS.iter().find(|way| way.folder == engine).ok_or_else(|| {
        let known: Vec<&str> = WAYS.iter().map(|way| way.folder).collect();
        Error::new(format!("the workload warehouse has no SQL for the engine {engine}; it has {}", known.join(", ")))
    })
}

/// The statement of `session.sql` that says how many threads a query may work with.
pub(in crate::workloads::warehouse) const PARALLELISM: &str = "parallelism";

/// May an engine be told how many threads a query works with? The error says why not. Where a setting of the engine says the same, its
/// path is given; `session.sql` names it in a line `-- same: engine.threads`.
pub(in crate::workloads::warehouse) fn parallelism(engine: &str) -> Result<Option<&'static str>, Error> {
    let folders = [way(engine)?.folder, STANDARD];
    if statements(&folders)?.find(PARALLELISM).is_none() {
        return Err(Error::new(format!("{engine} runs a query on one thread and has nothing to set; leave it out")));
    }
    let (_, text) = files::first(&folders, "session.sql").unwrap_or_default();
    Ok(text.lines().find_map(|line| line.strip_prefix("-- same:")).map(str::trim))
}

/// Folders of all dialects that engines speak.
#[cfg(test)]
pub(super) fn folders() -> Vec<&'static str> {
    WAYS.iter().map(|way| way.folder).collect()
}

impl Dialect {
    /// The dialect of an engine; the error names those that there are.
    pub(in crate::workloads::warehouse) fn of(engine: &dyn Engine) -> Result<Self, Error> {
        let way = way(engine.facts().name)?;
        let folders = [way.folder, STANDARD];
        Ok(Self {
            suite: statements(&folders)?,
            dates: way.dates,
            build_settings: way.build_settings,
            loaders: way.loaders,
            queries: queries(&folders)?,
            lists: Lists::of_suite()?,
        })
    }

    /// The SQL of a query.
    pub(in crate::workloads::warehouse) fn sql(&self, query: &Query, draw: Draw, scale: f64) -> Result<String, Error> {
        query.sql(draw, scale, &self.lists)
    }
}

/// The statements of a dialect that are no queries.
pub(super) fn statements(folders: &[&str]) -> Result<Suite, Error> {
    let mut found = Vec::new();
    for name in ["schema.sql", "manifest.sql", "layout.sql", "indexes.sql", "sizes.sql", "session.sql", "reads.sql"] {
        let missing = || Error::new(format!("suites/warehouse/{} has no {name}", folders[0]));
        found.push(files::first(folders, name).ok_or_else(missing)?);
    }
    let files: Vec<SuiteFile<'_>> = found.iter().map(|(path, text)| SuiteFile { path, text }).collect();
    Suite::read(&files)
}

/// The queries of a dialect: its own text, else the standard one.
pub(super) fn queries(folders: &[&str]) -> Result<Vec<Query>, Error> {
    let read = |name: &&'static str| {
        let header = format!("{STANDARD}/{name}.sql");
        let text = files::file(&header).unwrap_or_default();
        let body = files::first(folders, &format!("{name}.sql")).unwrap_or_else(|| (header.clone(), text));
        Query::read(name, (&header, text), (&body.0, body.1))
    };
    files::kinds().iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_each_engine_are_these() {
        let lists = Lists::of_suite().unwrap();
        let texts = |folder: &str| {
            let queries = queries(&[folder, STANDARD]).unwrap();
            let texts = queries.iter().map(|query| query.sql(Draw::Validation, 0.01, &lists).unwrap() + "\n");
            crate::workloads::suite::hash(&texts.collect::<String>())
        };
        let all = |folder: &str| [texts(folder), statements(&[folder, STANDARD]).unwrap().hash()];
        assert_eq!(
            ["sqlite", "postgresql", "duckdb", "mariadb"].map(all),
            [
                [3_859_446_131_500_626_724, 16_638_095_544_035_421_050],
                [8_344_507_750_997_481_690, 8_085_585_550_299_469_053],
                [8_344_507_750_997_481_690, 9_746_404_185_457_527_331],
                [15_960_589_721_893_620_249, 7_374_907_927_019_341_413]
            ]
        );
        assert_eq!(texts("sqlserver"), 134_562_248_818_033_123);
    }
}
