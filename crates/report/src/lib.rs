//! Findings, sections, renderers: a paper from a record. A pure function of the record: no clock, no
//! environment, no network, and the same bytes for the same record.

pub mod blocks;
pub mod charts;
mod error;
pub mod export;
pub mod findings;
mod format;
pub mod metrics;
pub mod numbers;
mod render;
pub mod sections;
pub mod workloads;

pub use error::Error;
pub use format::{ComparisonFormat, Format, render, render_beside, render_comparison, render_gate};
