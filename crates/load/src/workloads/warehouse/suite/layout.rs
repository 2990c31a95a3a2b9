//! How a dialect stores tables, by rows or by columns: the head of its file `layout.sql`, whose lines are `-- layout:
//! columns own` or `-- layout: rows own indexed`. `own` is what the engine does unless it is told, `indexed` has the
//! keys and indexes of `indexes.sql`, `orders` can keep line items in the order of a column. The file's statements,
//! all of which may be missing but for those of an order, are named by layout and moment, such as `columns_before`.
//! May not run them.

use super::dialect::SUITES;
use crate::workloads::dialect::Dialect;
use proofload_model::error::Error;

/// How tables are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    /// Row by row.
    Rows,
    /// Column by column.
    Columns,
}

/// When a statement of `layout.sql` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The step before all else, by itself: makes what can be made.
    Prepare,
    /// Gives what is still missing, in words with the remedy, a row each.
    Missing,
    /// The step in the transaction that makes the tables, before them.
    Before,
    /// The step in the same transaction, after the tables.
    After,
    /// The query after the load that names the tables stored otherwise, a row each.
    Otherwise,
    /// The query for tables that lack the order of a column, as [`Moment::Missing`].
    OrderMissing,
    /// The statement after the rows that brings them into the order.
    Order,
    /// The query for tables in another order, as [`Moment::Otherwise`].
    OrderOtherwise,
}

/// One way to store tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) store: Store,
    /// Whether it has keys and indexes.
    pub(crate) indexed: bool,
    /// Whether it can keep line items in the order of a column.
    pub(crate) orders: bool,
    own: bool,
}

/// Settings' word for what the engine does unless it is told.
pub(crate) const OWN: &str = "engine";

impl Store {
    /// The word in settings, manifests and names of statements.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Columns => "columns",
        }
    }
}

impl Layout {
    /// The layout that a setting asks for in a dialect; the error says which there are.
    pub(crate) fn asked(dialect: &str, word: &str) -> Result<Self, Error> {
        let all = Self::all(&SUITES.dialect(dialect)?)?;
        let fits = |layout: &&Self| if word == OWN { layout.own } else { layout.store.word() == word };
        all.iter().find(fits).copied().ok_or_else(|| {
            let words: Vec<&str> = all.iter().map(|layout| layout.store.word()).collect();
            Error::new(format!("{dialect} stores tables only by {}; use \"{OWN}\" or \"{}\"", words[0], words[0]))
        })
    }

    /// Every layout of a dialect.
    pub(super) fn all(dialect: &Dialect) -> Result<Vec<Self>, Error> {
        let file = dialect.nearest("layout.sql");
        let (path, text) = file.map_or(("layout.sql", ""), |file| (file.path, file.text));
        let all = text.lines().filter_map(|line| line.strip_prefix("-- layout:")).map(|line| {
            Self::read(line).ok_or_else(|| Error::new(format!("{path}: the layout{line} is not understood")))
        });
        let all: Vec<Self> = all.collect::<Result<_, _>>()?;
        match all.iter().filter(|layout| layout.own).count() {
            1 => Ok(all),
            count => Err(Error::new(format!("{path} of {} has {count} own layouts where one must be", dialect.name))),
        }
    }

    /// Reads `rows own indexed`.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let first = words.next()?;
        let store = [Store::Rows, Store::Columns].into_iter().find(|store| store.word() == first)?;
        let mut layout = Self { store, indexed: false, orders: false, own: false };
        for word in words {
            match word {
                "own" => layout.own = true,
                "indexed" => layout.indexed = true,
                "orders" => layout.orders = true,
                _ => return None,
            }
        }
        Some(layout)
    }

    /// The name of a statement of this layout.
    pub(crate) fn statement(self, moment: Moment) -> String {
        let moment = match moment {
            Moment::Prepare => "prepare",
            Moment::Missing => "missing",
            Moment::Before => "before",
            Moment::After => "after",
            Moment::Otherwise => "otherwise",
            Moment::OrderMissing => "ordered_missing",
            Moment::Order => "ordered",
            Moment::OrderOtherwise => "ordered_otherwise",
        };
        format!("{}_{moment}", self.store.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_head_are_read_or_refused() {
        let layout = |store, own, indexed| Some(Layout { store, indexed, orders: false, own });
        assert_eq!(Layout::read(" rows own indexed"), layout(Store::Rows, true, true));
        assert_eq!(Layout::read("columns"), layout(Store::Columns, false, false));
        assert!(Layout::read("columns orders").is_some_and(|layout| layout.orders && !layout.indexed));
        assert_eq!([Layout::read("heap"), Layout::read(""), Layout::read("rows fast")], [None; 3]);
    }

    #[test]
    fn each_engine_says_what_it_can_do() {
        let check = |folder, word, expected: Result<(Store, bool), &str>| {
            let found = Layout::asked(folder, word).map(|layout| (layout.store, layout.indexed));
            assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "{folder} {word}");
        };
        check("sqlite", OWN, Ok((Store::Rows, true)));
        check("sqlite", "columns", Err("sqlite stores tables only by rows; use \"engine\" or \"rows\""));
        check("duckdb", OWN, Ok((Store::Columns, false)));
        check("duckdb", "rows", Err("duckdb stores tables only by columns; use \"engine\" or \"columns\""));
        check("postgresql", OWN, Ok((Store::Rows, true)));
        check("postgresql", "columns", Ok((Store::Columns, false)));
        check("mariadb", OWN, Ok((Store::Rows, true)));
        check("mysql", OWN, Ok((Store::Rows, true)));
        check("sqlserver", OWN, Ok((Store::Rows, true)));
        check("sqlserver", "columns", Ok((Store::Columns, false)));
    }
}
