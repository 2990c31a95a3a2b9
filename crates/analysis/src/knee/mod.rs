//! The knee of a curve of throughput over a resource, fitted with an interval, or the reason why no fit tells one.

pub(super) mod curve;
pub mod find;

pub use curve::Shape;
pub use find::{FittedKnee, NoFit, Question, fit_knee};
