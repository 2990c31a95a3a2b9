//! The sink of a load's events: a leaf, so that every part of a load can report without knowing the others.

use proofload_model::wire::Event;
use std::sync::Arc;

/// Sink of what the load reports to the conductor.
pub type LoadEvents = Arc<dyn Fn(Event) + Send + Sync>;
