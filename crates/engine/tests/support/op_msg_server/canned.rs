//! The null target's answers: constants, of which only the number of the request is written anew.

use super::behaviour::Canned;
use super::build::{binary, cursor, document, int, ok, text};
use super::raw;
use super::wire::Request;

/// Ready messages.
#[derive(Debug)]
pub(super) struct Answers {
    collection: &'static str,
    found: Vec<u8>,
    updated: Vec<u8>,
    one: Vec<u8>,
}

impl Answers {
    pub(super) fn new(canned: &Canned) -> Self {
        let value = vec![b'0'; canned.value_bytes];
        let fields = (0..canned.fields).map(|field| binary(&format!("field{field}"), &value));
        let one = document(&std::iter::once(text("_id", "user0")).chain(fields).collect::<Vec<_>>());
        let namespace = format!("proofload.{}", canned.collection);
        let found = message(&cursor("firstBatch", &namespace, 0, std::slice::from_ref(&one)));
        let updated = message(&document(&[int("n", 1), int("nModified", 1), ok()]));
        Self { collection: canned.collection, found, updated, one }
    }

    /// The message that answers this one, if it is one of the hot commands on the collection.
    pub(super) fn answer(&self, request: &[u8], output: &mut Vec<u8>) -> bool {
        if request[12..16] != 2013u32.to_le_bytes() || request[20] != 0 {
            return false;
        }
        let body = &request[21..];
        let Some(command) =
            raw::elements(body).next().filter(|first| first.kind == 2 && first.text() == self.collection)
        else {
            return false;
        };
        output.clear();
        match command.name {
            "find" if is_scan(body) => output.extend(self.scanned(body)),
            "find" => output.extend_from_slice(&self.found),
            "update" => output.extend_from_slice(&self.updated),
            "insert" => output.extend(inserted(request)),
            _ => return false,
        }
        output[8..12].copy_from_slice(&request[4..8]);
        true
    }

    /// The number of constants that was asked for.
    fn scanned(&self, body: &[u8]) -> Vec<u8> {
        let limit = raw::get(body, "limit").map_or(1, |limit| limit.integer());
        let documents = vec![self.one.clone(); usize::try_from(limit).unwrap_or(1)];
        message(&cursor("firstBatch", "proofload.usertable", 0, &documents))
    }
}

fn is_scan(body: &[u8]) -> bool {
    let id = raw::get(body, "filter").and_then(|filter| raw::get(filter.value, "_id"));
    id.is_some_and(|id| id.kind == 3)
}

fn inserted(request: &[u8]) -> Vec<u8> {
    let count = Request::parse(request).documents("documents").len();
    message(&document(&[int("n", i32::try_from(count).expect("a small batch")), ok()]))
}

/// A message around a document; whom it answers is written later.
pub(super) fn message(document: &[u8]) -> Vec<u8> {
    let length = u32::try_from(21 + document.len()).expect("a short message");
    let header = [length, 1, 0, 2013, 0].map(u32::to_le_bytes).concat();
    [&header[..], &[0], document].concat()
}
