//! Tables with typed cells.

use super::inline::Prose;
use proofload_analysis::quantity::Quantity;

/// A table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    /// Name for cross-references; empty for the table behind a chart.
    pub(crate) id: &'static str,
    /// What it shows.
    pub(crate) caption: Prose,
    /// Its columns.
    pub(crate) columns: Vec<Column>,
    /// Rows with one cell per column.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// A remark below it.
    pub(crate) note: Prose,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Head.
    pub(crate) title: Prose,
    /// Unit of its quantities, as printed in the head.
    pub(crate) unit: Option<String>,
    /// How cells line up.
    pub(crate) align: Align,
}

/// Columns by their constructors: `columns! { words("Run"), counts("Stalls"), quantities("Longest", "s") }`.
macro_rules! columns {
    ($($make:ident($($of:expr),+)),+ $(,)?) => { vec![$($crate::blocks::Column::$make($($of),+)),+] };
}
pub(crate) use columns;

/// How cells line up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Where a table prints sample sizes, so that none is missing and none is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampleSizes {
    /// Sample size in the head of each column whose cells share one; `None` for other columns.
    pub(crate) heads: Vec<Option<u64>>,
    /// Where the other columns have one sample size in each row, a column of its own prints it.
    pub(crate) rows: Option<Vec<Option<u64>>>,
}

impl SampleSizes {
    /// Whether the cells of a column must print theirs.
    pub(crate) fn in_cell(&self, column: usize) -> bool {
        self.rows.is_none() && self.heads.get(column).copied().flatten().is_none()
    }
}

impl Table {
    /// The table where it has a row; `None` without any.
    pub(crate) fn filled(self) -> Option<Self> {
        (!self.rows.is_empty()).then_some(self)
    }

    /// Where sample sizes are printed.
    pub(crate) fn sample_sizes(&self) -> SampleSizes {
        let column = |index: usize| self.rows.iter().filter_map(move |row| row.get(index));
        let heads: Vec<Option<Option<u64>>> = (0..self.columns.len()).map(|index| common(column(index))).collect();
        let uneven = heads.iter().filter(|size| size.is_none()).count();
        let others = |row: &Vec<Cell>| {
            let cells = row.iter().enumerate().filter(|(index, _)| heads.get(*index) == Some(&None));
            common(cells.map(|(_, cell)| cell))
        };
        let rows: Option<Vec<Option<u64>>> = self.rows.iter().map(others).collect();
        SampleSizes { heads: heads.iter().map(|size| size.flatten()).collect(), rows: rows.filter(|_| uneven > 1) }
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
    pub(crate) fn words(title: impl Into<super::Inline>) -> Self {
        Self { title: vec![title.into()], unit: None, align: Align::Left }
    }

    /// A column of quantities in one unit.
    pub(crate) fn quantities(title: impl Into<super::Inline>, unit: &str) -> Self {
        let unit = Some(unit.to_owned()).filter(|unit| !unit.is_empty());
        Self { title: vec![title.into()], unit, align: Align::Right }
    }

    /// A column of counts.
    pub(crate) fn counts(title: impl Into<super::Inline>) -> Self {
        Self { title: vec![title.into()], unit: None, align: Align::Right }
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Nothing applies here.
    Empty,
    /// Words.
    Prose(Prose),
    /// A number with its interval, in the column's unit.
    Quantity(Quantity),
    /// A count.
    Count(u64),
    /// Why it was not measured.
    Gap(String),
    /// A verdict: whether it holds, and its word.
    Verdict(bool, &'static str),
}

impl Cell {
    /// A word of the record.
    pub(crate) fn datum(text: impl Into<String>) -> Self {
        Self::Prose(vec![super::Inline::Datum(text.into())])
    }

    /// A name set as code.
    pub(crate) fn code(text: impl Into<String>) -> Self {
        Self::Prose(vec![super::Inline::Code(text.into())])
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::datum(text)
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::datum(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::datum(text)
    }
}

impl From<Quantity> for Cell {
    fn from(quantity: Quantity) -> Self {
        Self::Quantity(quantity)
    }
}

impl From<Result<Quantity, String>> for Cell {
    fn from(measured: Result<Quantity, String>) -> Self {
        measured.map_or_else(Self::Gap, Self::Quantity)
    }
}

impl From<&Result<Quantity, String>> for Cell {
    fn from(measured: &Result<Quantity, String>) -> Self {
        Self::from(measured.clone())
    }
}

impl From<&Quantity> for Cell {
    fn from(quantity: &Quantity) -> Self {
        Self::Quantity(quantity.clone())
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<Prose> for Cell {
    fn from(prose: Prose) -> Self {
        Self::Prose(prose)
    }
}

/// What does not apply is an empty cell.
impl<T> From<Option<T>> for Cell
where
    Self: From<T>,
{
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Empty, Self::from)
    }
}

/// The cells of a row from what they show: words of the record, measured values, and cells of other kinds as they are.
macro_rules! cells {
    ($($cell:expr),+ $(,)?) => { vec![$($crate::blocks::Cell::from($cell)),+] };
}
pub(crate) use cells;

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_analysis::quantity::{Interval, Unit};

    #[track_caller]
    fn check(sizes: &[&[u64]], heads: &[Option<u64>], rows: Option<&[u64]>) {
        let cell = |n: &u64| Cell::Quantity(Quantity::new(1.0, Unit::RATIO, *n, Interval::none("test")));
        let table = Table {
            columns: sizes[0].iter().map(|_| Column::quantities("x", "")).collect(),
            rows: sizes.iter().map(|row| row.iter().map(cell).collect()).collect(),
            ..Table::default()
        };
        let found = table.sample_sizes();
        assert_eq!(found.heads, heads);
        assert_eq!(found.rows, rows.map(|rows| rows.iter().copied().map(Some).collect()));
    }

    #[test]
    fn sample_sizes_stand_once() {
        check(&[&[30, 5], &[30, 6]], &[Some(30), None], None);
        check(&[&[7, 7], &[8, 8]], &[None, None], Some(&[7, 8]));
        check(&[&[7, 9], &[8, 8]], &[None, None], None);
        check(&[&[30, 7, 7], &[30, 8, 8]], &[Some(30), None, None], Some(&[7, 8]));
    }
}
