//! The commands of a session, written into memory that is reused. May not send them.

use super::super::bson::Writer;
use super::super::write_concern::WriteConcern;
use crate::contract::{DocumentRef, Error, Fields};

/// What the commands of a session mean.
#[derive(Debug)]
pub(super) struct Scope {
    /// Database.
    pub(super) database: String,
    /// Collection.
    pub(super) collection: String,
    /// Names of the fields.
    pub(super) fields: Vec<String>,
    /// What writes wait for.
    pub(super) write_concern: WriteConcern,
}

impl Scope {
    /// The name of a field that the caller has checked.
    #[inline]
    fn name(&self, field: u16) -> &str {
        self.fields.get(usize::from(field)).map_or("", String::as_str)
    }

    /// Refuses fields that the collection does not have.
    #[inline]
    pub(super) fn check(&self, fields: impl IntoIterator<Item = u16>) -> Result<(), Error> {
        match fields.into_iter().find(|field| usize::from(*field) >= self.fields.len()) {
            None => Ok(()),
            Some(field) => Err(Error::other(format!(
                "field {field} does not exist: {} has only {} fields",
                self.collection,
                self.fields.len()
            ))),
        }
    }

    #[inline]
    fn projection(&self, command: &mut Writer<'_>, fields: Fields) {
        if let Fields::One(field) = fields {
            command.nested("projection", |wanted| wanted.int32(self.name(field), 1));
        }
    }

    /// One document by its key.
    #[inline]
    pub(super) fn find(&self, command: &mut Writer<'_>, key: &str, fields: Fields) {
        command.text("find", &self.collection);
        command.nested("filter", |filter| filter.text("_id", key));
        self.projection(command, fields);
        command.int32("limit", 1);
        command.boolean("singleBatch", true);
    }

    /// Documents from a key on. The batch may be one larger than the limit, so that no server keeps a cursor that is done.
    #[inline]
    pub(super) fn scan(&self, command: &mut Writer<'_>, from: &str, limit: u32, fields: Fields) {
        command.text("find", &self.collection);
        command.nested("filter", |filter| filter.nested("_id", |key| key.text("$gte", from)));
        command.nested("sort", |sort| sort.int32("_id", 1));
        self.projection(command, fields);
        command.int64("limit", i64::from(limit));
        command.int64("batchSize", i64::from(limit) + 1);
    }

    /// Sets fields of one document.
    #[inline]
    pub(super) fn update(&self, command: &mut Writer<'_>, document: DocumentRef<'_>) {
        command.text("update", &self.collection);
        command.boolean("ordered", true);
        self.write_concern.write(command);
        command.array("updates", |updates| {
            updates.nested("0", |update| {
                update.nested("q", |filter| filter.text("_id", document.key()));
                update.nested("u", |change| change.nested("$set", |set| self.values(set, document)));
            });
        });
    }

    /// An insertion without its documents.
    #[inline]
    pub(super) fn insert(&self, command: &mut Writer<'_>) {
        command.text("insert", &self.collection);
        command.boolean("ordered", false);
        self.write_concern.write(command);
    }

    /// A document as it is stored.
    #[inline]
    pub(super) fn document(&self, stored: &mut Writer<'_>, document: DocumentRef<'_>) {
        stored.text("_id", document.key());
        self.values(stored, document);
    }

    #[inline]
    fn values(&self, stored: &mut Writer<'_>, document: DocumentRef<'_>) {
        for (field, value) in document.values() {
            stored.binary(self.name(field), value);
        }
    }

    /// Counts the documents by stepping through the index of keys; the server's own number may be wrong after a crash.
    pub(super) fn count(&self, command: &mut Writer<'_>) {
        command.text("aggregate", &self.collection);
        command.array("pipeline", |stages| {
            stages.nested("0", |stage| stage.nested("$match", |_| {}));
            stages.nested("1", |stage| {
                stage.nested("$group", |group| {
                    group.null("_id");
                    group.nested("n", |sum| sum.int32("$sum", 1));
                });
            });
        });
        command.nested("cursor", |_| {});
        command.nested("hint", |hint| hint.int32("_id", 1));
    }
}

/// The names of all collections.
pub(super) fn list_collections(command: &mut Writer<'_>) {
    command.int32("listCollections", 1);
    command.boolean("nameOnly", true);
}

/// More of a cursor.
#[inline]
pub(super) fn get_more(command: &mut Writer<'_>, cursor: i64, collection: &str) {
    command.int64("getMore", cursor);
    command.text("collection", collection);
}

/// All documents of a collection.
pub(super) fn find_all(command: &mut Writer<'_>, collection: &str) {
    command.text("find", collection);
    command.nested("filter", |_| {});
}

/// Puts one note in place of the one of its key.
pub(super) fn note(command: &mut Writer<'_>, collection: &str, (key, text): (&str, &str)) {
    command.text("update", collection);
    WriteConcern::DURABLE.write(command);
    command.array("updates", |updates| {
        updates.nested("0", |update| {
            update.nested("q", |filter| filter.text("_id", key));
            update.nested("u", |note| {
                note.text("_id", key);
                note.text("text", text);
            });
            update.boolean("upsert", true);
        });
    });
}
