//! Reads bytes of a message from front to end; nothing where they have not all arrived.

use crate::contract::{Error, ErrorClass};

/// The rest of what has arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageReader<'a> {
    /// Bytes.
    pub(super) rest: &'a [u8],
}

impl<'a> MessageReader<'a> {
    /// Takes so many bytes.
    #[inline]
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// An array.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*taken)
    }

    /// A number of 8 bits.
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A number of 16 bits.
    #[inline]
    pub(super) fn short(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// A number of 32 bits.
    #[inline]
    pub(super) fn int(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of 64 bits.
    #[inline]
    pub(super) fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The UTF-16 of a text with its length in letters in one byte.
    pub(super) fn short_text(&mut self) -> Option<&'a [u8]> {
        let letters = self.byte()?;
        self.bytes(2 * usize::from(letters))
    }

    /// The UTF-16 of a text with its length in letters in two bytes.
    pub(super) fn long_text(&mut self) -> Option<&'a [u8]> {
        let letters = self.short()?;
        self.bytes(2 * usize::from(letters))
    }
}

/// UTF-16 as text.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::new();
    decode(bytes, &mut text);
    text
}

/// Adds UTF-16 to a text.
#[inline]
pub(super) fn decode(bytes: &[u8], into: &mut String) {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    into.extend(char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)));
}

/// Adds a text as UTF-16.
#[inline]
pub(super) fn encode(text: &str, into: &mut Vec<u8>) {
    into.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
}

/// A server that does not keep the protocol; nothing more can be read from it.
pub(in crate::engines::sqlserver) fn broken(what: &str) -> Error {
    Error::new(ErrorClass::ConnectionLost, "", format!("the server broke the protocol: {what}"))
}
