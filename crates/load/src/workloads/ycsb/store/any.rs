//! A store of either session kind: each operation passed on by a match.

use super::documents::DocumentStore;
use super::sql::SqlStore;
use proofload_engine::{DocumentBuffer, DocumentRef, Error, Fields, InsertOutcome};
use proofload_model::samples::Reading;

/// Name of the table or collection; YCSB's own.
pub(crate) const TABLE: &str = "usertable";

/// Name of the table or collection of the manifest.
pub(crate) const MANIFEST: &str = "proofload_manifest";

/// One session with what the operations need. An enum, so that an operation costs a match and no allocation.
pub(crate) enum Store {
    /// Statements.
    Sql(Box<SqlStore>),
    /// Documents.
    Documents(DocumentStore),
}

/// Calls the store of whichever session kind.
macro_rules! on {
    ($any:ident, $store:ident => $call:expr) => {
        match $any {
            Self::Sql($store) => $call,
            Self::Documents($store) => $call,
        }
    };
}

/// The operations, each passed on to the session's kind.
impl Store {
    /// Adds the record of this key to `found`; nothing when there is none.
    pub(crate) async fn read(&mut self, key: &str, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        on!(self, store => store.read(key, fields, found).await)
    }

    /// Adds up to `limit` records from this key on, in the order of keys.
    pub(crate) async fn scan(
        &mut self,
        key: &str,
        limit: u32,
        fields: Fields,
        found: &mut DocumentBuffer,
    ) -> Result<(), Error> {
        on!(self, store => store.scan(key, limit, fields, found).await)
    }

    /// Sets the fields that `record` has; returns how many records matched.
    pub(crate) async fn update(&mut self, record: DocumentRef<'_>) -> Result<u64, Error> {
        on!(self, store => store.update(record).await)
    }

    /// Begins a transaction and sets the fields that `record` has in it; returns how many records matched.
    pub(crate) async fn begin_update(&mut self, record: DocumentRef<'_>) -> Result<u64, Error> {
        match self {
            Self::Sql(store) => store.begin_update(record).await,
            Self::Documents(_) => Err(Error::other("documents have no transactions here")),
        }
    }

    /// Commits the transaction of [`Store::begin_update`].
    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        match self {
            Self::Sql(store) => store.commit().await,
            Self::Documents(_) => Ok(()),
        }
    }

    /// Inserts one record, from a buffer that holds nothing else.
    pub(crate) async fn insert(&mut self, record: &DocumentBuffer) -> Result<(), Error> {
        on!(self, store => store.insert(record).await)
    }

    /// Brings the session back after an error.
    pub(crate) async fn recover(&mut self) -> Result<(), Error> {
        match self {
            Self::Sql(store) => store.recover().await,
            Self::Documents(_) => Ok(()),
        }
    }

    /// Loads a chunk with its note: all or nothing on SQL; on documents each record that is not there yet.
    pub(crate) async fn load(&mut self, chunk: &mut ChunkRows<'_>, note: (&str, &str)) -> Result<(), Error> {
        on!(self, store => store.load(chunk, note).await)
    }

    /// Makes the empty table and the manifest with its first entries.
    pub(crate) async fn create(&mut self, entries: &[(String, String)]) -> Result<(), Error> {
        match self {
            Self::Sql(store) => store.create(entries).await,
            Self::Documents(store) => store.note(entries).await,
        }
    }

    /// Adds entries to the manifest.
    pub(crate) async fn note(&mut self, entries: &[(String, String)]) -> Result<(), Error> {
        on!(self, store => store.note(entries).await)
    }

    /// The manifest's entries.
    pub(crate) async fn notes(&mut self) -> Result<Vec<(String, String)>, Error> {
        on!(self, store => store.notes().await)
    }

    /// Names of all tables or collections.
    pub(crate) async fn tables(&mut self) -> Result<Vec<String>, Error> {
        on!(self, store => store.tables().await)
    }

    /// Number of records, counted.
    pub(crate) async fn count(&mut self) -> Result<u64, Error> {
        on!(self, store => store.count().await)
    }

    /// Counters of an embedded engine since the last call.
    pub(crate) fn counters(&mut self, into: &mut Vec<Reading>) {
        match self {
            Self::Sql(store) => store.counters(into),
            Self::Documents(store) => store.counters(into),
        }
    }
}

/// The records of a chunk, one batch after another.
pub(crate) struct ChunkRows<'a> {
    /// Fills the buffer with the next batch; false when there is none.
    pub(crate) next: &'a mut dyn FnMut(&mut DocumentBuffer) -> bool,
    /// Fields of a record.
    pub(crate) fields: u16,
}

/// Fails unless every record was inserted; the error counts the refusals and shows the first.
pub(super) fn refusals(inserted: &InsertOutcome, sent: usize) -> Result<(), Error> {
    match inserted.refused.first() {
        Some((place, error)) => {
            let (refused, place) = (inserted.refused.len(), place + 1);
            Err(error
                .clone()
                .context(format!("{refused} of {sent} records were rejected, the first is number {place}")))
        }
        None if inserted.count != sent as u64 => Err(Error::other(format!(
            "{sent} records were sent, but only {} arrived, without an error",
            inserted.count
        ))),
        None => Ok(()),
    }
}
