//! The study's database: made and marked as ours, refused when it is somebody's, settled after a build. Touches nothing else.

use super::address::ServerAddress;
use super::flavour::{FlavourStatements, filled};
use super::session::connect;
use super::wire::ServerConnection;
use crate::contract::{Error, Target};
use std::time::Duration;

/// The mark on a database that is ours, with the number of its format.
const MARK: &str = "proofload:1";
/// The same on one that is made for a self-test and dropped after it.
pub(super) const SCRATCH_MARK: &str = "proofload:1 selftest";

/// Transactions whose old rows may be left when the data are taken for settled.
const FEW_TO_PURGE: u64 = 32;
/// How often, and how far apart, it is asked how many are left.
const ASKED: u32 = 600;
const PAUSE: Duration = Duration::from_millis(100);
/// How often the same number is told until it is taken for what stays: MySQL forgets what it has purged at intervals, and not while it is idle.
const STILL: u32 = 50;

/// Status variable of pages that are changed and not written yet. Source: MariaDB and MySQL manuals, "Server Status Variables".
const DIRTY: &str = "INNODB_BUFFER_POOL_PAGES_DIRTY";
/// Changed pages that may be left when the data are taken for written.
const FEW_DIRTY: u64 = 64;
/// How often, and how far apart, it is asked how many are left: a server writes them once a second.
const LOOKS: u32 = 60;
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// Looks that find as many as the one before, after which the server is taken not to write. Source: MariaDB manual, "InnoDB Page Flushing": an idle
/// server does not write where `innodb_max_dirty_pages_pct_lwm` is 0.
const LOOKS_IN_VAIN: u32 = 3;

/// Tells whether the server has the database, as far as the account may know.
pub(super) async fn is_there(target: &Target) -> Result<bool, Error> {
    let address = ServerAddress::of(target)?;
    let mut connection = connect(&address, None).await?;
    let name = &address.database;
    let look = format!("SELECT 1 FROM information_schema.schemata WHERE schema_name = {}", text(name));
    let found = connection.rows(&look).await.map_err(|error| error.context(format!("look for database {name}")))?;
    Ok(!found.is_empty())
}

/// Makes the database. One that is ours stays as it is, so that a build can go on; an empty one becomes ours.
pub(super) async fn create(target: &Target) -> Result<(), Error> {
    let address = ServerAddress::of(target)?;
    let (name, statements) = (&address.database, &address.flavour.statements);
    let rights = statements.rights;
    let mut connection = connect(&address, None).await?;
    let look = format!(
        "SELECT {}, (SELECT count(*) FROM information_schema.tables WHERE table_schema = {1}) \
         FROM information_schema.schemata WHERE schema_name = {1}",
        statements.mark_of,
        text(name)
    );
    let found = connection.rows(&look).await.map_err(|error| error.context(format!("look for database {name}")))?;
    match found.first().map(Vec::as_slice) {
        None => {
            let context =
                |error: Error| error.context(format!("create database {name}; the account needs {rights} on it"));
            connection.text(&marking(statements.create_marked, statements, name, MARK), |_| {}).await.map_err(context)
        }
        Some([Some(comment), _]) if comment == MARK || comment == SCRATCH_MARK => Ok(()),
        Some([Some(comment), _]) if comment.starts_with("proofload:") => Err(Error::other(format!(
            "database {name} holds data of another format, {comment:?} instead of {MARK:?}; drop it to build anew"
        ))),
        Some([_, Some(tables)]) if tables == "0" => {
            let context = |error: Error| {
                error.context(format!("mark the empty database {name}; the account needs {rights} on it"))
            };
            connection.text(&marking(statements.mark_empty, statements, name, MARK), |_| {}).await.map_err(context)
        }
        Some(_) => Err(Error::other(format!(
            "there are tables in database {name} that Proofload did not make; it is left as it is, name another database in engine.url"
        ))),
    }
}

/// A statement that marks a database.
pub(super) fn marking(template: &str, statements: &FlavourStatements, database: &str, mark: &str) -> String {
    filled(template, &[("database", &identifier(database)), ("texts", statements.texts), ("mark", mark)])
}

