//! Every text of every dialect, also of those that no engine speaks yet, is read by a parser of that dialect: queries
//! with the validation values and with drawn ones, and the statements beside them. A parser is more lenient than its
//! engine; what it takes is not proven.

use super::dialect::{SUITES, queries, statements};
use super::layout::{Layout, Moment};
use super::lists::Lists;
use super::parameters::Draw;
use crate::workloads::dialect::Dialect;
use crate::workloads::suite::Suite;
use proofload_engine::Value;
use proofload_gen::Seed;
use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect as Grammar, dialect_from_str};
use sqlparser::parser::Parser;

/// Draws of each query besides its validation values.
const DRAWS: u64 = 20;

/// The parser that a dialect names.
fn grammar(dialect: &Dialect) -> Box<dyn Grammar> {
    let name = dialect.description.text("parser").expect("a text").expect("each dialect names its parser");
    dialect_from_str(name).expect("the parser knows the dialect")
}

/// Texts of a list in a dialect's description; empty where it has no such list.
fn listed<'a>(dialect: &'a Dialect, key: &str) -> Vec<&'a str> {
    dialect.description.texts(key).expect("texts").unwrap_or_default()
}

/// The statements of a dialect that are no queries; where some are still to be written, those that are.
fn beside(dialect: &Dialect) -> Suite {
    if let Ok(suite) = statements(dialect) {
        return suite;
    }
    let found = ["layout.sql", "indexes.sql", "session.sql"].map(|name| dialect.nearest(name).expect("it is there"));
    Suite::read(&found).expect("they are understood")
}

/// Every query of a dialect is one query to its parser, whatever its values.
fn check_queries(dialect: &Dialect, lists: &Lists) {
    let (name, grammar) = (dialect.name, grammar(dialect));
    let queries = queries(dialect).expect("they are understood");
    assert!(queries.len() >= 22, "{name}");
    for query in queries {
        let drawn = (0..DRAWS).map(|seed| Draw::Seeded(Seed(seed)));
        for draw in [Draw::Validation].into_iter().chain(drawn) {
            let sql = query.sql(draw, 0.01, lists).expect("values for all");
            assert!(!sql.contains(['{', '}', ';']), "{name}/{}: {sql}", query.name);
            let parsed = Parser::parse_sql(&*grammar, &sql);
            assert!(matches!(parsed.as_deref(), Ok([Statement::Query(_)])), "{name}/{}: {parsed:?}\n{sql}", query.name);
        }
    }
}

/// Statements beside the queries that the parser refuses, and those of the list of unknown ones that it takes.
fn wrong_statements(dialect: &Dialect) -> Vec<String> {
    let (suite, grammar, unknown) = (beside(dialect), grammar(dialect), listed(dialect, "parser_refuses"));
    let numbers = ["milliseconds", "threads", "helpers"].map(|name| (name, Value::Integer(1500)));
    let texts = ["entry", "content"].map(|name| (name, Value::Text("it's")));
    let values: Vec<_> = numbers.into_iter().chain(texts).collect();
    let parsed = |name: &&str| {
        let sql = suite.with_values(name, &values).expect("values for all");
        Parser::parse_sql(&*grammar, &sql)
    };
    let wrong = suite.names().filter(|name| parsed(name).is_ok() == unknown.contains(name));
    wrong.map(|name| format!("{} {name}: {:?}", dialect.name, parsed(&name))).collect()
}

/// Every statement of `layout.sql` belongs to a layout of its head and a moment.
fn check_layouts(dialect: &Dialect) {
    use Moment::{After, Before, Missing, Order, OrderMissing, OrderOtherwise, Otherwise, Prepare};
    let layouts = Layout::all(dialect).expect("they are understood");
    let moments = [Prepare, Missing, Before, After, Otherwise, Order, OrderMissing, OrderOtherwise];
    let names = || layouts.iter().flat_map(|layout| moments.map(|moment| layout.statement(moment)));
    for name in beside(dialect).names_in("layout.sql") {
        assert!(names().any(|known| known == *name), "{}: {name}", dialect.name);
    }
    for layout in layouts.iter().filter(|layout| layout.orders) {
        for moment in [Order, OrderMissing, OrderOtherwise] {
            assert!(beside(dialect).find(&layout.statement(moment)).is_some(), "{}: {moment:?}", dialect.name);
        }
    }
}

fn all() -> Vec<Dialect> {
    SUITES.names().map(|name| SUITES.dialect(name).expect("it is understood")).collect()
}

#[test]
fn every_text_of_every_dialect_is_parsed() {
    let lists = Lists::of_suite().expect("they are understood");
    assert!(all().len() > 4);
    for dialect in all() {
        check_queries(&dialect, &lists);
        check_layouts(&dialect);
        assert_eq!(wrong_statements(&dialect), [""; 0]);
    }
}

#[test]
fn no_dialect_has_forms_that_only_its_parser_takes() {
    let lists = Lists::of_suite().expect("they are understood");
    for dialect in all() {
        let forms = listed(&dialect, "engine_refuses");
        for query in queries(&dialect).expect("they are understood") {
            let sql = query.sql(Draw::Validation, 1.0, &lists).expect("values for all");
            let found = forms.iter().find(|form| sql.contains(*form));
            assert_eq!(found, None, "{}/{}", dialect.name, query.name);
        }
    }
}
