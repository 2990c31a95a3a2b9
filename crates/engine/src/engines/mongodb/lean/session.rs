//! A session of documents over one connection.

use super::super::bson::{Document, Element};
use super::super::names::is_internal;
use super::super::options::Options;
use super::super::url::Url;
use super::answer;
use super::commands::{self, Scope};
use super::connection::Connection;
use super::greeting::{self, Greeting};
use super::insertion::Insertion;
use crate::contract::{Collection, DocumentBuffer, DocumentRef, Documents, Error, Fields, InsertOutcome, Target};
use std::time::Duration;

/// Counting 300 million documents takes minutes, whatever an operation may take.
const COUNTING: Duration = Duration::from_secs(4 * 3600);

/// A session of the lean path.
#[derive(Debug)]
pub(in super::super) struct Session {
    connection: Connection,
    greeting: Greeting,
    scope: Scope,
    insertion: Insertion,
}

impl Session {
    /// Connects.
    pub(in super::super) async fn connect(target: &Target, options: &Options) -> Result<Self, Error> {
        let (connection, greeting) = greeting::open(target, options.timeout).await?;
        let database = Url::of(target)?.database;
        let write_concern = options.write_concern;
        let scope = Scope { database, collection: String::new(), fields: Vec::new(), write_concern };
        Ok(Self { connection, greeting, scope, insertion: Insertion::default() })
    }

    /// All documents that a cold command gives, each as `each` makes it.
    async fn all<T>(&mut self, collection: &str, each: impl Fn(Document<'_>) -> Option<T>) -> Result<Vec<T>, Error> {
        let (mut all, database) = (Vec::new(), &self.scope.database);
        loop {
            let batch = answer::batch(self.connection.exchange().await?)?;
            for document in batch.documents() {
                all.extend(each(document?));
            }
            let cursor = batch.cursor;
            if cursor == 0 {
                return Ok(all);
            }
            self.connection.write(database, |command| commands::get_more(command, cursor, collection));
        }
    }

    async fn count_documents(&mut self) -> Result<u64, Error> {
        let scope = &self.scope;
        let reply = self.connection.run(&scope.database, |command| scope.count(command)).await?;
        match answer::batch(reply)?.documents().next() {
            // Nothing to group: the collection is empty or is not there.
            None => Ok(0),
            Some(group) => {
                let count = group?.get("n").and_then(Element::integer).and_then(|count| u64::try_from(count).ok());
                count.ok_or_else(|| Error::other("the reply to count contains no count"))
            }
        }
    }
}

impl Documents for Session {
    async fn open(&mut self, collection: &Collection) -> Result<(), Error> {
        if u16::try_from(collection.fields.len()).is_err() {
            return Err(Error::other("more than 65,535 fields"));
        }
        self.scope.collection.clone_from(&collection.name);
        self.scope.fields.clone_from(&collection.fields);
        Ok(())
    }

    async fn find(&mut self, key: &str, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        let scope = &self.scope;
        scope.check(one(fields))?;
        self.connection.write(&scope.database, |command| scope.find(command, key, fields));
        let batch = answer::batch(self.connection.exchange().await?)?;
        match batch.documents().next() {
            Some(document) => answer::take(document?, &scope.fields, found),
            None => Ok(()),
        }
    }

    async fn scan(&mut self, from: &str, limit: u32, fields: Fields, found: &mut DocumentBuffer) -> Result<(), Error> {
        if limit == 0 {
            return Ok(());
        }
        let scope = &self.scope;
        scope.check(one(fields))?;
        self.connection.write(&scope.database, |command| scope.scan(command, from, limit, fields));
        loop {
            let batch = answer::batch(self.connection.exchange().await?)?;
            for document in batch.documents() {
                answer::take(document?, &scope.fields, found)?;
            }
            let cursor = batch.cursor;
            if cursor == 0 {
                return Ok(());
            }
            self.connection.write(&scope.database, |command| commands::get_more(command, cursor, &scope.collection));
        }
    }

    async fn update(&mut self, document: DocumentRef<'_>) -> Result<u64, Error> {
        let scope = &self.scope;
        scope.check(document.values().map(|(field, _)| field))?;
        self.connection.write(&scope.database, |command| scope.update(command, document));
        answer::written(self.connection.exchange().await?)
    }

    async fn insert(&mut self, batch: &DocumentBuffer) -> Result<InsertOutcome, Error> {
        self.insertion.run(&mut self.connection, &self.scope, &self.greeting, batch).await
    }

    async fn count(&mut self) -> Result<u64, Error> {
        let patience = std::mem::replace(&mut self.connection.patience, COUNTING);
        let count = self.count_documents().await;
        self.connection.patience = patience;
        count.map_err(|error| error.context(format!("failed to count the documents of {}", self.scope.collection)))
    }

    async fn collections(&mut self) -> Result<Vec<String>, Error> {
        self.connection.write(&self.scope.database, commands::list_collections);
        let names = self.all("$cmd.listCollections", |entry| entry.get("name")?.text().map(str::to_owned)).await;
        let mut names = names.map_err(|error| error.context("failed to list the collections"))?;
        names.retain(|name| !is_internal(name));
        Ok(names)
    }

    async fn notes(&mut self, collection: &str) -> Result<Vec<(String, String)>, Error> {
        self.connection.write(&self.scope.database, |command| commands::find_all(command, collection));
        let note =
            |note: Document<'_>| Some((note.get("_id")?.text()?.to_owned(), note.get("text")?.text()?.to_owned()));
        self.all(collection, note)
            .await
            .map_err(|error| error.context(format!("failed to read the notes in {collection}")))
    }

    async fn note(&mut self, collection: &str, notes: &[(String, String)]) -> Result<(), Error> {
        for (key, text) in notes {
            let context = |error: Error| error.context(format!("failed to write note {key} in {collection}"));
            let note = (key.as_str(), text.as_str());
            let reply =
                self.connection.run(&self.scope.database, |command| commands::note(command, collection, note)).await;
            answer::written(reply.map_err(context)?).map_err(context)?;
        }
        Ok(())
    }
}

fn one(fields: Fields) -> Option<u16> {
    match fields {
        Fields::All => None,
        Fields::One(field) => Some(field),
    }
}
