//! Our own end of the protocol of SQL Server, TDS 7.4, from the first packet on. Lists and re-exports. Source: [MS-TDS], "Tabular Data Stream
//! Protocol", version 39.

mod blanking;
mod browser;
mod bulk;
mod connection;
mod dial;
mod handshake;
mod login;
mod packet;
mod parameters;
mod prelogin;
#[cfg(test)]
mod published;
mod reading;
mod recording;
mod route;
mod rpc;
mod stream;
mod table;
mod tokens;
mod types;
mod values;

pub(super) use bulk::{BulkTable, quoted};
pub(super) use connection::{Event, ServerConnection, ServerWord};
pub(super) use parameters::{ParameterKind, declaration};
pub(super) use reading::broken;
pub(super) use recording::SqlserverRecorder;
pub(super) use rpc::Procedure;
pub(super) use table::TableParameter;
pub(in crate::engines::sqlserver) use tokens::EndKind;
