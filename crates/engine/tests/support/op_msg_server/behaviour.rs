//! What a test wants the server to be.

/// How the server presents itself, and whether it keeps documents.
#[derive(Debug, Clone)]
pub(crate) struct Behaviour {
    /// Smallest and largest wire version.
    pub(crate) wire_versions: (i32, i32),
    /// Whether it calls itself a primary.
    pub(crate) writable: bool,
    /// Replica set that it says it belongs to.
    pub(crate) set_name: Option<&'static str>,
    /// Replica set that it was started for and that has yet to be made, or that was made on another port.
    pub(crate) wants_set: Option<Set>,
    /// Whether it knows `hello`, or only the older name of that command.
    pub(crate) knows_hello: bool,
    /// Largest document, bytes.
    pub(crate) document_bytes: i32,
    /// Largest message, bytes.
    pub(crate) message_bytes: i32,
    /// Most documents of one insertion.
    pub(crate) batch_documents: i32,
    /// Most documents in one reply, whatever was asked.
    pub(crate) reply_documents: usize,
    /// Answer the hot commands of one collection with constants.
    pub(crate) canned: Option<Canned>,
    /// Login of every connection; `None`: nobody has to log in.
    pub(crate) login: Option<Login>,
}

/// What a login may do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Login {
    /// Nothing: the server wants a login, and there was none.
    Wanted,
    /// Actions in a database and at the server.
    Granted {
        /// Name of the database.
        database: &'static str,
        /// Actions on all its collections.
        in_database: &'static [&'static str],
        /// Actions on the server itself.
        at_server: &'static [&'static str],
    },
}

/// The collection that is answered with constants, and their shape.
#[derive(Debug, Clone)]
pub(crate) struct Canned {
    /// Its name, in any database.
    pub(crate) collection: &'static str,
    /// Fields of a document, named `field0`, `field1`, …
    pub(crate) fields: usize,
    /// Bytes of a value.
    pub(crate) value_bytes: usize,
}

/// A replica set that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// A set that did not exist before.
    New,
    /// There was one, with another address.
    Moved,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            wire_versions: (0, 21),
            writable: true,
            set_name: None,
            wants_set: None,
            knows_hello: true,
            document_bytes: 16 << 20,
            message_bytes: 48_000_000,
            batch_documents: 100_000,
            reply_documents: 101,
            canned: None,
            login: None,
        }
    }
}

impl Behaviour {
    /// The null target for YCSB's default shape.
    pub(crate) fn null_target() -> Self {
        Self { canned: Some(Canned { collection: "usertable", fields: 10, value_bytes: 100 }), ..Self::default() }
    }
}
