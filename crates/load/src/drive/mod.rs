//! Driving virtual users: when an operation is due, when a phase ends, and the loop between them, each a value of its
//! own. May not know any workload. Lists and re-exports.

mod alarm;
#[cfg(test)]
mod alarm_tests;
mod context;
mod due_terminals;
mod finish;
mod gate;
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
#[cfg(test)]
mod tests;
mod threads;
mod virtual_user;
mod wait;

pub use context::{Retry, UserContext};
pub use due_terminals::DueTerminals;
pub use queue::OfferedWalk;
pub use reconnect::Patience;
pub use schedule::{Arrivals, ConstantRate, PoissonRate, SaturatedSchedule, Schedule};
pub use stop::{AfterCount, Stop, StopFlag};
pub use threads::{ClientThreads, ThreadsSpec};
pub use virtual_user::{QueueWorker, QueuedItem, SharedSession, VirtualUser};
pub use wait::UserWait;
