//! Bulk loading by `LOAD DATA LOCAL` from memory: rows are written as text straight into the buffer that is sent.
//!
//! The server takes a local file as if errors were to be ignored, since nobody could stop the client: rows that do not fit, or whose key is
//! taken, become warnings. So the number of rows and of warnings is checked, and whatever is wrong takes all rows back. Source: knowledge
//! base, "LOAD DATA INFILE".

use super::database::identifier;
use super::insert_rows;
use super::wire::{Answer, ServerConnection, broken, write_text_field};
use crate::contract::{Error, ErrorClass, RowSource, Table, Value};

/// The name that the server is told, and has to ask for: there is no such file.
const FILE: &str = "rows of proofload";
/// A packet is sent when it has so many bytes: large enough that its cost is lost in the rows', small enough to stay in cache.
const PACKET_BYTES: usize = 64 << 10;
/// Errors of who takes no local files: ProxySQL, old versions of both, MySQL, MariaDB. A node of Galera that is not ready says the first, too, and
/// does so again to what is tried next.
const REFUSALS: &[&str] = &["1047", "1148", "3948", "4166"];
/// Room for the row that ends a packet.
const SPARE_BYTES: usize = 8 << 10;

/// How what is appended is undone: with the caller's transaction, or in one of its own.
struct Bracket {
    begin: &'static str,
    keep: &'static str,
    undo: &'static str,
}

const OWN: Bracket = Bracket { begin: "START TRANSACTION", keep: "COMMIT", undo: "ROLLBACK" };
const INSIDE: Bracket = Bracket {
    begin: "SAVEPOINT proofload_append",
    keep: "RELEASE SAVEPOINT proofload_append",
    undo: "ROLLBACK TO SAVEPOINT proofload_append",
};

/// Appends all rows, inside the open transaction if there is one; returns how many the server took.
pub(super) async fn append(
    connection: &mut ServerConnection,
    table: &Table<'_>,
    rows: &mut dyn RowSource,
) -> Result<u64, Error> {
    connection.settle().await?;
    let bracket = if connection.in_transaction() { INSIDE } else { OWN };
    connection.text(bracket.begin, |_| {}).await?;
    let ended = match load(connection, table, rows).await {
        Ok(count) => connection.text(bracket.keep, |_| {}).await.map(|()| count),
        Err(error) => {
            // The connection may be gone, and the transaction with it; the first error is the one to tell.
            let _undone = connection.text(bracket.undo, |_| {}).await;
            Err(error)
        }
    };
    ended.map_err(|error| error.context(format!("append to {}", table.name)))
}

/// Sends the rows; an error unless the server has taken each as it is.
async fn load(connection: &mut ServerConnection, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
    if !begin(connection, &statement(table)).await? {
        return insert_rows::insert(connection, table, rows).await;
    }
    connection.widen();
    let mut buffer = Vec::with_capacity(PACKET_BYTES + SPARE_BYTES);
    let (mut count, mut misfit) = (0, None);
    while misfit.is_none() && rows.next(&mut |row| misfit = write_row(table, row, &mut buffer).err()) {
        count += 1;
        if buffer.len() >= PACKET_BYTES {
            connection.queue_file(&buffer)?;
            buffer.clear();
            connection.flush().await?;
        }
    }
    if !buffer.is_empty() {
        connection.queue_file(&buffer)?;
    }
    connection.end_file()?;
    connection.flush().await?;
    let packet = connection.receive().await?;
    match (misfit, packet.kind) {
        (Some(error), _) => Err(error),
        (None, Answer::Done { affected, warnings: 0, .. }) if affected == count => Ok(affected),
        (None, Answer::Done { affected, warnings, .. }) => {
            Err(first_warning(connection, count, affected, warnings).await)
        }
        (None, Answer::Failed) => Err(connection.error(&packet)),
        (None, _) => Err(broken("no answer to a file of rows")),
    }
}

/// Asks the server to take rows; tells whether it takes local files. Where it does not, no row was drawn.
async fn begin(connection: &mut ServerConnection, sql: &str) -> Result<bool, Error> {
    connection.offer_file(FILE);
    connection.queue_text(sql)?;
    connection.flush().await?;
    let packet = connection.receive().await?;
    match packet.kind {
        Answer::File => Ok(true),
        Answer::Failed => {
            let error = connection.error(&packet);
            let takes_none = REFUSALS.contains(&error.code());
            if takes_none { Ok(false) } else { Err(error.context("begin to send rows")) }
        }
        _ => Err(broken("no request for the rows")),
    }
}

/// The first thing that is wrong with rows that the server has taken otherwise than they are.
pub(super) async fn first_warning(connection: &mut ServerConnection, sent: u64, taken: u64, warnings: u16) -> Error {
    let counts = format!("{sent} rows were sent and {taken} taken, with {warnings} warnings");
    let found = connection.rows("SHOW WARNINGS LIMIT 1").await.unwrap_or_default();
    match found.first().map(Vec::as_slice) {
        Some([_, Some(number), Some(message)]) => {
            Error::new(ErrorClass::Data, number.as_str(), format!("{message}; {counts}"))
        }
        _ => Error::new(ErrorClass::Data, "", counts),
    }
}

fn statement(table: &Table<'_>) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| identifier(column.name)).collect();
    format!(
        "LOAD DATA LOCAL INFILE '{FILE}' INTO TABLE {} CHARACTER SET utf8mb4 FIELDS TERMINATED BY x'09' ESCAPED BY x'5C' \
         LINES TERMINATED BY x'0A' ({})",
        identifier(table.name),
        names.join(", ")
    )
}

/// One row: fields with tabs between them and a line feed at the end.
fn write_row(table: &Table<'_>, row: &[Value<'_>], out: &mut Vec<u8>) -> Result<(), Error> {
    if row.len() != table.columns.len() {
        let text = format!("{} values for {} columns", row.len(), table.columns.len());
        return Err(Error::new(ErrorClass::Data, "", text));
    }
    for (column, value) in table.columns.iter().zip(row) {
        if write_text_field(column.kind, *value, out).is_none() {
            let text = format!("{value:?} does not fit column {}", column.name);
            return Err(Error::new(ErrorClass::Data, "", text));
        }
        out.push(b'\t');
    }
    if let Some(last) = out.last_mut() {
        *last = b'\n';
    }
    Ok(())
}
