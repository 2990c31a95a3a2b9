//! A first ranking of what limited a point, from what was observed while it ran. Nothing here is a cause
//! yet: a candidate becomes one when perturbing its resource moves the result.

mod observation;
mod rank;

pub use observation::{Observations, Resource, ResourceKind, Wait};
pub use rank::{Candidate, Cause, rank};
