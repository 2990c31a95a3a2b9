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

/// Where a table prints sample sizes, so that none is missing and none is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleSizes {
    /// In the heads of columns, all cells of a column having one sample size; none for columns without quantities.
    InHeads(Vec<Option<u64>>),
    /// In a column of their own, all cells of a row having one; none for rows without quantities.
    InRows(Vec<Option<u64>>),
    /// In each cell.
    InCells,
}

impl Table {
    /// Where sample sizes are printed.
    pub fn sample_sizes(&self) -> SampleSizes {
        let columns = (0..self.columns.len()).map(|column| common(self.rows.iter().filter_map(|row| row.get(column))));
        if let Some(sizes) = columns.collect::<Option<Vec<_>>>() {
            return SampleSizes::InHeads(sizes);
        }
        let several =
            self.rows.iter().any(|row| row.iter().filter(|cell| matches!(cell, Cell::Quantity(_))).count() > 1);
        match self.rows.iter().map(|row| common(row.iter())).collect::<Option<Vec<_>>>() {
            Some(sizes) if several => SampleSizes::InRows(sizes),
            _ => SampleSizes::InCells,
        }
    }
}

/// The one sample size of all quantities among cells, if there are any; nothing when they differ.
fn common<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<Option<u64>> {
    let mut sizes =
        cells.filter_map(|cell| if let Cell::Quantity(quantity) = cell { Some(quantity.n()) } else { None });
    match sizes.next() {
        None => Some(None),
        Some(first) => sizes.all(|size| size == first).then_some(Some(first)),
    }
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
