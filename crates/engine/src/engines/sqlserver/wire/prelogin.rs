//! The first message and its answer: versions, and how far the connection is encrypted. Source: [MS-TDS] 2.2.6.5.

use super::reading::{MessageReader, broken};
use crate::contract::Error;

/// Options that we send and read.
const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD: u8 = 3;
const MARS: u8 = 4;
const TOKEN: u8 = 6;
const NONCE: u8 = 7;
const END: u8 = 0xFF;
/// Bytes of the number that a server has a login by token repeat.
pub(super) const NONCE_BYTES: usize = 32;

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

/// What we say first.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstMessage<'a> {
    pub(super) encryption: EncryptionWord,
    pub(super) process: u32,
    /// The instance that is meant; empty for any.
    pub(super) instance: &'a str,
    /// The login will be by token.
    pub(super) by_token: bool,
}

impl FirstMessage<'_> {
    /// The message.
    pub(super) fn message(&self) -> Vec<u8> {
        let version = [1u8, 0, 0, 0, 0, 0];
        let mut instance = self.instance.as_bytes().to_vec();
        instance.push(0);
        let (encryption, process) = ([self.encryption as u8], self.process.to_be_bytes());
        let usual: [(u8, &[u8]); 5] =
            [(VERSION, &version), (ENCRYPTION, &encryption), (INSTANCE, &instance), (THREAD, &process), (MARS, &[0])];
        let mut data = usual.to_vec();
        if self.by_token {
            data.push((TOKEN, &[1]));
        }
        let mut offset = data.len() * 5 + 1;
        let mut message = Vec::new();
        for (option, bytes) in &data {
            message.push(*option);
            message.extend_from_slice(&u16::try_from(offset).unwrap_or_default().to_be_bytes());
            message.extend_from_slice(&u16::try_from(bytes.len()).unwrap_or_default().to_be_bytes());
            offset += bytes.len();
        }
        message.push(END);
        data.iter().for_each(|(_, bytes)| message.extend_from_slice(bytes));
        message
    }
}

/// What the server answers to the first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstAnswer {
    /// What it says of encryption; one that says nothing cannot.
    pub(super) encryption: EncryptionWord,
    /// It is another instance than the one that was named.
    pub(super) is_other_instance: bool,
    /// It has asked for a login by token as well, which the login has to repeat.
    pub(super) wants_token: bool,
    /// The number that a login by token has to repeat.
    pub(super) nonce: Option<[u8; NONCE_BYTES]>,
}

impl FirstAnswer {
    /// Reads an answer.
    pub(super) fn read(answer: &[u8]) -> Result<Self, Error> {
        let cut = || broken("an answer to the first message that ends too soon");
        let mut found = Self {
            encryption: EncryptionWord::NotSupported,
            is_other_instance: false,
            wants_token: false,
            nonce: None,
        };
        let mut reading = MessageReader { rest: answer };
        loop {
            let option = reading.byte().ok_or_else(cut)?;
            if option == END {
                return Ok(found);
            }
            let [high, low, long, short] = reading.array().ok_or_else(cut)?;
            let [start, size] = [[high, low], [long, short]].map(|bytes| usize::from(u16::from_be_bytes(bytes)));
            let data = || answer.get(start..start + size).ok_or_else(cut);
            match option {
                ENCRYPTION => found.encryption = word(data()?)?,
                INSTANCE => found.is_other_instance = data()? == [1],
                TOKEN => {
                    found.wants_token = match data()? {
                        [0] => false,
                        [1] => true,
                        _ => return Err(broken("a word of logins by token that is not known")),
                    }
                }
                NONCE => {
                    let nonce = <[u8; NONCE_BYTES]>::try_from(data()?);
                    found.nonce = Some(nonce.map_err(|_| broken("a number to repeat that has not 32 bytes"))?);
                }
                _ => {}
            }
        }
    }
}

fn word(data: &[u8]) -> Result<EncryptionWord, Error> {
    match data.first() {
        Some(0) => Ok(EncryptionWord::Off),
        Some(1) => Ok(EncryptionWord::On),
        Some(2) => Ok(EncryptionWord::NotSupported),
        Some(3) => Ok(EncryptionWord::Required),
        _ => Err(broken("a word of encryption that is not known")),
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
        frame(MessageKind::PreLogin, &FIRST.message(), 4096, &mut sent);
        let mut expected = PUBLISHED;
        (expected[34], expected[46]) = (1, 0);
        assert_eq!(sent, expected);
        assert_eq!(FirstAnswer::read(&PUBLISHED[8..]).expect("it is whole"), answer(EncryptionWord::On));
        for end in 0..33 {
            FirstAnswer::read(&PUBLISHED[8..8 + end]).expect_err("it is cut");
        }
        assert_eq!(FirstAnswer::read(&[END]).expect("it says nothing"), answer(EncryptionWord::NotSupported));
    }

    const FIRST: FirstMessage<'static> =
        FirstMessage { encryption: EncryptionWord::On, process: 0xB80D_0000, instance: "", by_token: false };

    fn answer(encryption: EncryptionWord) -> FirstAnswer {
        FirstAnswer { encryption, is_other_instance: false, wants_token: false, nonce: None }
    }

    /// [MS-TDS] 2.2.6.5: an option is its number, its place and its length, all data follow.
    #[test]
    fn an_instance_and_a_login_by_token_are_announced() {
        let message = FirstMessage { instance: "AB", by_token: true, ..FIRST }.message();
        let options = [
            [0, 0, 31, 0, 6],
            [1, 0, 37, 0, 1],
            [2, 0, 38, 0, 3],
            [3, 0, 41, 0, 4],
            [4, 0, 45, 0, 1],
            [6, 0, 46, 0, 1],
        ];
        assert_eq!(message[..31], [&options.concat()[..], &[END]].concat());
        assert_eq!(message[31..], *b"\x01\0\0\0\0\0\x01AB\0\xB8\x0D\0\0\0\x01");
    }

    #[test]
    fn an_answer_about_instances_and_tokens_is_read_and_nothing_of_what_is_cut() {
        let nonce: [u8; NONCE_BYTES] = std::array::from_fn(|place| place as u8);
        let head = [1, 0, 21, 0, 1, 2, 0, 22, 0, 1, 6, 0, 23, 0, 1, 7, 0, 24, 0, 32, END];
        let whole = [&head[..], &[3, 1, 1], &nonce].concat();
        let expected = FirstAnswer {
            encryption: EncryptionWord::Required,
            is_other_instance: true,
            wants_token: true,
            nonce: Some(nonce),
        };
        assert_eq!(FirstAnswer::read(&whole).expect("it is whole"), expected);
        for end in 0..whole.len() {
            FirstAnswer::read(&whole[..end]).expect_err("it is cut");
        }
        let mut wrong = whole.clone();
        wrong[23] = 2;
        FirstAnswer::read(&wrong).expect_err("neither yes nor no");
        let mut wrong = whole;
        wrong[19] = 31;
        FirstAnswer::read(&wrong).expect_err("the number is too short");
    }
}
