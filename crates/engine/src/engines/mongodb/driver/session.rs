//! A session of documents by the official driver. Differs from the lean path in its costs and in what it can reach, never in its
//! answers. The driver allocates for each operation; what is ours beside it is small.

use super::super::failure::lost;
use super::super::names::is_internal;
use super::super::options::Options;
use super::super::url::Url;
use super::super::write_concern::{Acknowledgement, WriteConcern};
use super::batch::Batch;
use super::client::Share;
use super::failure::{failed, left_out};
use super::values::Names;
use crate::contract::{Collection, DocumentBuffer, DocumentRef, Documents, Error, Fields, InsertOutcome, Target};
use mongodb::Database;
use mongodb::action::Action as _;
use mongodb::bson::{Document, RawDocumentBuf, doc};
use mongodb::options::CollectionOptions;
use std::future::IntoFuture as _;
use std::time::Duration;

/// Counting 300 million documents takes minutes, whatever an operation may take.
const COUNTING: Duration = Duration::from_secs(4 * 3600);
/// Where a note has its text.
const NOTE_TEXT: &str = "text";

/// A collection as the driver knows it.
type Handle = mongodb::Collection<RawDocumentBuf>;

/// One virtual user's part in its thread's client.
#[derive(Debug)]
pub(in super::super) struct Session {
    database: Database,
    opened: Option<OpenCollection>,
    write_concern: WriteConcern,
    timeout: Duration,
    _share: Share,
}

/// The collection that the hot calls mean.
#[derive(Debug)]
struct OpenCollection {
    handle: Handle,
    names: Names,
}

impl Session {
    /// Connects, or joins what this thread has connected already.
    pub(in super::super) async fn connect(target: &Target, options: &Options) -> Result<Self, Error> {
        let url = Url::of(target)?;
        let share = Share::join(&url).await?;
        let database = share.database(&url.database);
        let Options { write_concern, timeout, .. } = *options;
        Ok(Self { database, opened: None, write_concern, timeout, _share: share })
    }

    /// Removes a collection, if it is there.
    pub(in super::super) async fn remove(&mut self, collection: &str) -> Result<(), Error> {
        let handle = self.handle(collection, WriteConcern::DURABLE);
        self.within(handle.drop().into_future()).await?.map_err(failed)
    }

    fn handle(&self, name: &str, write_concern: WriteConcern) -> Handle {
        let concern = acknowledged(write_concern);
        self.database.collection_with_options(name, CollectionOptions::builder().write_concern(concern).build())
    }

    fn opened(&self) -> Result<&OpenCollection, Error> {
        self.opened.as_ref().ok_or_else(|| Error::other("no collection was opened in this session"))
    }

    /// Waits no longer than the study allows; then the driver gives the connection up.
    async fn within<T>(&self, answer: impl Future<Output = T>) -> Result<T, Error> {
        tokio::time::timeout(self.timeout, answer).await.map_err(|_| late(self.timeout))
    }
}

fn late(timeout: Duration) -> Error {
    lost(format!("no answer within {timeout:?} (engine.timeout)"))
}

/// A write concern in the driver's words.
fn acknowledged(concern: WriteConcern) -> mongodb::options::WriteConcern {
    let journal = concern.journal.then_some(true);
    let members = match concern.acknowledged {
        Acknowledgement::By(members) => mongodb::options::Acknowledgment::Nodes(members),
        Acknowledgement::ByMajority => mongodb::options::Acknowledgment::Majority,
    };
    mongodb::options::WriteConcern::builder().w(members).journal(journal).build()
}

impl Documents for Session {
    async fn open(&mut self, collection: &Collection) -> Result<(), Error> {
        let handle = self.handle(&collection.name, self.write_concern);
        self.opened = Some(OpenCollection { handle, names: Names::new(&collection.fields)? });
        Ok(())
    }

    async fn find(&mut self, key: &str, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        let OpenCollection { handle, names } = self.opened()?;
        let find = handle
            .find_one(doc! { "_id": key })
            .optional(names.projection(fields)?, |find, wanted| find.projection(wanted));
        match self.within(find.into_future()).await?.map_err(failed)? {
            Some(document) => {
                let document: RawDocumentBuf = document;
                names.read(&document, found)
            }
            None => Ok(()),
        }
    }

    async fn scan(&mut self, from: &str, limit: u32, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        // A limit of 0 would mean all.
        if limit == 0 {
            return Ok(());
        }
        let OpenCollection { handle, names } = self.opened()?;
        let find =
            handle.find(doc! { "_id": { "$gte": from } }).sort(doc! { "_id": 1 }).limit(limit.into()).batch_size(limit);
        let find = find.optional(names.projection(fields)?, |find, wanted| find.projection(wanted));
        let all = async {
            let mut cursor = find.await.map_err(failed)?;
            while cursor.advance().await.map_err(failed)? {
                names.read(cursor.current(), found)?;
            }
            Ok(())
        };
        self.within(all).await?
    }

    async fn update(&mut self, document: DocumentRef<'_>) -> Result<u64, Error> {
        let OpenCollection { handle, names } = self.opened()?;
        let update = handle.update_one(doc! { "_id": document.key() }, names.set(document)?);
        Ok(self.within(update.into_future()).await?.map_err(failed)?.matched_count)
    }

    async fn insert(&mut self, batch: &DocumentBuffer) -> Result<InsertOutcome, Error> {
        let OpenCollection { handle, names } = self.opened()?;
        let Batch { documents, places, mut refused } = Batch::of(batch, names)?;
        if !documents.is_empty() {
            let insert = handle.insert_many(documents).ordered(false);
            if let Err(error) = self.within(insert.into_future()).await? {
                refused.extend(left_out(error, &places)?);
            }
        }
        Ok(InsertOutcome { count: (batch.len() - refused.len()) as u64, refused })
    }

    async fn count(&mut self) -> Result<u64, Error> {
        let count = self.opened()?.handle.count_documents(Document::new()).into_future();
        tokio::time::timeout(COUNTING, count).await.map_err(|_| late(COUNTING))?.map_err(failed)
    }

    async fn collections(&mut self) -> Result<Vec<String>, Error> {
        let mut names = self.within(self.database.list_collection_names().into_future()).await?.map_err(failed)?;
        names.retain(|name| !is_internal(name));
        Ok(names)
    }

    async fn notes(&mut self, collection: &str) -> Result<Vec<(String, String)>, Error> {
        let handle = self.database.collection::<Document>(collection);
        let find = handle.find(Document::new()).sort(doc! { "_id": 1 });
        let all = async {
            let mut notes = Vec::new();
            let mut cursor = find.await.map_err(failed)?;
            while cursor.advance().await.map_err(failed)? {
                let text = |name| cursor.current().get_str(name).ok().map(str::to_owned);
                notes.extend(text("_id").zip(text(NOTE_TEXT)));
            }
            Ok(notes)
        };
        self.within(all).await?
    }

    async fn note(&mut self, collection: &str, notes: &[(String, String)]) -> Result<(), Error> {
        let handle = self.handle(collection, WriteConcern::DURABLE).clone_with_type::<Document>();
        for (key, text) in notes {
            let replace = handle.replace_one(doc! { "_id": key }, doc! { "_id": key, NOTE_TEXT: text }).upsert(true);
            self.within(replace.into_future()).await?.map_err(failed)?;
        }
        Ok(())
    }
}
