//! Seconds of load: each client thread records into its own histograms and hands them over once a second; a collector merges them.
//! Lists and re-exports.

mod collector;
mod histograms;
mod self_measure;
mod thread_recorder;

pub use collector::{Collector, Handover};
pub use histograms::{Latencies, new_histogram};
pub use thread_recorder::{ThreadRecorder, Times};
