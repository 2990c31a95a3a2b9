//! The first message and its answer: versions, and how far the connection is encrypted. Source: [MS-TDS] 2.2.6.5.

use super::reading::{MessageReader, broken};
use crate::contract::Error;

/// Options that we send and read.
const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD: u8 = 3;
const MARS: u8 = 4;
const END: u8 = 0xFF;

/// What a side says of encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum EncryptionWord {
    /// Only the proof of who logs on.
    Off = 0,
    /// All.
    On = 1,
    /// It cannot.
    NotSupported = 2,
    /// All, or it does not talk.
    Required = 3,
}

/// The first message.
pub(super) fn request(encryption: EncryptionWord, process: u32) -> Vec<u8> {
    let version = [1u8, 0, 0, 0, 0, 0];
    let data: [(u8, &[u8]); 5] = [
        (VERSION, &version),
        (ENCRYPTION, &[encryption as u8]),
        (INSTANCE, &[0]),
        (THREAD, &process.to_be_bytes()),
        (MARS, &[0]),
    ];
    let mut offset = data.len() * 5 + 1;
    let mut message = Vec::new();
    for (option, bytes) in data {
        message.push(option);
        message.extend_from_slice(&u16::try_from(offset).unwrap_or_default().to_be_bytes());
        message.extend_from_slice(&u16::try_from(bytes.len()).unwrap_or_default().to_be_bytes());
        offset += bytes.len();
    }
    message.push(END);
    data.iter().for_each(|(_, bytes)| message.extend_from_slice(bytes));
    message
}

/// What the server says of encryption; one that says nothing cannot.
pub(super) fn encryption(answer: &[u8]) -> Result<EncryptionWord, Error> {
    let cut = || broken("an answer to the first message that ends too soon");
    let mut reading = MessageReader { rest: answer };
    loop {
        let option = reading.byte().ok_or_else(cut)?;
        if option == END {
            return Ok(EncryptionWord::NotSupported);
        }
        let [high, low, _, _] = reading.array().ok_or_else(cut)?;
        if option == ENCRYPTION {
            return match answer.get(usize::from(u16::from_be_bytes([high, low]))) {
                Some(0) => Ok(EncryptionWord::Off),
                Some(1) => Ok(EncryptionWord::On),
                Some(2) => Ok(EncryptionWord::NotSupported),
                Some(3) => Ok(EncryptionWord::Required),
                _ => Err(broken("a word of encryption that is not known")),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::{MessageKind, frame};
    use super::*;

    /// [MS-TDS] 4.1. Its server part of the version is 9.0.0.0 and MARS is on; both are ours to choose.
    const PUBLISHED: [u8; 47] = [
        0x12, 0x01, 0x00, 0x2F, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x1A, 0x00, 0x06, 0x01, 0x00, 0x20, 0x00, 0x01,
        0x02, 0x00, 0x21, 0x00, 0x01, 0x03, 0x00, 0x22, 0x00, 0x04, 0x04, 0x00, 0x26, 0x00, 0x01, 0xFF, 0x09, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0xB8, 0x0D, 0x00, 0x00, 0x01,
    ];

    #[test]
    fn the_first_message_is_the_published_one() {
        let mut sent = Vec::new();
        frame(MessageKind::PreLogin, &request(EncryptionWord::On, 0xB80D_0000), 4096, &mut sent);
        let mut expected = PUBLISHED;
        (expected[34], expected[46]) = (1, 0);
        assert_eq!(sent, expected);
        assert_eq!(encryption(&PUBLISHED[8..]).expect("it is whole"), EncryptionWord::On);
        for end in 0..26 {
            assert!(encryption(&PUBLISHED[8..8 + end]).is_err() || end > 10, "cut at {end}");
        }
        assert_eq!(encryption(&[END]).expect("it says nothing"), EncryptionWord::NotSupported);
    }
}
