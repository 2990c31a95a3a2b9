//! A batch to insert: the documents that a server can take, and those that it cannot, which the driver would fail as a whole for.

use super::super::failure::{DOCUMENT_TOO_LARGE, with_code};
use super::values::Names;
use crate::contract::{DocumentBuffer, Error};
use mongodb::bson::RawDocumentBuf;

/// Largest document of any server, bytes. Source: MongoDB manual, "MongoDB Limits and Thresholds".
const MOST_BYTES: usize = 16 << 20;

/// A batch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Documents to send.
    pub(super) documents: Vec<RawDocumentBuf>,
    /// Place in the caller's batch of each of them.
    pub(super) places: Vec<u32>,
    /// Documents that are not sent, by index and reason.
    pub(super) refused: Vec<(u32, Error)>,
}

impl Batch {
    /// Writes all documents of a buffer.
    pub(super) fn of(buffer: &DocumentBuffer, names: &Names) -> Result<Self, Error> {
        let mut batch = Self::default();
        for (place, document) in (0..).zip(buffer.iter()) {
            let raw = names.whole(document)?;
            let bytes = raw.as_bytes().len();
            if bytes > MOST_BYTES {
                let text = format!("the document has {bytes} bytes, but the server accepts at most {MOST_BYTES}");
                batch.refused.push((place, with_code(DOCUMENT_TOO_LARGE, text)));
            } else {
                batch.documents.push(raw);
                batch.places.push(place);
            }
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_too_large_is_refused_in_its_place() {
        let names = Names::new(&["field0".to_owned()]).unwrap();
        let mut buffer = DocumentBuffer::new();
        for (key, bytes) in [("a", 1), ("b", MOST_BYTES), ("c", 1)] {
            buffer.begin(key);
            buffer.put_with(0, bytes, |_| ());
        }
        let batch = Batch::of(&buffer, &names).unwrap();
        assert_eq!((batch.places, batch.documents.len()), (vec![0, 2], 2));
        assert_eq!((batch.refused.len(), batch.refused[0].0, batch.refused[0].1.code()), (1, 1, "10334"));
    }
}
