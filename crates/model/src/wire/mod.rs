//! The messages between the conductor and its agents. Data only: framing and processes are `testbed::agents`' business.
//!
//! One agent serves both roles. The *host* role prepares a machine: instances, storage, limits, snapshots, probes.
//! The *load* role runs virtual users. Each request is a type with the type of its answer ([`Ask`]).
//! A change of any type here raises [`PROTOCOL`]. Lists and re-exports.

mod ask;
mod data;
mod event;
pub mod host;
mod host_answers;
pub mod load;
mod message;

pub use ask::{Ask, Ping, Pong, Quit};
pub use data::{
    DataLocation, LimitsAsked, LoadSpec, Preconditioning, ProbeResult, ResourceUse, ScrapeSpec, ThreadLimit,
};
pub use event::Event;
pub use message::{Call, Message, PROTOCOL, Reply, Request};
