//! Events of a run as the record keeps them: a name and a detail, which is text or JSON. The only place that knows that form.

use crate::compat::Format;
use proofload_model::events::{RunEvent, VERSION};
use serde_json::{Map, Value};

/// The detail of an event: nothing, a text, or JSON.
pub(crate) fn encode(event: &RunEvent) -> String {
    if let RunEvent::Unknown { detail, .. } = event {
        return detail.clone();
    }
    let Ok(Value::Object(mut tagged)) = serde_json::to_value(event) else { return String::new() };
    match tagged.remove("detail") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(detail) => detail.to_string(),
    }
}

/// An event of a record. What cannot be understood stays as it is written.
pub(crate) fn decode(format: Format, version: u32, name: &str, detail: &str) -> RunEvent {
    let unknown = || RunEvent::Unknown { name: name.to_owned(), detail: detail.to_owned() };
    if version > VERSION {
        return unknown();
    }
    let forms = [
        Some(Value::String(detail.to_owned())),
        serde_json::from_str(detail).ok(),
        Some(Value::Null),
        Some(Value::Object(Map::new())),
    ];
    let read = |form: Value| {
        let mut tagged = Map::from_iter([("name".to_owned(), Value::String(name.to_owned()))]);
        if !form.is_null() {
            tagged.insert("detail".to_owned(), form);
        }
        serde_json::from_value(Value::Object(tagged)).ok()
    };
    match forms.into_iter().flatten().find_map(read) {
        Some(RunEvent::Calibrated { key, mut facts }) => {
            for fact in &mut facts {
                fact.number = format.number(fact);
            }
            RunEvent::Calibrated { key, facts }
        }
        Some(event) => event,
        None => unknown(),
    }
}

#[cfg(test)]
mod tests;
