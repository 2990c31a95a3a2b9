//! Names of operations as papers write them.

/// `new_order` as `New-Order`; other kinds with spaces.
pub fn kind_title(kind: &str) -> String {
    let words: Vec<String> = kind.split('_').map(capital).collect();
    words.join("-")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The order in which TPC-C lists its transactions; other kinds follow by name.
const ORDER: &[&str] = &["new_order", "payment", "order_status", "delivery", "stock_level"];

/// Sorts kinds of operations for tables.
pub(super) fn in_order(kinds: &mut [String]) {
    kinds.sort_by_key(|kind| (ORDER.iter().position(|known| known == kind).unwrap_or(ORDER.len()), kind.clone()));
}
