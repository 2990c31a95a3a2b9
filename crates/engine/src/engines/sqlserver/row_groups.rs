//! The groups in which a table by columns keeps its rows: all are compressed once a build is settled. Source: Microsoft's documentation,
//! "sys.dm_db_column_store_row_group_physical_stats (Transact-SQL)".

use super::wire::ServerConnection;
use crate::contract::{Error, OwnedValue};
use proofload_model::facts::engine;
use proofload_model::samples::Fact;

/// State of a group whose rows are compressed.
const COMPRESSED: &str = "COMPRESSED";
/// States of groups that the server makes and removes in the background: one that is left over, and one that is being built, whose rows are
/// still in others.
const PASSING: [&str; 2] = ["TOMBSTONE", "INVISIBLE"];

/// Groups of each table by state and by why they have fewer rows than there is room for, with their number and rows.
const READ: &str = "SELECT CAST(t.name AS nvarchar(128)), CAST(g.state_desc AS nvarchar(60)), \
    COALESCE(CAST(g.trim_reason_desc AS nvarchar(60)), N''), COUNT_BIG(*), COALESCE(SUM(g.total_rows), 0) \
    FROM sys.dm_db_column_store_row_group_physical_stats g JOIN sys.tables t ON t.object_id = g.object_id \
    GROUP BY t.name, g.state_desc, g.trim_reason_desc ORDER BY t.name, g.state_desc, g.trim_reason_desc";

/// Groups of a table that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RowGroups {
    table: String,
    state: String,
    /// Why they are smaller than they could be, as the server says it; empty where it says nothing.
    trimmed: String,
    count: i64,
    rows: i64,
}

async fn read(connection: &mut ServerConnection) -> Result<Vec<RowGroups>, Error> {
    let rows = connection.rows(READ).await.map_err(|error| {
        error.context("read the row groups of the study's column stores; the account needs VIEW DATABASE STATE")
    })?;
    let groups = |row: Vec<OwnedValue>| match <[OwnedValue; 5]>::try_from(row) {
        Ok(
            [
                OwnedValue::Text(table),
                OwnedValue::Text(state),
                OwnedValue::Text(trimmed),
                OwnedValue::Integer(count),
                OwnedValue::Integer(rows),
            ],
        ) if !PASSING.contains(&state.as_str()) => Some(RowGroups { table, state, trimmed, count, rows }),
        _ => None,
    };
    Ok(rows.into_iter().filter_map(groups).collect())
}

/// Fails where rows are not compressed: queries would read them one by one, and the sizes of the tables would be those of rows.
pub(super) async fn expect_compressed(connection: &mut ServerConnection) -> Result<(), Error> {
    let groups = read(connection).await?;
    let Some(left) = groups.iter().find(|groups| groups.state != COMPRESSED) else { return Ok(()) };
    Err(Error::other(format!(
        "compress {}: {} row groups with {} rows are {} after ALTER INDEX … REORGANIZE; load again, and look at the server's error log and memory",
        left.table, left.count, left.rows, left.state
    )))
}

/// Facts of the groups of each table; one that says why where the account may not see them.
pub(super) async fn facts(connection: &mut ServerConnection) -> Vec<Fact> {
    let groups = match read(connection).await {
        Ok(groups) => groups,
        Err(error) => return vec![engine::SETTING.of("row_groups").found(None::<String>, error.to_string())],
    };
    let mut facts: Vec<Fact> = Vec::new();
    for of_table in groups.chunk_by(|one, other| one.table == other.table) {
        let name = engine::SETTING.of(&format!("row_groups.{}", of_table[0].table));
        let words: Vec<String> = of_table.iter().map(RowGroups::in_words).collect();
        facts.push(name.observed(words.join("; "), "sys.dm_db_column_store_row_group_physical_stats"));
    }
    facts
}

impl RowGroups {
    fn in_words(&self) -> String {
        let trimmed = if self.trimmed.is_empty() { String::new() } else { format!(" ({})", self.trimmed) };
        format!("{} {}{trimmed} with {} rows", self.count, self.state, self.rows)
    }
}
