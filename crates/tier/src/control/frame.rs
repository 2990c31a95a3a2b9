//! One message as bytes: mark, version, kind, length, content, checksum. It knows nothing of what a content means.

use std::fmt;
use std::io::{self, Read};
use std::time::Duration;

use crc32c::crc32c;

/// First bytes of every message.
const MARK: [u8; 4] = *b"PLcs";
/// Version of the format; one more with each change of a frame, a request, an answer or a counter. 2: samples of references. 3: delays of
/// flushes. 4: writes of the cleaner at once. 5: marks and times of the cleaner, quotas. 6: damaged sectors and
/// lines. 7: syncs of disks, and by how much devices were slower than the model.
pub(super) const VERSION: u16 = 7;
/// Bytes before the content.
const HEAD: usize = 12;
/// Bytes after the content.
const TAIL: usize = 4;

/// What is wrong with bytes that should be a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFault {
    /// It ends too early.
    Truncated {
        /// Bytes that there are.
        found: u64,
        /// Bytes that are needed, as far as is known.
        wanted: u64,
    },
    /// It is longer than a message of its kind may be, or bytes follow it.
    TooLong {
        /// Bytes that it claims or has.
        found: u64,
        /// Bytes that are allowed.
        most: u64,
    },
    /// It is of another version of this program.
    Version {
        /// Version of the message.
        found: u16,
        /// Version that is understood.
        wanted: u16,
    },
    /// It does not begin as a message does.
    Mark,
    /// Its checksum is wrong.
    Checksum,
    /// It has a kind or a value that there is not.
    Content,
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { found, wanted } => write!(f, "it ends after {found} of {wanted} bytes"),
            Self::TooLong { found, most } => write!(f, "it has {found} bytes, but at most {most} are allowed"),
            Self::Version { found, wanted } => write!(f, "it has version {found}, but {wanted} is supported"),
            Self::Mark => f.write_str("it is not a message of a control socket"),
            Self::Checksum => f.write_str("its checksum is wrong"),
            Self::Content => f.write_str("it has an unknown kind or value"),
        }
    }
}

/// A message: what kind it is, and its content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u16,
    pub(super) content: Vec<u8>,
}

impl Frame {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.content.len() + TAIL);
        bytes.extend(MARK);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend(u32::try_from(self.content.len()).expect("limits are below 4 GiB").to_le_bytes());
        bytes.extend_from_slice(&self.content);
        bytes.extend(crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// The message of which these are all bytes, with at most so many bytes of content.
    pub(super) fn decode(bytes: &[u8], most: usize) -> Result<Self, FrameFault> {
        let found = bytes.len() as u64;
        let head = bytes.first_chunk().ok_or(FrameFault::Truncated { found, wanted: (HEAD + TAIL) as u64 })?;
        let (kind, length) = read_head(head, most)?;
        let wanted = HEAD + length + TAIL;
        if bytes.len() < wanted {
            return Err(FrameFault::Truncated { found, wanted: wanted as u64 });
        }
        if bytes.len() > wanted {
            return Err(FrameFault::TooLong { found, most: wanted as u64 });
        }
        let (body, crc) = bytes.split_at(wanted - TAIL);
        if crc32c(body).to_le_bytes() != crc {
            return Err(FrameFault::Checksum);
        }
        Ok(Self { kind, content: body[HEAD..].to_vec() })
    }

    /// Reads one message with at most so many bytes of content. The outer error is the stream's.
    pub(super) fn read(stream: &mut impl Read, most: usize) -> io::Result<Result<Self, FrameFault>> {
        let mut bytes = Vec::new();
        stream.take(HEAD as u64).read_to_end(&mut bytes)?;
        let Some(head) = bytes.first_chunk() else { return Ok(Self::decode(&bytes, most)) };
        match read_head(head, most) {
            Err(fault) => Ok(Err(fault)),
            Ok((_, length)) => {
                stream.take((length + TAIL) as u64).read_to_end(&mut bytes)?;
                Ok(Self::decode(&bytes, most))
            }
        }
    }
}

