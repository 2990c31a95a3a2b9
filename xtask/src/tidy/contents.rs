//! What a crate may not contain, from the third column of the crate table in `ARCHITECTURE.md`.
//!
//! The page says it in words; [`BANNED`] says it in paths that a scanner can find.

use super::rules::Fault;
use super::source::{Source, closing, word_offsets};
use super::tree::Tree;

/// Beginning of a path, and what may not be used below it outside tests.
const BANNED: &[(&str, &[&str])] = &[
    ("crates/model/src/", &["std::fs", "std::thread", "std::env", "std::net", "std::process", "tokio", "rusqlite"]),
    ("crates/gen/src/", &["std::fs", "std::io", "std::thread", "std::env", "std::net", "std::process"]),
    ("crates/tier/src/", &["rusqlite", "tokio_postgres"]),
    ("crates/engine/src/", &["hdrhistogram"]),
    ("crates/load/src/", &["std::process::Command", "std::net", "std::env"]),
    (
        "crates/record/src/",
        &["std::net", "std::thread::spawn", "std::thread::scope", "std::thread::Builder", "use std::thread", "tokio"],
    ),
    ("crates/report/src/", &["std::net", "std::thread", "std::process", "std::env", "tokio", "rusqlite"]),
    ("crates/analysis/src/", &["std::fs", "std::io::stdin", "std::io::stdout", "std::io::stderr", "std::net"]),
    ("crates/analysis/src/", &["std::thread", "std::process", "std::env", "tokio"]),
    ("crates/import/src/", &["std::fs", "std::net", "std::thread", "std::process", "std::env"]),
];

/// Finds uses of what the crate may not contain.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in tree.rust() {
        for (place, banned) in BANNED.iter().filter(|(place, _)| source.path.starts_with(place)) {
            for path in *banned {
                let product = uses(source, path).into_iter().filter(|at| !source.is_test(*at));
                faults.extend(
                    product.map(|at| {
                        Fault::new(&source.path, source.line_of(at), format!("{place} may not contain {path}"))
                    }),
                );
            }
        }
    }
    faults
}

/// Offsets at which a path such as `std::fs` is written out or taken from a group such as `use std::{fs, io}`.
fn uses(source: &Source, path: &str) -> Vec<usize> {
    let mut found: Vec<usize> = source.words(path).collect();
    if let Some((root, leaf)) = path.split_once("::") {
        let group = format!("{root}::{{");
        for (at, _) in source.code.match_indices(&group) {
            let open = at + group.len() - 1;
            let inside = &source.code[open..closing(&source.code, open)];
            let leaves = word_offsets(inside, leaf).filter(|leaf| at_top(&inside[..*leaf]));
            found.extend(leaves.map(|leaf| open + leaf));
        }
    }
    found
}

/// Whether what follows `before` is a direct member of the group that `before` opened.
fn at_top(before: &str) -> bool {
    let open = before.matches('{').count() - before.matches('}').count();
    open == 1 && matches!(before.trim_end().chars().next_back(), Some('{' | ','))
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn banned_paths_are_found_however_they_are_imported() {
        let files = [
            ("crates/model/src/a.rs", "use std::fs;\n"),
            ("crates/model/src/b.rs", "use std::{\n    fmt,\n    thread,\n};\n"),
            ("crates/gen/src/c.rs", "fn f() { let _ = std::io::stdin(); }\n"),
            ("crates/analysis/src/d.rs", "use std::fs;\n"),
        ];
        let expected = [
            "crates/analysis/src/d.rs:1",
            "crates/gen/src/c.rs:1",
            "crates/model/src/a.rs:1",
            "crates/model/src/b.rs:3",
        ];
        check_rule(check, &files, &expected);
    }

    #[test]
    fn tests_and_namesakes_are_not() {
        let files = [
            ("crates/model/src/a.rs", "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"),
            ("crates/model/src/b.rs", "use std::{fmt::fs, time};\nuse crate::fs;\n"),
            ("crates/testbed/src/c.rs", "use std::fs;\n"),
        ];
        check_rule(check, &files, &[]);
    }
}
