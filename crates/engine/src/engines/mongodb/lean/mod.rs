//! The lean client path: one connection per session, commands written as raw BSON, replies framed and only stepped over.
//! One server, without TLS, authentication, sessions of the server, retries or topology: those need the driver path.

mod answer;
mod commands;
mod connection;
mod greeting;
mod insertion;
mod message;
mod plain;
mod session;

pub(super) use connection::Connection;
pub(super) use greeting::{Greeting, open};
pub(super) use session::Session;
