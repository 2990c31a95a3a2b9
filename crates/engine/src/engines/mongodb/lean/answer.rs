//! Takes from replies what a session wants: documents into a buffer, counts, refusals. Allocates nothing unless there is an error.

use super::super::bson::{Document, Element, MalformedBson};
use super::super::failure::{lost, told};
use crate::contract::{DocumentBuffer, Error, ErrorClass};

/// A cursor's name and the documents of its batch.
pub(super) struct Batch<'a> {
    /// 0 when there is no more.
    pub(super) cursor: i64,
    documents: Document<'a>,
}

pub(super) fn malformed(_: MalformedBson) -> Error {
    lost("the reply is damaged: not valid BSON")
}

/// The batch of a reply, the first one or a later one.
#[inline]
pub(super) fn batch(reply: Document<'_>) -> Result<Batch<'_>, Error> {
    let missing = || Error::other("the reply contains no batch of documents");
    let cursor = reply.get("cursor").and_then(Element::document).ok_or_else(missing)?;
    let (mut id, mut documents) = (0, None);
    for element in cursor.iter() {
        match element.map_err(malformed)? {
            (b"firstBatch" | b"nextBatch", Element::Array(array)) => documents = Some(array),
            (b"id", value) => id = value.integer().unwrap_or(0),
            _ => {}
        }
    }
    Ok(Batch { cursor: id, documents: documents.ok_or_else(missing)? })
}

impl<'a> Batch<'a> {
    /// Its documents.
    #[inline]
    pub(super) fn documents(&self) -> impl Iterator<Item = Result<Document<'a>, Error>> + use<'a> {
        self.documents.iter().map(|element| match element.map_err(malformed)? {
            (_, Element::Document(document)) => Ok(document),
            (_, other) => Err(Error::other(format!("the reply contains {} in place of a document", other.word()))),
        })
    }
}

/// Adds a document to a buffer: its key, and those fields that the collection has.
#[inline]
pub(super) fn take(document: Document<'_>, fields: &[String], found: &mut DocumentBuffer) -> Result<(), Error> {
    let key = document.get("_id").and_then(Element::text).ok_or_else(|| odd("a document has no key", "text"))?;
    found.begin(key);
    // Fields mostly come in the order of the collection: the next one is looked at first.
    let mut next = 0;
    for element in document.iter() {
        let (name, value) = element.map_err(malformed)?;
        let Some(field) = place(name, fields, next) else { continue };
        next = field + 1;
        let bytes = match value {
            Element::Binary(bytes) | Element::Text(bytes) => bytes,
            other => return Err(odd(&format!("{} is {}", fields[field], other.word()), "bytes or a text")),
        };
        found.put(field as u16, bytes);
    }
    Ok(())
}

#[inline]
fn place(name: &[u8], fields: &[String], next: usize) -> Option<usize> {
    match fields.get(next) {
        Some(field) if field.as_bytes() == name => Some(next),
        _ => fields.iter().position(|field| field.as_bytes() == name),
    }
}

fn odd(what: &str, wanted: &str) -> Error {
    Error::new(
        ErrorClass::Data,
        "",
        format!("{what}, but Proofload would have written {wanted}: these data were not written by Proofload"),
    )
}

/// The count of documents that a write matched or took, unless the reply carries an error.
#[inline]
pub(super) fn written(reply: Document<'_>) -> Result<u64, Error> {
    let mut count = 0;
    for element in reply.iter() {
        match element.map_err(malformed)? {
            (b"n", value) => count = value.integer().and_then(|count| u64::try_from(count).ok()).unwrap_or(0),
            (b"writeErrors", Element::Array(errors)) => refused(errors, |_, error| Err(error))?,
            (b"writeConcernError", Element::Document(error)) => return Err(unconfirmed(error)),
            _ => {}
        }
    }
    Ok(count)
}

/// Calls `each` with place and error of every refused document.
pub(super) fn refused(
    errors: Document<'_>,
    mut each: impl FnMut(usize, Error) -> Result<(), Error>,
) -> Result<(), Error> {
    for element in errors.iter() {
        let (_, element) = element.map_err(malformed)?;
        let error = element.document().ok_or_else(|| malformed(MalformedBson))?;
        let place = error.get("index").and_then(Element::integer).and_then(|index| usize::try_from(index).ok());
        each(place.ok_or_else(|| Error::other("the server rejected a document without saying which"))?, told(error))?;
    }
    Ok(())
}

/// The write was done, but not as safely as was asked: its outcome is unknown. Error 100 says that it never can be.
pub(super) fn unconfirmed(error: Document<'_>) -> Error {
    let error = told(error).context("the write concern was not fulfilled");
    if error.code() == "100" { error } else { Error::new(ErrorClass::ConnectionLost, error.code(), plain(&error)) }
}

/// An error's text without its code.
fn plain(error: &Error) -> String {
    let text = error.to_string();
    text.strip_suffix(&format!(" ({})", error.code())).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::bson::Writer;
    use super::*;

    fn taken(fill: impl FnOnce(&mut Writer<'_>)) -> Result<DocumentBuffer, Error> {
        let (bytes, mut found) = (Writer::bytes(fill), DocumentBuffer::new());
        let fields = ["field0", "field1", "field2"].map(str::to_owned);
        take(Document::whole(&bytes).expect("BSON"), &fields, &mut found).map(|()| found)
    }

    #[test]
    fn bytes_and_texts_are_taken_in_any_order_and_strangers_left_out() {
        let found = taken(|document| {
            document.text("field2", "a text");
            document.int32("stranger", 1);
            document.binary("field0", b"\0");
            document.text("_id", "user1");
        });
        let found = found.unwrap();
        let document = found.get(0).unwrap();
        assert_eq!((document.key(), document.values().count()), ("user1", 2));
        assert_eq!((document.value(2), document.value(0)), (Some(&b"a text"[..]), Some(&b"\0"[..])));
    }

    #[test]
    fn data_of_another_shape_are_told_from_ours() {
        let number = taken(|document| {
            document.text("_id", "user1");
            document.int32("field1", 1);
        });
        let error = number.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Data);
        assert!(error.to_string().contains("field1") && error.to_string().contains("a number"), "{error}");
        assert_eq!(taken(|document| document.int32("_id", 1)).unwrap_err().class(), ErrorClass::Data);
    }
}
