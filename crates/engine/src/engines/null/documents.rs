//! A session of documents of the null engine: answers every call with as many documents as were asked for, with values of its own.
//! Allocates nothing per call once the caller's memory has grown.

use crate::contract::{Collection, DocumentBuffer, DocumentRef, Error, Fields, InsertOutcome};
use std::time::Duration;

/// What every field of every answer holds.
const VALUE: &[u8; 100] = &[b'0'; 100];

/// A connection to nothing.
#[derive(Debug)]
pub struct Documents {
    service_time: Duration,
    fields: u16,
}

impl Documents {
    pub(super) fn new(service_time: Duration) -> Self {
        Self { service_time, fields: 0 }
    }

    async fn serve(&self) {
        if !self.service_time.is_zero() {
            tokio::time::sleep(self.service_time).await;
        }
    }

    fn answer(&self, key: &str, fields: Fields, found: &mut DocumentBuffer) {
        found.begin(key);
        match fields {
            Fields::All => (0..self.fields).for_each(|field| found.put(field, VALUE)),
            Fields::One(field) => found.put(field, VALUE),
        }
    }
}

impl crate::contract::Documents for Documents {
    async fn open(&mut self, collection: &Collection) -> Result<(), Error> {
        self.fields = u16::try_from(collection.fields.len()).map_err(|_| Error::other("more than 65,535 fields"))?;
        Ok(())
    }

    async fn find(&mut self, key: &str, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        self.serve().await;
        self.answer(key, fields, found);
        Ok(())
    }

    async fn scan(&mut self, from: &str, limit: u32, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        self.serve().await;
        (0..limit).for_each(|_| self.answer(from, fields, found));
        Ok(())
    }

    async fn update(&mut self, _document: DocumentRef<'_>) -> Result<u64, Error> {
        self.serve().await;
        Ok(1)
    }

    async fn insert(&mut self, batch: &DocumentBuffer) -> Result<InsertOutcome, Error> {
        self.serve().await;
        Ok(InsertOutcome { count: batch.len() as u64, refused: Vec::new() })
    }

    async fn count(&mut self) -> Result<u64, Error> {
        Ok(0)
    }

    async fn collections(&mut self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    async fn notes(&mut self, _collection: &str) -> Result<Vec<(String, String)>, Error> {
        Ok(Vec::new())
    }

    async fn note(&mut self, _collection: &str, _notes: &[(String, String)]) -> Result<(), Error> {
        Ok(())
    }
}