/// Kind and bytes of content that a head tells.
fn read_head(head: &[u8; HEAD], most: usize) -> Result<(u16, usize), FrameFault> {
    let mut reader = ContentReader::new(head);
    if reader.take()? != MARK {
        return Err(FrameFault::Mark);
    }
    let (found, kind, length) = (reader.u16()?, reader.u16()?, reader.u32()?);
    if found != VERSION {
        return Err(FrameFault::Version { found, wanted: VERSION });
    }
    match usize::try_from(length) {
        Ok(length) if length <= most => Ok((kind, length)),
        _ => Err(FrameFault::TooLong { found: u64::from(length), most: most as u64 }),
    }
}

/// Reads little-endian numbers one after the other, and refuses to read beyond the end.
#[derive(Debug)]
pub(super) struct ContentReader<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl<'a> ContentReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, length: bytes.len() }
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], FrameFault> {
        let read = self.length - self.bytes.len();
        let (found, wanted) = (self.length as u64, (read + N) as u64);
        let (first, rest) = self.bytes.split_first_chunk().ok_or(FrameFault::Truncated { found, wanted })?;
        self.bytes = rest;
        Ok(*first)
    }

    pub(super) fn u8(&mut self) -> Result<u8, FrameFault> {
        self.take().map(u8::from_le_bytes)
    }

    /// A byte that is 0 or 1.
    pub(super) fn flag(&mut self) -> Result<bool, FrameFault> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FrameFault::Content),
        }
    }

    pub(super) fn u16(&mut self) -> Result<u16, FrameFault> {
        self.take().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, FrameFault> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, FrameFault> {
        self.take().map(u64::from_le_bytes)
    }

    /// A time in whole nanoseconds.
    pub(super) fn time(&mut self) -> Result<Duration, FrameFault> {
        self.u64().map(Duration::from_nanos)
    }

    /// All bytes that are left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    /// Refuses bytes that are left.
    pub(super) fn end(&self) -> Result<(), FrameFault> {
        let most = (self.length - self.bytes.len()) as u64;
        if self.bytes.is_empty() { Ok(()) } else { Err(FrameFault::TooLong { found: self.length as u64, most }) }
    }
}

/// A time in whole nanoseconds, 584 years at most.
pub(super) fn nanoseconds(time: Duration) -> [u8; 8] {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        Frame { kind: 3, content: b"content".to_vec() }
    }

    #[test]
    fn a_message_is_what_it_was_and_every_shorter_one_is_refused() {
        let bytes = frame().encode();
        assert_eq!(Frame::decode(&bytes, 7), Ok(frame()));
        assert_eq!(Frame::read(&mut &bytes[..], 7).unwrap(), Ok(frame()));
        for length in 0..bytes.len() {
            let short = &bytes[..length];
            assert!(matches!(Frame::decode(short, 7), Err(FrameFault::Truncated { .. })), "{length}");
            assert_eq!(Frame::read(&mut &short[..], 7).unwrap(), Frame::decode(short, 7));
        }
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let bytes = frame().encode();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Frame::decode(&changed, 1000).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn faults_are_told_apart() {
        let bytes = frame().encode();
        assert_eq!(Frame::decode(&bytes, 6), Err(FrameFault::TooLong { found: 7, most: 6 }));
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(Frame::decode(&longer, 7), Err(FrameFault::TooLong { found: 24, most: 23 }));
        let newer = [&MARK[..], &(VERSION + 1).to_le_bytes(), &bytes[6..]].concat();
        assert_eq!(Frame::decode(&newer, 7), Err(FrameFault::Version { found: VERSION + 1, wanted: VERSION }));
        assert_eq!(Frame::decode(&[b'x'; 40], 7), Err(FrameFault::Mark));
    }
}
