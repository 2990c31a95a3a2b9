//! What a test tells the server to do.

use super::datum::{ColumnForm, Datum};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// What the server says of encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encrypts {
    Off,
    On,
    NotSupported,
    Required,
    /// TLS before the first packet, as TDS 8.0 has it.
    Strict,
}

/// How the server breaks its word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Misbehaviour {
    /// Sends pieces of so many bytes.
    pub(crate) piece: Option<usize>,
    /// Ends the connection after so many bytes.
    pub(crate) ends_after: Option<usize>,
    /// Takes connections and says nothing.
    pub(crate) silent: bool,
    /// Runs nothing of a message after an error; otherwise it goes on with the next call.
    pub(crate) stops_at_error: bool,
}

/// A parameter of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) by_reference: bool,
    pub(crate) kind: u8,
    pub(crate) value: Datum,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Columns(Vec<ColumnForm>),
    Row(Vec<Datum>),
    /// The form with a bit for each null.
    RowWithNulls(Vec<Datum>),
    /// The end of a statement that touched so many rows.
    Count(u64),
    Error {
        number: u32,
        severity: u8,
        procedure: &'static str,
        line: u32,
        message: &'static str,
    },
    Message(&'static str),
    Raw(Vec<u8>),
    /// Says nothing more until it is asked to stop.
    Silence,
    /// Is asked to stop when the whole answer is on its way: sends its end, then the word that it has stopped, once `Setup::stops` is set.
    Late,
    /// Ends the connection.
    Close,
}

/// The answer to a statement or call.
pub(crate) type Answer = Vec<Part>;

/// What a test answers to each statement and each call, by its text or name and its parameters.
pub(crate) type Script = Arc<Mutex<dyn FnMut(&str, &[Parameter]) -> Answer + Send>>;

/// What the server says of logins by token.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenRule {
    /// The token that it takes.
    pub(crate) token: &'static str,
    /// What its first answer says of whether it wants one, if anything.
    pub(crate) wants: Option<u8>,
    /// The number that the client has to repeat.
    pub(crate) nonce: Option<[u8; 32]>,
    /// Sends this acknowledgement of extensions instead of the right one.
    pub(crate) acknowledges: Option<Vec<u8>>,
}

/// What the server is like.
pub(crate) struct Setup {
    pub(crate) encrypts: Encrypts,
    /// Files of its certificate and its key.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
    pub(crate) misbehaviour: Misbehaviour,
    /// The password that it takes.
    pub(crate) password: &'static str,
    /// Size of packets that it agrees to.
    pub(crate) packet_size: usize,
    /// Its database keeps texts as UTF-8.
    pub(crate) utf8: bool,
    /// Takes a token and no password.
    pub(crate) by_token: Option<TokenRule>,
    /// Sends every client on to this server and port, after it has let it in; port 0 is its own.
    pub(crate) sends_on: Option<(String, u16)>,
    /// Sends on those alone that only read.
    pub(crate) keeps_writers: bool,
    /// The instance that it is; takes clients of any where it has no name.
    pub(crate) instance: Option<&'static str>,
    /// Says that it has stopped, after a late request to; until this is set it says nothing.
    pub(crate) stops: Arc<AtomicBool>,
}

impl Default for Setup {
    fn default() -> Self {
        let misbehaviour = Misbehaviour::default();
        Self {
            encrypts: Encrypts::NotSupported,
            identity: None,
            misbehaviour,
            password: "733363726574",
            packet_size: 512,
            utf8: true,
            by_token: None,
            sends_on: None,
            keeps_writers: false,
            instance: None,
            stops: Arc::new(AtomicBool::new(true)),
        }
    }
}
