//! Findings, sections, renderers: a paper from a record. A pure function of the record: no clock, no
//! environment, no network, and the same bytes for the same record.

mod blocks;
mod charts;
mod error;
pub mod export;
pub mod findings;
mod format;
mod groups;
mod metric_key;
pub mod metrics;
mod numbers;
mod render;
mod sections;
pub mod workloads;

pub use error::Error;
pub use format::{
    Appendix, ComparisonFormat, ForecastFormat, Format, ReportOptions, comparison_for_terminal, gate_for_terminal,
    render, render_comparison, render_figures, render_forecast, render_gate, render_history, render_with,
};
pub use numbers::grouped;
pub use render::FigureFiles;
