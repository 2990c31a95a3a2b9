//! The suite of each dialect of SQL under departures from the clauses. May not contain SQL, and may not know an engine
//! by name.

use super::selftest::{MEETING_KEYS, MeetingWords};
use super::settings::NAME;
use crate::workloads::dialect::{self, BuildSteps, Suites};
use crate::workloads::suite::{Suite, SuiteFile, chosen_lines};
use proofload_engine::Engine;
use proofload_gen::tprocc::Departures;
use proofload_model::error::Error;

/// The suites of this workload.
const SUITES: Suites = Suites { workload: NAME, keys: MEETING_KEYS };

/// Files of every dialect.
const FILES: &[&str] = &[
    "schema.sql",
    "indexes.sql",
    "manifest.sql",
    "drop.sql",
    "new_order.sql",
    "payment.sql",
    "order_status.sql",
    "delivery.sql",
    "stock_level.sql",
    "counters.sql",
    "conditions.sql",
];

/// File of the procedures for the five transactions, of dialects that have them.
const PROCEDURES: &str = "procedures.sql";

/// File of the types that procedures take, of dialects in which the lines of a New-Order may come as a table.
const TYPES: &str = "types.sql";

/// Files that go with procedures.
const WITH_PROCEDURES: &[&str] = &[TYPES, PROCEDURES, "calls.sql", "routines.sql"];

/// The call of New-Order that takes its lines as a table.
pub(super) const CALL_NEW_ORDER_BY_TABLE: &str = "call_new_order_by_table";

/// File of the statements with which New-Order and Payment take one flight, of dialects in which a statement that writes
/// may stand beside others.
const ONE_FLIGHT: &str = "one_flight.sql";

/// What a build installs beside the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Routine<'a> {
    /// What it is: a type or a procedure.
    pub(super) kind: &'static str,
    /// Its name.
    pub(super) name: &'a str,
}

/// How the workload speaks to one kind of engine.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The engine's name.
    pub(super) engine: &'static str,
    /// The statements.
    pub(super) suite: Suite,
    /// Settings that hold during the build only.
    pub(super) build_settings: Vec<(String, String)>,
    /// Connections that load rows at the same time, at most.
    pub(super) loaders: usize,
    /// How the steps of a build are put together.
    pub(super) steps: BuildSteps,
    /// The number of rows, in 64 bits.
    pub(super) count: String,
    /// How sessions that wait for a lock are seen, where the dialect says so.
    pub(super) meeting: Option<MeetingWords>,
}

impl Dialect {
    /// The dialect's own procedures for the five transactions, by name; empty when it has none.
    pub(super) fn procedures(&self) -> &[String] {
        self.suite.names_in(PROCEDURES)
    }

    /// What a build installs, in the order in which it is made; nothing when the dialect has no procedures.
    pub(super) fn routines(&self) -> impl Iterator<Item = Routine<'_>> {
        let types = self.suite.names_in(TYPES).iter().map(|name| Routine { kind: "type", name });
        types.chain(self.procedures().iter().map(|name| Routine { kind: "procedure", name }))
    }

    /// Tells whether a procedure takes the lines of a New-Order as a table.
    pub(super) fn has_table_of_lines(&self) -> bool {
        !self.suite.names_in(TYPES).is_empty()
    }

    /// Tells whether New-Order and Payment as statements take one flight.
    pub(super) fn has_one_flight(&self) -> bool {
        !self.suite.names_in(ONE_FLIGHT).is_empty()
    }

    /// The dialect of an engine under departures; the error names those that there are.
    pub(super) fn of(engine: &dyn Engine, departures: Departures) -> Result<Self, Error> {
        let dialect = SUITES.dialect(engine.facts().name)?;
        let suite = suite(&files(&dialect), departures)?;
        let meeting = MeetingWords::of(&dialect)?;
        let dialect::Dialect { name, build_settings, loaders, steps, count, .. } = dialect;
        Ok(Self { engine: name, suite, build_settings, loaders, steps, count, meeting })
    }
}

/// Names of the dialects that have procedures.
pub(super) fn with_procedures() -> Vec<&'static str> {
    with_file(PROCEDURES)
}

/// Names of the dialects that take the lines of a New-Order as a table.
pub(super) fn with_table_of_lines() -> Vec<&'static str> {
    with_file(TYPES)
}

