//! Writes BSON at the end of a byte vector. Allocates nothing once the vector has grown; checks no limits of size.

use super::element::kind;
use super::read::Document;

/// Writes the elements of one document.
#[derive(Debug)]
pub(in super::super) struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Writes a whole document at the end of `bytes`.
    #[inline]
    pub(in super::super) fn document(bytes: &mut Vec<u8>, fill: impl FnOnce(&mut Writer<'_>)) {
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        fill(&mut Writer { bytes });
        bytes.push(0);
        let length = length(bytes.len() - start);
        bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// A whole document as bytes of its own, for the cold path.
    pub(in super::super) fn bytes(fill: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        Self::document(&mut bytes, fill);
        bytes
    }

    #[inline]
    fn begin(&mut self, kind: u8, name: &str) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
    }

    /// A text.
    #[inline]
    pub(in super::super) fn text(&mut self, name: &str, value: &str) {
        self.begin(kind::TEXT, name);
        self.bytes.extend_from_slice(&length(value.len() + 1).to_le_bytes());
        self.bytes.extend_from_slice(value.as_bytes());
        self.bytes.push(0);
    }

    /// Bytes, subtype 0.
    #[inline]
    pub(in super::super) fn binary(&mut self, name: &str, value: &[u8]) {
        self.begin(kind::BINARY, name);
        self.bytes.extend_from_slice(&length(value.len()).to_le_bytes());
        self.bytes.push(0);
        self.bytes.extend_from_slice(value);
    }

    /// A 32-bit integer.
    #[inline]
    pub(in super::super) fn int32(&mut self, name: &str, value: i32) {
        self.begin(kind::INT32, name);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A 64-bit integer.
    #[inline]
    pub(in super::super) fn int64(&mut self, name: &str, value: i64) {
        self.begin(kind::INT64, name);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// True or false.
    #[inline]
    pub(in super::super) fn boolean(&mut self, name: &str, value: bool) {
        self.begin(kind::BOOLEAN, name);
        self.bytes.push(u8::from(value));
    }

    /// Null.
    pub(in super::super) fn null(&mut self, name: &str) {
        self.begin(kind::NULL, name);
    }

    /// A document within.
    #[inline]
    pub(in super::super) fn nested(&mut self, name: &str, fill: impl FnOnce(&mut Writer<'_>)) {
        self.begin(kind::DOCUMENT, name);
        Writer::document(self.bytes, fill);
    }

    /// An array; its elements are named `0`, `1`, … by `fill`.
    #[inline]
    pub(in super::super) fn array(&mut self, name: &str, fill: impl FnOnce(&mut Writer<'_>)) {
        self.begin(kind::ARRAY, name);
        Writer::document(self.bytes, fill);
    }

    /// The elements of a document that was read.
    pub(in super::super) fn all_of(&mut self, document: Document<'_>) {
        self.bytes.extend_from_slice(document.elements());
    }

    /// The elements of a document that is written already.
    pub(in super::super) fn elements_of(&mut self, document: &[u8]) {
        self.bytes.extend_from_slice(&document[4..document.len() - 1]);
    }
}

/// A length as BSON has it.
#[inline]
fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).expect("a message is far shorter than 2 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification_come_out() {
        let hello = Writer::bytes(|document| document.text("hello", "world"));
        assert_eq!(hello, b"\x16\x00\x00\x00\x02hello\x00\x06\x00\x00\x00world\x00\x00");
        let nested = Writer::bytes(|document| document.array("BSON", |array| array.text("0", "awesome")));
        assert_eq!(nested, b"\x1f\x00\x00\x00\x04BSON\x00\x14\x00\x00\x00\x020\x00\x08\x00\x00\x00awesome\x00\x00\x00");
    }
}
