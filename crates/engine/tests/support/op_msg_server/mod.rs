//! A server in the test's own process that speaks MongoDB's wire protocol (OP_MSG) on a free port of the loopback.
//!
//! It keeps documents in memory, or answers the hot commands of one collection with constant documents as cheaply as it can (the
//! null target), and makes faults on command. It stands for no real server's behaviour beyond the commands it knows.
//! Needs the standard library and tokio alone, so that tests and benches of other crates may include it by its path.
#![allow(dead_code, unused_imports, reason = "shared by several test binaries, each of which uses another part")]

mod bare;
mod behaviour;
mod build;
mod canned;
mod commands;
mod faults;
mod hello;
mod process;
mod raw;
mod replica_set;
mod serve;
mod store;
mod wire;
mod writes;

pub(crate) use bare::Bare;
pub(crate) use behaviour::{Behaviour, Canned, Login, Set};
pub(crate) use faults::Fault;
pub(crate) use process::{Process, serve_if_asked};
pub(crate) use serve::Server;
