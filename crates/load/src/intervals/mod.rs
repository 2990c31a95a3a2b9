//! Seconds of load: each client thread records into its own histograms and hands them over once a second; a collector
//! merges them, and a merger those of several load agents. Lists and re-exports.

mod collector;
mod histograms;
mod merger;
#[cfg(test)]
mod merger_tests;
mod pauses;
mod self_measure;
mod sums;
mod thread_recorder;

pub use collector::{Collector, Handover};
pub use histograms::{Latencies, new_histogram};
pub use merger::{MergedSecond, Merger};
pub use pauses::Pauses;
pub use thread_recorder::ThreadRecorder;
