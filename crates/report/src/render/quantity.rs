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

/// What stands behind the value in brackets, with a space of its own between the words for no interval; `None` where it is left out.
pub(super) fn in_brackets(shown: &PrintedQuantity, detail: Detail, space: &str) -> Option<String> {
    let size = format!("n\u{202f}=\u{202f}{}", shown.n);
    Some(match (detail, &shown.interval) {
        (Detail::Value, _) => return None,
        (Detail::Interval, Some((low, high))) => format!("[{low}\u{2009}–\u{2009}{high}]"),
        (Detail::Interval, None) => format!("[no{space}interval]"),
        (Detail::Whole, Some((low, high))) => format!("[{low}\u{2009}–\u{2009}{high}; {size}]"),
        (Detail::Whole, None) => format!("[{size}, no{space}interval]"),
    })
}
