//! A record in the forms of other tools: tables as CSV, JSON and Parquet, histograms as an HDR log, final figures and every second as
//! OpenMetrics, the writes of a drill as a history. Writes what is recorded, piece by piece, to whatever it is given; may not judge it.

mod cell;
mod column;
mod csv;
mod drill_tables;
mod experiment_tables;
mod hdr;
mod history;
mod json;
mod openmetrics;
mod parquet;
mod selection;
mod table;
mod tables;
mod time;

pub use cell::Cell;
pub use column::{CellKind, ExportColumn};
pub use csv::write_csv;
pub use hdr::write_hdr;
pub use history::{History, NoHistory, history};
pub use json::write_json;
pub use openmetrics::write_openmetrics;
pub use parquet::write_parquet;
pub use selection::Selection;
pub use table::{ExportTable, TABLES};
