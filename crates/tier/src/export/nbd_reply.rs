//! The two forms of a reply: a simple one, and chunks for a client that has asked for structured replies.
//!
//! Source of all numbers: the NBD protocol, of the `NetworkBlockDevice` project, sections "Simple reply message", "Structured reply
//! chunk message" and "Structured reply types".

const SIMPLE: u32 = 0x6744_6698;
const CHUNK: u32 = 0x668e_33ef;

/// The flag of a reply's last chunk.
const DONE: u16 = 1;

const NONE: u16 = 0;
const OFFSET_DATA: u16 = 1;
const OFFSET_HOLE: u16 = 2;
const ERROR: u16 = (1 << 15) | 1;

/// Bytes of a block that is looked at whether it is zeros. Blocks lie at multiples of it on the device.
const BLOCK: usize = 4096;
static ZEROES: [u8; BLOCK] = [0; BLOCK];
/// Bytes of a text, at most. Source: the protocol, "String values".
const MOST_TEXT: usize = 4096;

/// How requests for data are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyForm {
    Simple,
    Structured,
}

/// Why a request was not done.
pub(super) struct RequestFault {
    /// Number of the error.
    pub(super) number: u32,
    /// What a person is told.
    pub(super) text: String,
}

/// Writes a reply of the simple form; `data` is what was read.
pub(super) fn simple(cookie: u64, error: u32, data: &[u8]) -> Vec<u8> {
    let mut reply = Vec::with_capacity(16 + data.len());
    reply.extend(SIMPLE.to_be_bytes());
    reply.extend(error.to_be_bytes());
    reply.extend(cookie.to_be_bytes());
    reply.extend_from_slice(data);
    reply
}

/// Writes what was read from a byte on as chunks: data, and holes in the place of zeros. `whole`: as one chunk.
pub(super) fn read(cookie: u64, mut at: u64, mut data: &[u8], whole: bool) -> Vec<u8> {
    let mut reply = Vec::with_capacity(64 + data.len());
    if data.is_empty() {
        add_chunk(&mut reply, cookie, (DONE, NONE), &[]);
    }
    while !data.is_empty() {
        let (length, is_hole) = first_run(at, data, whole);
        let (run, rest) = data.split_at(length);
        let flags = if rest.is_empty() { DONE } else { 0 };
        if is_hole {
            add_chunk(&mut reply, cookie, (flags, OFFSET_HOLE), &[&at.to_be_bytes(), &length_bytes(length)]);
        } else {
            add_chunk(&mut reply, cookie, (flags, OFFSET_DATA), &[&at.to_be_bytes(), run]);
        }
        (at, data) = (at + length as u64, rest);
    }
    reply
}

/// Writes an error as the only chunk.
pub(super) fn error(cookie: u64, fault: &RequestFault) -> Vec<u8> {
    // A character has four bytes at most.
    let text: String = fault.text.chars().take(MOST_TEXT / 4).collect();
    let length = u16::try_from(text.len()).expect("no longer than a text may be");
    let mut reply = Vec::new();
    let payload: [&[u8]; 3] = [&fault.number.to_be_bytes(), &length.to_be_bytes(), text.as_bytes()];
    add_chunk(&mut reply, cookie, (DONE, ERROR), &payload);
    reply
}

/// Bytes up to where zeros begin or end, or all where it is to be `whole`; and whether they are zeros.
fn first_run(at: u64, data: &[u8], whole: bool) -> (usize, bool) {
    let to_block = BLOCK - (at % BLOCK as u64) as usize;
    let (first, rest) = data.split_at(to_block.min(data.len()));
    let is_hole = is_zeros(first);
    let mut same = first.len();
    for block in rest.chunks(BLOCK) {
        if is_zeros(block) != is_hole {
            return if whole { (data.len(), false) } else { (same, is_hole) };
        }
        same += block.len();
    }
    (same, is_hole)
}

/// Whether a block, or a part of one, is zeros.
fn is_zeros(part: &[u8]) -> bool {
    part == &ZEROES[..part.len()]
}

fn add_chunk(reply: &mut Vec<u8>, cookie: u64, (flags, kind): (u16, u16), payload: &[&[u8]]) {
    reply.extend(CHUNK.to_be_bytes());
    reply.extend(flags.to_be_bytes());
    reply.extend(kind.to_be_bytes());
    reply.extend(cookie.to_be_bytes());
    reply.extend(length_bytes(payload.iter().map(|part| part.len()).sum()));
    payload.iter().for_each(|part| reply.extend_from_slice(part));
}

fn length_bytes(length: usize) -> [u8; 4] {
    u32::try_from(length).expect("a request has at most 32 MiB").to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a reply apart: flags, kind and payload of each chunk.
    fn chunks(mut reply: &[u8]) -> Vec<(u16, u16, Vec<u8>)> {
        let mut chunks = Vec::new();
        while let Some((head, rest)) = reply.split_first_chunk::<20>() {
            assert_eq!((&head[..4], &head[8..16]), (&CHUNK.to_be_bytes()[..], &7_u64.to_be_bytes()[..]));
            let length = u32::from_be_bytes([head[16], head[17], head[18], head[19]]) as usize;
            let (payload, rest) = rest.split_at(length);
            let pair = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
            chunks.push((pair(4), pair(6), payload.to_vec()));
            reply = rest;
        }
        assert_eq!(reply, b"");
        chunks
    }

    fn data(at: u64, bytes: &[u8]) -> Vec<u8> {
        [&at.to_be_bytes()[..], bytes].concat()
    }

    fn hole(at: u64, length: u32) -> Vec<u8> {
        [&at.to_be_bytes()[..], &length.to_be_bytes()[..]].concat()
    }

    #[test]
    fn zeros_are_told_as_holes_block_by_block() {
        let bytes = [vec![0; 96], vec![5; 4096], vec![0; 8192], vec![6; 10]].concat();
        let found = chunks(&read(7, 4000, &bytes, false));
        let expected = [
            (0, OFFSET_HOLE, hole(4000, 96)),
            (0, OFFSET_DATA, data(4096, &[5; 4096])),
            (0, OFFSET_HOLE, hole(8192, 8192)),
            (DONE, OFFSET_DATA, data(16384, &[6; 10])),
        ];
        assert_eq!(found, expected);
        // A block with one byte that is no zero is data.
        let mut block = [0; 4096];
        block[4095] = 1;
        assert_eq!(chunks(&read(7, 0, &block, false)), [(DONE, OFFSET_DATA, data(0, &block))]);
    }

    #[test]
    fn what_is_not_to_be_cut_is_one_chunk() {
        let bytes = [vec![0; 4096], vec![5; 4096]].concat();
        assert_eq!(chunks(&read(7, 0, &bytes, true)), [(DONE, OFFSET_DATA, data(0, &bytes))]);
        assert_eq!(chunks(&read(7, 512, &[0; 9000], true)), [(DONE, OFFSET_HOLE, hole(512, 9000))]);
        assert_eq!(chunks(&read(7, 512, &[], true)), [(DONE, NONE, vec![])]);
    }

    #[test]
    fn an_error_says_what_happened() {
        let fault = RequestFault { number: 5, text: "broken".to_owned() };
        assert_eq!(chunks(&error(7, &fault)), [(DONE, ERROR, b"\0\0\0\x05\0\x06broken".to_vec())]);
        let long = RequestFault { number: 5, text: "\u{1F4A5}".repeat(5_000) };
        assert_eq!(chunks(&error(7, &long))[0].2.len(), 6 + MOST_TEXT);
    }
}
