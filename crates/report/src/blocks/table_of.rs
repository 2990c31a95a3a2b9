//! Tables whose columns are declared once: each with its head, and with what its cells show of a row.

use super::inline::{Inline, Prose};
use super::table::{Cell, Column, Table};

/// Table of rows `T`, column by column.
#[derive(Debug)]
pub(crate) struct TableOf<T> {
    of: Vec<T>,
    table: Table,
}

impl<T> TableOf<T> {
    /// A table without columns.
    pub(crate) fn new(id: &'static str, caption: Prose, rows: impl IntoIterator<Item = T>) -> Self {
        let of: Vec<T> = rows.into_iter().collect();
        let rows = of.iter().map(|_| Vec::new()).collect();
        Self { of, table: Table { id, caption, rows, ..Table::default() } }
    }

    /// Adds a column.
    pub(crate) fn column<C: Into<Cell>>(mut self, head: Column, cell: impl Fn(&T) -> C) -> Self {
        self.table.columns.push(head);
        for (row, of) in self.table.rows.iter_mut().zip(&self.of) {
            row.push(cell(of).into());
        }
        self
    }

    /// Adds a column of words.
    pub(crate) fn words<C: Into<Cell>>(self, title: impl Into<Inline>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::words(title), cell)
    }

    /// Adds a column of counts.
    pub(crate) fn counts<C: Into<Cell>>(self, title: impl Into<Inline>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::counts(title), cell)
    }

    /// Adds a column of quantities in one unit.
    pub(crate) fn quantities<C: Into<Cell>>(
        self,
        title: impl Into<Inline>,
        unit: &str,
        cell: impl Fn(&T) -> C,
    ) -> Self {
        self.column(Column::quantities(title, unit), cell)
    }

    /// Adds a column for each of several things.
    pub(crate) fn each<K, C: Into<Cell>>(
        self,
        of: impl IntoIterator<Item = K>,
        head: impl Fn(&K) -> Column,
        cell: impl Fn(&T, &K) -> C,
    ) -> Self {
        of.into_iter().fold(self, |table, one| table.column(head(&one), |row| cell(row, &one)))
    }

    /// Adds columns that not every table has.
    pub(crate) fn when(self, is_shown: bool, add: impl FnOnce(Self) -> Self) -> Self {
        if is_shown { add(self) } else { self }
    }

    /// Ends the table with a remark below it.
    pub(crate) fn note(self, note: Prose) -> Table {
        Table { note, ..self.table }
    }

    /// Ends the table.
    pub(crate) fn table(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::super::inline::prose;
    use super::*;

    #[test]
    fn columns_have_their_heads_and_the_cells_of_every_row() {
        let table = TableOf::new("table-test", prose!["Rows."], [1_u64, 2])
            .words("Name", |row| format!("row {row}"))
            .when(false, |table| table.counts("Hidden", |row| *row))
            .each([10_u64, 20], |by| Column::counts(by.to_string()), |row, by| row * by)
            .note(prose!["Note."]);
        assert_eq!(table.columns.len(), 3);
        let row = |name: &str, one, other| vec![Cell::from(name), Cell::Count(one), Cell::Count(other)];
        assert_eq!(table.rows, [row("row 1", 10, 20), row("row 2", 20, 40)]);
        assert_eq!((table.id, table.note), ("table-test", prose!["Note."]));
    }
}
