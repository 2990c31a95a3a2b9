//! Runs every rule over the repository and prints what they found.

use std::io::Write;
use std::path::Path;

use super::ratchet;
use super::rules::RULES;
use super::tree::Tree;

/// `cargo xtask tidy [--bless]`: fails with the list of faults, or prints one line about the tree.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let bless = match arguments {
        [] => false,
        [flag] if flag == "--bless" => true,
        other => return Err(format!("tidy knows only --bless, not {other:?}")),
    };
    // As cargo says now, not when this was compiled: clones that share a target folder share the program.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("tidy is run by cargo: cargo xtask tidy")?;
    let root = Path::new(&xtask).parent().expect("xtask is a folder of the repository");
    let mut tree = Tree::read(root)?;
    if bless {
        let lowered = ratchet::bless(&tree)?;
        std::fs::write(root.join(ratchet::PAGE), &lowered)
            .map_err(|error| format!("wrote {}: {error}", ratchet::PAGE))?;
        tree.replace(ratchet::PAGE, lowered);
    }
    let lines = faults(&tree);
    if lines.is_empty() {
        return writeln!(std::io::stdout(), "tidy: {}", ratchet::summary(&tree))
            .map_err(|error| format!("printed the summary: {error}"));
    }
    Err(format!("{}\n\ntidy: {} faults", lines.join("\n"), lines.len()))
}

/// All faults of all rules, one line each, in the order of the table and then of path and line.
fn faults(tree: &Tree) -> Vec<String> {
    let mut lines = Vec::new();
    for rule in RULES {
        let mut faults = (rule.check)(tree);
        faults.sort();
        lines.extend(faults.iter().map(|fault| format!("{fault} [{}]", rule.name)));
    }
    lines
}
