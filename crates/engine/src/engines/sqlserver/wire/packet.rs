//! Packets: eight bytes of head, then a part of a message. Knows nothing of what messages say. Source: [MS-TDS] 2.2.3.1.

use super::reading::broken;
use crate::contract::Error;

/// Bytes of a packet's head.
pub(super) const HEAD: usize = 8;
/// The size of packets until both sides agree on another.
pub(super) const FIRST_SIZE: usize = 4096;
/// The last packet of a message.
const LAST: u8 = 1;
/// The largest size that the protocol allows.
const MOST: usize = 32_767;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum MessageKind {
    /// Text of statements.
    Batch = 1,
    /// Calls of procedures.
    Rpc = 3,
    /// An answer, also to the first message.
    Answer = 4,
    /// Stop what you do.
    Attention = 6,
    /// Rows.
    Bulk = 7,
    /// Logging on.
    Login = 16,
    /// The first message, and what TLS says before it is agreed.
    PreLogin = 18,
}

/// Adds a message in packets of this size.
pub(super) fn frame(kind: MessageKind, message: &[u8], size: usize, out: &mut Vec<u8>) {
    let mut number = 0;
    let rest = frame_part(kind, message, size, &mut number, out);
    frame_last(kind, rest, &mut number, out);
}

/// Adds those packets of a message that are full and not the last; what is left of it. `number` is that of the packet before.
pub(super) fn frame_part<'a>(
    kind: MessageKind,
    message: &'a [u8],
    size: usize,
    number: &mut u8,
    out: &mut Vec<u8>,
) -> &'a [u8] {
    let room = size.clamp(512, MOST) - HEAD;
    let mut rest = message;
    while rest.len() > room {
        let (part, after) = rest.split_at(room);
        put(kind, 0, part, number, out);
        rest = after;
    }
    rest
}

/// Adds the last packet of a message.
pub(super) fn frame_last(kind: MessageKind, part: &[u8], number: &mut u8, out: &mut Vec<u8>) {
    put(kind, LAST, part, number, out);
}

fn put(kind: MessageKind, status: u8, part: &[u8], number: &mut u8, out: &mut Vec<u8>) {
    *number = number.wrapping_add(1);
    let [high, low] = u16::try_from(HEAD + part.len()).unwrap_or(u16::MAX).to_be_bytes();
    out.extend_from_slice(&[kind as u8, status, high, low, 0, 0, *number, 0]);
    out.extend_from_slice(part);
}

/// Takes packets apart, in whatever pieces they arrive.
#[derive(Debug, Default)]
pub(super) struct PacketReader {
    head: [u8; HEAD],
    /// Bytes of the head that have arrived.
    known: usize,
    /// Bytes of the packet that are still to come.
    left: usize,
    /// The packet is the last of its message.
    is_last: bool,
    /// Messages that have ended.
    ended: u64,
}

impl PacketReader {
    /// Takes bytes as they come; what messages hold goes to `into`.
    #[inline]
    pub(super) fn take(&mut self, mut bytes: &[u8], into: &mut Vec<u8>) -> Result<(), Error> {
        loop {
            let part = self.left.min(bytes.len());
            into.extend_from_slice(&bytes[..part]);
            bytes = &bytes[part..];
            self.left -= part;
            if self.left == 0 && self.is_last {
                (self.is_last, self.ended) = (false, self.ended + 1);
            }
            if bytes.is_empty() {
                return Ok(());
            }
            let part = (HEAD - self.known).min(bytes.len());
            self.head[self.known..self.known + part].copy_from_slice(&bytes[..part]);
            self.known += part;
            bytes = &bytes[part..];
            if self.known == HEAD {
                self.begin()?;
            }
        }
    }

    /// Messages that have ended since the connection was made.
    pub(super) fn ended(&self) -> u64 {
        self.ended
    }

    fn begin(&mut self) -> Result<(), Error> {
        let [kind, status, high, low, ..] = self.head;
        let length = usize::from(u16::from_be_bytes([high, low]));
        let is_known = kind == MessageKind::Answer as u8 || kind == MessageKind::PreLogin as u8;
        if !is_known || length < HEAD {
            return Err(broken("a packet that is no answer"));
        }
        (self.known, self.left, self.is_last) = (0, length - HEAD, status & LAST != 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_out_as_it_went_in_whatever_the_pieces() {
        let message: Vec<u8> = (0..2_000u16).map(|number| number as u8).collect();
        for length in [0, 1, 503, 504, 505, 1_008, 2_000] {
            let mut sent = Vec::new();
            frame(MessageKind::Answer, &message[..length], 512, &mut sent);
            for piece in [1, 7, 8, 511, 4_000] {
                let (mut reader, mut read) = (PacketReader::default(), Vec::new());
                sent.chunks(piece).for_each(|part| reader.take(part, &mut read).expect("whole packets"));
                assert_eq!((&read[..], reader.ended()), (&message[..length], 1), "{length} by {piece}");
            }
        }
        let (mut reader, mut read) = (PacketReader::default(), Vec::new());
        reader.take(&[1, 1, 0, 8, 0, 0, 1, 0], &mut read).expect_err("a request is no answer");
    }

    /// [MS-TDS] 4.10.
    #[test]
    fn an_attention_is_the_published_one() {
        let mut sent = Vec::new();
        frame(MessageKind::Attention, &[], 4096, &mut sent);
        assert_eq!(sent, [0x06, 0x01, 0x00, 0x08, 0x00, 0x00, 0x01, 0x00]);
    }
}
