//! Bulk loading by DuckDB's appender: rows are written column by column into a chunk of DuckDB's memory, whole chunks handed over.

use super::column::{VectorCell, VectorKind, write};
use super::connection::{Connection, Handle};
use super::functions::{Index, RawAppender, RawChunk, RawType, RawVector, SUCCESS, State, text};
use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

/// Where a column of the chunk lies; valid until the chunk is reset.
#[derive(Debug, Clone, Copy)]
struct Place {
    kind: VectorKind,
    vector: *mut RawVector,
    data: *mut u8,
}

/// Appends rows to a table. What was appended stays only if [`Appender::finish`] succeeds.
#[derive(Debug)]
pub(in super::super) struct Appender {
    handle: Arc<Handle>,
    raw: *mut RawAppender,
    chunk: *mut RawChunk,
    places: Vec<Place>,
    /// Columns of the open row that have their value.
    column: usize,
    /// Whole rows in the chunk.
    filled: usize,
    capacity: usize,
}

impl Connection {
    /// An appender to these columns of a table, in this order; the others get their defaults.
    pub(in super::super) fn append<'n>(
        &self,
        table: &str,
        columns: impl IntoIterator<Item = &'n str>,
    ) -> Result<Appender, String> {
        let name = |text: &str| CString::new(text).map_err(|_| format!("the name {text:?} contains a NUL byte"));
        let functions = self.handle.functions();
        let mut appender = Appender::empty(self.handle.clone());
        let table = name(table)?;
        // SAFETY: the connection is open, null stands for the default schema, the name ends with a zero byte, the place is ours.
        let state =
            unsafe { (functions.appender_create)(self.handle.raw, ptr::null(), table.as_ptr(), &raw mut appender.raw) };
        appender.checked(state)?;
        for column in columns {
            let column = name(column)?;
            // SAFETY: the appender is ours, the name ends with a zero byte.
            let state = unsafe { (functions.appender_add_column)(appender.raw, column.as_ptr()) };
            appender.checked(state)?;
        }
        appender.make_chunk();
        Ok(appender)
    }
}

impl Appender {
    fn empty(handle: Arc<Handle>) -> Self {
        // SAFETY: takes nothing.
        let capacity = unsafe { (handle.functions().vector_size)() } as usize;
        let (raw, chunk) = (ptr::null_mut(), ptr::null_mut());
        Self { handle, raw, chunk, places: Vec::new(), column: 0, filled: 0, capacity }
    }

    /// Makes a chunk with the types of the columns.
    fn make_chunk(&mut self) {
        let functions = self.handle.functions();
        // SAFETY: the appender is ours.
        let width = unsafe { (functions.appender_column_count)(self.raw) };
        // SAFETY: as above, and the column exists; the type that comes back is ours.
        let mut types: Vec<*mut RawType> =
            (0..width).map(|column| unsafe { (functions.appender_column_type)(self.raw, column) }).collect();
        let place = |kind| Place { kind, vector: ptr::null_mut(), data: ptr::null_mut() };
        self.places = types.iter().map(|raw| place(VectorKind::of(functions, *raw))).collect();
        // SAFETY: as many types as said, which DuckDB copies.
        self.chunk = unsafe { (functions.create_data_chunk)(types.as_mut_ptr(), width) };
        for raw in &mut types {
            // SAFETY: the type is ours and not used again.
            unsafe { (functions.destroy_logical_type)(raw) };
        }
        self.find_places();
    }

    /// Finds the columns' memory again, after the chunk was made or reset.
    fn find_places(&mut self) {
        for (column, place) in self.places.iter_mut().enumerate() {
            // SAFETY: the chunk is ours and has this column; a vector lives as long as its chunk.
            unsafe {
                place.vector = (self.handle.functions().data_chunk_get_vector)(self.chunk, column as Index);
                place.data = (self.handle.functions().vector_get_data)(place.vector).cast();
            }
        }
        (self.column, self.filled) = (0, 0);
    }

    /// Number of columns.
    pub(in super::super) fn width(&self) -> usize {
        self.places.len()
    }

    /// What a column holds.
    #[inline]
    pub(in super::super) fn kind(&self, column: usize) -> VectorKind {
        self.places[column].kind
    }

