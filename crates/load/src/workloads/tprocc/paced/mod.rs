//! Paced mode: terminals that key and think, servers that share their sessions, Deliveries that are queued. Lists and re-exports.

mod deliveries;
mod floor;
mod kinds;
mod server;
mod waits;

pub(super) use deliveries::{DeliveryLog, DeliveryQueues, DeliveryWorker};
pub(super) use floor::Floor;
pub(super) use kinds::{DEFERRED, KINDS};
pub(super) use server::Server;
pub(super) use waits::{WaitTally, Waits};
