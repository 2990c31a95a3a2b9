//! Driving virtual users: when an operation is due, when a phase ends, and the loop between, each a value of its own.
//! May not know any workload. Lists and re-exports.

mod alarm;
#[cfg(test)]
mod alarm_tests;
mod context;
mod finish;
#[cfg(test)]
mod open_load_tests;
mod paced_loop;
#[cfg(test)]
mod paced_loop_tests;
mod queue;
mod reconnect;
#[cfg(test)]
mod reconnect_tests;
mod rounds;
mod schedule;
mod session_loop;
mod stop;
mod terminals;
#[cfg(test)]
mod tests;
mod threads;
mod wait;

pub use context::{Retry, UserContext};
pub use paced_loop::{Queued, Server, Worker};
pub use queue::OfferedWalk;
pub use schedule::{Arrivals, ConstantRate, PoissonRate, Saturated, Schedule};
pub use session_loop::{Completed, VirtualUser};
pub use stop::{AfterCount, Stop, StopFlag};
pub use terminals::Terminals;
pub use threads::{ClientThreads, Crew, LoadEvents, Seats};
