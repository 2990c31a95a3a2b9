//! All that the driver does in memory of ours, behind types that own it: the only `unsafe` code of this crate. Lists.

mod control_ring;
mod descriptors;
mod queue_ring;
mod waits;

pub(super) use control_ring::{ControlRequest, ControlRing};
pub(super) use descriptors::Descriptors;
pub(super) use queue_ring::{QueueEvent, QueueRing};
