//! Frames: length and CRC-32 (both little-endian), then the payload. A damaged frame ends the stream; nothing is guessed.

use proofload_model::error::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{ErrorKind, Read, Write};

/// Largest payload: a minute of histograms is far below, a stream of something else far above.
const LARGEST: u32 = 64 << 20;

/// Writes one message and flushes.
pub(super) fn write<T: Serialize>(output: &mut impl Write, message: &T) -> Result<(), Error> {
    let payload =
        postcard::to_allocvec(message).map_err(|error| Error::new(format!("failed to encode a message: {error}")))?;
    let length = u32::try_from(payload.len()).ok().filter(|length| *length <= LARGEST);
    let length =
        length.ok_or_else(|| Error::new(format!("a message of {} bytes exceeds the frame size", payload.len())))?;
    let mut send = || {
        output.write_all(&length.to_le_bytes())?;
        output.write_all(&crc32fast::hash(&payload).to_le_bytes())?;
        output.write_all(&payload)?;
        output.flush()
    };
    send().map_err(|error| Error::new(format!("failed to write to the peer: {error}")))
}

/// Reads one message; `None` at the orderly end of the stream.
pub(super) fn read<T: DeserializeOwned>(input: &mut impl Read) -> Result<Option<T>, Error> {
    let mut head = [0; 8];
    match input.read(&mut head[..1]) {
        Ok(0) => return Ok(None),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::Interrupted => return read(input),
        Err(error) => return Err(Error::new(format!("failed to read from the peer: {error}"))),
    }
    let cut = |error: std::io::Error| Error::new(format!("the stream ended inside a message: {error}"));
    input.read_exact(&mut head[1..]).map_err(cut)?;
    let (length, checksum) = head.split_at(4);
    let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
    let checksum = u32::from_le_bytes(checksum.try_into().expect("four bytes"));
    if length > LARGEST {
        return Err(Error::new(format!(
            "a message claims to have {length} bytes; does another program write to the agent's stream?"
        )));
    }
    let mut payload = vec![0; length as usize];
    input.read_exact(&mut payload).map_err(cut)?;
    if crc32fast::hash(&payload) != checksum {
        return Err(Error::new(
            "a message was damaged in transit (checksum); does another program write to the agent's stream?",
        ));
    }
    postcard::from_bytes(&payload).map(Some).map_err(|error| Error::new(format!("failed to decode a message: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::ledger::{LedgerPage, OutcomeRange, WriteOutcome};
    use proofload_model::wire::{Event, Message};

    fn frame() -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, &("text".to_owned(), 7u64)).unwrap();
        bytes
    }

    fn check(bytes: &[u8], fault: &str) {
        let found = read::<(String, u64)>(&mut &*bytes).unwrap_err().to_string();
        assert!(found.contains(fault), "{found}");
    }

    #[test]
    fn a_message_comes_back_and_the_end_is_told() {
        let mut two = frame();
        two.extend(frame());
        let mut input = two.as_slice();
        for _ in 0..2 {
            assert_eq!(read(&mut input), Ok(Some(("text".to_owned(), 7u64))));
        }
        assert_eq!(read::<(String, u64)>(&mut input), Ok(None));
    }

    #[test]
    fn a_page_of_a_ledger_comes_back_at_either_pace_with_times_and_without() {
        for (step, took_us) in [(1, Vec::new()), (1, vec![250, 300]), (10, vec![250, 300])] {
            let ranges = vec![OutcomeRange { outcome: WriteOutcome::Acknowledged, node: 0, count: 2 }];
            let page = Message::Event(Event::LedgerPage(LedgerPage { first: 40, step, ranges, took_us }));
            let mut bytes = Vec::new();
            write(&mut bytes, &page).unwrap();
            assert_eq!(read(&mut bytes.as_slice()), Ok(Some(page)));
        }
    }

    #[test]
    fn damaged_streams_are_refused() {
        let good = frame();
        for cut in 1..good.len() {
            check(&good[..cut], "ended inside");
        }
        for place in 4..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 0x40;
            check(&bad, "damaged");
        }
        check(b"Last login: Mon Nov 16 2026", "claims");
    }
}
