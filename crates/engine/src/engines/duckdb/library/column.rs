//! Columns of a chunk: how DuckDB lays values out in memory, read and written one cell at a time.
//! Source: the types of `duckdb.h`, "duckdb_type" and "duckdb_string_t".

use super::functions::{Functions, RawType};

/// How whole numbers are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Width {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum VectorKind {
    /// One byte, 0 or 1.
    Boolean,
    /// Whole numbers.
    Integer(Width),
    /// Whole numbers that count units of 10^−scale.
    Decimal {
        /// Layout of the units.
        width: Width,
        /// Digits after the point.
        scale: u8,
    },
    /// Binary floating point of 32 bits.
    Float,
    /// Binary floating point of 64 bits.
    Double,
    /// Text.
    Text,
    /// Days since the epoch.
    Date,
    /// Ticks since the epoch, so many in a second.
    Timestamp(u32),
    /// A type, by its number in `duckdb.h`, that is neither read nor written here.
    Other(u32),
}

impl VectorKind {
    /// The kind of a logical type.
    pub(super) fn of(functions: &Functions, raw: *mut RawType) -> Self {
        // SAFETY: the caller owns the type, or holds null, of which DuckDB says that it is no type.
        let id = unsafe { (functions.get_type_id)(raw) };
        if id == 19 {
            // SAFETY: as above, and it is a decimal.
            let (layout, scale) = unsafe { ((functions.decimal_internal_type)(raw), (functions.decimal_scale)(raw)) };
            return width(layout).map_or(Self::Other(id), |width| Self::Decimal { width, scale });
        }
        simple(id)
    }
}

/// The kind of a type that needs no more than its number.
fn simple(id: u32) -> VectorKind {
    match id {
        1 => VectorKind::Boolean,
        10 => VectorKind::Float,
        11 => VectorKind::Double,
        12 | 31 => VectorKind::Timestamp(1_000_000),
        13 => VectorKind::Date,
        17 => VectorKind::Text,
        20 => VectorKind::Timestamp(1),
        21 => VectorKind::Timestamp(1_000),
        22 => VectorKind::Timestamp(1_000_000_000),
        _ => width(id).map_or(VectorKind::Other(id), VectorKind::Integer),
    }
}

/// The layout of an integer type.
fn width(id: u32) -> Option<Width> {
    Some(match id {
        2 => Width::I8,
        3 => Width::I16,
        4 => Width::I32,
        5 => Width::I64,
        6 => Width::U8,
        7 => Width::U16,
        8 => Width::U32,
        9 => Width::U64,
        16 => Width::I128,
        _ => return None,
    })
}

/// One value, as it is read or to be written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) enum VectorCell<'a> {
    /// SQL null.
    Null,
    /// A whole number, a truth value, or the units of a decimal.
    Integer(i128),
    /// A floating-point number.
    Double(f64),
    /// Text.
    Text(&'a str),
    /// Days or ticks since the epoch, as the column's kind says.
    Count(i64),
    /// Bytes that should be text and are not.
    NotText,
    /// A value of a type that is not read here.
    Other,
}

/// Where a column of a chunk lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorColumn {
    pub(super) kind: VectorKind,
    pub(super) data: *const u8,
    /// One bit for each row, 0 for null; null when no row is null.
    pub(super) validity: *const u64,
}

impl VectorColumn {
    /// Reads a cell.
    ///
    /// # Safety
    /// The pointers are those of a chunk with more than `row` rows that lives for `'a` and is not written meanwhile.
    #[inline]
    pub(super) unsafe fn read<'a>(&self, row: usize) -> VectorCell<'a> {
        // SAFETY: one bit for each row of the chunk, in words of 64.
        if !self.validity.is_null() && unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 0 {
            return VectorCell::Null;
        }
        // SAFETY: the row is not null, so its value has been written, with the type of the column.
        unsafe {
            match self.kind {
                VectorKind::Boolean => VectorCell::Integer(i128::from(at::<u8>(self.data, row))),
                VectorKind::Integer(width) | VectorKind::Decimal { width, .. } => {
                    VectorCell::Integer(integer(width, self.data, row))
                }
                VectorKind::Float => VectorCell::Double(f64::from(at::<f32>(self.data, row))),
                VectorKind::Double => VectorCell::Double(at(self.data, row)),
                VectorKind::Text => string(self.data, row),
                VectorKind::Date => VectorCell::Count(i64::from(at::<i32>(self.data, row))),
                VectorKind::Timestamp(_) => VectorCell::Count(at(self.data, row)),
                VectorKind::Other(_) => VectorCell::Other,
            }
        }
    }
}

