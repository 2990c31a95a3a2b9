//! `unsafe` stands only in the named modules; the compiler's lint is a second guard that a crate could waive.

use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// Folders and files, by the beginning of their path, in which `unsafe` may stand, and why.
const ALLOWED: [(&str, &str); 4] = [
    ("crates/testbed/src/sys", "system calls that rustix does not wrap"),
    ("crates/engine/src/engines/duckdb/library", "calls into a library that is loaded at run time"),
    ("crates/engine/src/engines/sqlite/tier/vfs", "functions that SQLite calls to read and write files"),
    ("crates/tier/src/export/ublk/kernel", "memory that the driver of ublk shares, and the ring by which it is asked"),
];

/// Finds `unsafe` outside the named modules, and unsafe blocks there without a `// SAFETY:` comment.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in tree.rust() {
        let allowed = ALLOWED.iter().any(|(path, _)| source.path.starts_with(path));
        for at in source.words("unsafe") {
            let line = source.line_of(at);
            if !allowed && !is_allocator(source) {
                let places = ALLOWED.map(|(path, _)| path).join(" and ");
                faults.push(Fault::new(&source.path, line, format!("`unsafe` stands only in {places}")));
            } else if !explained(source, line) {
                faults.push(Fault::new(&source.path, line, "this `unsafe` has no `// SAFETY:` comment above it"));
            }
        }
    }
    faults
}

/// A counting allocator of a test or bench has no safe form.
fn is_allocator(source: &Source) -> bool {
    source.is_test(0) && source.words("GlobalAlloc").next().is_some()
}

fn explained(source: &Source, line: usize) -> bool {
    let above = (line.saturating_sub(6).max(1)..=line).map(|number| source.line(number));
    above.into_iter().any(|text| text.contains("SAFETY:") || text.contains("# Safety"))
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn unsafe_is_found_outside_its_module_and_unexplained_inside() {
        let bare = "fn f() {\n    unsafe { g() }\n}\n";
        let explained = "fn f() {\n    // SAFETY: g asks nothing of its caller.\n    unsafe { g() }\n}\n";
        let files = [
            ("crates/load/src/a.rs", explained),
            ("crates/testbed/src/sys/a.rs", bare),
            ("crates/testbed/src/sys/b.rs", explained),
            ("crates/engine/src/engines/duckdb/session.rs", explained),
            ("crates/engine/src/engines/duckdb/library/a.rs", explained),
            ("crates/engine/src/engines/duckdb/library/b.rs", bare),
            ("crates/testbed/src/words.rs", "#![deny(unsafe_code)] // unsafe\n"),
        ];
        let expected = [
            "crates/engine/src/engines/duckdb/library/b.rs:2",
            "crates/engine/src/engines/duckdb/session.rs:3",
            "crates/load/src/a.rs:3",
            "crates/testbed/src/sys/a.rs:2",
        ];
        check_rule(check, &files, &expected);
    }

    #[test]
    fn a_counting_allocator_may_stand_in_a_bench_only() {
        let text =
            "// SAFETY: hands everything on to the system's allocator.\nunsafe impl GlobalAlloc for Counting {}\n";
        let files = [("crates/load/benches/a.rs", text), ("crates/load/src/a.rs", text)];
        check_rule(check, &files, &["crates/load/src/a.rs:2"]);
    }
}
