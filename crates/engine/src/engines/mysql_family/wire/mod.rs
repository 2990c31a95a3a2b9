//! Our own end of the protocol that MariaDB and MySQL speak, from the greeting on. Lists and re-exports. Source: MariaDB's knowledge base,
//! "Client/Server Protocol".

mod answer;
mod auth;
mod calendar;
mod connection;
mod decimal;
mod handshake;
mod packet;
mod pipelining;
mod prepared;
mod turns;
mod values;

pub(super) use answer::{Answer, Packet};
pub(super) use connection::ServerConnection;
pub(super) use packet::broken;
pub(super) use pipelining::{PATIENCE, takes_pipelining};
pub(super) use prepared::{PreparedStatement, WireRow, prepare};
pub(super) use values::write_text_field;
