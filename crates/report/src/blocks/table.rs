//! Tables with typed cells.

use super::inline::Prose;
use crate::analysis::quantity::Quantity;

/// A table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// For cross-references; empty for the table behind a chart.
    pub id: &'static str,
    /// What it shows.
    pub caption: Prose,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Rows with one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// A remark below it.
    pub note: Prose,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Head.
    pub title: Prose,
    /// Unit of its quantities, as printed in the head.
    pub unit: Option<String>,
    /// How cells line up.
    pub align: Align,
}

/// How cells line up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Column {
    /// A column of words.
    pub fn words(title: impl Into<super::Inline>) -> Self {
        Self { title: vec![title.into()], unit: None, align: Align::Left }
    }

    /// A column of quantities in one unit.
    pub fn quantities(title: impl Into<super::Inline>, unit: &str) -> Self {
        let unit = Some(unit.to_owned()).filter(|unit| !unit.is_empty());
        Self { title: vec![title.into()], unit, align: Align::Right }
    }

    /// A column of counts.
    pub fn counts(title: impl Into<super::Inline>) -> Self {
        Self { title: vec![title.into()], unit: None, align: Align::Right }
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing applies here.
    Empty,
    /// Words.
    Prose(Prose),
    /// A number with its interval, in the column's unit.
    Quantity(Quantity),
    /// A count.
    Count(u64),
    /// Not measured, and why.
    Gap(String),
    /// A verdict: does it hold? With its word.
    Verdict(bool, &'static str),
}

impl Cell {
    /// A word of the record.
    pub fn datum(text: impl Into<String>) -> Self {
        Self::Prose(vec![super::Inline::Datum(text.into())])
    }

    /// A name set as code.
    pub fn code(text: impl Into<String>) -> Self {
        Self::Prose(vec![super::Inline::Code(text.into())])
    }
}
