//! MongoDB 4.2 and later, and what speaks its wire protocol: a local instance that Proofload starts, or a server reached by URL.
//!
//! Checked against servers that speak the protocol; **not yet tried on a `mongod` itself**, see `docs/guides/mongodb.md`.

mod admin;
mod bson;
mod configuration;
mod database;
mod documents;
#[cfg(feature = "mongodb-driver")]
mod driver;
mod engine;
mod failure;
mod installation;
mod lean;
mod names;
mod observer;
mod options;
mod recipe;
mod replication;
mod rights;
mod scratch;
#[cfg(feature = "mongodb-driver")]
mod self_check;
mod settings;
mod statistics;
mod url;
mod write_concern;

pub use documents::Documents;
pub use engine::Mongodb;
#[cfg(feature = "mongodb-driver")]
pub use self_check::self_check;
