//! Every outside dependency has beside it what it is for and its licence: in the root manifest, or, when one crate's
//! tests alone need it, in that crate's.

use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// Finds dependencies without an explanation.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let manifests = tree.sources().filter(|source| source.path.ends_with("Cargo.toml"));
    manifests.flat_map(of_manifest).collect()
}

fn of_manifest(source: &Source) -> Vec<Fault> {
    let mut section = "";
    let mut faults = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        } else if let Some(text) = fault_of(section, line.trim()) {
            faults.push(Fault::new(&source.path, index + 1, text));
        }
    }
    faults
}

fn fault_of(section: &str, line: &str) -> Option<&'static str> {
    if line.is_empty() || line.starts_with('#') || !line.contains('=') {
        return None;
    }
    let shared = section == "workspace.dependencies";
    let explained = line.contains(" # ");
    if shared && !line.contains("path =") && !explained {
        return Some("say beside the dependency what it is for, who keeps it and its licence");
    }
    if !shared && section.ends_with("dependencies") && !line.contains("workspace") && !explained {
        return Some("take the version from the workspace, or say beside it what it is for and its licence");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn unexplained_and_private_versions_are_found() {
        let root =
            "[workspace.dependencies]\nours = { path = \"crates/ours\" }\nserde = \"1\" # data; MIT\ntokio = \"1\"\n";
        let ours = "[package]\nname = \"ours\"\n[dependencies]\nserde.workspace = true\nlog = \"0.4\"\nbytes = \"1\" # buffers; MIT\n[dev-dependencies]\nours = { workspace = true }\n";
        let files = [("Cargo.toml", root), ("crates/ours/Cargo.toml", ours)];
        check_rule(check, &files, &["Cargo.toml:4", "crates/ours/Cargo.toml:5"]);
    }
}
