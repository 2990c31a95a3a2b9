//! The knee of a curve of throughput over a resource: an interval, or the honest answer that the points
//! are too few to place it better than between two levels.

pub(super) mod curve;
pub mod find;

pub use curve::Shape;
pub use find::{Knee, Question, find_knee};