/// Analyses the study's tables, and waits until old rows are purged, or every restored point would pay for them. Then an instance of ours
/// loses its binary log; at a server of others it is waited, as long as that helps, until changed pages are written.
pub(super) async fn settle(target: &Target) -> Result<(), Error> {
    let address = ServerAddress::of(target)?;
    let mut connection = connect(&address, Some(&address.database)).await?;
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = database() AND table_type = 'BASE TABLE' \
                  ORDER BY table_name";
    for row in connection.rows(tables).await.map_err(|error| error.context("list the study's tables"))? {
        if let Some(Some(table)) = row.first() {
            analyse(&mut connection, table).await.map_err(|error| error.context(format!("analyse {table}")))?;
        }
    }
    let (mut last, mut still) = (u64::MAX, 0);
    for _ in 0..ASKED {
        let rows = connection.rows_allowed(address.flavour.statements.to_purge).await?;
        let count = rows.first().and_then(|row| row.first()?.as_ref()?.parse::<u64>().ok());
        let Some(count) = count.filter(|count| *count > FEW_TO_PURGE) else { break };
        (last, still) = if count == last { (last, still + 1) } else { (count, 0) };
        if still == STILL {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    if target.is_ours() { forget_log(&mut connection).await } else { await_pages(&mut connection).await }
}

/// Waits while the server writes changed pages, or the first run would pay for them. Nothing makes it write them but settings of the whole
/// server, which stay as they are. An instance of ours writes all when it is stopped after a build.
async fn await_pages(connection: &mut ServerConnection) -> Result<(), Error> {
    let sql = filled(connection.flavour().statements.status, &[("names", &format!("'{DIRTY}'"))]);
    let mut watch = DirtyPagesWatch::default();
    for _ in 0..LOOKS {
        let rows =
            connection.rows_allowed(&sql).await.map_err(|error| error.context("read how many pages are changed"))?;
        if watch.take(dirty_pages(&rows)) {
            break;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    Ok(())
}

/// Number of changed pages in rows of the server's status.
fn dirty_pages(rows: &[Vec<Option<String>>]) -> Option<u64> {
    rows.iter().find_map(|row| match &row[..] {
        [Some(name), Some(value)] if name.eq_ignore_ascii_case(DIRTY) => value.parse().ok(),
        _ => None,
    })
}

/// Looks at the number of changed pages, one after another.
#[derive(Default)]
struct DirtyPagesWatch {
    /// The fewest that were seen; `None` before the first look.
    fewest: Option<u64>,
    /// Last looks in a row that found no fewer.
    in_vain: u32,
}

impl DirtyPagesWatch {
    /// Takes a look; tells whether there is nothing to wait for any more.
    fn take(&mut self, dirty: Option<u64>) -> bool {
        let Some(dirty) = dirty.filter(|dirty| *dirty > FEW_DIRTY) else { return true };
        match self.fewest {
            Some(fewest) if dirty >= fewest => self.in_vain += 1,
            _ => (self.fewest, self.in_vain) = (Some(dirty), 0),
        }
        self.in_vain == LOOKS_IN_VAIN
    }
}

/// Removes the binary log of a build, where there is one: standbys start from the same data, and copies of it would be as large as these.
async fn forget_log(connection: &mut ServerConnection) -> Result<(), Error> {
    let rows = connection.rows("SELECT @@global.log_bin").await?;
    if !matches!(rows.first().map(Vec::as_slice), Some([Some(value)]) if value == "1") {
        return Ok(());
    }
    connection
        .text(connection.flavour().statements.forget_log.of(connection.version()), |_| {})
        .await
        .map_err(|error| error.context("remove the build's binary log"))
}

/// Statistics of a table's keys and columns. What is wrong is told in rows.
async fn analyse(connection: &mut ServerConnection, table: &str) -> Result<(), Error> {
    let sql = filled(connection.flavour().statements.analyse, &[("table", &identifier(table))]);
    let rows = connection.rows(&sql).await?;
    let wrong = rows.iter().find(|row| matches!(row.get(2), Some(Some(kind)) if kind.eq_ignore_ascii_case("error")));
    match wrong {
        None => Ok(()),
        Some(row) => Err(Error::other(row.last().cloned().flatten().unwrap_or_default())),
    }
}

/// A name in quotes.
pub(super) fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text in quotes, as sessions without escapes read it.
pub(super) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_waited_for_changed_pages_while_they_become_fewer() {
        let waited = |looks: &[u64]| {
            let mut watch = DirtyPagesWatch::default();
            looks.iter().position(|dirty| watch.take(Some(*dirty)))
        };
        assert_eq!(waited(&[9_000, 7_000, 7_500, 7_000, 5_000, 900, FEW_DIRTY, 0]), Some(6), "written");
        assert_eq!(waited(&[9_000, 9_000, 9_100, 9_000, 8_000]), Some(3), "nobody writes them");
        assert_eq!(waited(&[900, 800, 800, 850, 700, 701, 702, 700]), Some(7), "others change pages");
        assert_eq!(waited(&[3]), Some(0), "hardly any");
        assert!(DirtyPagesWatch::default().take(None), "the server does not tell");
    }

    #[test]
    fn the_number_of_changed_pages_is_found_in_either_spelling() {
        let row = |name: &str, value: &str| vec![Some(name.to_owned()), Some(value.to_owned())];
        let others = [row("log_checkpoint_age", "9"), vec![Some("Innodb_buffer_pool_pages_dirty".to_owned()), None]];
        assert_eq!(dirty_pages(&others), None);
        for name in [DIRTY, "Innodb_buffer_pool_pages_dirty"] {
            assert_eq!(dirty_pages(&[row("log_checkpoint_age", "9"), row(name, "17")]), Some(17), "{name}");
        }
    }
}
