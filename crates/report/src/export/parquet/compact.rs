//! Thrift's compact protocol, as far as Parquet's headers and footer need it. Writes to memory.

/// Types of fields and of elements of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireType {
    I32 = 5,
    I64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// A structure that is being written: fields in ascending order of their numbers, then [`Compact::end`].
#[derive(Debug, Default)]
pub(super) struct Compact {
    bytes: Vec<u8>,
    /// Number of the last field of each structure that is open; the innermost comes last.
    open: Vec<i16>,
}

impl Compact {
    /// Begins the outermost structure.
    pub(super) fn new() -> Self {
        Compact { bytes: Vec::new(), open: vec![0] }
    }

    /// What was written, after the end of the outermost structure.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        debug_assert!(self.open.is_empty(), "every structure is ended");
        self.bytes
    }

    pub(super) fn i32(&mut self, field: i16, value: i32) {
        self.head(field, WireType::I32);
        self.zigzag(i64::from(value));
    }

    pub(super) fn i64(&mut self, field: i16, value: i64) {
        self.head(field, WireType::I64);
        self.zigzag(value);
    }

    pub(super) fn text(&mut self, field: i16, value: &str) {
        self.head(field, WireType::Binary);
        self.text_element(value);
    }

    /// Begins a list, whose elements follow.
    pub(super) fn list(&mut self, field: i16, of: WireType, length: usize) {
        self.head(field, WireType::List);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | of as u8);
        } else {
            self.bytes.push(0xf0 | of as u8);
            self.varint(length as u64);
        }
    }

    pub(super) fn i32_element(&mut self, value: i32) {
        self.zigzag(i64::from(value));
    }

    pub(super) fn text_element(&mut self, value: &str) {
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value.as_bytes());
    }

    /// Begins a structure that is a field.
    pub(super) fn begin(&mut self, field: i16) {
        self.head(field, WireType::Struct);
        self.open.push(0);
    }

    /// Begins a structure that is an element of a list.
    pub(super) fn begin_element(&mut self) {
        self.open.push(0);
    }

    /// Ends the innermost structure.
    pub(super) fn end(&mut self) {
        self.bytes.push(0);
        self.open.pop();
    }

    fn head(&mut self, field: i16, of: WireType) {
        let last = self.open.last_mut().expect("a structure is open");
        let step = field - std::mem::replace(last, field);
        debug_assert!((1..16).contains(&step), "fields ascend by less than 16");
        self.bytes.push((step as u8) << 4 | of as u8);
    }

    fn zigzag(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63) as u64);
    }

    fn varint(&mut self, value: u64) {
        varint(&mut self.bytes, value);
    }
}

/// Writes seven bits a byte, the lowest first; the highest bit says that more follow.
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_lists_and_numbers_are_written_as_the_protocol_says() {
        let mut out = Compact::new();
        out.i32(1, -1);
        out.i64(4, 300);
        out.list(5, WireType::I32, 2);
        out.i32_element(0);
        out.i32_element(3);
        out.begin(6);
        out.text(2, "ab");
        out.end();
        out.end();
        let wanted = [0x15, 1, 0x36, 0xd8, 4, 0x19, 0x25, 0, 6, 0x1c, 0x28, 2, b'a', b'b', 0, 0];
        assert_eq!(out.into_bytes(), wanted);
    }

    #[test]
    fn a_long_list_has_its_length_apart() {
        let mut out = Compact::new();
        out.list(1, WireType::Struct, 200);
        out.end();
        assert_eq!(out.into_bytes(), [0x19, 0xfc, 0xc8, 1, 0]);
    }
}
