//! Inside the report crate: `render` → `sections` → `findings`, never backwards.
//!
//! A finding does not know how it is told, and a section does not know in which format. What sections produce and
//! renderers consume, `blocks`, knows neither; `charts` know blocks only.

use super::rules::Fault;
use super::tree::Tree;

/// A module of the report crate, and the modules and crates it may not name.
const LAYERS: &[(&str, &[&str])] = &[
    ("findings", &["blocks", "charts", "sections", "render"]),
    ("workloads", &["proofload_analysis", "findings", "blocks", "charts", "sections", "render"]),
    ("blocks", &["findings", "charts", "sections", "render"]),
    ("charts", &["proofload_analysis", "findings", "sections", "render"]),
    ("sections", &["charts", "render"]),
];

/// Finds paths from a lower layer to a higher one.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (layer, higher) in LAYERS {
        let (folder, file) = (format!("crates/report/src/{layer}/"), format!("crates/report/src/{layer}.rs"));
        for source in tree.rust().filter(|source| source.path.starts_with(&folder) || source.path == file) {
            for above in *higher {
                let root =
                    if source.path == file || source.path.ends_with("/mod.rs") { "super::" } else { "super::super::" };
                let paths = match above.starts_with("proofload_") {
                    true => vec![(*above).to_owned()],
                    false => ["crate::", root].map(|root| format!("{root}{above}")).to_vec(),
                };
                let product = paths.iter().flat_map(|path| source.words(path)).filter(|at| !source.is_test(*at));
                faults.extend(product.map(|at| {
                    let text = format!("{layer} may not import {above}: render → sections → findings");
                    Fault::new(&source.path, source.line_of(at), text)
                }));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn only_backward_imports_are_found() {
        let files = [
            ("crates/report/src/findings/knee.rs", "use crate::sections::Block;\nuse proofload_analysis::knee;\n"),
            ("crates/report/src/charts/plot.rs", "use crate::blocks::Block;\nuse proofload_analysis::knee;\n"),
            ("crates/report/src/render/html.rs", "use crate::sections::Block;\nuse proofload_analysis::knee;\n"),
            ("crates/report/src/sections.rs", "use proofload_analysis::knee;\nuse super::render::html;\n"),
            ("crates/report/src/sections/results.rs", "use super::charts::curve;\nuse super::super::render::html;\n"),
        ];
        check_rule(
            check,
            &files,
            &[
                "crates/report/src/charts/plot.rs:2",
                "crates/report/src/findings/knee.rs:1",
                "crates/report/src/sections.rs:2",
                "crates/report/src/sections/results.rs:2",
            ],
        );
    }
}
