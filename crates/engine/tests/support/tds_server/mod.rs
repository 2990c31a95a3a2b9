//! A server that speaks TDS 7.4 as its document has it, with an encoder and a decoder of its own: it shares no code with the client, so that
//! what both make of the document is compared. It answers what a test tells it to, and can misbehave. Lists and re-exports.

#![allow(dead_code, unused_imports, reason = "shared by several test binaries, each of which uses another part")]

mod behaviour;
mod browser;
mod datum;
mod link;
mod requests;
mod serve;
mod tokens;

pub(crate) use behaviour::{Answer, Encrypts, Misbehaviour, Parameter, Part, Setup, TokenRule};
pub(crate) use browser::Browser;
pub(crate) use datum::{ColumnForm, Datum};
pub(crate) use serve::TdsServer;
