//! The cells of one column until a row group is written, and the page that they become.

use super::super::cell::Cell;
use super::super::column::{CellKind, ExportColumn};
use super::compact::{Compact, varint};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Error, ErrorKind, Result, Write};

/// Parquet's numbers for what is used of them.
const DATA_PAGE: i32 = 0;
/// The encoding of values: one after the other.
pub(super) const PLAIN: i32 = 0;
/// The encoding of levels: runs.
pub(super) const RLE: i32 = 3;

/// Cells of a column.
#[derive(Debug)]
pub(super) struct ColumnChunk {
    column: ExportColumn,
    /// Lengths of runs of cells that are alike, and whether they hold something.
    levels: Vec<(u64, bool)>,
    rows: i32,
    values: Vec<u8>,
    /// Bits of the last byte of `values` that are taken; only of booleans.
    bits: u32,
}

/// A page that is ready to be written, with its header.
#[derive(Debug)]
pub(super) struct Page {
    /// Header and packed content.
    pub(super) bytes: Vec<u8>,
    /// Bytes of the header and of the content before it was packed.
    pub(super) unpacked: u64,
}

impl ColumnChunk {
    pub(super) fn new(column: ExportColumn) -> Self {
        ColumnChunk { column, levels: Vec::new(), rows: 0, values: Vec::new(), bits: 0 }
    }

    /// Bytes that it holds by now.
    pub(super) fn size(&self) -> usize {
        self.values.len()
    }

    /// Takes a cell. A number that is not finite is an empty cell, as in the other forms.
    ///
    /// # Errors
    /// A cell that is not of the column's kind, which would be a fault of ours.
    pub(super) fn push(&mut self, cell: &Cell<'_>) -> Result<()> {
        let there = match (self.column.kind, cell) {
            (_, Cell::Empty) => false,
            (CellKind::Text, Cell::Text(text)) => self.text(text),
            (CellKind::Text, Cell::Made(text)) => self.text(text),
            (CellKind::Integer, Cell::Integer(number)) => self.fixed(&number.to_le_bytes()),
            (CellKind::Number, Cell::Number(number)) => number.is_finite() && self.fixed(&number.to_le_bytes()),
            (CellKind::Boolean, Cell::Boolean(value)) => self.bit(*value),
            (kind, cell) => {
                let text = format!("column {} holds {kind:?}, and was given {cell:?}", self.column.name);
                return Err(Error::new(ErrorKind::InvalidData, text));
            }
        };
        self.rows += 1;
        match self.levels.last_mut() {
            Some((length, level)) if *level == there => *length += 1,
            _ => self.levels.push((1, there)),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> bool {
        // A length of 32 bits: `file` ends a row group long before that, and one text alone is smaller than SQLite's limit of 1 GB.
        self.values.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.fixed(text.as_bytes())
    }

    fn fixed(&mut self, bytes: &[u8]) -> bool {
        self.values.extend_from_slice(bytes);
        true
    }

    fn bit(&mut self, value: bool) -> bool {
        if self.bits.is_multiple_of(8) {
            self.values.push(0);
        }
        if let Some(last) = self.values.last_mut() {
            *last |= u8::from(value) << (self.bits % 8);
        }
        self.bits += 1;
        true
    }

    /// The page of all that it holds.
    ///
    /// # Errors
    /// A page of 2 GiB or more.
    pub(super) fn page(&self) -> Result<Page> {
        let mut levels = Vec::new();
        for (length, there) in &self.levels {
            varint(&mut levels, length << 1);
            levels.push(u8::from(*there));
        }
        let mut content = (levels.len() as u32).to_le_bytes().to_vec();
        content.extend_from_slice(&levels);
        content.extend_from_slice(&self.values);
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(&content)?;
        let packed = packer.finish()?;
        let mut bytes = self.header(length_of(&content)?, length_of(&packed)?);
        let unpacked = (bytes.len() + content.len()) as u64;
        bytes.extend_from_slice(&packed);
        Ok(Page { bytes, unpacked })
    }

    fn header(&self, unpacked: i32, packed: i32) -> Vec<u8> {
        let mut out = Compact::new();
        out.i32(1, DATA_PAGE);
        out.i32(2, unpacked);
        out.i32(3, packed);
        out.begin(5);
        out.i32(1, self.rows);
        out.i32(2, PLAIN);
        out.i32(3, RLE);
        out.i32(4, RLE);
        out.end();
        out.end();
        out.into_bytes()
    }
}

fn length_of(bytes: &[u8]) -> Result<i32> {
    let refused = |_| Error::new(ErrorKind::InvalidData, format!("a page of {} bytes is too large", bytes.len()));
    i32::try_from(bytes.len()).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::super::super::column::{boolean, integer, number};
    use super::*;

    #[test]
    fn levels_are_runs_and_booleans_are_bits() {
        let mut chunk = ColumnChunk::new(boolean("holds"));
        let cells = [Cell::Boolean(true), Cell::Boolean(false), Cell::Empty, Cell::Empty, Cell::Boolean(true)];
        cells.iter().for_each(|cell| chunk.push(cell).expect("of its kind"));
        assert_eq!(chunk.levels, [(2, true), (2, false), (1, true)]);
        assert_eq!(chunk.values, [0b101]);
    }

    #[test]
    fn what_is_not_finite_is_empty_and_another_kind_is_refused() {
        let mut chunk = ColumnChunk::new(number("value"));
        chunk.push(&Cell::Number(f64::NAN)).expect("an empty cell");
        assert_eq!((chunk.levels.as_slice(), chunk.size()), ([(1, false)].as_slice(), 0));
        let error = ColumnChunk::new(integer("run")).push(&Cell::Text("a")).expect_err("text in a column of numbers");
        assert!(error.to_string().contains("column run holds Integer"), "{error}");
    }
}
