//! Reading JSON in which each object has each name once. Of two equal names most readers take the last, so that a document could say one thing to
//! its seal and another to whoever looks at it.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};
use std::fmt;

/// The document in some bytes; an error where they are no whole JSON, or a name stands twice in an object.
pub(super) fn parse(bytes: &[u8]) -> Result<Json, serde_json::Error> {
    serde_json::from_slice(bytes).map(|StrictJson(document)| document)
}

/// A value whose objects have each name once.
struct StrictJson(Json);

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

/// Maker of values whose objects have each name once.
struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(StrictJson(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if all.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the name {name:?} stands twice in one object")));
            }
            let StrictJson(value) = members.next_value()?;
            all.insert(name, value);
        }
        Ok(Json::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read_as_any_reader_does() {
        let text = r#"{ "a": [null, true, -1, 18446744073709551615, 0.25, 1e2], "b": { "a": "\u00e9\n", "c": {} } }"#;
        let expected: Json = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(parse(text.as_bytes()).expect("it is read"), expected);
    }

    #[test]
    fn a_name_that_stands_twice_is_refused_at_any_depth() {
        for text in [r#"{ "a": 1, "a": 1 }"#, r#"{ "b": [ { "c": { "a": 1, "\u0061": 2 } } ] }"#] {
            let told = parse(text.as_bytes()).expect_err("the name stands twice").to_string();
            assert!(told.starts_with("the name \"a\" stands twice in one object at line 1"), "{told}");
        }
        assert!(parse(br#"[{ "a": 1 }, { "a": 2 }]"#).is_ok(), "these are two objects");
    }

    #[test]
    fn what_is_cut_off_or_goes_on_is_refused() {
        for text in ["{", "{ \"a\": 1", "", "{} {}", "\u{feff}{}"] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
