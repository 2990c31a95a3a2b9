//! The repository as the rules see it: text files by path, and the packages with what they import.
//!
//! Reading happens here and nowhere else, so that a rule can be tested on a tree made of strings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use super::source::Source;

/// Place of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// The library or binary, or its build script.
    Product,
    /// Tests, benches and examples only.
    Tests,
}

/// A package of the workspace with its imports among the packages of the workspace.
#[derive(Debug, Clone)]
pub(super) struct Package {
    /// Name of its folder: the package's without the prefix `proofload-`.
    pub(super) name: String,
    /// Name of the imported package, likewise without prefix, and how it is used.
    pub(super) imports: Vec<(String, Use)>,
}

/// Everything the rules look at.
#[derive(Debug, Default)]
pub(super) struct Tree {
    sources: BTreeMap<String, Source>,
    /// Every path of the repository, files and folders, also those that are not text.
    paths: BTreeSet<String>,
    /// The packages of the workspace.
    pub(super) packages: Vec<Package>,
}

impl Tree {
    /// Reads the files that git knows or would add, and cargo's metadata.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let list = output(root, "git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let mut tree = Self::default();
        for path in list.split('\0').filter(|path| !path.is_empty()) {
            // A file that was removed but not yet staged is still listed; a binary file is not text.
            let Ok(bytes) = std::fs::read(root.join(path)) else {
                continue;
            };
            tree.add_path(path);
            if let Ok(text) = String::from_utf8(bytes) {
                tree.replace(path, text);
            }
        }
        let metadata = output(root, "cargo", &["metadata", "--no-deps", "--offline", "--format-version", "1"])?;
        tree.packages = packages(&metadata)?;
        Ok(tree)
    }

    /// A tree of files given as path and text, for the tests of the rules.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.add_path(path);
            tree.replace(path, (*text).to_owned());
        }
        tree
    }

    /// Puts the text of one file.
    pub(super) fn replace(&mut self, path: &str, text: String) {
        self.sources.insert(path.to_owned(), Source::new(path, text));
    }

    /// One file, if it is there and text.
    pub(super) fn source(&self, path: &str) -> Option<&Source> {
        self.sources.get(path)
    }

    /// All text files, ordered by path.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.values()
    }

    /// All Rust files, ordered by path.
    pub(super) fn rust(&self) -> impl Iterator<Item = &Source> {
        self.sources().filter(|source| source.is_rust())
    }

    /// Whether a file or folder of that path exists.
    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether any file has that last part of a path.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.paths.iter().any(|path| path.rsplit('/').next() == Some(name))
    }

    fn add_path(&mut self, path: &str) {
        let mut rest = path;
        loop {
            self.paths.insert(rest.to_owned());
            match rest.rsplit_once('/') {
                Some((folder, _)) => rest = folder,
                None => break,
            }
        }
    }
}

fn output(root: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = crate::program::output(Command::new(program).args(arguments).current_dir(root))?;
    String::from_utf8(output).map_err(|error| format!("read the output of {program}: {error}"))
}

/// The packages of the workspace from the text of `cargo metadata --no-deps`.
fn packages(metadata: &str) -> Result<Vec<Package>, String> {
    let value: serde_json::Value =
        serde_json::from_str(metadata).map_err(|error| format!("decoded cargo's metadata: {error}"))?;
    let packages = value["packages"].as_array().ok_or("cargo's metadata has no packages")?;
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    Ok(packages.iter().filter_map(|package| package_of(package, &names)).collect())
}

fn package_of(package: &serde_json::Value, ours: &BTreeSet<&str>) -> Option<Package> {
    let mut imports = Vec::new();
    for dependency in package["dependencies"].as_array()? {
        let name = dependency["name"].as_str()?;
        if ours.contains(name) {
            let how = if dependency["kind"] == "dev" { Use::Tests } else { Use::Product };
            imports.push((short(name).to_owned(), how));
        }
    }
    Some(Package { name: short(package["name"].as_str()?).to_owned(), imports })
}

/// The name of a package without our prefix.
fn short(name: &str) -> &str {
    name.strip_prefix("proofload-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_brings_its_folders() {
        let tree = Tree::of(&[("crates/model/src/lib.rs", "")]);
        assert!(tree.has("crates/model") && tree.has("crates/model/src/lib.rs"));
        assert!(!tree.has("crates/mod"));
        assert!(tree.has_name("lib.rs") && !tree.has_name("b.rs"));
    }

    #[test]
    fn metadata_gives_our_imports_only_and_tells_tests_apart() {
        let metadata = r#"{"packages": [
            {"name": "proofload-load", "dependencies": [
                {"name": "proofload-model", "kind": null}, {"name": "proofload-gen", "kind": "dev"},
                {"name": "tokio", "kind": null}]},
            {"name": "proofload-model", "dependencies": []},
            {"name": "proofload-gen", "dependencies": []}]}"#;
        let packages = packages(metadata).unwrap();
        let load = &packages[0];
        assert_eq!(load.name, "load");
        let expected = [("model".to_owned(), Use::Product), ("gen".to_owned(), Use::Tests)];
        assert_eq!(load.imports, expected);
    }
}
