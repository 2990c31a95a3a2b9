//! How the workload speaks to each engine: its statements and queries, and the form of dates. May not contain SQL, and
//! may not know an engine by name.

use super::files;
use super::lists::Lists;
use super::parameters::Draw;
use super::query::Query;
use crate::workloads::dialect::{self, BuildSteps, STANDARD, Suites};
use crate::workloads::suite::{Suite, SuiteFile};
use crate::workloads::warehouse::data::ORDERS_PER_CHUNK;
use crate::workloads::warehouse::settings::NAME;
use proofload_engine::Engine;
use proofload_model::error::Error;

/// The suites of this workload. `parser`, `parser_refuses` and `engine_refuses` are for the test that parses every
/// text.
pub(super) const SUITES: Suites =
    Suites { workload: NAME, keys: &["dates", "chunk_orders", "parser", "parser_refuses", "engine_refuses"] };

/// Files of statements that every dialect has beside the queries.
const FILES: &[&str] =
    &["schema.sql", "manifest.sql", "layout.sql", "indexes.sql", "sizes.sql", "session.sql", "reads.sql"];

/// How dates are sent to an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dates {
    /// Date type of the engine.
    Native,
    /// ISO text, which sorts like the dates.
    Text,
}

/// How to speak to one engine.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Statements of schema, manifest, indexes and sizes.
    pub(crate) suite: Suite,
    pub(crate) dates: Dates,
    /// Settings that hold during the load only.
    pub(crate) build_settings: Vec<(String, String)>,
    /// Sessions that load at the same time, unless the study says otherwise.
    pub(crate) loaders: usize,
    /// How the steps of a load are put together.
    pub(in crate::workloads) steps: BuildSteps,
    /// The number of rows, in 64 bits.
    pub(in crate::workloads) count: String,
    /// All queries, in the order of [`files::kinds`].
    pub(crate) queries: Vec<Query>,
    lists: Lists,
}

/// Checks that there is a dialect for an engine; the error names those that there are.
pub(crate) fn known(engine: &str) -> Result<(), Error> {
    SUITES.dialect(engine).map(drop)
}

/// Orders of each chunk of a load, as the dialect of an engine has them.
pub(crate) fn chunk_orders(engine: &str) -> Result<u64, Error> {
    let given = SUITES.dialect(engine)?.description.count("chunk_orders")?;
    Ok(given.map_or(ORDERS_PER_CHUNK, |orders| u64::from(orders.max(1))))
}

/// The statement of `session.sql` that says how many threads a query may work with.
pub(crate) const PARALLELISM: &str = "parallelism";

/// Checks that an engine can be told how many threads a query works with. Where a setting of the engine says the same,
/// its path is given; `session.sql` names it in a line `-- same: engine.threads`.
pub(crate) fn parallelism(engine: &str) -> Result<Option<&'static str>, Error> {
    let dialect = SUITES.dialect(engine)?;
    if statements(&dialect)?.find(PARALLELISM).is_none() {
        return Err(Error::new(format!("{engine} runs each query on one thread; remove it")));
    }
    let text = dialect.nearest("session.sql").map_or("", |file| file.text);
    Ok(text.lines().find_map(|line| line.strip_prefix("-- same:")).map(str::trim))
}

impl Dialect {
    /// The dialect of an engine; the error names those that there are.
    pub(crate) fn of(engine: &dyn Engine) -> Result<Self, Error> {
        let dialect = SUITES.dialect(engine.facts().name)?;
        Ok(Self {
            suite: statements(&dialect)?,
            dates: dates(&dialect)?,
            queries: queries(&dialect)?,
            lists: Lists::of_suite()?,
            build_settings: dialect.build_settings,
            loaders: dialect.loaders,
            steps: dialect.steps,
            count: dialect.count,
        })
    }

    /// The SQL of a query.
    pub(crate) fn sql(&self, query: &Query, draw: Draw, scale: f64) -> Result<String, Error> {
        query.sql(draw, scale, &self.lists)
    }
}

