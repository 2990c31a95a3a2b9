//! Requests and answers of a control socket, as values and as frames. It does no input or output.

use std::time::Duration;

use super::frame::{ContentReader, Frame, FrameFault, nanoseconds};
use crate::tier::DrainStatus;

/// Bytes of content of a request, at most.
pub(super) const MOST_REQUEST: usize = 16;
/// Bytes of a text that says why something was refused, at most.
const MOST_TEXT: usize = 2048;

/// Kinds of requests.
const STATS: u16 = 1;
const DRAIN: u16 = 2;
const STOP: u16 = 3;
const SAMPLE: u16 = 4;
const FREE: u16 = 5;
const DELAY: u16 = 6;
/// Kinds of answers.
pub(super) const READING: u16 = 129;
const DRAINED: u16 = 130;
const STOPPING: u16 = 131;
const REFUSED: u16 = 132;
pub(super) const SAMPLED: u16 = 133;
const FREED: u16 = 134;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlRequest {
    Stats,
    Drain { limit: Duration },
    Stop,
    Sample { from: u64 },
    FreeDisks,
    DelayFlushes { delay: Duration },
}

impl ControlRequest {
    pub(super) fn encode(self) -> Vec<u8> {
        let (kind, content) = match self {
            Self::Stats => (STATS, Vec::new()),
            Self::Drain { limit } => (DRAIN, nanoseconds(limit).to_vec()),
            Self::Stop => (STOP, Vec::new()),
            Self::Sample { from } => (SAMPLE, from.to_le_bytes().to_vec()),
            Self::FreeDisks => (FREE, Vec::new()),
            Self::DelayFlushes { delay } => (DELAY, nanoseconds(delay).to_vec()),
        };
        Frame { kind, content }.encode()
    }

    pub(super) fn from_frame(frame: &Frame) -> Result<Self, FrameFault> {
        let mut reader = ContentReader::new(&frame.content);
        let request = match frame.kind {
            STATS => Self::Stats,
            DRAIN => Self::Drain { limit: reader.time()? },
            STOP => Self::Stop,
            SAMPLE => Self::Sample { from: reader.u64()? },
            FREE => Self::FreeDisks,
            DELAY => Self::DelayFlushes { delay: reader.time()? },
            _ => return Err(FrameFault::Content),
        };
        reader.end().map(|()| request)
    }
}

/// What a server answers, except a reading and a sample, which have bytes of their own.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ControlAnswer {
    Drained(DrainStatus),
    Stopping,
    FreedDisks,
    Refused(String),
}

impl ControlAnswer {
    pub(super) fn encode(&self) -> Vec<u8> {
        let (kind, content) = match self {
            Self::Drained(status) => (DRAINED, drain_content(status)),
            Self::Stopping => (STOPPING, Vec::new()),
            Self::FreedDisks => (FREED, Vec::new()),
            Self::Refused(text) => (REFUSED, text.bytes().take(MOST_TEXT).collect()),
        };
        Frame { kind, content }.encode()
    }

    pub(super) fn from_frame(frame: &Frame) -> Result<Self, FrameFault> {
        let mut reader = ContentReader::new(&frame.content);
        let answer = match frame.kind {
            DRAINED => Self::Drained(take_drain(&mut reader)?),
            STOPPING => Self::Stopping,
            FREED => Self::FreedDisks,
            REFUSED if frame.content.len() <= MOST_TEXT => {
                Self::Refused(String::from_utf8_lossy(reader.rest()).into_owned())
            }
            _ => return Err(FrameFault::Content),
        };
        reader.end().map(|()| answer)
    }
}

fn drain_content(status: &DrainStatus) -> Vec<u8> {
    let mut content = status.dirty_lines.to_le_bytes().to_vec();
    content.extend(status.damaged_lines.to_le_bytes());
    content.extend(status.bytes_per_second.to_le_bytes());
    content.push(u8::from(status.left.is_some()));
    content.extend(nanoseconds(status.left.unwrap_or_default()));
    content
}

fn take_drain(reader: &mut ContentReader<'_>) -> Result<DrainStatus, FrameFault> {
    let (dirty_lines, damaged_lines) = (reader.u32()?, reader.u32()?);
    let bytes_per_second = f64::from_le_bytes(reader.take()?);
    if !bytes_per_second.is_finite() || bytes_per_second < 0.0 {
        return Err(FrameFault::Content);
    }
    let (known, left) = (reader.flag()?, reader.time()?);
    Ok(DrainStatus { dirty_lines, damaged_lines, bytes_per_second, left: known.then_some(left) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: &[u8]) -> Frame {
        Frame::decode(bytes, MOST_TEXT).unwrap()
    }

    #[test]
    fn requests_and_answers_are_what_they_were_and_no_shorter_or_longer_one_is() {
        let limit = Duration::from_millis(1500);
        for request in [
            ControlRequest::Stats,
            ControlRequest::Drain { limit },
            ControlRequest::Stop,
            ControlRequest::Sample { from: 7 },
            ControlRequest::FreeDisks,
            ControlRequest::DelayFlushes { delay: limit },
        ] {
            let mut frame = frame(&request.encode());
            assert_eq!(ControlRequest::from_frame(&frame), Ok(request));
            frame.content.push(0);
            assert!(ControlRequest::from_frame(&frame).is_err());
        }
        let left = Some(Duration::from_secs(9));
        for left in [None, left] {
            let status = DrainStatus { dirty_lines: 7, bytes_per_second: 1.5, left, damaged_lines: 2 };
            let mut frame = frame(&ControlAnswer::Drained(status).encode());
            assert_eq!(ControlAnswer::from_frame(&frame), Ok(ControlAnswer::Drained(status)));
            while frame.content.pop().is_some() {
                assert!(matches!(ControlAnswer::from_frame(&frame), Err(FrameFault::Truncated { .. })));
            }
        }
        let text = ControlAnswer::Refused("a drain is at work".to_owned());
        assert_eq!(ControlAnswer::from_frame(&frame(&text.encode())), Ok(text));
    }

    #[test]
    fn unknown_kinds_and_rates_that_are_no_numbers_are_refused() {
        for kind in [0, 7, 128, READING, SAMPLED, 135, u16::MAX] {
            let frame = Frame { kind, content: Vec::new() };
            assert_eq!(ControlRequest::from_frame(&frame), Err(FrameFault::Content));
            assert_eq!(ControlAnswer::from_frame(&frame), Err(FrameFault::Content));
        }
        let status = DrainStatus { dirty_lines: 0, bytes_per_second: f64::NAN, left: None, damaged_lines: 0 };
        let frame = frame(&ControlAnswer::Drained(status).encode());
        assert_eq!(ControlAnswer::from_frame(&frame), Err(FrameFault::Content));
    }
}
