//! Steady state: the rule a study sets, the verdict, and the evidence for it.

pub mod judge;
pub(super) mod remainder;
pub mod rule;
pub mod snia;
#[cfg(test)]
mod tests;
pub mod verdict;

pub use judge::{Detector, judge, judge_with};
pub use rule::{Procedure, Readiness, Rule, State};
pub use verdict::{Evidence, Reason, Verdict, Window};
