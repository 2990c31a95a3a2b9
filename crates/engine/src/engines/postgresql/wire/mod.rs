//! Our own end of PostgreSQL's protocol, version 3, for everything that a session sends and receives once it is connected. Lists and
//! re-exports. Source: PostgreSQL manual, "Frontend/Backend Protocol".

mod attempts;
mod connection;
mod handshake;
mod message;
mod places;
mod prepared;

pub(super) use attempts::connect;
pub(super) use connection::{Connection, State};
pub(super) use message::{Message, Tag, affected};
pub(super) use prepared::{PreparedStatement, WireRow, describe, queue_parse};
