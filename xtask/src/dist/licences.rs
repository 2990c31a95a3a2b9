//! Licences of the crates that are compiled in, with their texts, as their authors ask for it.

use super::product::{DistProduct, PROOFLOAD};
use super::target::DistTarget;
use crate::program::{cargo, output};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How files with licences begin.
const BEGINNINGS: &[&str] = &["license", "licence", "copying", "notice", "copyright", "unlicense"];

/// All licences of a program as one text.
pub(super) fn text(product: DistProduct, target: &DistTarget) -> Result<String, String> {
    let mut command = cargo();
    command.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", target.triple]);
    if !product.features.is_empty() {
        command.args(["--features", product.features]);
    }
    let metadata: Value =
        serde_json::from_slice(&output(&mut command)?).map_err(|error| format!("read cargo's metadata: {error}"))?;
    let sqlite = if product == PROOFLOAD { ", and SQLite, which is in the public domain" } else { "" };
    let mut text = format!("{} contains these crates{sqlite}.\n", product.name);
    let used = used(&metadata, product.name);
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // Texts that several crates share are given once.
    let mut bodies: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages.filter(|package| !package["source"].is_null() && used.contains(word(&package["id"]))) {
        let name = format!("{} {}", word(&package["name"]), word(&package["version"]));
        text.push_str(&format!("\n{name}: {}", package["license"].as_str().unwrap_or("see its text below")));
        for body in bodies_of(Path::new(word(&package["manifest_path"]))) {
            bodies.entry(body).or_default().push(name.clone());
        }
    }
    text.push('\n');
    let mut sorted: Vec<_> = bodies.into_iter().collect();
    sorted.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    for (body, names) in sorted {
        text.push_str(&format!("\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), body.trim_end()));
    }
    Ok(text)
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Packages that the program needs to run: those of its builds and tests are left out.
fn used<'m>(metadata: &'m Value, program: &str) -> BTreeSet<&'m str> {
    let nodes: BTreeMap<&str, &Value> =
        metadata["resolve"]["nodes"].as_array().into_iter().flatten().map(|node| (word(&node["id"]), node)).collect();
    let ours = metadata["packages"].as_array().into_iter().flatten();
    let mut waiting: Vec<&str> =
        ours.filter(|package| package["name"] == program).map(|package| word(&package["id"])).collect();
    let mut used = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if used.insert(id) {
            let needed = nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
            let runs = |kinds: &Value| kinds.as_array().into_iter().flatten().any(|kind| kind["kind"].is_null());
            waiting.extend(needed.filter(|needed| runs(&needed["dep_kinds"])).map(|needed| word(&needed["pkg"])));
        }
    }
    used
}

/// Texts beside a manifest.
fn bodies_of(manifest: &Path) -> Vec<String> {
    let entries = manifest.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_licence = |name: &str| BEGINNINGS.iter().any(|beginning| name.to_lowercase().starts_with(beginning));
    let paths = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_licence)).map(|entry| entry.path());
    paths.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_builds_and_tests_need_is_left_out() {
        let metadata = serde_json::json!({
            "packages": [{"name": "proofload", "id": "ours"}, {"name": "a", "id": "a"}, {"name": "b", "id": "b"}],
            "resolve": {"nodes": [
                {"id": "ours", "deps": [
                    {"pkg": "a", "dep_kinds": [{"kind": null}]},
                    {"pkg": "b", "dep_kinds": [{"kind": "dev"}, {"kind": "build"}]},
                ]},
                {"id": "a", "deps": [{"pkg": "c", "dep_kinds": [{"kind": "build"}, {"kind": null}]}]},
            ]},
        });
        assert_eq!(used(&metadata, "proofload"), BTreeSet::from(["a", "c", "ours"]));
    }
}
