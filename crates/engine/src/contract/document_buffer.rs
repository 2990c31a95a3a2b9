//! Documents in memory that is reused: answers of a store, batches to insert, fields to set. Allocates nothing once its memory has
//! grown. May not know what a value means.

use std::ops::Range;

/// One value of a document.
#[derive(Debug, Clone, Copy)]
struct Piece {
    field: u16,
    start: u32,
    end: u32,
}

/// Where a document lies.
#[derive(Debug, Clone)]
struct BufferPlace {
    key: Range<u32>,
    pieces: Range<u32>,
}

/// Documents one after another in one piece of memory of less than 4 GiB.
#[derive(Debug, Default)]
pub struct DocumentBuffer {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
    places: Vec<BufferPlace>,
}

/// A position in the buffer.
#[inline]
fn position(length: usize) -> u32 {
    u32::try_from(length).expect("a buffer of documents holds less than 4 GiB")
}

impl DocumentBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all documents; keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.pieces.clear();
        self.places.clear();
    }

    /// Begins a document; its values follow.
    #[inline]
    pub fn begin(&mut self, key: &str) {
        let start = position(self.bytes.len());
        self.bytes.extend_from_slice(key.as_bytes());
        let pieces = position(self.pieces.len());
        self.places.push(BufferPlace { key: start..position(self.bytes.len()), pieces: pieces..pieces });
    }

    /// Adds a value to the document begun last; nothing when none was begun.
    #[inline]
    pub fn put(&mut self, field: u16, value: &[u8]) {
        self.put_with(field, value.len(), |space| space.copy_from_slice(value));
    }

    /// Adds a value of `length` bytes that `fill` writes in place.
    #[inline]
    pub fn put_with(&mut self, field: u16, length: usize, fill: impl FnOnce(&mut [u8])) {
        let Some(place) = self.places.last_mut() else { return };
        let start = self.bytes.len();
        self.bytes.resize(start + length, 0);
        fill(&mut self.bytes[start..]);
        self.pieces.push(Piece { field, start: position(start), end: position(start + length) });
        place.pieces.end = position(self.pieces.len());
    }

    /// Number of documents.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no documents.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Document `index`; `None` beyond the last.
    #[inline]
    pub fn get(&self, index: usize) -> Option<DocumentRef<'_>> {
        self.places.get(index).map(|place| DocumentRef { buffer: self, place })
    }

    /// All documents in order.
    pub fn iter(&self) -> impl Iterator<Item = DocumentRef<'_>> {
        self.places.iter().map(|place| DocumentRef { buffer: self, place })
    }
}

/// One document of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct DocumentRef<'a> {
    buffer: &'a DocumentBuffer,
    place: &'a BufferPlace,
}

impl<'a> DocumentRef<'a> {
    /// Its key.
    #[inline]
    pub fn key(self) -> &'a str {
        let bytes = &self.buffer.bytes[self.place.key.start as usize..self.place.key.end as usize];
        std::str::from_utf8(bytes).expect("a key was put in as text")
    }

    /// Its values in the order in which they were put: field and bytes.
    #[inline]
    pub fn values(self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let pieces = &self.buffer.pieces[self.place.pieces.start as usize..self.place.pieces.end as usize];
        pieces.iter().map(move |piece| (piece.field, &self.buffer.bytes[piece.start as usize..piece.end as usize]))
    }

    /// The value of a field; `None` when the document does not have it.
    #[inline]
    pub fn value(self, field: u16) -> Option<&'a [u8]> {
        self.values().find(|(known, _)| *known == field).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_back_as_they_were_put_and_memory_is_kept() {
        let mut buffer = DocumentBuffer::new();
        buffer.put(0, b"belongs to no document");
        assert!(buffer.is_empty());
        for _ in 0..2 {
            buffer.clear();
            buffer.begin("user1");
            buffer.put(3, b"abc");
            buffer.put_with(0, 2, |space| space.fill(b'x'));
            buffer.begin("user2");
            let first = buffer.get(0).unwrap();
            assert_eq!((first.key(), first.value(3), first.value(0)), ("user1", Some(&b"abc"[..]), Some(&b"xx"[..])));
            assert_eq!(first.value(1), None);
            assert_eq!(buffer.get(1).unwrap().values().count(), 0);
            assert_eq!(buffer.iter().map(DocumentRef::key).collect::<Vec<_>>(), ["user1", "user2"]);
            assert!(buffer.get(2).is_none());
        }
    }
}
