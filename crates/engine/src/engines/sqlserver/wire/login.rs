//! The message that logs on. Source: [MS-TDS] 2.2.6.4.

use super::reading::encode;
use crate::engines::wire::Password;

/// TDS 7.4, and TDS 8.0 below TLS.
const VERSION_74: u32 = 0x7400_0004;
const VERSION_80: u32 = 0x0800_0000;
/// Size of packets that is asked for.
pub(super) const PACKET_SIZE: u32 = 32_767;
/// The database must exist, and the language be set: what does not hold ends the login.
const OPTIONS_1: u8 = 0xE0;
/// The defaults of ANSI, as ODBC sets them; a failure of the language is fatal.
const OPTIONS_2: u8 = 0x03;
/// Extensions follow.
const OPTIONS_3: u8 = 0x10;
/// Bytes before the texts.
const FIXED: usize = 94;
/// Letters that a name may have.
const MOST_LETTERS: usize = 128;
/// The server may name texts in UTF-8.
const FEATURE_UTF8: u8 = 0x0A;
const FEATURES_END: u8 = 0xFF;

/// An account that logs on, and where.
#[derive(Debug)]
pub(super) struct LoginRequest<'a> {
    /// Name of this host.
    pub(super) host: &'a str,
    pub(super) user: &'a str,
    pub(super) password: Option<&'a Password>,
    /// Name of the server as the certificate has it.
    pub(super) server: &'a str,
    /// The database; empty for the account's own.
    pub(super) database: &'a str,
    /// Name by which the server lists us.
    pub(super) program: &'a str,
    pub(super) process: u32,
    /// Whether TLS lies below from the first byte on.
    pub(super) strict: bool,
}

impl LoginRequest<'_> {
    /// The message.
    pub(super) fn message(&self) -> Vec<u8> {
        let mut fixed = Vec::with_capacity(FIXED);
        let version = if self.strict { VERSION_80 } else { VERSION_74 };
        for number in [0, version, PACKET_SIZE, 0x0100_0000, self.process, 0] {
            fixed.extend_from_slice(&number.to_le_bytes());
        }
        fixed.extend_from_slice(&[OPTIONS_1, OPTIONS_2, 0, OPTIONS_3]);
        fixed.extend_from_slice(&0u32.to_le_bytes());
        fixed.extend_from_slice(&0x0409u32.to_le_bytes());
        let mut data = Vec::new();
        let password = self.password.map_or("", Password::reveal);
        let texts = [self.host, self.user, password, self.program, self.server];
        for (place, text) in texts.into_iter().enumerate() {
            let start = data.len();
            add(&mut fixed, &mut data, text);
            if place == 2 {
                data[start..].iter_mut().for_each(|byte| *byte = byte.rotate_left(4) ^ 0xA5);
            }
        }
        // Where the place of the extensions stands.
        fixed.extend_from_slice(&place(data.len()).to_le_bytes());
        fixed.extend_from_slice(&4u16.to_le_bytes());
        let pointer = data.len();
        data.extend_from_slice(&[0; 4]);
        for text in ["proofload", "", self.database] {
            add(&mut fixed, &mut data, text);
        }
        // No address of this host's card, no proof of the domain, no file to attach, no new password.
        fixed.extend_from_slice(&[0; 6]);
        for _ in 0..3 {
            add(&mut fixed, &mut data, "");
        }
        fixed.extend_from_slice(&0u32.to_le_bytes());
        let extensions = u32::from(place(data.len()));
        data[pointer..pointer + 4].copy_from_slice(&extensions.to_le_bytes());
        data.push(FEATURE_UTF8);
        data.extend_from_slice(&0u32.to_le_bytes());
        data.push(FEATURES_END);
        let mut message = fixed;
        message.append(&mut data);
        let length = u32::try_from(message.len()).unwrap_or_default();
        message[..4].copy_from_slice(&length.to_le_bytes());
        message
    }
}

/// Place in the message of what follows next.
fn place(data: usize) -> u16 {
    u16::try_from(FIXED + data).unwrap_or(u16::MAX)
}

/// Adds a text to the data, and its place and length to the fixed part.
fn add(fixed: &mut Vec<u8>, data: &mut Vec<u8>, text: &str) {
    let start = data.len();
    encode(text, data);
    data.truncate(start + 2 * MOST_LETTERS);
    fixed.extend_from_slice(&place(start).to_le_bytes());
    fixed.extend_from_slice(&u16::try_from((data.len() - start) / 2).unwrap_or_default().to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same places, flags and texts as the message of [MS-TDS] 4.2, which an older version and another library sent.
    #[test]
    fn the_message_has_the_published_form() {
        let password = Password::new("ab");
        let request = LoginRequest {
            host: "skostov1",
            user: "sa",
            password: Some(&password),
            server: "",
            database: "shop",
            program: "OSQL-32",
            process: 256,
            strict: false,
        };
        let message = request.message();
        assert_eq!(message.len(), u32::from_le_bytes(message[..4].try_into().expect("four bytes")) as usize);
        assert_eq!(message[24..36], [0xE0, 0x03, 0, 0x10, 0, 0, 0, 0, 0x09, 0x04, 0, 0]);
        // Places and lengths of host, user, password, program and server.
        assert_eq!(message[36..44], [0x5E, 0, 8, 0, 0x6E, 0, 2, 0], "as published");
        assert_eq!(message[44..52], [0x72, 0, 2, 0, 0x76, 0, 7, 0]);
        assert_eq!(message[94..110], *b"s\0k\0o\0s\0t\0o\0v\x001\0");
        // 'a' is 0x61: its halves change places, then 0xA5.
        assert_eq!(message[114..118], [0x16 ^ 0xA5, 0xA5, 0x26 ^ 0xA5, 0xA5]);
        let at = usize::from(u16::from_le_bytes([message[56], message[57]]));
        let extensions = u32::from_le_bytes(message[at..at + 4].try_into().expect("four bytes")) as usize;
        assert_eq!(message[extensions..], [0x0A, 0, 0, 0, 0, 0xFF]);
        let database = usize::from(u16::from_le_bytes([message[68], message[69]]));
        assert_eq!(message[database..database + 8], *b"s\0h\0o\0p\0");
    }
}
