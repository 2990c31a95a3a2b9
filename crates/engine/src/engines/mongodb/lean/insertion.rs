//! Insertions: as many documents in one message as the server takes, none stopping the others.

use super::super::bson::{Document, Element, Writer};
use super::super::failure::{DOCUMENT_TOO_LARGE, with_code};
use super::answer;
use super::commands::Scope;
use super::connection::Connection;
use super::greeting::Greeting;
use super::message;
use crate::contract::{DocumentBuffer, Error, InsertOutcome};

/// Memory of insertions, kept between them.
#[derive(Debug, Default)]
pub(super) struct Insertion {
    /// Place in the batch of each document of the message being sent.
    places: Vec<u32>,
}

impl Insertion {
    /// Inserts a batch, by several messages if it must be.
    pub(super) async fn run(
        &mut self,
        connection: &mut Connection,
        scope: &Scope,
        limits: &Greeting,
        batch: &DocumentBuffer,
    ) -> Result<InsertOutcome, Error> {
        let (mut inserted, mut next) = (InsertOutcome::default(), 0);
        while next < batch.len() {
            next = self.write(connection, scope, limits, batch, next, &mut inserted)?;
            if !self.places.is_empty() {
                self.read(connection.exchange().await?, &mut inserted)?;
            }
        }
        Ok(inserted)
    }

    /// Writes a message with documents from `next` on; returns the first one that it does not hold.
    fn write(
        &mut self,
        connection: &mut Connection,
        scope: &Scope,
        limits: &Greeting,
        batch: &DocumentBuffer,
        mut next: usize,
        inserted: &mut InsertOutcome,
    ) -> Result<usize, Error> {
        self.places.clear();
        connection.write(&scope.database, |command| scope.insert(command));
        let output = &mut connection.output;
        let sequence = message::begin_sequence(output, "documents");
        while let Some(document) = batch.get(next).filter(|_| self.places.len() < limits.batch_documents) {
            scope.check(document.values().map(|(field, _)| field))?;
            let start = output.len();
            Writer::document(output, |stored| scope.document(stored, document));
            let bytes = output.len() - start;
            if bytes > limits.document_bytes {
                output.truncate(start);
                inserted.refused.push((place(next), too_large(bytes, limits)));
            } else if output.len() > limits.message_bytes && !self.places.is_empty() {
                output.truncate(start);
                break;
            } else {
                self.places.push(place(next));
            }
            next += 1;
        }
        message::end_sequence(output, sequence);
        Ok(next)
    }

    fn read(&self, reply: Document<'_>, inserted: &mut InsertOutcome) -> Result<(), Error> {
        for element in reply.iter() {
            match element.map_err(answer::malformed)? {
                (b"n", count) => inserted.count += count.integer().and_then(|count| count.try_into().ok()).unwrap_or(0),
                (b"writeErrors", Element::Array(errors)) => answer::refused(errors, |index, error| {
                    let place = self.places.get(index).copied();
                    inserted.refused.push((place.ok_or_else(|| beyond(index))?, error));
                    Ok(())
                })?,
                (b"writeConcernError", Element::Document(error)) => return Err(answer::unconfirmed(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

fn place(index: usize) -> u32 {
    u32::try_from(index).expect("a buffer holds fewer than 2^32 documents")
}

fn too_large(bytes: usize, limits: &Greeting) -> Error {
    with_code(
        DOCUMENT_TOO_LARGE,
        format!("the document has {bytes} bytes, but the server accepts at most {}", limits.document_bytes),
    )
}

fn beyond(index: usize) -> Error {
    Error::other(format!("the server rejected document {index}, which was not sent"))
}
