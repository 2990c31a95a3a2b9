//! Steps through a BSON document where it lies. Believes no length: whatever the bytes, it ends, and never reads beyond them.

use super::element::{Element, kind};

/// The bytes are not BSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct MalformedBson;

/// The elements of a document, without its length and its end mark. They are checked when stepped over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Document<'a> {
    elements: &'a [u8],
}

impl<'a> Document<'a> {
    /// The document at the start of `bytes`, and what follows it.
    #[inline]
    pub(in super::super) fn split(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), MalformedBson> {
        let length = usize::try_from(i32_at(bytes)?).map_err(|_| MalformedBson)?;
        let (document, rest) = bytes.split_at_checked(length).ok_or(MalformedBson)?;
        match document.get(4..) {
            Some([elements @ .., 0]) => Ok((Self { elements }, rest)),
            _ => Err(MalformedBson),
        }
    }

    /// The document that `bytes` are, to the last byte.
    pub(in super::super) fn whole(bytes: &'a [u8]) -> Result<Self, MalformedBson> {
        let (document, rest) = Self::split(bytes)?;
        if rest.is_empty() { Ok(document) } else { Err(MalformedBson) }
    }

    /// Its elements as they lie.
    pub(super) fn elements(self) -> &'a [u8] {
        self.elements
    }

    /// Its elements in order: name and value. After a malformed one there are no more.
    #[inline]
    pub(in super::super) fn iter(self) -> Elements<'a> {
        Elements { rest: self.elements }
    }

    /// The first element of this name; `None` also when the bytes before it are malformed.
    pub(in super::super) fn get(self, name: &str) -> Option<Element<'a>> {
        self.iter().map_while(Result::ok).find(|(known, _)| *known == name.as_bytes()).map(|(_, value)| value)
    }

    /// The element at the end of a path of names with dots between them.
    pub(in super::super) fn at(self, path: &str) -> Option<Element<'a>> {
        path.split('.').try_fold(Element::Document(self), |found, name| found.document()?.get(name))
    }
}

/// Steps over the elements.
#[derive(Debug, Clone)]
pub(in super::super) struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<(&'a [u8], Element<'a>), MalformedBson>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (&kind, rest) = self.rest.split_first()?;
        let found = name(rest).and_then(|(name, rest)| {
            let (value, rest) = value(kind, rest)?;
            self.rest = rest;
            Ok((name, value))
        });
        if found.is_err() {
            self.rest = &[];
        }
        Some(found)
    }
}

/// A name up to its zero.
#[inline]
fn name(bytes: &[u8]) -> Result<(&[u8], &[u8]), MalformedBson> {
    let end = bytes.iter().position(|byte| *byte == 0).ok_or(MalformedBson)?;
    Ok((&bytes[..end], &bytes[end + 1..]))
}

#[inline]
fn value(kind: u8, bytes: &[u8]) -> Result<(Element<'_>, &[u8]), MalformedBson> {
    Ok(match kind {
        kind::BINARY => {
            let length = usize::try_from(i32_at(bytes)?).map_err(|_| MalformedBson)?;
            let (value, rest) = take(bytes.get(5..).ok_or(MalformedBson)?, length)?;
            (Element::Binary(value), rest)
        }
        kind::TEXT => {
            let (value, rest) = text(bytes)?;
            (Element::Text(value), rest)
        }
        kind::DOCUMENT | kind::ARRAY => {
            let (document, rest) = Document::split(bytes)?;
            (if kind == kind::ARRAY { Element::Array(document) } else { Element::Document(document) }, rest)
        }
        kind::BOOLEAN => {
            let (value, rest) = take(bytes, 1)?;
            (Element::Boolean(value[0] != 0), rest)
        }
        kind::NULL => (Element::Null, bytes),
        kind::INT32 => (Element::Int32(i32_at(bytes)?), &bytes[4..]),
        kind::INT64 => (Element::Int64(i64::from_le_bytes(eight(bytes)?)), &bytes[8..]),
        kind::DOUBLE => (Element::Double(f64::from_le_bytes(eight(bytes)?)), &bytes[8..]),
        other => (Element::Other(other), after(other, bytes)?),
    })
}