    /// Writes the next column of the open row; false when the value does not fit it or the row is full.
    #[inline]
    pub(in super::super) fn put(&mut self, cell: VectorCell<'_>) -> bool {
        let Some(place) = self.places.get(self.column) else { return false };
        let row = self.filled as Index;
        let functions = self.handle.functions();
        let fits = match cell {
            VectorCell::Null => {
                // SAFETY: the row is below the chunk's capacity; the bits of the vector are made before one is cleared.
                unsafe {
                    (functions.vector_ensure_validity_writable)(place.vector);
                    (functions.validity_set_row_invalid)((functions.vector_get_validity)(place.vector), row);
                }
                true
            }
            VectorCell::Text(value) if place.kind == VectorKind::Text => {
                let (start, length) = (value.as_ptr().cast(), value.len() as Index);
                // SAFETY: the row is below the chunk's capacity; DuckDB copies so many bytes, which are UTF-8.
                unsafe { (functions.vector_assign_string_element_len)(place.vector, row, start, length) };
                true
            }
            // SAFETY: the column has this kind and the row is below the chunk's capacity.
            _ => unsafe { write(place.kind, place.data, self.filled, cell) },
        };
        self.column += usize::from(fits);
        fits
    }

    /// Ends the open row, of which every column must have its value, and hands a full chunk over.
    #[inline]
    pub(in super::super) fn end_row(&mut self) -> Result<(), String> {
        if self.column != self.places.len() {
            return Err(format!("a row needs {} values, but has {}", self.places.len(), self.column));
        }
        (self.column, self.filled) = (0, self.filled + 1);
        if self.filled == self.capacity { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), String> {
        let functions = self.handle.functions();
        // SAFETY: chunk and appender are ours; every column of every row up to this size has been written.
        let state = unsafe {
            (functions.data_chunk_set_size)(self.chunk, self.filled as Index);
            (functions.append_data_chunk)(self.raw, self.chunk)
        };
        // SAFETY: the chunk is ours; the appender has copied it.
        unsafe { (functions.data_chunk_reset)(self.chunk) };
        self.find_places();
        self.checked(state)
    }

    /// Hands over what is left and waits until DuckDB has taken all of it into the transaction.
    pub(in super::super) fn finish(mut self) -> Result<(), String> {
        self.hand_over()?;
        // SAFETY: the appender is ours.
        let state = unsafe { (self.handle.functions().appender_close)(self.raw) };
        self.checked(state)
    }

    /// The appender's error, unless the call succeeded.
    fn checked(&self, state: State) -> Result<(), String> {
        if state == SUCCESS {
            return Ok(());
        }
        let functions = self.handle.functions();
        // SAFETY: the appender is ours, or null, for which an error without text comes back; the error is ours, its text
        // ends with a zero byte and lives as long as it, and it is not used again.
        unsafe {
            let mut error = (functions.appender_error_data)(self.raw);
            let reason = text((functions.error_data_message)(error), "DuckDB gave no reason");
            let kind = kind_word((functions.error_data_error_type)(error));
            (functions.destroy_error_data)(&raw mut error);
            Err(if kind.is_empty() || reason.contains(" Error: ") { reason } else { format!("{kind} Error: {reason}") })
        }
    }
}

/// The words with which texts of other errors begin, for the kinds whose class differs; an appender's begin without them.
/// Source: `duckdb_error_type` of `duckdb.h`.
fn kind_word(kind: u32) -> &'static str {
    match kind {
        1 => "Out of Range",
        2 => "Conversion",
        10 => "TransactionContext",
        18 => "Constraint",
        28 => "IO",
        29 => "INTERRUPT",
        30 => "FATAL",
        31 => "INTERNAL",
        33 => "Out of Memory",
        _ => "",
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        let functions = self.handle.functions();
        // SAFETY: chunk and appender are ours and not used again; null is passed over. Rows that were not taken yet are
        // forgotten first: destroying an appender would otherwise try to write them.
        unsafe {
            (functions.destroy_data_chunk)(&raw mut self.chunk);
            (functions.appender_clear)(self.raw);
            (functions.appender_destroy)(&raw mut self.raw);
        }
    }
}
