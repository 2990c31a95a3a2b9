//! Shared code knows engines by their facets and dialects, never by their names: a name in it is a place that the next engine has to touch.
//!
//! Tests and comments may name them. The names are those of the folders of engines and of the files in `suites/engines/`. So it is with
//! names of an engine's settings: what one of them means, in whichever spelling, only the engine knows.

use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;
use std::collections::BTreeSet;

/// Code that serves every engine.
const SHARED: &[&str] =
    &["crates/analysis/src/", "crates/load/src/", "crates/model/src/", "crates/report/src/", "crates/testbed/src/"];

/// Folder of the engines, and of what is known of others by name.
const ENGINES: &[&str] = &["crates/engine/src/engines/", "suites/engines/"];

/// Names that are words of SQL or of tests as well, and a folder that engines share.
const WORDS: &[&str] = &["null", "example", "wire"];

/// Other names of products, and that of the fixture as code would write it.
const ALIASES: &[&str] = &["postgres", "mongo", "mysql", "sql server", "\"example\""];

/// Files that may name engines, and why.
const WAIVERS: &[&str] = &[
    // Texts that users read of a setting say what it does on which engine.
    "crates/model/src/settings/table.rs",
    "crates/load/src/workloads/warehouse/settings.rs",
    // A failover manager is of one engine, which its own configuration and commands name (ADR 43).
    "crates/testbed/src/managers/patroni.rs",
    "crates/testbed/src/managers/pg_auto_failover.rs",
    // A test by its declaration.
    "crates/load/src/workloads/warehouse/answers/corruptions.rs",
];

/// Names of settings of engines, or how they begin, and of what tells them.
const SETTINGS: &[&str] = &["innodb_", "synchronous_commit", "pg_settings"];

/// Files that may name settings of engines, and why.
const SETTING_WAIVERS: &[&str] = &[
    // Records from before engines said whether their commits are durable.
    "crates/report/src/findings/drills.rs",
    // Units of values in records are told by who gave them.
    "crates/report/src/sections/facts.rs",
];

/// Finds names of engines and of their settings in shared code.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let names = names(tree);
    let settings: BTreeSet<String> = SETTINGS.iter().map(|name| (*name).to_owned()).collect();
    let shared = tree.rust().filter(|source| SHARED.iter().any(|folder| source.path.starts_with(folder)));
    let of_source = |source: &Source| {
        let mut faults = of_file(source, &names, NAMES_AN_ENGINE);
        if !SETTING_WAIVERS.contains(&source.path.as_str()) {
            faults.extend(of_file(source, &settings, NAMES_A_SETTING));
        }
        faults
    };
    shared.filter(|source| !WAIVERS.contains(&source.path.as_str())).flat_map(of_source).collect()
}

/// What is wrong with a name of an engine.
const NAMES_AN_ENGINE: &str =
    "names an engine; ask for a facet of it, or put the difference into its dialect.toml or suites/engines/";

/// What is wrong with a name of a setting.
const NAMES_A_SETTING: &str = "names a setting of an engine; let the engine say what it means, as a facet or as a fact";

fn names(tree: &Tree) -> BTreeSet<String> {
    let paths = tree.sources().map(|source| source.path.as_str());
    let below = |path: &str| -> Option<String> {
        let rest = ENGINES.iter().find_map(|folder| path.strip_prefix(folder))?;
        let name = rest.split_once('/').map(|(name, _)| name).or_else(|| rest.strip_suffix(".toml"))?;
        Some(name.to_owned())
    };
    let found = paths.filter_map(below).filter(|name| !WORDS.contains(&name.as_str()));
    found.chain(ALIASES.iter().map(|name| (*name).to_owned())).collect()
}

fn of_file(source: &Source, names: &BTreeSet<String>, fault: &str) -> Vec<Fault> {
    let text = source.text.to_ascii_lowercase();
    let mut lines = BTreeSet::new();
    for at in names.iter().flat_map(|name| text.match_indices(name.as_str()).map(|(at, _)| at)) {
        let number = source.line_of(at);
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let is_comment = text[start..at].trim_start().starts_with("//") || text[start..at].contains("// ");
        if !is_comment && !source.is_test(at) {
            lines.insert(number);
        }
    }
    lines.into_iter().map(|line| Fault::new(&source.path, line, fault)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn names_of_engines_are_found_in_shared_code_only() {
        let text = "// SQLite\nfn f(kind: &str) -> bool {\n    kind == \"sqlite\" // SQLite\n}\nstruct OfMariadb;\n";
        let test = "#[cfg(test)]\nmod tests {\n    const A: &str = \"sqlite\";\n}\n";
        let files = [
            ("crates/engine/src/engines/sqlite/mod.rs", text),
            ("suites/engines/mariadb.toml", "title = \"MariaDB\"\n"),
            ("crates/load/src/a.rs", text),
            ("crates/load/src/b.rs", test),
            ("crates/load/src/c.rs", "const A: &str = \"null\";\nconst B: &str = \"postgres: \";\n"),
            ("crates/load/src/d.rs", "// innodb_x\nconst A: &str = \"innodb_page_size\";\n"),
            ("crates/report/src/findings/drills.rs", "const A: &str = \"synchronous_commit\";\n"),
            ("crates/proofload/src/a.rs", text),
            ("crates/model/src/settings/table.rs", text),
        ];
        let expected =
            ["crates/load/src/a.rs:3", "crates/load/src/a.rs:5", "crates/load/src/c.rs:2", "crates/load/src/d.rs:2"];
        check_rule(check, &files, &expected);
    }
}
