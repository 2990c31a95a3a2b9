//! The message that logs on, and what the server acknowledges of its extensions. Source: [MS-TDS] 2.2.6.4, 2.2.7.11.

use super::prelogin::NONCE_BYTES;
use super::reading::{MessageReader, broken, encode};
use crate::contract::Error;
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
/// Whoever logs on only reads: an availability group may send it to a secondary.
const READ_ONLY: u8 = 0x20;
/// Extensions follow.
const OPTIONS_3: u8 = 0x10;
/// Bytes before the texts.
const FIXED: usize = 94;
/// Letters that a name may have.
const MOST_LETTERS: usize = 128;
/// Bytes that the message may have.
const MOST_BYTES: usize = (128 << 10) - 1;
/// The login is by a token that stands in the message.
const FEATURE_TOKEN: u8 = 0x02;
/// Kind of the token: one that the client has already; the lowest bit says that the server has asked for one.
const SECURITY_TOKEN: u8 = 0x01 << 1;
/// The server may name texts in UTF-8.
const FEATURE_UTF8: u8 = 0x0A;
const FEATURES_END: u8 = 0xFF;

/// An account that logs on, and where.
#[derive(Debug)]
pub(super) struct LoginRequest<'a> {
    /// Name of this host.
    pub(super) host: &'a str,
    pub(super) proof: LoginProof<'a>,
    /// Name of the server as the certificate has it, or as the server had it that sent us here.
    pub(super) server: &'a str,
    /// The database; empty for the account's own.
    pub(super) database: &'a str,
    /// Name by which the server lists us.
    pub(super) program: &'a str,
    pub(super) process: u32,
    /// Whether TLS lies below from the first byte on.
    pub(super) strict: bool,
    /// Whether it only reads.
    pub(super) read_only: bool,
}

/// Account that logs on, and how it is proved.
#[derive(Debug, Clone, Copy)]
pub(super) enum LoginProof<'a> {
    /// An account of the server's own.
    Account { user: &'a str, password: Option<&'a Password> },
    /// The account for which somebody else has issued an access token.
    Token {
        token: &'a Password,
        /// Whether the server has asked for a token.
        echoes: bool,
        /// The number of the server that comes back with the token.
        nonce: Option<[u8; NONCE_BYTES]>,
    },
}

impl LoginRequest<'_> {
    /// The message; an error where the token is too long for it.
    pub(super) fn message(&self) -> Result<Vec<u8>, Error> {
        let mut fixed = Vec::with_capacity(FIXED);
        let version = if self.strict { VERSION_80 } else { VERSION_74 };
        for number in [0, version, PACKET_SIZE, 0x0100_0000, self.process, 0] {
            fixed.extend_from_slice(&number.to_le_bytes());
        }
        let intent = if self.read_only { READ_ONLY } else { 0 };
        fixed.extend_from_slice(&[OPTIONS_1, OPTIONS_2, intent, OPTIONS_3]);
        fixed.extend_from_slice(&0u32.to_le_bytes());
        fixed.extend_from_slice(&0x0409u32.to_le_bytes());
        let mut data = Vec::new();
        let (user, password) = match self.proof {
            LoginProof::Account { user, password } => (user, password.map_or("", Password::reveal)),
            LoginProof::Token { .. } => ("", ""),
        };
        let texts = [self.host, user, password, self.program, self.server];
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
        self.proof.put(&mut data);
        data.push(FEATURE_UTF8);
        data.extend_from_slice(&0u32.to_le_bytes());
        data.push(FEATURES_END);
        let mut message = fixed;
        message.append(&mut data);
        if message.len() > MOST_BYTES {
            return Err(Error::other(
                "the access token is too long for a login: the server takes about 65,000 letters",
            ));
        }
        let length = u32::try_from(message.len()).unwrap_or_default();
        message[..4].copy_from_slice(&length.to_le_bytes());
        Ok(message)
    }
}

impl LoginProof<'_> {
    /// Adds the extension that carries a token.
    fn put(&self, data: &mut Vec<u8>) {
        let Self::Token { token, echoes, nonce } = self else { return };
        let mut text = Vec::new();
        encode(token.reveal(), &mut text);
        let nonce: &[u8] = match nonce {
            Some(nonce) => nonce,
            None => &[],
        };
        let size = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
        data.push(FEATURE_TOKEN);
        data.extend_from_slice(&size(1 + 4 + text.len() + nonce.len()));
        data.push(SECURITY_TOKEN | u8::from(*echoes));
        data.extend_from_slice(&size(text.len()));
        data.extend_from_slice(&text);
        data.extend_from_slice(nonce);
    }
}

