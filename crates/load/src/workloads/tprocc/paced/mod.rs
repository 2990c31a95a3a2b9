//! Paced mode: terminals that key and think, servers that share their sessions, Deliveries that are queued. Lists and re-exports.

mod deliveries;
mod floor;
mod server;
mod waits;

pub(super) use deliveries::{DeliveryLog, DeliveryQueues, DeliveryWorker};
pub(super) use floor::Floor;
pub(super) use server::Server;
pub(super) use waits::{WaitTally, Waits};

/// Kinds of operations: those of a user, and the Deliveries that were queued and are done later.
pub(super) const KINDS: &[&str] =
    &["new_order", "payment", "order_status", "delivery", "stock_level", "deferred_delivery"];

/// Number of the kind of Deliveries that are done later.
pub(super) const DEFERRED: usize = 5;
