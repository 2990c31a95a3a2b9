//! Frames of the wire protocol: the header and flags of OP_MSG, written and checked. Reads and writes no socket.
//! Source: MongoDB's specification "OP_MSG", and its manual, "MongoDB Wire Protocol".

use super::super::bson::{Document, MalformedBson, Writer};
use super::super::failure::lost;
use crate::contract::Error;

/// Bytes of the header: length, request, answered request, kind of message.
pub(super) const HEADER_BYTES: usize = 16;
/// Largest message that any server sends or takes, bytes.
pub(super) const MOST_BYTES: usize = 48_000_000;
/// The kind of message that is spoken.
const OP_MSG: i32 = 2013;
/// Flag: a checksum of four bytes ends the message. Not verified: TCP has one of its own.
const CHECKSUM: u32 = 1;
/// Flag: more messages follow unasked. Never asked for, so never right.
const MORE_TO_COME: u32 = 2;
/// Flags that a reader must know.
const REQUIRED: u32 = 0xFFFF;

/// Writes a message of one command in place of what `output` holds. It may be lengthened by a sequence before it is finished.
#[inline]
pub(super) fn begin(output: &mut Vec<u8>, request: i32, fill: impl FnOnce(&mut Writer<'_>)) {
    output.clear();
    output.extend_from_slice(&[0; 4]);
    output.extend_from_slice(&request.to_le_bytes());
    output.extend_from_slice(&[0; 4]);
    output.extend_from_slice(&OP_MSG.to_le_bytes());
    // Flags, then a section of kind 0: the command.
    output.extend_from_slice(&[0; 5]);
    Writer::document(output, fill);
}

/// Begins a section of kind 1, a sequence of documents; returns where its length is to be written.
pub(super) fn begin_sequence(output: &mut Vec<u8>, name: &str) -> usize {
    output.push(1);
    let at = output.len();
    output.extend_from_slice(&[0; 4]);
    output.extend_from_slice(name.as_bytes());
    output.push(0);
    at
}

/// Writes the length of the sequence that begins at `at`.
pub(super) fn end_sequence(output: &mut [u8], at: usize) {
    write_length(output, at);
}

/// Writes the length of the message.
#[inline]
pub(super) fn finish(output: &mut [u8]) {
    write_length(output, 0);
}

#[inline]
fn write_length(output: &mut [u8], at: usize) {
    let length = u32::try_from(output.len() - at).expect("a message is far shorter than 4 GiB");
    output[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// The length of the message whose first bytes these are; `None` while the header is not complete.
#[inline]
pub(super) fn length(bytes: &[u8]) -> Result<Option<usize>, Error> {
    if bytes.len() < HEADER_BYTES {
        return Ok(None);
    }
    let length = u32_at(bytes, 0) as usize;
    if (HEADER_BYTES..=MOST_BYTES).contains(&length) && u32_at(bytes, 12) == OP_MSG as u32 {
        return Ok(Some(length));
    }
    Err(lost(format!(
        "the answer is not a message of MongoDB's wire protocol (OP_MSG); it starts with {:?}",
        String::from_utf8_lossy(&bytes[..bytes.len().min(32)])
    )))
}

/// The document of a complete message, which must answer `request`.
#[inline]
pub(super) fn reply(message: &[u8], request: i32) -> Result<Document<'_>, Error> {
    let answered = u32_at(message, 8);
    if answered != request as u32 {
        return Err(lost(format!(
            "the reply answers request {answered}, not {request}: the connection is out of sync"
        )));
    }
    let malformed = |_: MalformedBson| lost("the reply is damaged: its BSON document does not have the stated length");
    let flags = message.get(HEADER_BYTES..HEADER_BYTES + 4).map_or(REQUIRED, |flags| u32_at(flags, 0));
    if flags & REQUIRED & !CHECKSUM != 0 {
        let why = if flags & REQUIRED == MORE_TO_COME { "more messages follow" } else { "unknown" };
        return Err(lost(format!("the reply has unexpected flags {flags:#x} ({why})")));
    }
    let end = message.len() - if flags & CHECKSUM != 0 { 4 } else { 0 };
    match message.get(HEADER_BYTES + 4..end) {
        Some([0, body @ ..]) => Document::whole(body).map_err(malformed),
        _ => Err(malformed(MalformedBson)),
    }
}

/// Four bytes as a number; the caller has seen to it that they are there.
#[inline]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(answered: u32, kind: u32, flags: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        begin(&mut bytes, 7, |document| document.int32("ok", 1));
        bytes[8..12].copy_from_slice(&answered.to_le_bytes());
        bytes[12..16].copy_from_slice(&kind.to_le_bytes());
        bytes[16..20].copy_from_slice(&flags.to_le_bytes());
        if flags & CHECKSUM != 0 {
            bytes.extend_from_slice(b"sum!");
        }
        finish(&mut bytes);
        bytes
    }

    fn check(message: &[u8], expected: Result<i64, &str>) {
        let read = length(message).and_then(|length| {
            assert_eq!(length, Some(message.len()));
            Ok(reply(message, 9)?.get("ok").and_then(|ok| ok.integer()).expect("a number"))
        });
        match (read, expected) {
            (Ok(found), Ok(wanted)) => assert_eq!(found, wanted),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn frames_are_checked() {
        check(&message(9, 2013, 0), Ok(1));
        check(&message(9, 2013, CHECKSUM), Ok(1));
        check(&message(9, 2013, 1 << 16), Ok(1));
        check(&message(8, 2013, 0), Err("out of sync"));
        check(&message(9, 1, 0), Err("not a message"));
        check(&message(9, 2013, MORE_TO_COME), Err("more messages"));
        check(&message(9, 2013, 1 << 5), Err("unknown"));
        check(b"HTTP/1.1 400 Bad Request\r\n", Err("HTTP/1.1 400"));
        let mut damaged = message(9, 2013, 0);
        damaged[21] = 99;
        check(&damaged, Err("damaged"));
        let mut two_sections = message(9, 2013, 0);
        two_sections.push(0);
        finish(&mut two_sections);
        check(&two_sections, Err("damaged"));
        assert_eq!(length(b"short").unwrap(), None);
    }
}
