//! The result of one statement, read chunk by chunk. A chunk borrows from its result, a result from its statement.

use super::column::{VectorCell, VectorColumn, VectorKind};
use super::functions::{Functions, Index, RawChunk, RawResult};
use std::ptr;

/// `duckdb_result_type` of statements that say how many rows they have changed.
const CHANGED_ROWS: u32 = 1;
/// `duckdb_result_type` of statements that return rows.
const QUERY_RESULT: u32 = 3;

/// A result.
#[derive(Debug)]
pub(in super::super) struct Rows<'s> {
    functions: &'static Functions,
    result: RawResult,
    chunk: *mut RawChunk,
    columns: &'s mut Vec<VectorColumn>,
}

impl<'s> Rows<'s> {
    /// Takes over a result that a successful call has written. `columns` is memory to reuse.
    pub(super) fn new(functions: &'static Functions, result: RawResult, columns: &'s mut Vec<VectorColumn>) -> Self {
        columns.clear();
        let mut rows = Self { functions, result, chunk: ptr::null_mut(), columns };
        // SAFETY: the result is whole and ours.
        if unsafe { (functions.result_return_type)(result) } == QUERY_RESULT {
            rows.find_columns();
        }
        rows
    }

    fn find_columns(&mut self) {
        let functions = self.functions;
        // SAFETY: the result is whole and ours.
        let width = unsafe { (functions.column_count)(&raw mut self.result) };
        for column in 0..width {
            // SAFETY: the column exists; the type that comes back is ours.
            let mut raw = unsafe { (functions.column_logical_type)(&raw mut self.result, column) };
            let kind = VectorKind::of(functions, raw);
            // SAFETY: the type came from the line above and is not used again.
            unsafe { (functions.destroy_logical_type)(&raw mut raw) };
            self.columns.push(VectorColumn { kind, data: ptr::null(), validity: ptr::null() });
        }
    }

    /// Number of columns; 0 of a statement that returns no rows.
    pub(in super::super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Rows that the statement reports as changed; `None` when it returns rows or changes nothing.
    pub(in super::super) fn changed(&mut self) -> Option<u64> {
        // SAFETY: the result is whole and ours.
        let kind = unsafe { (self.functions.result_return_type)(self.result) };
        // SAFETY: as above.
        (kind == CHANGED_ROWS).then(|| unsafe { (self.functions.rows_changed)(&raw mut self.result) })
    }

    /// The next rows; `None` after the last.
    pub(in super::super) fn next_chunk(&mut self) -> Option<Chunk<'_>> {
        self.release();
        // SAFETY: the result is whole and ours; null comes back after the last chunk.
        self.chunk = unsafe { (self.functions.fetch_chunk)(self.result) };
        if self.chunk.is_null() || self.columns.is_empty() {
            return None;
        }
        // SAFETY: the chunk is ours until it is released.
        let rows = unsafe { (self.functions.data_chunk_get_size)(self.chunk) } as usize;
        for (place, column) in self.columns.iter_mut().enumerate() {
            // SAFETY: the chunk has as many columns as its result; its vectors live as long as it.
            unsafe {
                let vector = (self.functions.data_chunk_get_vector)(self.chunk, place as Index);
                column.data = (self.functions.vector_get_data)(vector).cast();
                column.validity = (self.functions.vector_get_validity)(vector);
            }
        }
        (rows > 0).then_some(Chunk { columns: self.columns, rows })
    }

    fn release(&mut self) {
        if !self.chunk.is_null() {
            // SAFETY: the chunk is ours; what borrowed from it is gone, since this takes the result exclusively.
            unsafe { (self.functions.destroy_data_chunk)(&raw mut self.chunk) };
        }
    }
}

impl Drop for Rows<'_> {
    fn drop(&mut self) {
        self.release();
        // SAFETY: the result is ours and not used again.
        unsafe { (self.functions.destroy_result)(&raw mut self.result) };
    }
}

/// Some rows of a result.
#[derive(Debug)]
pub(in super::super) struct Chunk<'r> {
    columns: &'r [VectorColumn],
    rows: usize,
}

impl<'r> Chunk<'r> {
    /// Number of rows, at least 1.
    pub(in super::super) fn rows(&self) -> usize {
        self.rows
    }

    /// The value at a place and what its column holds. Panics beyond the last row or column, which is a mistake of ours.
    #[inline]
    pub(in super::super) fn cell(&self, row: usize, column: usize) -> (VectorKind, VectorCell<'r>) {
        assert!(row < self.rows, "row {row} of a chunk of {}", self.rows);
        let column = &self.columns[column];
        // SAFETY: the row is there; the chunk lives and is not written while this borrow of its result does.
        (column.kind, unsafe { column.read(row) })
    }
}