/// The value of a row.
///
/// # Safety
/// `data` points to more than `row` values of this type.
#[inline]
unsafe fn at<T: Copy>(data: *const u8, row: usize) -> T {
    // SAFETY: the caller promises it.
    unsafe { data.cast::<T>().add(row).read_unaligned() }
}

/// A whole number.
///
/// # Safety
/// `data` points to more than `row` values of this width.
#[inline]
unsafe fn integer(width: Width, data: *const u8, row: usize) -> i128 {
    // SAFETY: the caller promises it.
    unsafe {
        match width {
            Width::I8 => i128::from(at::<i8>(data, row)),
            Width::I16 => i128::from(at::<i16>(data, row)),
            Width::I32 => i128::from(at::<i32>(data, row)),
            Width::I64 => i128::from(at::<i64>(data, row)),
            Width::I128 => at(data, row),
            Width::U8 => i128::from(at::<u8>(data, row)),
            Width::U16 => i128::from(at::<u16>(data, row)),
            Width::U32 => i128::from(at::<u32>(data, row)),
            Width::U64 => i128::from(at::<u64>(data, row)),
        }
    }
}

/// A text: 16 bytes that hold its length and either the text, up to 12 bytes, or 4 of its bytes and a pointer.
///
/// # Safety
/// `data` points to more than `row` such values, which live for `'a`.
#[inline]
unsafe fn string<'a>(data: *const u8, row: usize) -> VectorCell<'a> {
    // SAFETY: the caller promises the 16 bytes; DuckDB promises that the pointer in them leads to so many bytes.
    let bytes = unsafe {
        let entry = data.add(row * 16);
        let length = at::<u32>(entry, 0) as usize;
        let start = if length <= 12 { entry.add(4) } else { at::<*const u8>(entry.add(8), 0) };
        std::slice::from_raw_parts(start, length)
    };
    std::str::from_utf8(bytes).map_or(VectorCell::NotText, VectorCell::Text)
}

/// Writes a cell that is neither null nor text; false when it does not fit the column.
///
/// # Safety
/// `data` is that of a column of this kind with room for more than `row` rows.
#[inline]
pub(super) unsafe fn write(kind: VectorKind, data: *mut u8, row: usize, cell: VectorCell<'_>) -> bool {
    // SAFETY: the caller promises the room, the kind gives the type.
    unsafe {
        match (kind, cell) {
            (VectorKind::Boolean, VectorCell::Integer(value @ 0..=1)) => put(data, row, u8::try_from(value).ok()),
            (VectorKind::Integer(width) | VectorKind::Decimal { width, .. }, VectorCell::Integer(value)) => {
                put_integer(width, data, row, value)
            }
            (VectorKind::Double, VectorCell::Double(value)) => put(data, row, Some(value)),
            (VectorKind::Date, VectorCell::Count(days)) => put(data, row, i32::try_from(days).ok()),
            (VectorKind::Timestamp(_), VectorCell::Count(ticks)) => put(data, row, Some(ticks)),
            _ => false,
        }
    }
}

/// Writes a value, if there is one.
///
/// # Safety
/// `data` has room for more than `row` values of this type.
#[inline]
unsafe fn put<T>(data: *mut u8, row: usize, value: Option<T>) -> bool {
    let Some(value) = value else { return false };
    // SAFETY: the caller promises the room.
    unsafe { data.cast::<T>().add(row).write_unaligned(value) };
    true
}

/// Writes a whole number; false when it is too large for the width.
///
/// # Safety
/// `data` has room for more than `row` values of this width.
#[inline]
unsafe fn put_integer(width: Width, data: *mut u8, row: usize, value: i128) -> bool {
    // SAFETY: the caller promises the room.
    unsafe {
        match width {
            Width::I8 => put(data, row, i8::try_from(value).ok()),
            Width::I16 => put(data, row, i16::try_from(value).ok()),
            Width::I32 => put(data, row, i32::try_from(value).ok()),
            Width::I64 => put(data, row, i64::try_from(value).ok()),
            Width::I128 => put(data, row, Some(value)),
            Width::U8 => put(data, row, u8::try_from(value).ok()),
            Width::U16 => put(data, row, u16::try_from(value).ok()),
            Width::U32 => put(data, row, u32::try_from(value).ok()),
            Width::U64 => put(data, row, u64::try_from(value).ok()),
        }
    }
}
