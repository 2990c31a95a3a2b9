//! Every dependency that a crate declares is named in its code: those of the product outside tests.
//!
//! A dependency that is only declared costs every build and makes the table of crates say more than is true.

use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// Finds dependencies that no code names.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let manifests = tree.sources().filter(|source| source.path.ends_with("/Cargo.toml"));
    manifests.flat_map(|manifest| of_manifest(tree, manifest)).collect()
}

fn of_manifest(tree: &Tree, manifest: &Source) -> Vec<Fault> {
    let folder = manifest.path.trim_end_matches("Cargo.toml");
    let mut section = "";
    let mut faults = Vec::new();
    for (index, line) in manifest.text.lines().enumerate() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
            continue;
        }
        let Some(name) = line.split(['=', '.']).next().map(str::trim).filter(|name| is_name(name)) else { continue };
        let text = match section {
            "dependencies" if !is_named(tree, folder, name, Where::Product) => "is named in no code outside tests",
            "dev-dependencies" if !is_named(tree, folder, name, Where::Anywhere) => "is named in no code",
            _ => continue,
        };
        faults.push(Fault::new(&manifest.path, index + 1, format!("the dependency {name} {text}; remove it")));
    }
    faults
}

/// Where code may name a dependency.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Product,
    Anywhere,
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Whether code below a folder, or code that it takes from elsewhere by a path, names a crate as code writes it.
fn is_named(tree: &Tree, folder: &str, name: &str, place: Where) -> bool {
    let written = name.replace('-', "_");
    let taken: Vec<String> =
        tree.rust().filter(|source| source.path.starts_with(folder)).flat_map(taken_folders).collect();
    let is_ours = |path: &str| path.starts_with(folder) || taken.iter().any(|taken| path.starts_with(taken));
    tree.rust()
        .filter(|source| is_ours(&source.path))
        .any(|source| source.words(&written).any(|offset| place == Where::Anywhere || !source.is_test(offset)))
}

/// Folders of the modules that a file takes by `#[path = "…"]`.
fn taken_folders(source: &Source) -> Vec<String> {
    let paths = source.text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"));
    paths.map(|path| resolved(&source.path, path)).collect()
}

/// The folder of a path that is relative to the folder of a file.
fn resolved(file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.pop();
    parts.join("/") + "/"
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn what_is_declared_and_not_named_is_found() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nours-gen.workspace = true\nserde = \"1\"\nclap.workspace = true\n\
            [dev-dependencies]\ntempfile.workspace = true\nproptest.workspace = true\n";
        let product = "// clap\nuse ours_gen::Rng;\nfn f() { \"proptest\" }\n#[cfg(test)]\nmod tests {\n    use serde::Serialize;\n}\n";
        let files = [
            ("Cargo.toml", "[workspace.dependencies]\nunused = \"1\"\n"),
            ("crates/a/Cargo.toml", manifest),
            ("crates/a/src/lib.rs", product),
            ("crates/a/tests/b.rs", "#[path = \"../../b/tests/support/mod.rs\"]\nmod support;\n"),
            ("crates/b/tests/support/places.rs", "use tempfile::tempdir;\n"),
            ("crates/b/src/lib.rs", "use clap::Parser;\n"),
        ];
        check_rule(check, &files, &["crates/a/Cargo.toml:5", "crates/a/Cargo.toml:6", "crates/a/Cargo.toml:9"]);
    }
}
