//! `engines` and `workloads`: what is built in, and what is found here.

use crate::catalogue::catalogue;
use crate::exit::Exit;
use crate::output;

/// Lists engines.
pub(crate) fn engines() -> Exit {
    let mut text = String::new();
    for engine in proofload_engine::ENGINES {
        let facts = engine.facts();
        let found = match engine.locate() {
            Ok(found) => format!("{} ({})", found.version, found.place),
            Err(error) => format!("not found here: {error}"),
        };
        text.push_str(&format!("{:<12} {}\n{:<12} {found}\n", facts.name, facts.title, ""));
    }
    output::result(&text);
    Exit::Good
}

/// Lists workloads.
pub(crate) fn workloads() -> Exit {
    let catalogue = catalogue();
    let text: String =
        catalogue.workloads.iter().map(|workload| format!("{:<12} {}\n", workload.name, workload.title)).collect();
    output::result(&text);
    Exit::Good
}
