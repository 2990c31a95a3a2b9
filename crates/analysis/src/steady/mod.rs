//! Steady state: the rule a study sets, the verdict, and the evidence for it.

mod judge;
pub(super) mod remainder;
mod rule;
#[cfg(test)]
mod tests;
mod verdict;

pub use judge::{Detector, judge};
pub use rule::Rule;
pub use verdict::{Evidence, Reason, Verdict, Window};