/// What follows a value of a kind that is only stepped over.
fn after(kind: u8, bytes: &[u8]) -> Result<&[u8], MalformedBson> {
    let fixed = match kind {
        // Undefined, smallest and largest key.
        0x06 | 0xFF | 0x7F => 0,
        // Object identifier.
        0x07 => 12,
        // Date, timestamp.
        0x09 | 0x11 => 8,
        // 128-bit decimal number.
        0x13 => 16,
        // Regular expression: two names.
        0x0B => return name(name(bytes)?.1).map(|(_, rest)| rest),
        // Pointer to a document: text and object identifier.
        0x0C => return take(text(bytes)?.1, 12).map(|(_, rest)| rest),
        // Code, symbol.
        0x0D | 0x0E => return text(bytes).map(|(_, rest)| rest),
        // Code with its scope, which begins with the length of all.
        0x0F => usize::try_from(i32_at(bytes)?).ok().filter(|length| *length >= 4).ok_or(MalformedBson)?,
        _ => return Err(MalformedBson),
    };
    take(bytes, fixed).map(|(_, rest)| rest)
}

/// A text with its length and its zero.
#[inline]
fn text(bytes: &[u8]) -> Result<(&[u8], &[u8]), MalformedBson> {
    let length = usize::try_from(i32_at(bytes)?).map_err(|_| MalformedBson)?;
    match take(&bytes[4..], length)? {
        ([text @ .., 0], rest) => Ok((text, rest)),
        _ => Err(MalformedBson),
    }
}

#[inline]
fn take(bytes: &[u8], length: usize) -> Result<(&[u8], &[u8]), MalformedBson> {
    bytes.split_at_checked(length).ok_or(MalformedBson)
}

#[inline]
fn i32_at(bytes: &[u8]) -> Result<i32, MalformedBson> {
    bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes)).ok_or(MalformedBson)
}

#[inline]
fn eight(bytes: &[u8]) -> Result<[u8; 8], MalformedBson> {
    bytes.first_chunk().copied().ok_or(MalformedBson)
}

#[cfg(test)]
mod tests {
    use super::super::Writer;
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Vec<u8> {
        Writer::bytes(|document| {
            document.text("text", "ä");
            document.binary("bytes", b"\x00\x01");
            document.int32("small", -1);
            document.int64("large", i64::MAX);
            document.boolean("yes", true);
            document.null("none");
            document.nested("inner", |inner| inner.array("list", |list| list.int32("0", 7)));
        })
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = sample();
        let document = Document::whole(&bytes).unwrap();
        assert_eq!(document.get("text").and_then(Element::text), Some("ä"));
        assert_eq!(document.get("bytes"), Some(Element::Binary(b"\x00\x01")));
        assert_eq!(document.get("small").and_then(Element::integer), Some(-1));
        assert_eq!(document.get("large").and_then(Element::integer), Some(i64::MAX));
        assert!(document.get("yes").unwrap().is_true());
        assert_eq!(document.get("none"), Some(Element::Null));
        assert_eq!(document.at("inner.list.0").and_then(Element::integer), Some(7));
        assert_eq!(document.iter().count(), 7);
    }

    #[test]
    fn kinds_that_are_not_ours_are_stepped_over() {
        let others: &[&[u8]] = &[
            b"\x07a\x00123456789012",
            b"\x09a\x0012345678",
            b"\x11a\x0012345678",
            b"\x13a\x001234567890123456",
            b"\x0Ba\x00x\x00i\x00",
            b"\x0Da\x00\x02\x00\x00\x00x\x00",
            b"\x0Fa\x00\x09\x00\x00\x00_____",
            b"\xFFa\x00",
        ];
        let mut bytes = vec![0; 4];
        bytes.extend(others.iter().flat_map(|other| other.iter()));
        bytes.extend_from_slice(b"\x10last\x00\x05\x00\x00\x00\x00");
        let length = i32::try_from(bytes.len()).unwrap();
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        let document = Document::whole(&bytes).unwrap();
        assert_eq!(document.iter().filter(Result::is_ok).count(), others.len() + 1);
        assert_eq!(document.get("last"), Some(Element::Int32(5)));
    }

    proptest! {
        #[test]
        fn damaged_bytes_end_in_an_error_and_not_in_a_panic(at in 0usize..200, byte: u8, cut in 0usize..200) {
            let mut bytes = sample();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(length - cut % 8);
            if let Ok((document, _)) = Document::split(&bytes) {
                prop_assert!(document.iter().count() < 200);
                let _ = document.at("inner.list.0");
            }
        }
    }
}
