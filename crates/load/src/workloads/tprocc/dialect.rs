//! The suite of each dialect of SQL, and what else differs between engines when data is built. May not contain SQL.

use crate::workloads::suite::{Suite, SuiteFile, chosen_lines};
use proofload_engine::Engine;
use proofload_gen::tprocc::Departures;
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

    /// The dialect of an engine under departures; the error names those that there are.
    pub(super) fn of(engine: &dyn Engine, departures: Departures) -> Result<Self, Error> {
        let name = engine.facts().name;
        match name {
            // One writer at a time; nothing of a build need survive a crash of the machine, the settling at its end syncs.
            "sqlite" => Self::read(name, (SQLITE, departures), &[("synchronous", "OFF")], 1),
            "null" => Self::read(name, (SQLITE, departures), &[], 1),
            "postgresql" => Self::read(name, (POSTGRESQL, departures), &[], 4),
            _ => Err(Error::new(format!(
                "the workload tprocc has no SQL for the engine {name}; it has suites/tprocc/sqlite and suites/tprocc/postgresql"
            ))),
        }
    }

    fn read(
        engine: &'static str,
        files: (&[SuiteFile<'_>], Departures),
        build_settings: &'static [(&'static str, &'static str)],
        loaders: usize,
    ) -> Result<Self, Error> {
        Ok(Self { engine, suite: suite(files.0, files.1)?, build_settings, loaders })
    }
}

/// The statements of files under departures: of the lines that depend on one, those that hold.
fn suite(files: &[SuiteFile<'_>], departures: Departures) -> Result<Suite, Error> {
    let is_on = |number: &str| departures.iter().any(|departure| departure.number().to_string() == number);
    let texts: Vec<String> = files.iter().map(|file| chosen_lines(file.text, is_on)).collect();
    let files: Vec<SuiteFile<'_>> =
        files.iter().zip(&texts).map(|(file, text)| SuiteFile { path: file.path, text }).collect();
    Suite::read(&files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_gen::tprocc::{Departure, Profile};

    fn names(files: &[SuiteFile<'_>], departures: Departures) -> Vec<(String, Vec<String>, u16)> {
        let suite = suite(files, departures).unwrap();
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
        for departures in each_alone_and_all() {
            let sqlite = names(SQLITE, departures);
            assert!(sqlite.len() > 50);
            assert_eq!(sqlite, names(POSTGRESQL, departures));
        }
    }

    /// No departure, each alone, and all.
    fn each_alone_and_all() -> impl Iterator<Item = Departures> {
        let each = Departure::ALL.into_iter().map(|departure| [departure].into_iter().collect());
        each.chain([Departures::NONE, Profile::hammerdb_compatible().departures])
    }

    /// A mistyped mark of a line would leave it standing under every profile.
    #[test]
    fn no_mark_of_a_departure_is_left_and_each_has_two_sides() {
        for file in SQLITE.iter().chain(POSTGRESQL) {
            for departures in each_alone_and_all() {
                let left =
                    chosen_lines(file.text, |number| departures.iter().any(|one| one.number().to_string() == number));
                assert!(!left.contains("-- under") && !left.contains("-- not under"), "{}", file.path);
            }
        }
        let differs = |files: &[SuiteFile<'_>], departure: Departure| {
            let text = |departures: Departures| {
                let suite = suite(files, departures).unwrap();
                suite.names().map(|name| suite.statement(name).unwrap().sql.clone()).collect::<Vec<_>>()
            };
            text([departure].into_iter().collect()) != text(Departures::NONE)
        };
        let of_suite = |files: &[SuiteFile<'_>]| -> Vec<u8> {
            Departure::ALL.into_iter().filter(|one| differs(files, *one)).map(Departure::number).collect()
        };
        assert_eq!((of_suite(SQLITE), of_suite(POSTGRESQL)), (vec![4, 8, 14], vec![4, 5, 6, 8, 14]));
    }

    /// What is sent to each engine; taken from suites in which no dialect shared a file with another.
    #[test]
    fn statements_of_each_engine_are_these() {
        let hash = |engine: &str, departures| {
            Dialect::of(proofload_engine::engine(engine).unwrap(), departures).unwrap().suite.hash()
        };
        let all = Profile::hammerdb_compatible().departures;
        let of_engine = |engine| [hash(engine, Departures::NONE), hash(engine, all)];
        assert_eq!(
            ["sqlite", "null", "postgresql"].map(of_engine),
            [
                [17_992_782_034_316_625_420, 318_601_021_496_094_056],
                [17_992_782_034_316_625_420, 318_601_021_496_094_056],
                [11_938_678_170_479_235_770, 15_777_433_882_160_811_201]
            ]
        );
    }
}
