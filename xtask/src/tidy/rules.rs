//! The table of rules, and what a rule returns.

use std::fmt;

use super::tree::Tree;
use super::{
    anchors, attributes, clock, contents, dependencies, engine_names, headers, imports, layers, mod_files, packages,
    pages, ratchet, settings, unsafe_code, unused, words,
};

/// One rule: a pure function over the tree.
pub(super) struct TidyRule {
    /// Printed in brackets before each fault.
    pub(super) name: &'static str,
    /// Finds every fault in the tree.
    pub(super) check: fn(&Tree) -> Vec<Fault>,
}

/// Every rule there is.
pub(super) const RULES: &[TidyRule] = &[
    TidyRule { name: "imports", check: imports::check },
    TidyRule { name: "layers", check: layers::check },
    TidyRule { name: "contents", check: contents::check },
    TidyRule { name: "clock", check: clock::check },
    TidyRule { name: "unsafe", check: unsafe_code::check },
    TidyRule { name: "headers", check: headers::check },
    TidyRule { name: "mod-files", check: mod_files::check },
    TidyRule { name: "attributes", check: attributes::check },
    TidyRule { name: "dependencies", check: dependencies::check },
    TidyRule { name: "packages", check: packages::check },
    TidyRule { name: "unused", check: unused::check },
    TidyRule { name: "engine-names", check: engine_names::check },
    TidyRule { name: "pages", check: pages::check },
    TidyRule { name: "anchors", check: anchors::check },
    TidyRule { name: "settings", check: settings::check },
    TidyRule { name: "words", check: words::check },
    TidyRule { name: "ratchet", check: ratchet::check },
];

/// One thing to put right.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    /// Relative to the root of the repository.
    pub(super) path: String,
    /// Counted from 1.
    pub(super) line: usize,
    /// What is wrong and what to do, a lower-case fragment.
    pub(super) text: String,
}

impl Fault {
    /// A fault at a line counted from 1.
    pub(super) fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Asserts that a rule finds exactly the lines that `expected` names as `path:line`, in a tree of `files`.
#[cfg(test)]
#[track_caller]
pub(super) fn check_rule(check: fn(&Tree) -> Vec<Fault>, files: &[(&str, &str)], expected: &[&str]) {
    let tree = Tree::of(files);
    let mut faults = check(&tree);
    faults.sort();
    let found: Vec<String> = faults.iter().map(|fault| format!("{}:{}", fault.path, fault.line)).collect();
    assert_eq!(found, expected, "faults were {faults:#?}");
}
