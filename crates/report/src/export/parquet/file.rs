//! The file: its magic number, row groups one after the other, the footer, its length, and the magic number again. Keeps one row group in memory.

use super::super::Selection;
use super::super::column::ExportColumn;
use super::super::table::{Emit, ExportTable};
use super::chunk::ColumnChunk;
use super::footer::{ChunkPlace, RowGroup, footer};
use proofload_record::Record;
use std::io::{Result, Write};

const MAGIC: &[u8] = b"PAR1";

/// A row group ends with this many rows, or as soon as its cells take this many bytes.
#[derive(Debug, Clone, Copy)]
struct GroupLimit {
    rows: u64,
    bytes: usize,
}

const LIMIT: GroupLimit = GroupLimit { rows: 131_072, bytes: 64 << 20 };

/// Writes one table as a file of Apache Parquet; keeps at most one row group in memory.
///
/// # Errors
/// Those of the writer.
pub fn write_parquet(record: &Record, selection: &Selection, table: &ExportTable, to: &mut dyn Write) -> Result<()> {
    let mut file = File { to, at: 0 };
    file.put(MAGIC)?;
    let groups = file.groups(table.columns, LIMIT, |emit| (table.rows)(record, selection, emit))?;
    let footer = footer(record, table, &groups);
    file.put(&footer)?;
    file.put(&(footer.len() as u32).to_le_bytes())?;
    file.put(MAGIC)
}

fn empty(columns: &[ExportColumn]) -> Vec<ColumnChunk> {
    columns.iter().map(|column| ColumnChunk::new(*column)).collect()
}

/// What takes the bytes, and how many it has.
struct File<'w> {
    to: &'w mut dyn Write,
    at: u64,
}

impl File<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        self.to.write_all(bytes)
    }

    /// Writes all rows, and tells where they lie.
    fn groups(
        &mut self,
        columns: &[ExportColumn],
        limit: GroupLimit,
        all: impl FnOnce(&mut Emit<'_>) -> Result<()>,
    ) -> Result<Vec<RowGroup>> {
        let (mut groups, mut chunks, mut rows) = (Vec::new(), empty(columns), 0);
        all(&mut |cells| {
            debug_assert_eq!(cells.len(), chunks.len(), "a row has all columns");
            chunks.iter_mut().zip(cells).try_for_each(|(chunk, cell)| chunk.push(cell))?;
            rows += 1;
            if rows == limit.rows || chunks.iter().map(ColumnChunk::size).sum::<usize>() >= limit.bytes {
                groups.push(self.group(&std::mem::replace(&mut chunks, empty(columns)), std::mem::take(&mut rows))?);
            }
            Ok(())
        })?;
        if rows > 0 {
            groups.push(self.group(&chunks, rows)?);
        }
        Ok(groups)
    }

    fn group(&mut self, chunks: &[ColumnChunk], rows: u64) -> Result<RowGroup> {
        let mut places = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let (at, page) = (self.at, chunk.page()?);
            self.put(&page.bytes)?;
            places.push(ChunkPlace { at, packed: page.bytes.len() as u64, unpacked: page.unpacked });
        }
        Ok(RowGroup { rows, places })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::cell::Cell;
    use super::super::super::column::{integer, text};
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    /// The content of a page: what follows its header, unpacked.
    fn content(file: &[u8], place: ChunkPlace) -> Vec<u8> {
        let page = &file[place.at as usize..(place.at + place.packed) as usize];
        let packed = page.windows(2).position(|two| two == [0x1f, 0x8b]).expect("gzip begins so");
        let mut content = Vec::new();
        let mut left = &page[packed..];
        GzDecoder::new(&mut left).read_to_end(&mut content).expect("gzip");
        assert!(left.is_empty(), "a page ends where its place says");
        assert_eq!((packed + content.len()) as u64, place.unpacked);
        content
    }

    #[test]
    fn row_groups_end_by_rows_or_bytes_and_lie_where_the_footer_says() {
        let columns = [integer("run"), text("name")];
        let long = "x".repeat(100);
        let rows = [(1, Cell::Text("a")), (2, Cell::Empty), (3, Cell::Text(&long)), (4, Cell::Text("b"))];
        let mut bytes = Vec::new();
        let mut file = File { to: &mut bytes, at: 0 };
        let limit = GroupLimit { rows: 2, bytes: 100 };
        let emit_all = |emit: &mut Emit<'_>| {
            rows.iter().try_for_each(|(number, cell)| emit(&[Cell::Integer(*number), cell.clone()]))
        };
        let groups = file.groups(&columns, limit, emit_all).expect("memory takes it");
        assert_eq!(groups.iter().map(|group| group.rows).collect::<Vec<_>>(), [2, 1, 1]);
        let second = groups[0].places[1];
        assert_eq!(content(&bytes, second), b"\x04\0\0\0\x02\x01\x02\0\x01\0\0\0a");
        let last = groups[2].places[0];
        assert_eq!(content(&bytes, last), b"\x02\0\0\0\x02\x01\x04\0\0\0\0\0\0\0");
        assert_eq!(
            groups.iter().flat_map(|group| &group.places).map(|place| place.packed).sum::<u64>(),
            bytes.len() as u64
        );
    }
}
