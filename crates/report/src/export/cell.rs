//! One value of a row, and the values that a column of each kind takes: a value of another kind does not compile.

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'r> {
    /// There is none.
    Empty,
    /// Text of the record as it stands.
    Text(&'r str),
    /// Text made of several.
    Made(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
}

/// Value of a column of text.
pub(super) trait TextValue<'r> {
    fn cell(self) -> Cell<'r>;
}

impl<'r> TextValue<'r> for &'r str {
    fn cell(self) -> Cell<'r> {
        Cell::Text(self)
    }
}

impl<'r> TextValue<'r> for &'r String {
    fn cell(self) -> Cell<'r> {
        Cell::Text(self)
    }
}

impl<'r> TextValue<'r> for String {
    fn cell(self) -> Cell<'r> {
        Cell::Made(self)
    }
}

impl<'r, T: TextValue<'r>> TextValue<'r> for Option<T> {
    fn cell(self) -> Cell<'r> {
        self.map_or(Cell::Empty, T::cell)
    }
}

/// Value of a column of whole numbers.
pub(super) trait WholeValue {
    fn whole(self) -> Option<i64>;
}

impl WholeValue for i64 {
    fn whole(self) -> Option<i64> {
        Some(self)
    }
}

impl WholeValue for u32 {
    fn whole(self) -> Option<i64> {
        Some(i64::from(self))
    }
}

impl WholeValue for u64 {
    fn whole(self) -> Option<i64> {
        Some(i64::try_from(self).unwrap_or(i64::MAX))
    }
}

impl<T: WholeValue> WholeValue for Option<T> {
    fn whole(self) -> Option<i64> {
        self.and_then(T::whole)
    }
}

pub(super) fn text<'r>(value: impl TextValue<'r>) -> Cell<'r> {
    value.cell()
}

pub(super) fn integer(value: impl WholeValue) -> Cell<'static> {
    value.whole().map_or(Cell::Empty, Cell::Integer)
}

pub(super) fn number(value: impl Into<Option<f64>>) -> Cell<'static> {
    value.into().map_or(Cell::Empty, Cell::Number)
}

pub(super) fn boolean(value: impl Into<Option<bool>>) -> Cell<'static> {
    value.into().map_or(Cell::Empty, Cell::Boolean)
}
