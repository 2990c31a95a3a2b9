//! `engines` and `workloads`: what is built in, and what is found here.

use super::engines_page::engines_page;
use crate::catalogue::catalogue;
use crate::cli::{EnginesArguments, ListArguments};
use crate::exit::Exit;
use crate::output;
use proofload_model::engines::{VerifiedVersion, verified_versions, verified_words};
use serde_json::{Value as Json, json};

/// Lists engines.
pub(crate) fn engines(arguments: &EnginesArguments) -> Exit {
    let text = match (arguments.page, arguments.list.json) {
        (true, _) => engines_page(),
        (false, true) => engines_json(),
        (false, false) => engines_text(),
    };
    output::conclude(arguments.list.json, &text, Exit::Good)
}

/// Lists workloads.
pub(crate) fn workloads(arguments: &ListArguments) -> Exit {
    let text = if arguments.json { workloads_json() } else { workloads_text() };
    output::conclude(arguments.json, &text, Exit::Good)
}

fn engines_text() -> String {
    let mut text = String::new();
    for engine in proofload_engine::ENGINES {
        let facts = engine.facts();
        let found = match engine.locate() {
            Ok(found) => format!("{} ({})", found.version, found.place),
            Err(error) => format!("not found here: {error}"),
        };
        text.push_str(&format!("{:<12} {}\n{:<12} {found}\n", facts.name, facts.title, ""));
        if facts.capabilities.durable {
            text.push_str(&format!("{:<12} {}\n", "", verified_words(facts.name, None)));
        }
    }
    text
}

fn engines_json() -> String {
    let engine = |engine: &&dyn proofload_engine::Engine| {
        let facts = engine.facts();
        let (found, missing) = match engine.locate() {
            Ok(found) => (json!({ "version": found.version, "place": found.place }), Json::Null),
            Err(error) => (Json::Null, json!(error.to_string())),
        };
        json!({
            "name": facts.name, "title": facts.title, "found": found, "missing": missing,
            "verified": verified_json(facts.name), "minimum_memory_bytes": facts.minimum_memory_bytes, "capabilities": facts.capabilities,
        })
    };
    let engines: Vec<Json> = proofload_engine::ENGINES.iter().map(engine).collect();
    format!("{:#}", json!({ "form": 1, "engines": engines }))
}

fn verified_json(name: &str) -> Vec<Json> {
    let row = |one: &VerifiedVersion| json!({ "version": one.version, "day": one.day, "without": one.without });
    verified_versions(name).iter().map(row).collect()
}

fn workloads_text() -> String {
    catalogue().workloads.iter().map(|workload| format!("{:<12} {}\n", workload.name, workload.title)).collect()
}

fn workloads_json() -> String {
    let catalogue = catalogue();
    let workloads: Vec<Json> = catalogue
        .workloads
        .iter()
        .map(|workload| {
            let settings: Vec<&str> = workload.settings.iter().map(|setting| setting.path).collect();
            json!({ "name": workload.name, "title": workload.title, "needs_sql": workload.needs_sql, "settings": settings })
        })
        .collect();
    format!("{:#}", json!({ "form": 1, "workloads": workloads }))
}
