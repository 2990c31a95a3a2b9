//! Bulk loading by `INSERT BULK`: the server is asked how it keeps the columns, and rows are written in that form into the buffer that is sent.
//!
//! A row that does not fit is noticed when others have left. So the rows go in a transaction of their own, or behind a savepoint of the
//! caller's, and are taken back. The number of rows is compared.

use super::database::text;
use super::wire::{BulkTable, ServerConnection, quoted};
use crate::contract::{Error, ErrorClass, OwnedValue, RowSource, Table};

/// Kinds of indexes, as `sys.indexes` numbers them: rows in no order, and rows in the order of a key.
const HEAP: i64 = 0;
const CLUSTERED: i64 = 1;

/// How what is appended is undone: with the caller's transaction, or in one of its own.
struct Bracket {
    begin: &'static str,
    keep: Option<&'static str>,
    undo: &'static str,
}

const OWN: Bracket = Bracket {
    begin: "BEGIN TRANSACTION",
    keep: Some("COMMIT TRANSACTION"),
    undo: "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION",
};
const INSIDE: Bracket = Bracket {
    begin: "SAVE TRANSACTION proofload_append",
    keep: None,
    // An error of the server has ended the whole transaction.
    undo: "IF XACT_STATE() = 1 ROLLBACK TRANSACTION proofload_append",
};

/// Appends all rows, inside the open transaction if there is one; returns how many the server took.
pub(super) async fn append(
    connection: &mut ServerConnection,
    table: &Table<'_>,
    rows: &mut dyn RowSource,
) -> Result<u64, Error> {
    connection.settle().await?;
    let bracket = if connection.in_transaction() { INSIDE } else { OWN };
    let ended = match append_in(connection, table, rows, &bracket).await {
        Ok(count) => match bracket.keep {
            Some(keep) => connection.text(keep).await.map(|()| count),
            None => Ok(count),
        },
        Err(error) => {
            // The connection may be gone, and the transaction with it; the first error is the one to tell.
            let _undone = connection.text(bracket.undo).await;
            Err(error)
        }
    };
    ended.map_err(|error| error.context(format!("append to {}", table.name)))
}

async fn append_in(
    connection: &mut ServerConnection,
    table: &Table<'_>,
    rows: &mut dyn RowSource,
    bracket: &Bracket,
) -> Result<u64, Error> {
    let hints = hints(&stored(connection, table.name).await?, rows);
    let names: Vec<String> = table.columns.iter().map(|column| quoted(column.name)).collect();
    let target = BulkTable::of(connection, table, &names.join(", ")).await?;
    let announce = format!("INSERT BULK {} ({}){hints}", quoted(table.name), target.declared(table)?);
    connection.text(bracket.begin).await?;
    connection.text(&announce).await?;
    target.begin(table, connection);
    let (mut count, mut misfit) = (0, None);
    while misfit.is_none() && rows.next(&mut |row| misfit = target.row(table, row, connection).err()) {
        count += 1;
        target.send_full(connection).await?;
    }
    let taken = target.end(connection).await;
    match (misfit, taken) {
        (Some(error), _) => Err(error),
        (None, Ok(taken)) if taken == count => Ok(taken),
        (None, Ok(taken)) => Err(Error::new(ErrorClass::Data, "", format!("{count} rows were sent and {taken} taken"))),
        (None, Err(error)) => Err(error),
    }
}

/// How a table is kept: the kind of each index, with each column of its key.
async fn stored(connection: &mut ServerConnection, table: &str) -> Result<Vec<(i64, String)>, Error> {
    let sql = format!(
        "SELECT CAST(i.type AS int), COALESCE(CAST(COL_NAME(c.object_id, c.column_id) AS nvarchar(128)), N'') FROM sys.indexes i \
         LEFT JOIN sys.index_columns c ON c.object_id = i.object_id AND c.index_id = i.index_id AND c.key_ordinal > 0 \
         WHERE i.object_id = OBJECT_ID({}) ORDER BY i.index_id, c.key_ordinal",
        text(&quoted(table))
    );
    let rows = connection.rows(&sql).await.map_err(|error| error.context("read how the table is kept"))?;
    let index = |row: &Vec<OwnedValue>| match &row[..] {
        [OwnedValue::Integer(kind), OwnedValue::Text(column)] => Some((*kind, column.clone())),
        _ => None,
    };
    Ok(rows.iter().filter_map(index).collect())
}

/// What makes the rows cheaper to take. Several loaders lock a heap without indexes for rows in bulk together; a lock of any other table,
/// also of one by columns, would keep the others out. Rows that come in the order of the key are not sorted again. Source: Microsoft's
/// documentation, "BULK INSERT (Transact-SQL)", "Columnstore indexes - Data loading guidance".
fn hints(stored: &[(i64, String)], rows: &dyn RowSource) -> String {
    let mut hints = Vec::new();
    if !stored.is_empty() && stored.iter().all(|(kind, _)| *kind == HEAP) {
        hints.push("TABLOCK".to_owned());
    }
    let key: Vec<&str> =
        stored.iter().filter(|(kind, _)| *kind == CLUSTERED).map(|(_, column)| column.as_str()).collect();
    if !key.is_empty() && key == rows.order() {
        let columns: Vec<String> = key.iter().map(|column| format!("{} ASC", quoted(column))).collect();
        hints.push(format!("ORDER ({})", columns.join(", ")));
    }
    hints.extend(rows.expected().map(|count| format!("ROWS_PER_BATCH = {count}")));
    if hints.is_empty() { String::new() } else { format!(" WITH ({})", hints.join(", ")) }
}
