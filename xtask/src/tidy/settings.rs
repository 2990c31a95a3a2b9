//! Pages name only settings that exist.
//!
//! Looked at: words in backticks of pages that begin with a section of the study file, such as
//! `procedure.measure`. They must stand as a string in some Rust file, which is where settings are declared;
//! below `engine.settings.` any name goes. Planned sections and lines are left alone, as in the rule of pages.

use std::collections::BTreeSet;

use super::pages::prose;
use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// Sections of the study file.
const SECTIONS: &[&str] = &["study.", "workload.", "engine.", "storage.", "limits.", "procedure.", "agents."];

/// Finds settings that no Rust file declares.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let known = declared(tree);
    let mut faults = Vec::new();
    for page in tree.sources().filter(|source| source.is_page()) {
        for (line, text) in prose(page) {
            let unknown = named(text).filter(|name| !known.contains(name) && !name.starts_with("engine.settings."));
            faults.extend(unknown.map(|name| {
                Fault::new(
                    &page.path,
                    line,
                    format!("names the setting `{name}`, which is not in the table of settings"),
                )
            }));
        }
    }
    faults
}

/// The settings that a line names in backticks; a value after `=` is left out, and so are file names.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let spans = line.split('`').skip(1).step_by(2);
    let paths = spans.map(|span| span.split(['=', ' ']).next().unwrap_or(""));
    let extensions = ["toml", "proof", "rs", "md", "html"];
    paths.filter(move |path| {
        let last = path.rsplit('.').next().unwrap_or("");
        SECTIONS.iter().any(|section| path.starts_with(section)) && !extensions.contains(&last)
    })
}

/// Every string literal of product code that begins with a section, and every table above one.
fn declared(tree: &Tree) -> BTreeSet<&str> {
    let files = tree.rust().filter(|source| source.path.starts_with("crates/") && !source.is_test(0));
    let strings = files.flat_map(|source: &Source| source.text.split('"').skip(1));
    let settings = strings.filter(|text| SECTIONS.iter().any(|section| text.starts_with(section)));
    settings.flat_map(|path| path.match_indices('.').map(|(at, _)| &path[..at]).chain([path])).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn settings_that_no_code_declares_are_found() {
        let table = "//! Table.\nconst A: &str = \"procedure.warm_up.round\";\n";
        let page = "`procedure.warm_up.round`, `procedure.warm_up`, `engine.settings.work_mem`\n`--set x`, `study.toml`\n\
            `procedure.warm_up.rounds`\n```\n`limits.sun`\n```\n`limits.sun=3`\n# Planned\n`limits.moon`\n";
        let files = [("crates/model/src/a.rs", table), ("a.md", page)];
        check_rule(check, &files, &["a.md:3", "a.md:7"]);
    }
}
