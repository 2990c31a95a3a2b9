//! Steps through BSON where it lies. Written apart from the product's own reader, so that the two check each other. Panics on
//! what is not BSON: a test's client has then sent nonsense.

/// One element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) kind: u8,
    pub(super) name: &'a str,
    pub(super) value: &'a [u8],
    /// All its bytes.
    pub(super) whole: &'a [u8],
}

impl<'a> Element<'a> {
    pub(super) fn text(&self) -> &'a str {
        assert_eq!(self.kind, 2, "{} is a text", self.name);
        std::str::from_utf8(&self.value[4..self.value.len() - 1]).expect("UTF-8")
    }

    pub(super) fn integer(&self) -> i64 {
        match self.kind {
            1 => f64::from_le_bytes(self.value.try_into().expect("8 bytes")) as i64,
            8 => i64::from(self.value[0]),
            16 => i64::from(i32::from_le_bytes(self.value.try_into().expect("4 bytes"))),
            18 => i64::from_le_bytes(self.value.try_into().expect("8 bytes")),
            kind => panic!("{} is a number, not of kind {kind}", self.name),
        }
    }
}

/// The length that stands at the start of some bytes.
pub(super) fn length(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[..4].try_into().expect("4 bytes")) as usize
}

/// The elements of a document.
pub(super) fn elements(document: &[u8]) -> impl Iterator<Item = Element<'_>> {
    let mut rest = &document[4..length(document) - 1];
    std::iter::from_fn(move || {
        let (&kind, after) = rest.split_first()?;
        let end = after.iter().position(|byte| *byte == 0).expect("a name ends");
        let start = 1 + end + 1;
        let size = size(kind, &rest[start..]);
        let (whole, others) = rest.split_at(start + size);
        let name = std::str::from_utf8(&after[..end]).expect("UTF-8");
        rest = others;
        Some(Element { kind, name, value: &whole[start..], whole })
    })
}

/// The bytes of a value.
fn size(kind: u8, bytes: &[u8]) -> usize {
    match kind {
        1 | 9 | 17 | 18 => 8,
        2 => 4 + length(bytes),
        3 | 4 => length(bytes),
        5 => 5 + length(bytes),
        7 => 12,
        8 => 1,
        10 => 0,
        16 => 4,
        kind => panic!("the test server does not know BSON kind {kind}"),
    }
}

/// The element of this name.
pub(super) fn get<'a>(document: &'a [u8], name: &str) -> Option<Element<'a>> {
    elements(document).find(|element| element.name == name)
}

/// The documents of an array.
pub(super) fn documents(array: &[u8]) -> Vec<&[u8]> {
    elements(array).map(|element| element.value).collect()
}
