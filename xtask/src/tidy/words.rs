//! Words that may not stand in code, pages or texts: names we have no right to, praise, and private paths.
//!
//! A line that quotes somebody's published value or states the ban carries the mark `tidy: quoted` (in a page:
//! in an HTML comment), on the line itself or on the one before. Published results in `references/` need none.

use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// Words, compared without regard to case, and why they are banned.
const BANNED: &[(&[&str], &str)] = &[
    (
        &["tpmc", "tpc-c result", "tpc-c results", "tpc-h result", "tpc-h results", "qphh"],
        "belongs to a benchmark council; ours are TPM, NOPM and queries per hour (docs/terms.md)",
    ),
    (
        &[
            "blazing",
            "blazingly",
            "seamless",
            "seamlessly",
            "powerful",
            "robust",
            "cutting-edge",
            "revolutionary",
            "game-changing",
            "next-generation",
            "world-class",
            "best-in-class",
            "effortless",
            "effortlessly",
            "lightning-fast",
            "unparalleled",
            "state-of-the-art",
            "feature-rich",
            "battle-tested",
            "enterprise-grade",
            "supercharge",
            "delightful",
            "simply put",
            "super fast",
        ],
        "is praise; say what was measured, with unit, sample size and spread",
    ),
    (
        &["/home/", "/users/", "/root/", "/work/", "/workspace/"],
        "is a path of one person's machine; name no such place",
    ),
];

/// The mark of a line that may use the words.
const MARK: &str = "tidy: quoted";

/// Files that state the ban, and published results.
const EXEMPT: &[&str] = &["xtask/src/tidy/words.rs", "docs/terms.md", "references/", "Cargo.lock", "LICENSE-"];

/// Finds the words.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let read = tree.sources().filter(|source| !EXEMPT.iter().any(|exempt| source.path.starts_with(exempt)));
    read.flat_map(of_file).collect()
}

fn of_file(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut marked = false;
    for (index, line) in source.text.lines().enumerate() {
        let mark = line.contains(MARK);
        if !mark && !marked {
            let line = line.to_lowercase();
            for (words, why) in BANNED {
                let found = words.iter().filter(|word| stands(&line, word));
                faults.extend(found.map(|word| Fault::new(&source.path, index + 1, format!("\"{word}\" {why}"))));
            }
        }
        marked = mark;
    }
    faults
}

/// Whether the word stands alone. A path needs nothing before it, but "not a TPC-C result" is what we do say.
fn stands(line: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric();
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let path = word.starts_with('/');
        let begins = if path {
            !before.ends_with(|c: char| letter(c) || c == '.' || c == '>')
        } else {
            !before.ends_with(letter)
        };
        begins && (path || !after.starts_with(letter)) && !before.ends_with("not a ")
    })
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn banned_words_are_found_in_code_and_pages() {
        let files = [
            ("a.md", "A Powerful tool.\n1,000 tpmC\nin /home/eve/x\nour TPC-C result\n"),
            ("b.rs", "const NAME: &str = \"tpmC\";\n"),
        ];
        check_rule(check, &files, &["a.md:1", "a.md:2", "a.md:3", "a.md:4", "b.rs:1"]);
    }

    #[test]
    fn quotations_and_namesakes_are_not() {
        let files = [
            (
                "a.md",
                "<!-- tidy: quoted -->\n1,985 tpmC as published\nnot a TPC-C result\nrobustness of `src/work/a.rs`\n",
            ),
            ("references/p.toml", "metric = \"tpmC\"\n"),
            ("b.rs", "// The word tpmC is refused. tidy: quoted\n"),
        ];
        check_rule(check, &files, &[]);
    }

    #[test]
    fn a_mark_reaches_one_line_only() {
        check_rule(check, &[("a.md", "tidy: quoted\nok\n1 tpmC\n")], &["a.md:3"]);
    }
}
