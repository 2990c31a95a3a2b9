//! Places in the binary log of a primary, and what a standby says of how far it is there. Source: knowledge base, "SHOW REPLICA STATUS",
//! "`max_binlog_size`".

use super::wire::ServerConnection;
use crate::contract::Error;
use proofload_model::units::Bytes;
use std::time::Duration;

/// Size at which the server begins another file of its binary log, the largest that it takes. With it a place is a number of bytes since the
/// begin of the log, as long as no file is left before it is full.
pub(super) const FILE_BYTES: u64 = 1 << 30;

/// Columns of a standby's answer, the same in both servers.
const RECEIVED_FILE: usize = 5;
const RECEIVED_AT: usize = 6;
const APPLIED_FILE: usize = 9;
const RECEIVES: usize = 10;
const APPLIES: usize = 11;
const APPLIED_AT: usize = 21;
const SECONDS_BEHIND: usize = 32;
const APPLY_ERROR: usize = 37;

/// What a thread of replication may be said to do.
const RUNNING: &[&str] = &["Yes", "No", "Connecting", "Preparing"];

/// How far a standby is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StandbyStatus {
    /// Place up to which it has received the log of its primary.
    pub(super) received: Bytes,
    /// Place up to which it has applied it.
    pub(super) applied: Bytes,
    /// Transactions that it has received whole, by their global numbers, or the last of them; empty for none.
    pub(super) received_id: String,
    /// Whether its thread that applies runs.
    pub(super) applies: bool,
    /// Why it applies no more; empty while nothing is wrong.
    pub(super) apply_error: String,
    /// Time by which it trails, in whole seconds: from when the primary wrote what is being applied until now, on the primary's clock;
    /// nothing where the thread that applies does not run. Source: knowledge base, "`SHOW REPLICA STATUS`", `Seconds_Behind_Master`.
    pub(super) lag: Option<Duration>,
}

/// A place in a binary log: `binlog.000002` at 400 is 400 bytes behind the end of a full second file's predecessor.
pub(super) fn place(file: &str, at: &str) -> Bytes {
    let number = file.rsplit_once('.').and_then(|(_, number)| number.parse::<u64>().ok());
    match (number, at.parse::<u64>()) {
        (Some(number), Ok(at)) => Bytes(number.saturating_mul(FILE_BYTES).saturating_add(at)),
        // Nothing was received yet.
        _ => Bytes(0),
    }
}

/// Asks a server how far it is as a standby; `None` for one that follows nobody.
pub(super) async fn standby_status(connection: &mut ServerConnection) -> Result<Option<StandbyStatus>, Error> {
    let words = &connection.flavour().replication;
    let rows = connection.rows(words.standby_status).await;
    let rows = rows.map_err(|error| error.context("read the standby's status"))?;
    rows.first().map(|row| of_row(row, words.received_id)).transpose()
}

fn of_row(row: &[Option<String>], received_id: usize) -> Result<StandbyStatus, Error> {
    let text = |column: usize| row.get(column).and_then(Option::as_deref).unwrap_or_default();
    if !RUNNING.contains(&text(RECEIVES)) || !RUNNING.contains(&text(APPLIES)) || row.len() <= received_id {
        return Err(Error::other(format!(
            "read the standby's status: the answer of {} columns has {:?} and {:?} where the threads' states are expected",
            row.len(),
            text(RECEIVES),
            text(APPLIES)
        )));
    }
    Ok(StandbyStatus {
        received: place(text(RECEIVED_FILE), text(RECEIVED_AT)),
        applied: place(text(APPLIED_FILE), text(APPLIED_AT)),
        received_id: text(received_id).to_owned(),
        applies: text(APPLIES) == "Yes",
        apply_error: text(APPLY_ERROR).to_owned(),
        lag: text(SECONDS_BEHIND).parse().ok().map(Duration::from_secs),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_bytes_since_the_begin_of_the_log() {
        assert_eq!(place("binlog.000001", "325").0 + 75, place("binlog.000001", "400").0);
        assert_eq!(place("binlog.000002", "4").0, place("binlog.000001", "4").0 + FILE_BYTES);
        assert!(place("a.b.000009", "1073741824") < place("a.b.000010", "325"));
        assert_eq!([place("", ""), place("binlog.000001", ""), place("binlog", "4")], [Bytes(0); 3]);
    }

    #[test]
    fn a_status_is_read_by_its_columns_and_another_answer_is_refused() {
        let mut row: Vec<Option<String>> = vec![Some(String::new()); 55];
        assert!(of_row(&row, 43).is_err());
        let values = [
            (5, "binlog.000001"),
            (6, "900"),
            (9, "binlog.000001"),
            (10, "Connecting"),
            (11, "No"),
            (21, "400"),
            (32, "3"),
        ];
        for (column, value) in values.into_iter().chain([(37, "Duplicate entry"), (43, "0-1-7")]) {
            row[column] = Some(value.to_owned());
        }
        let found = of_row(&row, 43).expect("it is understood");
        assert_eq!((found.received.0 - found.applied.0, found.received_id.as_str()), (500, "0-1-7"));
        assert_eq!((found.applies, found.apply_error.as_str()), (false, "Duplicate entry"));
        assert_eq!(found.lag, Some(Duration::from_secs(3)));
        row[SECONDS_BEHIND] = None;
        assert_eq!(of_row(&row, 43).map(|found| found.lag).ok(), Some(None), "its thread that applies does not run");
        assert!(of_row(&row[..12], 43).is_err());
    }
}
