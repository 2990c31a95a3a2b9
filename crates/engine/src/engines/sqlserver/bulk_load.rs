//! Bulk loading by `INSERT BULK`: the server is asked how it keeps the columns, and rows are written in that form into the buffer that is sent.
//!
//! A row that does not fit is noticed when others have left. So the rows go in a transaction of their own, or behind a savepoint of the
//! caller's, and are taken back. The number of rows is compared.

use super::wire::{BulkTable, ServerConnection, quoted};
use crate::contract::{Error, ErrorClass, RowSource, Table};

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
    let names: Vec<String> = table.columns.iter().map(|column| quoted(column.name)).collect();
    let target = BulkTable::of(connection, table, &names.join(", ")).await?;
    let announce = format!("INSERT BULK {} ({})", quoted(table.name), target.declared(table)?);
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
