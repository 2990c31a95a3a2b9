//! Every text of every dialect, also of those that no engine speaks yet, is read by a parser of that dialect: queries with the validation
//! values and with drawn ones, and the statements beside them. A parser is more lenient than its engine; what it takes is not proven.

use super::dialect::{folders, queries, statements};
use super::files::{self, STANDARD};
use super::layout::{Layout, Moment};
use super::lists::Lists;
use super::parameters::Draw;
use crate::workloads::suite::{Suite, SuiteFile};
use proofload_engine::Value;
use proofload_gen::Seed;
use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, DuckDbDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

/// Folder, its parser's dialect, and the statements that the parser does not know although the engine does.
type Parsed = (&'static str, &'static dyn Dialect, &'static [&'static str]);

const PARSED: &[Parsed] = &[
    ("sqlite", &SQLiteDialect {}, &["manifest_schema"]),
    ("postgresql", &PostgreSqlDialect {}, &["columns_prepare"]),
    ("duckdb", &DuckDbDialect {}, &[]),
    ("mariadb", &MySqlDialect {}, &[]),
    ("sqlserver", &MsSqlDialect {}, &["columns_after", "parallelism"]),
];

/// Draws of each query besides its validation values.
const DRAWS: u64 = 20;

/// The statements of a folder that are no queries; of SQL Server only those that are written.
fn beside(folder: &str) -> Suite {
    if let Ok(suite) = statements(&[folder, STANDARD]) {
        return suite;
    }
    let names = ["layout.sql", "indexes.sql", "session.sql"];
    let found = names.map(|name| files::first(&[folder], name).expect("it is there"));
    Suite::read(&found.each_ref().map(|(path, text)| SuiteFile { path, text })).expect("they are understood")
}

/// Every query of a dialect is one query to its parser, whatever its values.
fn check_queries((folder, dialect, _): &Parsed, lists: &Lists) {
    let queries = queries(&[folder, STANDARD]).expect("they are understood");
    assert!(queries.len() >= 22, "{folder}");
    for query in queries {
        let drawn = (0..DRAWS).map(|seed| Draw::Seeded(Seed(seed)));
        for draw in [Draw::Validation].into_iter().chain(drawn) {
            let sql = query.sql(draw, 0.01, lists).expect("values for all");
            assert!(!sql.contains(['{', '}', ';']), "{folder}/{}: {sql}", query.name);
            let parsed = Parser::parse_sql(*dialect, &sql);
            assert!(
                matches!(parsed.as_deref(), Ok([Statement::Query(_)])),
                "{folder}/{}: {parsed:?}\n{sql}",
                query.name
            );
        }
    }
}

/// Statements beside the queries that the parser refuses, and those of the list of unknown ones that it takes.
fn wrong_statements((folder, dialect, unknown): &Parsed) -> Vec<String> {
    let suite = beside(folder);
    let numbers = ["milliseconds", "threads", "helpers"].map(|name| (name, Value::Integer(1500)));
    let texts = ["entry", "content"].map(|name| (name, Value::Text("it's")));
    let values: Vec<_> = numbers.into_iter().chain(texts).collect();
    let parsed = |name: &&str| {
        let sql = suite.with_values(name, &values).expect("values for all");
        Parser::parse_sql(*dialect, &sql)
    };
    let wrong = suite.names().filter(|name| parsed(name).is_ok() == unknown.contains(name));
    wrong.map(|name| format!("{folder} {name}: {:?}", parsed(&name))).collect()
}

/// Every statement of `layout.sql` belongs to a layout of its head and a moment.
fn check_layouts(folder: &str) {
    use Moment::{After, Before, Missing, Otherwise, Prepare};
    let layouts = Layout::all(folder).expect("they are understood");
    let moments = [Prepare, Missing, Before, After, Otherwise];
    let names = || layouts.iter().flat_map(|layout| moments.map(|moment| layout.statement(moment)));
    for name in beside(folder).names_in("layout.sql") {
        assert!(names().any(|known| known == *name), "{folder}: {name}");
    }
}

#[test]
fn every_text_of_every_dialect_is_parsed() {
    let lists = Lists::of_suite().expect("they are understood");
    for parsed in PARSED {
        check_queries(parsed, &lists);
        check_layouts(parsed.0);
    }
    assert_eq!(PARSED.iter().flat_map(wrong_statements).collect::<Vec<_>>(), [""; 0]);
    assert!(folders().iter().all(|folder| PARSED.iter().any(|(known, ..)| known == folder)));
}

/// Forms that the parser of a dialect takes and its engine does not.
const FOREIGN: &[(&str, &[&str])] = &[
    ("sqlserver", &["LIMIT", "INTERVAL", "EXTRACT", " DATE '", " FROM 1 FOR"]),
    ("sqlite", &["INTERVAL", "EXTRACT", " DATE '", " FROM 1 FOR"]),
    ("mariadb", &["AS lines"]),
];

#[test]
fn no_dialect_has_forms_that_only_its_parser_takes() {
    let lists = Lists::of_suite().expect("they are understood");
    for (folder, forms) in FOREIGN {
        for query in queries(&[folder, STANDARD]).expect("they are understood") {
            let sql = query.sql(Draw::Validation, 1.0, &lists).expect("values for all");
            let found = forms.iter().find(|form| sql.contains(*form));
            assert_eq!(found, None, "{folder}/{}", query.name);
        }
    }
}
