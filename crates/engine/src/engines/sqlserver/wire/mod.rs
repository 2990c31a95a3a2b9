//! Our own end of the protocol of SQL Server, TDS 7.4, from the first packet on. Lists and re-exports. Source: [MS-TDS], "Tabular Data Stream
//! Protocol", version 39.

mod bulk;
mod connection;
mod handshake;
mod login;
mod packet;
mod parameters;
mod prelogin;
#[cfg(test)]
mod published;
mod reading;
mod rpc;
mod stream;
mod tokens;
mod types;
mod values;

pub(super) use bulk::{BulkTable, quoted};
pub(super) use connection::{Event, ServerConnection, ServerWord};
pub(super) use parameters::{ParameterKind, declaration};
pub(super) use reading::broken;
pub(super) use rpc::Procedure;
pub(in crate::engines::sqlserver) use tokens::EndKind;
