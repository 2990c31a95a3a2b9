//! Paced mode: terminals that key and think, servers that share their sessions, Deliveries that are queued. Lists and
//! re-exports.

mod deliveries;
mod kinds;
mod paced_session;
mod thread_terminals;
mod waits;

pub(super) use deliveries::{DeliveryLog, DeliveryQueues, DeliveryWorker};
pub(super) use kinds::{DEFERRED, KINDS};
pub(super) use paced_session::PacedSession;
pub(super) use thread_terminals::ThreadTerminals;
pub(super) use waits::{WaitTally, Waits};