/// Checks what the server acknowledges: nothing that was not asked for, and a login by token without a number, as none was sent.
/// Source: [MS-TDS] 2.2.7.11, 3.2.5.4.
pub(super) fn check_acknowledgement(features: &[u8], proof: LoginProof<'_>) -> Result<(), Error> {
    let cut = || broken("an acknowledgement of extensions that ends too soon");
    let by_token = matches!(proof, LoginProof::Token { .. });
    let (mut reading, mut has_token) = (MessageReader { rest: features }, false);
    // Without any extension, the server sends no acknowledgement at all.
    while !reading.rest.is_empty() {
        let feature = reading.byte().ok_or_else(cut)?;
        if feature == FEATURES_END {
            break;
        }
        let size = reading.int().ok_or_else(cut)?;
        let data = reading.bytes(size as usize).ok_or_else(cut)?;
        match feature {
            FEATURE_UTF8 => {}
            FEATURE_TOKEN if by_token && data.is_empty() => has_token = true,
            FEATURE_TOKEN if by_token => return Err(broken("a number for a login by token, though none was sent")),
            _ => return Err(broken(&format!("an extension 0x{feature:02X} that was not asked for"))),
        }
    }
    if by_token && !has_token {
        return Err(broken("a login by token that it does not acknowledge"));
    }
    Ok(())
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

    fn request(proof: LoginProof<'_>) -> LoginRequest<'_> {
        LoginRequest {
            host: "skostov1",
            proof,
            server: "",
            database: "shop",
            program: "OSQL-32",
            process: 256,
            strict: false,
            read_only: false,
        }
    }

    /// Extensions of a message, without their end.
    fn extensions(message: &[u8]) -> &[u8] {
        let at = usize::from(u16::from_le_bytes([message[56], message[57]]));
        let start = u32::from_le_bytes(message[at..at + 4].try_into().expect("four bytes")) as usize;
        message[start..].strip_suffix(&[0x0A, 0, 0, 0, 0, 0xFF]).expect("they end")
    }

    /// The grammar of [MS-TDS] 2.2.6.4, byte by byte: kind, length, options, then the token behind its length, and the number.
    #[test]
    fn a_token_stands_in_an_extension_and_no_account_beside_it() {
        let token = Password::new("ab");
        let nonce = [7; NONCE_BYTES];
        let message = request(LoginProof::Token { token: &token, echoes: true, nonce: Some(nonce) }).message();
        let message = message.expect("it is short");
        let head = [0x02, 41, 0, 0, 0, 0x03, 4, 0, 0, 0, b'a', 0, b'b', 0];
        assert_eq!(extensions(&message), [&head[..], &nonce].concat());
        // User and password have no letters.
        assert_eq!((message[42..44].to_vec(), message[46..48].to_vec()), (vec![0; 2], vec![0; 2]));
        let message = request(LoginProof::Token { token: &token, echoes: false, nonce: None }).message();
        let message = message.expect("it is short");
        assert_eq!(extensions(&message), [0x02, 9, 0, 0, 0, 0x02, 4, 0, 0, 0, b'a', 0, b'b', 0]);
        assert_eq!(message.len(), u32::from_le_bytes(message[..4].try_into().expect("four bytes")) as usize);
        let long = Password::new("s3cret".repeat(20_000));
        let error = request(LoginProof::Token { token: &long, echoes: false, nonce: None }).message();
        let error = error.expect_err("it is too long").to_string();
        assert!(error.contains("too long") && !error.contains("s3cret"), "{error}");
    }

    #[test]
    fn a_token_does_not_print_itself() {
        let token = Password::new("s3cret");
        let request = request(LoginProof::Token { token: &token, echoes: true, nonce: None });
        assert!(!format!("{request:?}").contains("s3c"), "{request:?}");
    }

    /// [MS-TDS] 2.2.6.4: the flag of one that only reads is the sixth of those of its type.
    #[test]
    fn a_login_may_say_that_it_only_reads() {
        let account = LoginProof::Account { user: "sa", password: None };
        let message = LoginRequest { read_only: true, ..request(account) }.message().expect("it is short");
        assert_eq!(message[24..28], [0xE0, 0x03, 0x20, 0x10]);
    }

    /// [MS-TDS] 2.2.7.11 and 3.2.5.4.
    #[test]
    fn an_acknowledgement_has_what_was_asked_for_and_no_more() {
        let token = Password::new("ab");
        let by_token = LoginProof::Token { token: &token, echoes: true, nonce: None };
        let account = LoginProof::Account { user: "sa", password: None };
        let check = |features: &[u8], proof, expected: Result<(), &str>| {
            let found = check_acknowledgement(features, proof).map_err(|error| error.to_string());
            match (&found, expected) {
                (Ok(()), Ok(())) => {}
                (Err(text), Err(part)) if text.contains(part) => {}
                _ => panic!("{features:?}: {found:?}"),
            }
        };
        let utf8 = [0x0A, 1, 0, 0, 0, 1];
        let of_token = [0x02, 0, 0, 0, 0];
        check(&[], account, Ok(()));
        check(&[&utf8[..], &[0xFF]].concat(), account, Ok(()));
        check(&[&of_token[..], &utf8, &[0xFF]].concat(), by_token, Ok(()));
        check(&[&utf8[..], &[0xFF]].concat(), by_token, Err("does not acknowledge"));
        check(&[], by_token, Err("does not acknowledge"));
        check(&[&of_token[..], &[0xFF]].concat(), account, Err("0x02 that was not asked for"));
        check(&[0x01, 0, 0, 0, 0, 0xFF], account, Err("0x01 that was not asked for"));
        check(&[&[0x02, 32, 0, 0, 0][..], &[7; 32], &[0xFF]].concat(), by_token, Err("though none was sent"));
        check(&[0x0A, 9, 0, 0, 0, 1, 0xFF], account, Err("ends too soon"));
        check(&[0x0A, 9, 0], account, Err("ends too soon"));
    }

    /// The same places, flags and texts as the message of [MS-TDS] 4.2, which an older version and another library sent.
    #[test]
    fn the_message_has_the_published_form() {
        let password = Password::new("ab");
        let message =
            request(LoginProof::Account { user: "sa", password: Some(&password) }).message().expect("it is short");
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
