//! Two records side by side, and what a gate says of them: for a terminal and for programs.

mod gate_text;
mod json;
mod long_values;
mod parts;
mod table;
mod text;

pub(crate) use gate_text::gate_text;
pub(crate) use json::{comparison_json, gate_json};
pub(crate) use text::comparison_text;
