//! Messages of the server: where one lies in the buffer, and how the few that we look into are read. May not wait for any.

use crate::contract::Error;
use crate::engines::postgresql::failure;
use std::ops::Range;

/// What a message is: its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines::postgresql) struct Tag(pub(super) u8);

impl Tag {
    /// A row.
    pub(in crate::engines::postgresql) const ROW: Self = Self(b'D');
    /// A statement has come to its end.
    pub(in crate::engines::postgresql) const COMPLETE: Self = Self(b'C');
    /// A statement without text has come to its end.
    pub(in crate::engines::postgresql) const EMPTY: Self = Self(b'I');
    /// An error; what follows up to the next synchronisation is skipped.
    pub(in crate::engines::postgresql) const ERROR: Self = Self(b'E');
    /// The server waits for what comes next.
    pub(in crate::engines::postgresql) const READY: Self = Self(b'Z');
    /// Types of a statement's parameters.
    pub(in crate::engines::postgresql) const PARAMETERS: Self = Self(b't');
    /// Names and types of a statement's columns.
    pub(in crate::engines::postgresql) const COLUMNS: Self = Self(b'T');
    /// A statement has no columns.
    pub(in crate::engines::postgresql) const NO_COLUMNS: Self = Self(b'n');
    /// The server takes rows.
    pub(in crate::engines::postgresql) const COPY_IN: Self = Self(b'G');
    /// A notice.
    pub(super) const NOTICE: Self = Self(b'N');
    /// A setting that clients want to know has changed.
    pub(super) const SETTING: Self = Self(b'S');
    /// Somebody notifies whoever listens.
    pub(super) const NOTIFICATION: Self = Self(b'A');
}

/// A message in the connection's buffer, valid until the next one is received.
#[derive(Debug, Clone)]
pub(in crate::engines::postgresql) struct Message {
    /// What it is.
    pub(in crate::engines::postgresql) tag: Tag,
    /// Where its body lies.
    pub(super) body: Range<usize>,
}

/// Rows affected, from the last word of the `CommandComplete` tag; 0 if it has no number.
pub(in crate::engines::postgresql) fn affected(body: &[u8]) -> u64 {
    let text = body.strip_suffix(&[0]).unwrap_or(body);
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    text[text.len() - digits..].iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'))
}

/// The error that a message tells.
pub(super) fn error(body: &[u8]) -> Error {
    let (mut code, mut text, mut more) = (String::new(), String::new(), [None, None]);
    let mut rest = body;
    while let [kind @ 1..=u8::MAX, field @ ..] = rest {
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        let value = || String::from_utf8_lossy(&field[..end]).into_owned();
        match kind {
            b'C' => code = value(),
            b'M' => text = value(),
            b'D' => more[0] = Some(value()),
            b'H' => more[1] = Some(value()),
            _ => {}
        }
        rest = field.get(end + 1..).unwrap_or_default();
    }
    failure::of_server(&code, &text, more.iter().flatten().map(String::as_str))
}

/// Whether a notice is a warning: something that was asked for was done in another way.
pub(super) fn is_warning(body: &[u8]) -> bool {
    let mut fields = body.split(|byte| *byte == 0);
    fields.any(|field| field == b"VWARNING")
}

/// Reader of numbers and names one after another; `None` where a message is too short.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a>(pub(super) &'a [u8]);

impl<'a> Reading<'a> {
    /// The next `count` bytes.
    #[inline]
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of 16 bits.
    #[inline]
    pub(super) fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.bytes(2)?.try_into().ok()?))
    }

    /// A number of 32 bits.
    #[inline]
    pub(super) fn long(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.bytes(4)?.try_into().ok()?))
    }

    /// A name that ends with a zero.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let name = std::str::from_utf8(self.bytes(end)?).ok()?;
        self.bytes(1).map(|_| name)
    }
}

/// An answer that does not keep the protocol.
#[cold]
pub(super) fn broken(what: &str) -> Error {
    Error::other(format!("unexpected answer from the server: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ErrorClass;

    #[test]
    fn ends_of_statements_tell_rows() {
        let cases = [("INSERT 0 5", 5), ("UPDATE 12", 12), ("SELECT 0", 0), ("CALL", 0), ("BEGIN", 0), ("", 0)];
        for (text, rows) in cases {
            assert_eq!(affected(format!("{text}\0").as_bytes()), rows, "{text}");
        }
    }

    #[test]
    fn errors_have_class_code_text_detail_and_hint() {
        let found = error(b"SERROR\0VERROR\0C23505\0Mduplicate key\0DKey (id)=(1) exists.\0Htry another\0\0");
        assert_eq!((found.class(), found.code()), (ErrorClass::Data, "23505"));
        assert_eq!(found.to_string(), "duplicate key; Key (id)=(1) exists.; try another (23505)");
        // Cut off, and empty: still an error.
        assert_eq!(error(b"C40001\0Mserial").class(), ErrorClass::Retryable);
        assert_eq!(error(b"").to_string(), "");
    }

    #[test]
    fn a_warning_is_told_from_a_notice() {
        assert!(is_warning(b"SWARNING\0VWARNING\0C01000\0Mcanceling wait for synchronous replication\0\0"));
        assert!(!is_warning(b"SNOTICE\0VNOTICE\0C00000\0MVWARNING\0\0"));
        assert!(!is_warning(b""));
    }
}
