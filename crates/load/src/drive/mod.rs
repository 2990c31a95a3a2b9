//! Driving virtual users: when an operation is due, when a phase ends, and the loop between, each a value of its own.
//! May not know any workload. Lists and re-exports.

mod context;
mod finish;
mod rounds;
mod schedule;
mod session_loop;
mod stop;
#[cfg(test)]
mod tests;
mod threads;
mod wait;

pub use context::{Retry, UserContext};
pub use schedule::{ConstantRate, Saturated, Schedule};
pub use session_loop::{Completed, VirtualUser};
pub use stop::{AfterCount, Stop, StopFlag};
pub use threads::{ClientThreads, Crew, LoadEvents};
pub use wait::Wait;
