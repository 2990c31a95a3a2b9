//! Makes BSON for replies: each function gives the bytes of one element, `document` joins them.

/// A document of elements.
pub(super) fn document(elements: &[Vec<u8>]) -> Vec<u8> {
    let content: Vec<u8> = elements.concat();
    let length = i32::try_from(content.len() + 5).expect("a small document");
    [&length.to_le_bytes()[..], &content, &[0]].concat()
}

fn element(kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[kind], name.as_bytes(), &[0], value].concat()
}

pub(super) fn text(name: &str, value: &str) -> Vec<u8> {
    let length = i32::try_from(value.len() + 1).expect("a short text");
    element(2, name, &[&length.to_le_bytes()[..], value.as_bytes(), &[0]].concat())
}

pub(super) fn binary(name: &str, value: &[u8]) -> Vec<u8> {
    let length = i32::try_from(value.len()).expect("a short value");
    element(5, name, &[&length.to_le_bytes()[..], &[0], value].concat())
}

pub(super) fn int(name: &str, value: i32) -> Vec<u8> {
    element(16, name, &value.to_le_bytes())
}

pub(super) fn long(name: &str, value: i64) -> Vec<u8> {
    element(18, name, &value.to_le_bytes())
}

pub(super) fn double(name: &str, value: f64) -> Vec<u8> {
    element(1, name, &value.to_le_bytes())
}

pub(super) fn boolean(name: &str, value: bool) -> Vec<u8> {
    element(8, name, &[u8::from(value)])
}

/// Milliseconds since 1970.
pub(super) fn date(name: &str, value: i64) -> Vec<u8> {
    element(9, name, &value.to_le_bytes())
}

pub(super) fn nested(name: &str, document: &[u8]) -> Vec<u8> {
    element(3, name, document)
}

pub(super) fn array(name: &str, documents: &[Vec<u8>]) -> Vec<u8> {
    let elements: Vec<_> = documents.iter().enumerate().map(|(place, one)| nested(&place.to_string(), one)).collect();
    element(4, name, &document(&elements))
}

/// A list of texts.
pub(super) fn texts(name: &str, values: &[&str]) -> Vec<u8> {
    let elements: Vec<_> = values.iter().enumerate().map(|(place, value)| text(&place.to_string(), value)).collect();
    element(4, name, &document(&elements))
}

/// The mark of success, as MongoDB writes it.
pub(super) fn ok() -> Vec<u8> {
    double("ok", 1.0)
}

/// A reply that says why a command failed.
pub(super) fn failure(code: i32, name: &str, why: &str) -> Vec<u8> {
    document(&[double("ok", 0.0), text("errmsg", why), int("code", code), text("codeName", name)])
}

/// A reply with a batch of a cursor.
pub(super) fn cursor(batch: &str, namespace: &str, id: i64, documents: &[Vec<u8>]) -> Vec<u8> {
    document(&[nested("cursor", &document(&[array(batch, documents), long("id", id), text("ns", namespace)])), ok()])
}
