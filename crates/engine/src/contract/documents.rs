//! A session of documents: one connection of one virtual user, loader or checker to a store of documents found by key.
//!
//! A document has a key (`_id`) and named fields whose values are bytes. May not know how an engine stores or sends them.

use super::document_buffer::{DocumentBuffer, DocumentRef};
use super::error::Error;
use proofload_model::samples::Reading;

/// The collection that a session works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// Name.
    pub name: String,
    /// Names of the fields; a field is meant by its place here.
    pub fields: Vec<String>,
}

/// Which fields an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// All.
    All,
    /// One, by its place in the collection.
    One(u16),
}

/// What became of the documents of one insertion.
#[derive(Debug, Clone, Default)]
pub struct InsertOutcome {
    /// Documents that the server says it took.
    pub count: u64,
    /// Documents that it refused, with the reason of each: place in the batch and error. Empty when all arrived.
    pub refused: Vec<(u32, Error)>,
}

/// One connection. Not `Send`: it belongs to its client thread.
///
/// Hot are `find`, `scan`, `update` and `insert`: they may not allocate once their memory has grown. An error of class
/// `ConnectionLost` of an `update` or `insert` means: outcome unknown.
#[expect(async_fn_in_trait, reason = "sessions stay on their client thread, so no Send bound is wanted")]
pub trait Documents {
    /// Takes the collection that the hot calls mean; called once, before the load. The collection need not exist.
    async fn open(&mut self, collection: &Collection) -> Result<(), Error>;

    /// Finds one document by its key and adds it to `found`, which the caller has cleared; adds nothing when there is none.
    async fn find(&mut self, key: &str, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error>;

    /// Adds up to `limit` documents in the order of their keys, beginning with the first key that is not less than `from`.
    async fn scan(&mut self, from: &str, limit: u32, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error>;

    /// Sets the fields that `document` has in the document of its key; returns how many documents matched, 0 or 1.
    async fn update(&mut self, document: DocumentRef<'_>) -> Result<u64, Error>;

    /// Inserts all documents of a batch, none stopping the others. An error means that nothing can be said of the batch.
    async fn insert(&mut self, batch: &DocumentBuffer) -> Result<InsertOutcome, Error>;

    /// Number of documents in the opened collection, counted and not estimated.
    async fn count(&mut self) -> Result<u64, Error>;

    /// Names of the collections of the database, without those of the engine itself.
    async fn collections(&mut self) -> Result<Vec<String>, Error>;

    /// Notes (key and text) in a collection of their own; empty when there is no such collection.
    async fn notes(&mut self, collection: &str) -> Result<Vec<(String, String)>, Error>;

    /// Adds notes, each replacing the one of its key. Acknowledged as durably as the engine can.
    async fn note(&mut self, collection: &str, notes: &[(String, String)]) -> Result<(), Error>;

    /// Counters of an embedded engine since the last call (differences); nothing for servers.
    fn counters(&mut self, _into: &mut Vec<Reading>) {}
}
