//! Renderers: a document to HTML, Markdown or Typst, findings to CSV, JSON or a terminal's text. Every text of a record is
//! escaped here. May not compute anything but layout.

mod comparison;
mod csv;
mod figures;
mod gaps;
mod history_json;
mod history_text;
mod html;
mod html_inline;
mod html_parts;
mod html_table;
mod json;
mod json_attribution;
mod json_cache_forecast;
mod json_cache_tier;
mod json_search;
mod markdown;
mod plain;
mod quantity;
mod table_csv;
mod text;
mod text_cache_forecast;
mod typst;

pub(crate) use comparison::{comparison_json, comparison_text, gate_json, gate_text};
pub(crate) use csv::{csv, quoted_field};
pub use figures::FigureFiles;
pub(crate) use figures::figures;
pub(crate) use history_json::history_json;
pub(crate) use history_text::history_text;
pub(crate) use html::html;
pub(crate) use json::json;
pub(crate) use json_cache_forecast::forecast_json;
pub(crate) use markdown::markdown;
pub(crate) use plain::opening_text;
pub(crate) use table_csv::table_csv;
pub(crate) use text::text;
pub(crate) use text_cache_forecast::forecast_text;
pub(crate) use typst::{About, typst};
