//! Collections in memory, and what finds their documents. Documents are kept as the bytes that came.

use super::build::{self, cursor};
use super::raw::{self, Element};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Documents by key, in order.
pub(super) type Collection = BTreeMap<Vec<u8>, Vec<u8>>;

/// All that is kept.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// Collections by `database.collection`.
    pub(super) collections: BTreeMap<String, Collection>,
    /// Address of the member of a replica set that a client has made.
    pub(super) member: Option<String>,
    /// What is left of cursors.
    cursors: BTreeMap<i64, Vec<Vec<u8>>>,
    next_cursor: i64,
}

/// The key under which a document stands: of a text its bytes, which are in the order that a server gives texts.
pub(super) fn key(id: &Element<'_>) -> Vec<u8> {
    if id.kind == 2 { id.text().as_bytes().to_vec() } else { [&[id.kind], id.value].concat() }
}

impl Store {
    /// Documents that a filter means: nothing, `_id`, or `_id` from a value on.
    pub(super) fn matching(&self, namespace: &str, filter: &[u8]) -> Vec<&Vec<u8>> {
        let Some(all) = self.collections.get(namespace) else { return Vec::new() };
        match raw::get(filter, "_id") {
            None => all.values().collect(),
            Some(id) if id.kind == 3 => {
                let from = raw::get(id.value, "$gte").expect("the server knows $gte alone");
                all.range((Bound::Included(key(&from)), Bound::Unbounded)).map(|(_, document)| document).collect()
            }
            Some(id) => all.get(&key(&id)).into_iter().collect(),
        }
    }

    /// The first batch of documents, the rest behind a cursor.
    pub(super) fn first_batch(&mut self, namespace: &str, mut documents: Vec<Vec<u8>>, size: usize) -> Vec<u8> {
        let id = self.keep(documents.split_off(size.min(documents.len())));
        cursor("firstBatch", namespace, id, &documents)
    }

    /// More of a cursor.
    pub(super) fn next_batch(&mut self, namespace: &str, id: i64, size: usize) -> Vec<u8> {
        let Some(mut documents) = self.cursors.remove(&id) else {
            return build::failure(43, "CursorNotFound", "there is no such cursor");
        };
        let rest = documents.split_off(size.min(documents.len()));
        if !rest.is_empty() {
            self.cursors.insert(id, rest);
            return cursor("nextBatch", namespace, id, &documents);
        }
        cursor("nextBatch", namespace, 0, &documents)
    }

    fn keep(&mut self, rest: Vec<Vec<u8>>) -> i64 {
        if rest.is_empty() {
            return 0;
        }
        self.next_cursor += 1;
        self.cursors.insert(self.next_cursor, rest);
        self.next_cursor
    }

    /// Number of cursors that a client left open.
    pub(super) fn open_cursors(&self) -> usize {
        self.cursors.len()
    }
}

/// A document with only the key and the fields of a projection.
pub(super) fn projected(document: &[u8], projection: Option<&[u8]>) -> Vec<u8> {
    let Some(projection) = projection.filter(|projection| raw::elements(projection).next().is_some()) else {
        return document.to_vec();
    };
    let wanted = |element: &Element<'_>| element.name == "_id" || raw::get(projection, element.name).is_some();
    let kept: Vec<_> = raw::elements(document).filter(wanted).map(|element| element.whole.to_vec()).collect();
    build::document(&kept)
}
