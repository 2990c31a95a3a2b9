//! Sessions of documents: the suite that every engine with the capability `documents` must pass, over every place where it can
//! be had, and what is particular to the wire protocol of MongoDB.

mod batches;
mod faults;
mod instance;
#[path = "../support/op_msg_server/mod.rs"]
mod op_msg_server;
mod places;
mod refusals;
mod settings;
mod suite;
