//! Records as documents of one collection.

use super::any::{ChunkRows, MANIFEST, TABLE, refusals};
use proofload_engine::{
    AnyDocuments, Collection, DocumentBuffer, DocumentRef, Documents as _, Error, ErrorClass, Fields,
};
use proofload_model::samples::Reading;

/// A session on the collection.
pub(crate) struct DocumentStore {
    session: AnyDocuments,
    found: DocumentBuffer,
}

impl DocumentStore {
    /// Opens the collection.
    pub(super) async fn new(mut session: AnyDocuments, fields: u16) -> Result<Self, Error> {
        let fields = (0..fields).map(|field| format!("field{field}")).collect();
        session.open(&Collection { name: TABLE.to_owned(), fields }).await?;
        Ok(Self { session, found: DocumentBuffer::new() })
    }

    pub(super) async fn read(&mut self, key: &str, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        self.session.find(key, fields, found).await
    }

    pub(super) async fn scan(
        &mut self,
        key: &str,
        limit: u32,
        fields: Fields,
        found: &mut DocumentBuffer,
    ) -> Result<(), Error> {
        self.session.scan(key, limit, fields, found).await
    }

    pub(super) async fn update(&mut self, record: DocumentRef<'_>) -> Result<u64, Error> {
        self.session.update(record).await
    }

    pub(super) async fn insert(&mut self, record: &DocumentBuffer) -> Result<(), Error> {
        refusals(&self.session.insert(record).await?, record.len())
    }

    /// Loads the records of a chunk that are not there yet, then notes it. A document that is there already must be the
    /// same.
    pub(super) async fn load(&mut self, chunk: &mut ChunkRows<'_>, note: (&str, &str)) -> Result<(), Error> {
        let mut batch = DocumentBuffer::new();
        while (chunk.next)(&mut batch) {
            let inserted = self.session.insert(&batch).await?;
            let arrived = inserted.count + inserted.refused.len() as u64;
            if arrived != batch.len() as u64 {
                let sent = batch.len();
                return Err(Error::other(format!("{sent} records were sent, but {arrived} were accepted or rejected")));
            }
            for (place, error) in &inserted.refused {
                let record = batch.get(*place as usize).ok_or_else(|| error.clone())?;
                self.settle(record, error).await?;
            }
            batch.clear();
        }
        self.note(&[(note.0.to_owned(), note.1.to_owned())]).await
    }

    /// A refused record: sent again alone, unless it is there already.
    async fn settle(&mut self, record: DocumentRef<'_>, refusal: &Error) -> Result<(), Error> {
        let mut alone = DocumentBuffer::new();
        alone.begin(record.key());
        record.values().for_each(|(field, value)| alone.put(field, value));
        let is_there = refusal.class() == ErrorClass::Data;
        if !is_there {
            return refusals(&self.session.insert(&alone).await?, 1);
        }
        self.found.clear();
        self.session.find(record.key(), Fields::All, &mut self.found).await?;
        let same = self.found.get(0).is_some_and(|found| found.values().eq(record.values()));
        let other = || refusal.clone().context(format!("record {} exists with different content", record.key()));
        if same { Ok(()) } else { Err(other()) }
    }

    pub(super) async fn note(&mut self, entries: &[(String, String)]) -> Result<(), Error> {
        self.session.note(MANIFEST, entries).await
    }

    pub(super) async fn notes(&mut self) -> Result<Vec<(String, String)>, Error> {
        self.session.notes(MANIFEST).await
    }

    pub(super) async fn tables(&mut self) -> Result<Vec<String>, Error> {
        self.session.collections().await
    }

    pub(super) async fn count(&mut self) -> Result<u64, Error> {
        self.session.count().await
    }

    pub(super) fn counters(&mut self, into: &mut Vec<Reading>) {
        self.session.counters(into);
    }
}
