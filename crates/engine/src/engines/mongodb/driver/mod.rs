//! The path by the official driver: TLS, authentication, SRV records, replica sets and sharded clusters by URL. Lists and re-exports.

mod batch;
mod client;
mod commands;
mod failure;
mod session;
mod values;

pub(super) use commands::Commands;
pub(super) use session::Session;
