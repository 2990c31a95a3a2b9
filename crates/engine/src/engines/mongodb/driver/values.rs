//! Documents of the contract as the driver's BSON and back. Values travel as binary data of the generic subtype.
//!
//! Reads with the driver's own decoder on purpose: a comparison with the lean path is then one of two independent readers.

use crate::contract::{DocumentBuffer, DocumentRef, Error, ErrorClass, Fields};
use mongodb::bson::raw::CString;
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, Document, RawBinaryRef, RawBsonRef, RawDocument, RawDocumentBuf, doc, raw::cstr};

/// The names of a collection's fields, by their places.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<CString>);

/// The documents do not fit the collection.
fn misfit(text: impl Into<String>) -> Error {
    Error::new(ErrorClass::Data, "", text)
}

impl Names {
    /// The names; an error when one cannot be the name of a field.
    pub(super) fn new(fields: &[String]) -> Result<Self, Error> {
        let name = |field: &String| {
            CString::try_from(field.as_str()).map_err(|_| misfit(format!("field name {field:?} contains a NUL byte")))
        };
        fields.iter().map(name).collect::<Result<_, _>>().map(Self)
    }

    fn name(&self, field: u16) -> Result<&CString, Error> {
        let missing = || misfit(format!("field {field} does not exist, the collection has {} fields", self.0.len()));
        self.0.get(usize::from(field)).ok_or_else(missing)
    }

    /// A whole document, to be inserted.
    pub(super) fn whole(&self, document: DocumentRef<'_>) -> Result<RawDocumentBuf, Error> {
        let mut raw = RawDocumentBuf::new();
        raw.append(cstr!("_id"), document.key());
        for (field, bytes) in document.values() {
            raw.append(self.name(field)?, RawBinaryRef { subtype: BinarySubtype::Generic, bytes });
        }
        Ok(raw)
    }

    /// The modification that sets the fields of `document`.
    pub(super) fn set(&self, document: DocumentRef<'_>) -> Result<Document, Error> {
        let mut fields = Document::new();
        for (field, bytes) in document.values() {
            let value = Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() };
            fields.insert(self.name(field)?.to_string(), Bson::Binary(value));
        }
        Ok(doc! { "$set": fields })
    }

    /// Projection that leaves out fields; `None` when all fields are wanted.
    pub(super) fn projection(&self, fields: Fields) -> Result<Option<Document>, Error> {
        match fields {
            Fields::All => Ok(None),
            Fields::One(field) => Ok(Some(doc! { self.name(field)?.to_string(): 1 })),
        }
    }

    /// Adds a document that came back; fields that the collection does not name are left out.
    pub(super) fn read(&self, document: &RawDocument, found: &mut DocumentBuffer) -> Result<(), Error> {
        let broken = |error| Error::other(format!("failed to read a document: {error}"));
        let key = document
            .get_str("_id")
            .map_err(|error| misfit(format!("failed to read the key of a document: {error}")))?;
        found.begin(key);
        let mut expected = 0;
        for element in document {
            let (name, value) = element.map_err(broken)?;
            let Some(field) = self.place(name.as_str(), expected) else { continue };
            expected = field + 1;
            let bytes = bytes(value).ok_or_else(|| {
                misfit(format!(
                    "field {name} of document {key} is {:?}, but must be bytes or text",
                    value.element_type()
                ))
            })?;
            found.put(u16::try_from(field).map_err(|_| misfit("more than 65,535 fields"))?, bytes);
        }
        Ok(())
    }

    /// The place of a name, which mostly is the one after the last.
    fn place(&self, name: &str, expected: usize) -> Option<usize> {
        let is = |known: &CString| known.as_str() == name;
        if self.0.get(expected).is_some_and(is) { Some(expected) } else { self.0.iter().position(is) }
    }
}

/// The bytes of a value; `None` when it is of a kind that the contract does not have.
fn bytes(value: RawBsonRef<'_>) -> Option<&[u8]> {
    match value {
        RawBsonRef::Binary(binary) => Some(binary.bytes),
        RawBsonRef::String(text) => Some(text.as_bytes()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(&["field0".to_owned(), "field1".to_owned()]).unwrap()
    }

    #[test]
    fn a_document_survives_the_way_there_and_back() {
        let mut sent = DocumentBuffer::new();
        sent.begin("user1");
        sent.put(1, b"\0\xFF");
        sent.put(0, b"");
        let raw = names().whole(sent.get(0).unwrap()).unwrap();
        let mut found = DocumentBuffer::new();
        names().read(&raw, &mut found).unwrap();
        let found = found.get(0).unwrap();
        assert_eq!((found.key(), found.value(1), found.value(0)), ("user1", Some(&b"\0\xFF"[..]), Some(&b""[..])));
        assert_eq!(found.values().map(|(field, _)| field).collect::<Vec<_>>(), [1, 0]);
    }

    fn check(document: Document, expected: Result<usize, &str>) {
        let mut found = DocumentBuffer::new();
        let raw = RawDocumentBuf::try_from(document).unwrap();
        match (names().read(&raw, &mut found), expected) {
            (Ok(()), Ok(values)) => assert_eq!(found.get(0).unwrap().values().count(), values),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (result, _) => panic!("{result:?}"),
        }
    }

    #[test]
    fn text_is_taken_unknown_fields_are_left_out_and_other_kinds_refused() {
        check(doc! { "_id": "a", "field1": "text", "other": 1 }, Ok(1));
        check(doc! { "_id": "a", "field0": 1 }, Err("field field0 of document a is Int32"));
        check(doc! { "_id": 1 }, Err("read the key"));
        check(doc! { "field0": "x" }, Err("read the key"));
    }

    #[test]
    fn a_field_beyond_the_collection_and_an_impossible_name_are_refused() {
        let mut buffer = DocumentBuffer::new();
        buffer.begin("a");
        buffer.put(2, b"x");
        assert_eq!(names().whole(buffer.get(0).unwrap()).unwrap_err().class(), ErrorClass::Data);
        assert_eq!(names().set(buffer.get(0).unwrap()).unwrap_err().class(), ErrorClass::Data);
        assert_eq!(Names::new(&["a\0b".to_owned()]).unwrap_err().class(), ErrorClass::Data);
    }
}
