//! Tables as parameters: rows of integers under the name of a type of the database. Sent, never read. Source: [MS-TDS] 2.2.5.5.5 and 2.2.6.9.

use super::reading::encode;
use super::types::INTN;
use crate::contract::Error;

/// Number of the type.
const TABLE: u8 = 0xF3;
/// The end of what describes the columns, and that of the rows.
const END: u8 = 0;
/// Mark before a row.
const ROW: u8 = 1;
/// Bytes of a value.
const WIDTH: u8 = 4;
/// The most letters of a name.
const MOST_LETTERS: usize = 128;
/// The most columns.
const MOST_COLUMNS: u16 = 1_024;

/// A table that is sent by value: its type and its columns as they stand in front of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines::sqlserver) struct TableParameter {
    head: Vec<u8>,
    columns: u16,
}

impl TableParameter {
    /// A table of a type, `lines` or `dbo.lines`, with so many columns of integers that are never null.
    pub(in crate::engines::sqlserver) fn new(type_name: &str, columns: u16) -> Result<Self, Error> {
        let (schema, name) = type_name.split_once('.').unwrap_or(("", type_name));
        let too_long = [schema, name].iter().any(|part| part.encode_utf16().count() > MOST_LETTERS);
        if name.is_empty() || too_long || !(1..=MOST_COLUMNS).contains(&columns) {
            let text =
                format!("send a table of the type {type_name:?} with {columns} columns: give it a name of at most");
            return Err(Error::other(format!("{text} {MOST_LETTERS} letters and 1 to {MOST_COLUMNS} columns")));
        }
        let mut head = vec![TABLE];
        // Of another database there is none.
        for part in ["", schema, name] {
            head.push(part.encode_utf16().count() as u8);
            encode(part, &mut head);
        }
        head.extend_from_slice(&columns.to_le_bytes());
        for _ in 0..columns {
            // No type of a user, no flags, an integer, no name: the columns follow the order of the type.
            head.extend_from_slice(&[0, 0, 0, 0, 0, 0, INTN, WIDTH, 0]);
        }
        head.push(END);
        Ok(Self { head, columns })
    }

    /// Adds the parameter, without a name, with so many rows; a value by the numbers of its row and its column, from 0.
    #[inline]
    pub(super) fn write(&self, rows: usize, value: impl Fn(usize, usize) -> i32, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.head);
        for row in 0..rows {
            out.push(ROW);
            for column in 0..usize::from(self.columns) {
                out.push(WIDTH);
                out.extend_from_slice(&value(row, column).to_le_bytes());
            }
        }
        out.push(END);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_behind_the_type_and_its_columns() {
        let table = TableParameter::new("ab", 2).expect("a name");
        let mut out = Vec::new();
        table.write(
            2,
            |row, column| if (row, column) == (1, 1) { -1 } else { 10 * row as i32 + column as i32 },
            &mut out,
        );
        let column = [0, 0, 0, 0, 0, 0, 0x26, 4, 0];
        let mut expected = vec![0, 0, 0xF3, 0, 0, 2, b'a', 0, b'b', 0, 2, 0];
        expected.extend([column, column].concat());
        expected.extend([0, 1, 4, 0, 0, 0, 0, 4, 1, 0, 0, 0, 1, 4, 10, 0, 0, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0]);
        assert_eq!(out, expected);
    }

    #[test]
    fn a_table_without_rows_ends_behind_its_columns() {
        let mut out = Vec::new();
        TableParameter::new("s.t", 1).expect("a name").write(0, |_, _| 0, &mut out);
        assert_eq!(out, [0, 0, 0xF3, 0, 1, b's', 0, 1, b't', 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0, 0]);
    }

    #[test]
    fn names_and_columns_that_cannot_be_sent_are_refused() {
        for (name, columns) in [("", 1), ("dbo.", 1), ("t", 0), ("t", 1_025), ("t".repeat(129).as_str(), 1)] {
            let error = TableParameter::new(name, columns).expect_err("it cannot be sent").to_string();
            assert!(error.contains("send a table of the type"), "{error}");
        }
    }
}