/// Names of the dialects that have this file.
fn with_file(file: &str) -> Vec<&'static str> {
    let has = |name: &&str| SUITES.dialect(name).is_ok_and(|dialect| dialect.nearest(file).is_some());
    SUITES.names().filter(has).collect()
}

/// The files of a dialect, those that others replace statements of first.
fn files(dialect: &dialect::Dialect) -> Vec<SuiteFile<'static>> {
    FILES.iter().chain(WITH_PROCEDURES).chain([&ONE_FLIGHT]).flat_map(|name| dialect.layers(name)).collect()
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

    fn all() -> impl Iterator<Item = (&'static str, Vec<SuiteFile<'static>>)> {
        SUITES.names().map(|name| (name, files(&SUITES.dialect(name).unwrap())))
    }

    fn shapes(files: &[SuiteFile<'_>], departures: Departures) -> Vec<(String, Vec<String>, u16)> {
        let suite = suite(files, departures).unwrap();
        let in_all = FILES.iter().filter(|file| **file != "indexes.sql");
        let mut names: Vec<String> = in_all.flat_map(|file| suite.names_in(file).to_vec()).collect();
        names.sort();
        names
            .into_iter()
            .map(|name| {
                let statement = suite.statement(&name).unwrap();
                (name, statement.parameters.clone(), statement.columns)
            })
            .collect()
    }

    #[test]
    fn all_dialects_have_the_same_statements_of_the_same_shape() {
        for departures in each_alone_and_all() {
            let shapes: Vec<_> = all().map(|(name, files)| (name, shapes(&files, departures))).collect();
            assert!(shapes.len() > 2 && shapes[0].1.len() > 50);
            for (name, other) in &shapes {
                assert_eq!(*other, shapes[0].1, "{name}");
            }
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
        for file in all().flat_map(|(_, files)| files) {
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
        for (name, files) in all() {
            let found: Vec<u8> =
                Departure::ALL.into_iter().filter(|one| differs(&files, *one)).map(Departure::number).collect();
            let procedures = files.iter().any(|file| file.path.ends_with(PROCEDURES));
            assert_eq!(found, if procedures { vec![4, 5, 6, 8, 14] } else { vec![4, 8, 14] }, "{name}");
        }
    }

    #[test]
    fn only_dialects_with_procedures_are_proposed_for_them() {
        assert_eq!(with_procedures(), ["mariadb", "mysql", "postgresql", "sqlserver"]);
    }

    /// What New-Order does is one text, however its lines come.
    #[test]
    fn a_table_of_lines_has_its_type_its_procedure_and_its_call() {
        assert_eq!(with_table_of_lines(), ["sqlserver"]);
        for departures in each_alone_and_all() {
            let dialect = Dialect::of(proofload_engine::engine("sqlserver").unwrap(), departures).unwrap();
            let sql = |name: &str| &*dialect.suite.statement(name).unwrap().sql;
            let [by_lists, by_table] = ["tprocc_new_order", "tprocc_new_order_by_table"]
                .map(|name| sql(name).split_once("    BEGIN TRANSACTION;\n").unwrap());
            assert_eq!(by_lists.1, by_table.1);
            assert!(by_table.0.contains("@lines tprocc_order_lines READONLY"), "{}", by_table.0);
            assert!(sql(CALL_NEW_ORDER_BY_TABLE).contains("/* table tprocc_order_lines */"));
            let shape = |name: &str| {
                let statement = dialect.suite.statement(name).unwrap();
                (statement.parameters.clone(), statement.columns)
            };
            assert_eq!(shape(CALL_NEW_ORDER_BY_TABLE), shape("call_new_order"));
        }
    }

    #[test]
    fn a_dialect_has_all_statements_of_one_flight_or_none() {
        for (name, files) in all() {
            let suite = suite(&files, Departures::NONE).unwrap();
            let found = suite.names_in(ONE_FLIGHT).len();
            assert_eq!(found, if name == "postgresql" { 5 } else { 0 }, "{name}");
        }
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
            ["sqlite", "null", "postgresql", "mariadb", "mysql"].map(of_engine),
            [
                [17_346_116_025_727_023_701, 3_502_351_767_001_395_097],
                [17_346_116_025_727_023_701, 3_502_351_767_001_395_097],
                [2_580_428_781_274_946_449, 16_038_481_077_062_866_786],
                [17_057_222_563_495_347_791, 15_574_115_168_571_094_763],
                [6_419_614_441_632_867_415, 8_304_970_857_748_390_751]
            ]
        );
    }
}
