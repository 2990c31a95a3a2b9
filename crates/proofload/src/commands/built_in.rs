//! `engines` and `workloads`: what is built in, and what is found here.

use crate::catalogue::catalogue;
use crate::cli::ListArguments;
use crate::exit::Exit;
use crate::output;
use serde_json::{Value as Json, json};

/// Lists engines.
pub(crate) fn engines(arguments: &ListArguments) -> Exit {
    output::result(&if arguments.json { engines_json() } else { engines_text() });
    Exit::Good
}

/// Lists workloads.
pub(crate) fn workloads(arguments: &ListArguments) -> Exit {
    output::result(&if arguments.json { workloads_json() } else { workloads_text() });
    Exit::Good
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
            "minimum_memory_bytes": facts.minimum_memory_bytes, "capabilities": facts.capabilities,
        })
    };
    let engines: Vec<Json> = proofload_engine::ENGINES.iter().map(engine).collect();
    format!("{:#}", json!({ "form": 1, "engines": engines }))
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
