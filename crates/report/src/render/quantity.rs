//! A measured number in running text, the same for every format: its digits by what stands behind it, and its unit.

use crate::blocks::Detail;
use crate::numbers::{PrintedQuantity, shown, shown_alone, shown_roughly};
use proofload_analysis::quantity::Quantity;

/// The printed number, and its value with the unit or the words in its place, which a space parts.
pub(super) fn in_text(
    quantity: &Quantity,
    words: Option<&'static str>,
    detail: Detail,
    space: &str,
) -> (PrintedQuantity, String) {
    let shown = match detail {
        Detail::Whole => shown(quantity),
        Detail::Interval => shown_roughly(quantity),
        Detail::Value => shown_alone(quantity),
    };
    let unit = words.unwrap_or(&shown.unit);
    let space = if unit.is_empty() || unit == "×" { "" } else { space };
    let value = format!("{}{space}{unit}", shown.value);
    (shown, value)
}
