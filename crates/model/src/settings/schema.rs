//! JSON Schema and reference page of study files, both derived from the table of settings.

use super::kind::Kind;
use super::spec::{Scope, SettingSpec};
use crate::catalogue::Catalogue;
use crate::study::groups;
use serde_json::{Map, Value as Json, json};

/// The JSON Schema (draft 2020-12) of study files for what is built in.
pub fn json_schema(catalogue: &Catalogue) -> Json {
    let mut root = object();
    for spec in catalogue.settings() {
        insert(&mut root, spec.path, spec);
    }
    let names = |names: Vec<&str>| json!({ "type": "string", "enum": names });
    root["properties"]["engine"]["properties"]["kind"] =
        names(catalogue.engines.iter().map(|engine| engine.name).collect());
    root["properties"]["workload"]["properties"]["kind"] =
        names(catalogue.workloads.iter().map(|workload| workload.name).collect());
    root["properties"]["factor"] = factor_schema(catalogue);
    let loads: Vec<&str> = catalogue.settings().filter(|spec| spec.load).map(|spec| spec.path).collect();
    root["properties"]["search"]["properties"]["setting"]["enum"] = json!(loads);
    root["properties"]["search"]["required"] = json!(["setting", "find", "from", "to"]);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Proofload study");
    root["required"] = json!(["study", "workload", "engine"]);
    root
}

/// The reference of all settings as Markdown, one table per section.
pub fn reference_page(catalogue: &Catalogue) -> String {
    let mut page = String::from("| setting | takes | default | description |\n|---|---|---|---|\n");
    for spec in catalogue.settings() {
        let scope = match spec.scope {
            Scope::Always => String::new(),
            Scope::Workload(name) => format!(" Workload `{name}` only."),
            Scope::Engine(name) => format!(" Engine `{name}` only."),
        };
        let factor = if spec.factor { "" } else { " Not a factor." };
        let default = spec.default.map_or_else(
            || if spec.required { "required".to_owned() } else { "none".to_owned() },
            |text| format!("`{text}`"),
        );
        page.push_str(&format!(
            "| `{}` | {} | {default} | {}{scope}{factor} |\n",
            spec.path,
            spec.kind.words(),
            spec.about
        ));
    }
    page
}

/// An object that refuses unknown keys.
fn object() -> Json {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// Puts one setting at its path.
fn insert(root: &mut Json, path: &str, spec: &SettingSpec) {
    let mut node = root;
    let parts: Vec<&str> = path.split('.').collect();
    let (last, tables) = parts.split_last().expect("a path has a last part");
    for part in tables {
        node = table_in(node, part);
    }
    if *last == "*" {
        node["additionalProperties"] = kind_schema(spec);
        return;
    }
    let schema = kind_schema(spec);
    node["properties"][*last] = match node["properties"][*last].take() {
        Json::Null => schema,
        // Several workloads or engines have a setting of this path.
        known => json!({ "anyOf": [known, schema] }),
    };
    if spec.required {
        require(node, last, spec.scope);
    }
}

/// The table of a key; one that takes a plain value as well gets both.
fn table_in<'a>(node: &'a mut Json, key: &str) -> &'a mut Json {
    let properties = node["properties"].as_object_mut().expect("objects have properties");
    let table = properties.entry(key).or_insert_with(object);
    if table.get("properties").is_some() {
        return table;
    }
    if table.get("anyOf").is_none() {
        *table = json!({ "anyOf": [table.take(), object()] });
    }
    &mut table["anyOf"][1]
}

/// Makes a key required, if only for one kind.
fn require(node: &mut Json, key: &str, scope: Scope) {
    let place = match scope {
        Scope::Always => &mut node["required"],
        Scope::Workload(name) | Scope::Engine(name) => {
            let rules = &mut node["allOf"];
            if rules.is_null() {
                *rules = json!([]);
            }
            let Some(rules) = rules.as_array_mut() else { return };
            let condition = json!({ "properties": { "kind": { "const": name } } });
            let index = rules.iter().position(|rule| rule["if"] == condition).unwrap_or_else(|| {
                rules.push(json!({ "if": condition, "then": {} }));
                rules.len() - 1
            });
            &mut rules[index]["then"]["required"]
        }
    };
    match place.as_array_mut() {
        Some(list) => list.push(json!(key)),
        None => *place = json!([key]),
    }
}

/// The schema of one value.
fn kind_schema(spec: &SettingSpec) -> Json {
    let mut schema = match spec.kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" }),
        Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        Kind::Integer { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::IntegerOr { word, least, most } => {
            json!({ "anyOf": [{ "type": "integer", "minimum": least, "maximum": most }, { "const": word }] })
        }
        Kind::Number { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
        Kind::Share { least, most } => {
            json!({ "type": ["number", "string"], "minimum": least, "maximum": most, "pattern": "^[0-9]+(\\.[0-9]+)? *%$" })
        }
        Kind::Rate { .. } => json!({ "type": ["number", "string"], "pattern": "^[0-9]+(\\.[0-9]+)? */ *(s|min|h)$" }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Bytes { .. } | Kind::Bandwidth { .. } => {
            json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? *(B|[kMGT]B|[KMGT]iB)$" })
        }
        Kind::Duration { .. } => json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? *(ns|us|µs|ms|s|m|h)$" }),
        Kind::List => json!({ "type": ["array", "string"], "items": { "type": "string" } }),
        Kind::Free => {
            let one = json!(["string", "number", "boolean"]);
            let several = json!({ "type": one });
            json!({ "type": ["string", "number", "boolean", "object"], "additionalProperties": several })
        }
    };
    schema["description"] = json!(spec.about);
    if let Some(default) = spec.default {
        schema["default"] = spec.kind.read_text(default).map_or_else(|_| json!(default), |value| default_json(&value));
    }
    schema
}

/// A default as JSON.
fn default_json(value: &super::Value) -> Json {
    match value {
        super::Value::Integer(number) => json!(number),
        super::Value::Number(number) => json!(number),
        super::Value::Boolean(value) => json!(value),
        other => json!(other.to_string()),
    }
}

/// The schema of `[[factor]]`.
fn factor_schema(catalogue: &Catalogue) -> Json {
    let settings: Vec<&str> =
        catalogue.settings().filter(|spec| spec.factor && !spec.path.ends_with('*')).map(|spec| spec.path).collect();
    let mut properties = Map::new();
    properties.insert(
        "setting".to_owned(),
        json!({
            "description": "The setting that varies, or the common prefix of several settings that vary together.",
            "anyOf": [{ "enum": settings }, { "enum": groups(catalogue) }, { "type": "string", "pattern": "^engine\\.settings\\." }],
        }),
    );
    properties.insert(
        "levels".to_owned(),
        json!({ "description": "Its values, one for each point; for a group of settings, tables that set some of them.", "type": "array", "minItems": 1 }),
    );
    json!({
        "description": "Settings that vary; several factors give their product.",
        "type": "array",
        "items": { "type": "object", "properties": properties, "required": ["setting", "levels"], "additionalProperties": false }
    })
}
