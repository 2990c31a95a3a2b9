//! Final figures and every second as OpenMetrics text 1.0: base units, one family after another, times ascending in each series,
//! `# EOF` at the end. Every sample has a time, so that a time series database can be filled with it afterwards.
//!
//! Source: the OpenMetrics specification, version 1.0.0, sections "Text Format" and "Overall Structure".

mod family;
mod results;
mod run;
mod seconds;
mod text;
mod units;

pub use text::write_openmetrics;
