//! Waivers carry their reason: `#[expect(…, reason)]` instead of `#[allow(…)]`, no `#[ignore]` without an issue.
//!
//! An `expect` that is no longer needed makes the compiler speak; an `allow` stays for ever. Only helpers that
//! several test binaries share need `allow`, since each uses another part of them; it says so.

use super::rules::Fault;
use super::source::{Source, closing};
use super::tree::Tree;

/// Finds waivers that hide their reason.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    tree.rust().flat_map(of_file).collect()
}

fn of_file(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (at, _) in source.code.match_indices("#") {
        let Some(text) = attribute(source, at) else {
            continue;
        };
        let inner = text.trim_start_matches(['#', '!', '[']).trim_start();
        let shared_by_tests = source.is_test(at) && inner.contains("reason");
        let fault = if inner.starts_with("allow(") && !shared_by_tests {
            Some("`allow` hides a warning for ever; write #[expect(lint, reason = \"…\")]")
        } else if inner.starts_with("expect(") && !inner.contains("reason") {
            Some("this `expect` does not say why; add reason = \"…\"")
        } else if inner.starts_with("ignore") && !names_an_issue(inner) {
            Some("a test is ignored without naming an issue; write #[ignore = \"issue 12: …\"]")
        } else {
            None
        };
        faults.extend(fault.map(|text| Fault::new(&source.path, source.line_of(at), text)));
    }
    faults
}

/// The text of the attribute that begins at `at`, with its strings.
fn attribute(source: &Source, at: usize) -> Option<&str> {
    let code = &source.code[at..];
    let open = if code.starts_with("#![") { at + 2 } else { at + 1 };
    if source.code.as_bytes().get(open) != Some(&b'[') {
        return None;
    }
    Some(&source.text[at..=closing(&source.code, open)])
}

fn names_an_issue(text: &str) -> bool {
    text.contains("issue") && text.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn waivers_without_reason_are_found() {
        let bad = "#![allow(dead_code)]\n#[expect(\n    dead_code\n)]\n#[ignore]\n#[ignore = \"slow\"]\nfn f() {}\n";
        check_rule(check, &[("a.rs", bad)], &["a.rs:1", "a.rs:2", "a.rs:5", "a.rs:6"]);
    }

    #[test]
    fn waivers_with_reason_are_not() {
        let good = "#[expect(dead_code, reason = \"why\")]\n#[ignore = \"issue 7: why\"]\n// #[allow(x)]\nconst S: &str = \"#[allow(x)]\";\n";
        let shared = "#![allow(dead_code, reason = \"each test binary uses a part of it\")]\n";
        check_rule(check, &[("a.rs", good), ("crates/x/tests/support/mod.rs", shared)], &[]);
        check_rule(check, &[("crates/x/src/a.rs", shared)], &["crates/x/src/a.rs:1"]);
    }
}
