//! The network between a primary and its standby where both are on one host: a relay with a delay, a rate and a gate. Chunks are not
//! packets: nothing is lost, reordered or resent. Knows sockets and bytes, no engine. Lists and re-exports.

mod bare;
mod connection;
mod direction;
mod echo;
mod ends;
mod lateness;
mod link;
mod meter;
mod threads;

pub use bare::BareRelay;
pub(crate) use lateness::LatenessCounts;
pub(crate) use link::{LinkLaw, Relay, Way};
pub(crate) use meter::RelayMeter;
