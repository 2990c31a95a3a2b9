//! Packets: their heads, and how the numbers and texts in them are read and written. May not wait for any.

use crate::contract::Error;
use bytes::{BufMut as _, BytesMut};

/// Bytes before a packet's body: its length and its number.
pub(super) const HEAD: usize = 4;
/// A packet of this length goes on in the next one.
pub(super) const MOST_BYTES: usize = 0x00FF_FFFF;

/// Begins a packet; returns its place, for [`end`].
#[inline]
pub(super) fn begin(out: &mut BytesMut) -> usize {
    let start = out.len();
    out.put_u32(0);
    start
}

/// Ends a packet by writing its head. A packet that is too long is taken away again.
#[inline]
pub(super) fn end(out: &mut BytesMut, start: usize, number: u8) -> Result<(), Error> {
    let length = out.len() - start - HEAD;
    if length >= MOST_BYTES {
        out.truncate(start);
        return Err(Error::other(format!("a message to the server has {length} bytes, and may have 16 MiB at most")));
    }
    let [first, second, third, ..] = (length as u32).to_le_bytes();
    out[start..start + HEAD].copy_from_slice(&[first, second, third, number]);
    Ok(())
}

/// Writes a length in one to nine bytes.
#[inline]
pub(super) fn put_length(out: &mut BytesMut, length: usize) {
    match length {
        0..=250 => out.put_u8(length as u8),
        251..=0xFFFF => {
            out.put_u8(0xFC);
            out.put_u16_le(length as u16);
        }
        0x1_0000..=0xFF_FFFF => {
            out.put_u8(0xFD);
            out.put_slice(&(length as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.put_u8(0xFE);
            out.put_u64_le(length as u64);
        }
    }
}

/// Writes bytes with their length in front.
#[inline]
pub(super) fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.put_slice(bytes);
}

/// Reader of numbers and texts one after another; `None` where a packet is too short.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketReader<'a>(pub(super) &'a [u8]);

impl<'a> PacketReader<'a> {
    /// The next `count` bytes.
    #[inline]
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next bytes of a fixed number.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    /// The head of a packet: bytes of its body, and its number.
    #[inline]
    pub(super) fn head(&mut self) -> Option<(usize, u8)> {
        let [first, second, third, number] = self.array()?;
        Some((u32::from_le_bytes([first, second, third, 0]) as usize, number))
    }

    /// One byte.
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
    pub(super) fn long(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number in one to nine bytes; `None` also for the mark of null.
    #[inline]
    pub(super) fn length(&mut self) -> Option<u64> {
        match self.byte()? {
            short @ 0..=250 => Some(u64::from(short)),
            0xFC => self.short().map(u64::from),
            0xFD => self.array().map(|[first, second, third]| u64::from(u32::from_le_bytes([first, second, third, 0]))),
            0xFE => self.array().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// Bytes with their length in front.
    #[inline]
    pub(super) fn sized(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.length()?).ok()?;
        self.bytes(length)
    }

    /// Bytes up to a zero, or to the end.
    pub(super) fn until_zero(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let found = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        found
    }
}

/// An answer that does not keep the protocol.
#[cold]
pub(in crate::engines::mysql_family) fn broken(what: &str) -> Error {
    Error::other(format!("the server's answer is not understood: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_survive_the_round_trip() {
        for length in [0, 250, 251, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000] {
            let mut out = BytesMut::new();
            put_length(&mut out, length);
            let mut reading = PacketReader(&out);
            assert_eq!((reading.length(), reading.0.len()), (Some(length as u64), 0), "{length}");
        }
        assert_eq!(PacketReader(&[0xFB]).length(), None, "null");
        assert_eq!(PacketReader(&[0xFC, 1]).length(), None, "cut off");
    }

    #[test]
    fn a_packet_that_is_too_long_is_taken_away_again() {
        let mut out = BytesMut::from(&b"before"[..]);
        let start = begin(&mut out);
        out.put_bytes(b'x', MOST_BYTES);
        assert!(end(&mut out, start, 0).is_err());
        assert_eq!(&out[..], b"before");
        let start = begin(&mut out);
        out.put_slice(b"abc");
        end(&mut out, start, 7).expect("it is short");
        assert_eq!(&out[6..], b"\x03\0\0\x07abc");
    }
}
