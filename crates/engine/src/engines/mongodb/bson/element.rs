//! The kinds of BSON elements, and the value of one as it lies in memory.

use super::read::Document;

/// Numbers of the kinds.
pub(super) mod kind {
    pub(in super::super) const DOUBLE: u8 = 0x01;
    pub(in super::super) const TEXT: u8 = 0x02;
    pub(in super::super) const DOCUMENT: u8 = 0x03;
    pub(in super::super) const ARRAY: u8 = 0x04;
    pub(in super::super) const BINARY: u8 = 0x05;
    pub(in super::super) const BOOLEAN: u8 = 0x08;
    pub(in super::super) const NULL: u8 = 0x0A;
    pub(in super::super) const INT32: u8 = 0x10;
    pub(in super::super) const INT64: u8 = 0x12;
}

/// The value of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) enum Element<'a> {
    /// 64-bit floating point number.
    Double(f64),
    /// Text, not checked to be UTF-8 yet.
    Text(&'a [u8]),
    /// Document.
    Document(Document<'a>),
    /// Array: a document whose names are numbers.
    Array(Document<'a>),
    /// Bytes of any subtype.
    Binary(&'a [u8]),
    /// True or false.
    Boolean(bool),
    /// Null.
    Null,
    /// 32-bit integer.
    Int32(i32),
    /// 64-bit integer.
    Int64(i64),
    /// A kind that we only step over.
    Other(u8),
}

impl<'a> Element<'a> {
    /// A whole number, whichever kind of number carries it.
    pub(in super::super) fn integer(self) -> Option<i64> {
        match self {
            Self::Int32(number) => Some(i64::from(number)),
            Self::Int64(number) => Some(number),
            Self::Double(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => Some(number as i64),
            _ => None,
        }
    }

    /// A number.
    pub(in super::super) fn number(self) -> Option<f64> {
        match self {
            Self::Int32(number) => Some(f64::from(number)),
            Self::Int64(number) => Some(number as f64),
            Self::Double(number) => Some(number),
            _ => None,
        }
    }

    /// A text that is UTF-8.
    pub(in super::super) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// True, or a number other than 0.
    pub(in super::super) fn is_true(self) -> bool {
        match self {
            Self::Boolean(value) => value,
            other => other.number().is_some_and(|number| number != 0.0),
        }
    }

    /// The document or array.
    pub(in super::super) fn document(self) -> Option<Document<'a>> {
        match self {
            Self::Document(document) | Self::Array(document) => Some(document),
            _ => None,
        }
    }

    /// What it is, in a word, for messages.
    pub(in super::super) fn word(self) -> &'static str {
        match self {
            Self::Double(_) | Self::Int32(_) | Self::Int64(_) => "a number",
            Self::Text(_) => "text",
            Self::Document(_) => "a document",
            Self::Array(_) => "an array",
            Self::Binary(_) => "bytes",
            Self::Boolean(_) => "true or false",
            Self::Null => "null",
            Self::Other(_) => "a value of another kind",
        }
    }
}