/// How a dialect says that dates are sent.
fn dates(dialect: &dialect::Dialect) -> Result<Dates, Error> {
    match dialect.description.text("dates")? {
        Some("native") => Ok(Dates::Native),
        Some("text") => Ok(Dates::Text),
        given => Err(Error::new(format!("{}: dates are {given:?}, must be \"native\" or \"text\"", dialect.name))),
    }
}

/// The statements of a dialect that are no queries.
pub(super) fn statements(dialect: &dialect::Dialect) -> Result<Suite, Error> {
    let missing = |name| Error::new(format!("suites/{NAME}/{} has no {name}", dialect.name));
    if let Some(name) = FILES.iter().find(|name| dialect.nearest(name).is_none()) {
        return Err(missing(name));
    }
    Suite::read(&FILES.iter().flat_map(|name| dialect.layers(name)).collect::<Vec<_>>())
}

/// The queries of a dialect: the nearest text of each, under the header of the standard one.
pub(super) fn queries(dialect: &dialect::Dialect) -> Result<Vec<Query>, Error> {
    let read = |name: &&'static str| {
        let path = format!("suites/{NAME}/{STANDARD}/{name}.sql");
        let header = SuiteFile { path: &path, text: dialect::file(&path).unwrap_or_default() };
        Query::read(name, header, dialect.nearest(&format!("{name}.sql")).unwrap_or(header))
    };
    files::kinds().iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::warehouse::data::{Chunk, Table};

    /// Its own count has 32 bits: fewer than the rows of the largest table from a scale factor of 358 on.
    #[test]
    fn sqlserver_counts_the_largest_table_in_64_bits() {
        let lists = Lists::of_suite().unwrap();
        for query in queries(&SUITES.dialect("sqlserver").unwrap()).unwrap() {
            let sql = query.sql(Draw::Validation, 0.01, &lists).unwrap();
            if ["q01", super::files::SCAN].contains(&query.name) {
                assert!(sql.contains("COUNT_BIG(*)") && !sql.contains("count(*)"), "{sql}");
            }
        }
    }

    /// Rows of a chunk go into compressed groups at once where they are 102,400 or more. Source: Microsoft's documentation, "Columnstore indexes -
    /// Data loading guidance".
    #[test]
    fn chunks_of_sqlserver_fill_row_groups() {
        assert_eq!(["duckdb", "postgresql"].map(|name| chunk_orders(name).unwrap()), [ORDERS_PER_CHUNK; 2]);
        let orders = chunk_orders("sqlserver").unwrap();
        for chunk in Chunk::all(10.0, orders) {
            let least = if chunk.table == Table::Orders { orders } else { chunk.table.rows(10.0).min(102_400) };
            assert!(chunk.expected_rows(10.0) >= least, "{chunk:?}");
        }
    }

    #[test]
    fn statements_of_each_engine_are_these() {
        let lists = Lists::of_suite().unwrap();
        let dialect = |name: &str| SUITES.dialect(name).unwrap();
        let texts = |name: &str| {
            let queries = queries(&dialect(name)).unwrap();
            let texts = queries.iter().map(|query| query.sql(Draw::Validation, 0.01, &lists).unwrap() + "\n");
            crate::workloads::suite::hash(&texts.collect::<String>())
        };
        let all = |name: &str| [texts(name), statements(&dialect(name)).unwrap().hash()];
        assert_eq!(
            ["sqlite", "postgresql", "duckdb", "mariadb", "mysql"].map(all),
            [
                [3_859_446_131_500_626_724, 16_638_095_544_035_421_050],
                [13_197_676_842_908_879_473, 8_916_220_805_918_471_612],
                [13_197_676_842_908_879_473, 5_151_199_351_234_805_636],
                [4_968_564_051_635_925_596, 10_410_113_239_350_044_472],
                [4_968_564_051_635_925_596, 12_426_824_628_542_630_068]
            ]
        );
        assert_eq!(texts("sqlserver"), 6_333_151_349_971_807_328);
    }
}
