//! Reasons of what was not measured, where they are too long for the cells of a table.

use crate::blocks::{Cell, Table};

/// Longest reason that stands in its cell, characters; longer ones stand below the table.
const LONGEST_GAP: usize = 24;

/// The reasons that stand below the table, each once.
pub(super) fn gaps(table: &Table) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for cell in table.rows.iter().flatten() {
        if let Cell::Gap(why) = cell
            && why.chars().count() > LONGEST_GAP
            && !found.contains(&why.as_str())
        {
            found.push(why);
        }
    }
    found
}
