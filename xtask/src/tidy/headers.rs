//! Every module says at its top what it is for.

use super::rules::Fault;
use super::tree::Tree;

/// Finds Rust files that do not begin with a `//!` sentence.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let without = tree.rust().filter(|source| !begins_with_header(&source.text));
    without
        .map(|source| Fault::new(&source.path, 1, "begin with `//!`: what is this for, what may it not do?"))
        .collect()
}

fn begins_with_header(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    first.strip_prefix("//!").is_some_and(|sentence| sentence.split_whitespace().count() >= 2)
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn files_without_a_sentence_at_the_top_are_found() {
        let files = [
            ("a.rs", "//! What it is for.\n"),
            ("b.rs", "use a;\n//! Too late here.\n"),
            ("c.rs", "//!\n"),
            ("d.rs", "// Only a comment.\n"),
            ("e.rs", ""),
            ("f.md", "no Rust"),
        ];
        check_rule(check, &files, &["b.rs:1", "c.rs:1", "d.rs:1", "e.rs:1"]);
    }
}
