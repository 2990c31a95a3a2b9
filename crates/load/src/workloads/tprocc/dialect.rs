//! The suite of each dialect of SQL, and what else differs between engines when data is built. May not contain SQL.

use crate::workloads::suite::{Suite, SuiteFile};
use proofload_engine::Engine;
use proofload_model::error::Error;

/// How the workload speaks to one kind of engine.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The engine's name.
    pub(super) engine: &'static str,
    /// The statements.
    pub(super) suite: Suite,
    /// Settings that hold during the build only.
    pub(super) build_settings: &'static [(&'static str, &'static str)],
    /// Connections that load rows at the same time, at most.
    pub(super) loaders: usize,
}

/// The files of one dialect.
macro_rules! files {
    ($dialect:literal: $($file:literal),+ $(,)?) => {
        &[$(SuiteFile {
            path: concat!("suites/tprocc/", $dialect, "/", $file, ".sql"),
            text: include_str!(concat!("../../../../../suites/tprocc/", $dialect, "/", $file, ".sql")),
        }),+]
    };
}

/// The files of a dialect: those that every dialect has, and more.
macro_rules! dialect_files {
    ($dialect:literal $(, $more:literal)*) => {
        files!(
            $dialect: "schema", "indexes", "manifest", "drop", "new_order", "payment", "order_status", "delivery",
            "stock_level", "counters", "conditions" $(, $more)*
        )
    };
}

/// For embedded SQLite; also for the null engine, which understands every dialect.
const SQLITE: &[SuiteFile<'static>] = dialect_files!("sqlite");

/// For PostgreSQL.
const POSTGRESQL: &[SuiteFile<'static>] = dialect_files!("postgresql", "procedures", "calls", "routines");

impl Dialect {
    /// The dialect's own procedures for the five transactions, by name; empty when it has none.
    pub(super) fn procedures(&self) -> &[String] {
        self.suite.names_in("procedures.sql")
    }

    /// The dialect of an engine; the error names those that there are.
    pub(super) fn of(engine: &dyn Engine) -> Result<Self, Error> {
        let name = engine.facts().name;
        match name {
            // One writer at a time; nothing of a build need survive a crash of the machine, the settling at its end syncs.
            "sqlite" => Self::read(name, SQLITE, &[("synchronous", "OFF")], 1),
            "null" => Self::read(name, SQLITE, &[], 1),
            "postgresql" => Self::read(name, POSTGRESQL, &[], 4),
            _ => Err(Error::new(format!(
                "the workload tprocc has no SQL for the engine {name}; it has suites/tprocc/sqlite and suites/tprocc/postgresql"
            ))),
        }
    }

    fn read(
        engine: &'static str,
        files: &[SuiteFile<'_>],
        build_settings: &'static [(&'static str, &'static str)],
        loaders: usize,
    ) -> Result<Self, Error> {
        Ok(Self { engine, suite: Suite::read(files)?, build_settings, loaders })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[SuiteFile<'_>]) -> Vec<(String, Vec<String>, u16)> {
        let suite = Suite::read(files).unwrap();
        let in_both =
            ["manifest.sql", "new_order.sql", "payment.sql", "order_status.sql", "delivery.sql", "stock_level.sql"];
        let in_both = in_both.into_iter().chain(["counters.sql", "conditions.sql", "schema.sql", "drop.sql"]);
        let names = in_both.flat_map(|file| suite.names_in(file).to_vec());
        names
            .map(|name| {
                let statement = suite.statement(&name).unwrap();
                (name, statement.parameters.clone(), statement.columns)
            })
            .collect()
    }

    #[test]
    fn all_dialects_have_the_same_statements_of_the_same_shape() {
        let sqlite = names(SQLITE);
        assert!(sqlite.len() > 50);
        assert_eq!(sqlite, names(POSTGRESQL));
    }
}
