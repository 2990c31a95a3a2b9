//! The search for a load: which one to measure next, and when the answer is known. A pure function of the question and of what was
//! measured: equal results give equal choices. Lists and re-exports.

mod choose;
mod limit;
mod loads;
mod peak;
mod seen;
#[cfg(test)]
mod tests;
mod types;

pub use choose::next;
pub use types::{Doubt, Ending, Goal, MeasuredLoad, Outcome, Question, SearchAnswer, Step, Try, Why};
