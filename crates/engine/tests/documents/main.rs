//! Sessions of documents: the suite that every engine with the capability `documents` must pass, over every place where it can
//! be had, and what is particular to the wire protocol of MongoDB.

mod batches;
mod demonstration;
mod faults;
#[path = "../ferretdb/mod.rs"]
mod ferretdb;
mod instance;
#[path = "../support/op_msg_server/mod.rs"]
mod op_msg_server;
#[cfg(feature = "mongodb-driver")]
mod paths;
mod places;
mod refusals;
mod rights;
#[cfg(feature = "mongodb-driver")]
mod same_errors;
mod settings;
mod suite;
