//! What a package of crates.io must have: a manifest that says what it is, its licences, and no file from outside its folder.
//!
//! `cargo xtask publish` packs them for real; this rule tells at once what it would stumble over.

use super::pages::beside;
use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// Keys that crates.io asks for or shows.
const KEYS: &[&str] = &["description", "version", "license", "repository", "readme", "keywords", "categories"];

/// Files that lie in the folder of each crate, as links.
const FILES: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE"];

/// Macros that take a file into the program.
const MACROS: &[&str] = &["include_str", "include_bytes", "include"];

/// Finds manifests that lack a key, folders that lack a licence, and files that are taken in from outside.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for manifest in tree.sources() {
        let Some(folder) = manifest.path.strip_suffix("/Cargo.toml").filter(|folder| folder.starts_with("crates/"))
        else {
            continue;
        };
        let is_there = |key: &str| {
            let is = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
            manifest.text.lines().any(is)
        };
        let missing = KEYS.iter().filter(|key| !is_there(key));
        faults.extend(missing.map(|key| Fault::new(&manifest.path, 1, format!("the package has no `{key}`"))));
        let missing = FILES.iter().filter(|name| !tree.has(&format!("{folder}/{name}")));
        faults.extend(missing.map(|name| {
            Fault::new(&manifest.path, 1, format!("the package has no {name}; link it: ln -s ../../{name} {folder}/"))
        }));
    }
    for source in tree.rust().filter(|source| source.path.starts_with("crates/")) {
        faults.extend(outside(source));
    }
    faults
}

/// Files that are taken in from outside the folder of the crate, tests aside: a package has none of them.
fn outside(source: &Source) -> Vec<Fault> {
    let inside = source.path.splitn(3, '/').nth(2).unwrap_or_default();
    let crate_folder = source.path.strip_suffix(inside).unwrap_or_default();
    let of_macro = |name: &'static str| source.words(name).filter(|at| !source.is_test(*at));
    let mut faults = Vec::new();
    for at in MACROS.iter().flat_map(|name| of_macro(name)) {
        let line = source.line_of(at);
        // The first text on the line: paths are literal, or begin so.
        let Some(path) = source.text[at..].lines().next().and_then(|rest| rest.split('"').nth(1)) else { continue };
        if path.starts_with('/') || !beside(&source.path, path).starts_with(crate_folder) {
            let text =
                format!("{path} lies outside the crate, so that its package would not build; link it into the crate");
            faults.push(Fault::new(&source.path, line, text));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn files_from_outside_are_found_where_a_package_needs_them() {
        let inside = "fn f() {\n    include_str!(\"../suites/x.sql\");\n    include_bytes!(\"own.css\");\n}\n";
        let outside = "fn f() {\n    include_str!(\"../../../suites/x.sql\");\n}\n#[cfg(test)]\nmod tests {\n    fn g() { include_str!(\"../../../docs/x.md\"); }\n}\n";
        let built = "include!(concat!(env!(\"OUT_DIR\"), \"/suites.rs\"));\n";
        let files = [
            ("crates/load/src/a.rs", inside),
            ("crates/load/src/b.rs", outside),
            ("crates/load/src/c.rs", built),
            ("crates/load/tests/d.rs", outside),
            ("xtask/src/e.rs", outside),
        ];
        check_rule(check, &files, &["crates/load/src/b.rs:2"]);
    }

    #[test]
    fn a_manifest_says_what_the_package_is() {
        let whole = "[package]\nname = \"a\"\ndescription = \"x\"\nversion.workspace = true\nlicense.workspace = true\nrepository.workspace = true\nreadme.workspace = true\nkeywords.workspace = true\ncategories.workspace = true\n";
        let without = whole.replace("description = \"x\"\n", "");
        let files = [
            ("crates/a/Cargo.toml", whole),
            ("crates/a/LICENSE-MIT", ""),
            ("crates/a/LICENSE-APACHE", ""),
            ("crates/b/Cargo.toml", &*without),
            ("crates/b/LICENSE-MIT", ""),
            ("xtask/Cargo.toml", "[package]\n"),
        ];
        check_rule(check, &files, &["crates/b/Cargo.toml:1", "crates/b/Cargo.toml:1"]);
    }
}
