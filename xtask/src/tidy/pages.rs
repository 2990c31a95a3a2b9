//! Pages and module headers name only files, folders and tests that exist.
//!
//! Looked at: paths in backticks and link targets of `*.md`, paths in backticks of `//!` headers. Something
//! looks like a path of ours when its first part is an entry at the root of the repository, or when it names a
//! page. `path.rs::name` also asks for a function or type of that name in the file.
//!
//! What is planned may be named: in a section whose heading contains the word "planned", or on a line that
//! contains "(planned)". A line so marked whose paths all exist is a fault too, so that marks do not go stale.

use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// The mark of a line about what is not there yet.
const PLANNED: &str = "(planned)";

/// Finds names of files that do not exist, and stale marks.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in tree.sources() {
        if source.is_page() {
            faults.extend(of_page(tree, source));
        } else if source.is_rust() {
            faults.extend(of_header(tree, source));
        }
    }
    faults
}

fn of_page(tree: &Tree, source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in unplanned(source) {
        let missing = missing(tree, &source.path, line);
        if !line.contains(PLANNED) {
            faults.extend(missing.into_iter().map(|text| Fault::new(&source.path, number, text)));
        } else if missing.is_empty() {
            faults.push(Fault::new(&source.path, number, "marked (planned), but all that it names exists"));
        }
    }
    faults
}

/// The lines of a page that speak of what is there: no code blocks and nothing planned.
pub(super) fn prose(page: &Source) -> impl Iterator<Item = (usize, &str)> {
    unplanned(page).filter(|(_, line)| !line.contains(PLANNED))
}

/// The lines of a page, counted from 1, without code blocks and without sections whose heading says "planned".
fn unplanned(page: &Source) -> impl Iterator<Item = (usize, &str)> {
    let (mut fenced, mut planned) = (false, false);
    page.text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if line.starts_with('#') && !fenced {
            planned = line.to_lowercase().contains("planned");
        }
        (!fenced && !planned).then_some((index + 1, line))
    })
}

fn of_header(tree: &Tree, source: &Source) -> Vec<Fault> {
    let header = source.text.lines().enumerate().take_while(|(_, line)| line.starts_with("//!"));
    let mut faults = Vec::new();
    for (index, line) in header.filter(|(_, line)| !line.contains(PLANNED)) {
        let missing = missing(tree, &source.path, line);
        faults.extend(missing.into_iter().map(|text| Fault::new(&source.path, index + 1, text)));
    }
    faults
}

/// The paths and tests that a line names and that do not exist.
fn missing(tree: &Tree, page: &str, line: &str) -> Vec<String> {
    let spans = line.split('`').skip(1).step_by(2).filter(|span| looks_like_path(tree, span));
    // A link in a module header may name an item by its path: the documentation build checks those.
    let links = link_targets(line).filter(|target| !target.contains("::") && !target.contains(":/"));
    let links = links.filter(|target| !target.starts_with('#') && !line.starts_with("//!"));
    let mut missing: Vec<String> = spans.chain(links).filter_map(|name| fault_of(tree, page, name)).collect();
    missing.extend(unknown_pages(tree, line));
    missing.dedup();
    missing
}

fn looks_like_path(tree: &Tree, span: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-/:<>*".contains(c);
    let first = span.split('/').next().unwrap_or("");
    span.chars().all(plain) && span.contains('/') && !first.is_empty() && tree.has(first)
}

/// The targets of the Markdown links on a line.
pub(super) fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()).filter(|target| !target.is_empty())
}

/// Why `name` is wrong, when it is. A part in angle brackets or with a star stands for any name: what precedes
/// it must exist.
fn fault_of(tree: &Tree, page: &str, name: &str) -> Option<String> {
    let (path, item) = name.split_once("::").map_or((name, None), |(path, item)| (path, Some(item)));
    let path = path.split('#').next().unwrap_or("");
    let path = path.split(':').next().unwrap_or("");
    let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains(['<', '*'])).collect();
    let path = fixed.join("/");
    let path = path.trim_end_matches('/');
    let Some(path) = [path.to_owned(), beside(page, path)].into_iter().find(|path| tree.has(path)) else {
        return (!path.is_empty()).then(|| format!("names `{name}`, which does not exist"));
    };
    let source = tree.source(&path)?;
    let item = item?.rsplit("::").next()?;
    let kinds = ["fn", "struct", "enum", "trait", "const", "mod"];
    let found = kinds.iter().any(|kind| source.words(&format!("{kind} {item}")).next().is_some());
    (!found).then(|| format!("names `{name}`, but {path} has no {item}"))
}

/// A path relative to the folder of a page, with `..` resolved.
pub(super) fn beside(page: &str, path: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Words such as `notes.md` that name no page of the tree, in backticks or not.
fn unknown_pages(tree: &Tree, line: &str) -> Vec<String> {
    let words = line.split(|c: char| !(c.is_alphanumeric() || "._-/*<>".contains(c)));
    let names = words.filter_map(|word| word.trim_end_matches('.').rsplit('/').next());
    let pages = names.filter(|name| name.len() > 3 && name.ends_with(".md") && !name.contains(['*', '<']));
    pages
        .filter(|name| !tree.has_name(name))
        .map(|name| format!("names the page {name}, which does not exist"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    const CODE: (&str, &str) =
        ("crates/x/src/a.rs", "//! Of `crates/x` and `docs/gone/`.\n//! See [it](crate::It), [a](a).\nfn holds() {}\n");

    #[track_caller]
    fn check_page(text: &str, expected: &[&str]) {
        let files = [("docs/a.md", text), ("docs/adr/0001-b.md", ""), ("crates/x/src/b.rs", "fn holds() {}\n")];
        check_rule(check, &files, expected);
    }

    #[test]
    fn paths_that_do_not_exist_are_found() {
        check_page(
            "see `crates/x/src/b.rs`,\n`crates/y/` and `docs/c.md`\n",
            &["docs/a.md:2", "docs/a.md:2", "docs/a.md:2"],
        );
        check_page(
            "[b](adr/0001-b.md#x) [c](adr/0002-c.md)\n[up](../crates/x) [web](https://example.org/x.html)\n",
            &["docs/a.md:1", "docs/a.md:1"],
        );
        check_page("`crates/<name>/src`, `crates/x/*.toml`, `docs/guides/<name>.md`\n", &["docs/a.md:1"]);
    }

    #[test]
    fn what_is_no_path_is_left_alone() {
        check_page("`a/b`, `MB/s`, `crates::x`, `docs/a.md`\n```\ncrates/gone\n```\n", &[]);
    }

    #[test]
    fn named_tests_must_exist() {
        check_page("`crates/x/src/b.rs::holds`\n`crates/x/src/b.rs::fails`\n", &["docs/a.md:2"]);
    }

    #[test]
    fn headers_of_modules_are_read_too() {
        check_rule(check, &[CODE, ("docs/a.md", "")], &["crates/x/src/a.rs:1"]);
    }

    #[test]
    fn plans_are_allowed_until_they_are_done() {
        check_page("`crates/z/` (planned)\n# Planned\n`crates/z/`\n# Done\n`crates/z/`\n", &["docs/a.md:5"]);
        check_page("`crates/x/` (planned)\n", &["docs/a.md:1"]);
    }

    #[test]
    fn pages_that_do_not_exist_are_found_without_backticks() {
        check_page("as a.md says, and notes.md 4\n", &["docs/a.md:1"]);
    }
}
