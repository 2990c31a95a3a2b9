//! Lengths of functions and files, and faults of English by crate: counts that may only fall, kept in
//! `xtask/ratchet.txt`.
//!
//! A file that explains at its top why it is one piece still counts: the ratchet shows it, a reviewer judges it.

use std::collections::BTreeMap;

use super::rules::Fault;
use super::tree::Tree;
use super::{english, type_names};

/// File of the counts.
pub(super) const PAGE: &str = "xtask/ratchet.txt";

/// A function longer than this does not fit a screen, lines.
const FUNCTION_LIMIT: usize = 70;
/// A file longer than this has two subjects, lines.
const FILE_LIMIT: usize = 600;
/// Nine files in ten are no longer than this, lines.
const FILE_P90: usize = 400;

/// One counted thing: its key in the page and who is guilty of it.
struct Count {
    key: String,
    guilty: Vec<Fault>,
    /// Whether the page must be lowered at once. Texts are mended in many branches, which would meet in the page.
    exact: bool,
}

/// Finds counts above the ratchet, with every guilty place, and a ratchet that could be lower.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let limits = match limits(tree) {
        Ok(limits) => limits,
        Err(fault) => return vec![fault],
    };
    let mut faults = Vec::new();
    for count in counts(tree) {
        let limit = limits.get(&count.key).copied().unwrap_or(0);
        if count.guilty.len() > limit {
            faults.extend(count.guilty);
        } else if count.exact && count.guilty.len() < limit {
            let text = format!("{} fell to {}: run cargo xtask tidy --bless", count.key, count.guilty.len());
            faults.push(Fault::new(PAGE, 1, text));
        }
    }
    let p90 = p90(file_lengths(tree));
    if p90 > FILE_P90 {
        faults.push(Fault::new(PAGE, 1, format!("one file in ten is longer than {p90} lines; the aim is {FILE_P90}")));
    }
    faults
}

/// The text of the page with every count lowered to what the tree has.
///
/// Fails when a count rose: a ratchet is never raised by the tool.
pub(super) fn bless(tree: &Tree) -> Result<String, String> {
    let limits = limits(tree).map_err(|fault| fault.to_string())?;
    let mut text = String::from("# Counts that may only fall; cargo xtask tidy --bless lowers them.\n");
    for count in counts(tree) {
        let (now, limit) = (count.guilty.len(), limits.get(&count.key).copied().unwrap_or(0));
        if now > limit {
            let places: Vec<String> = count.guilty.iter().map(ToString::to_string).collect();
            return Err(format!("{}\n{} rose from {limit} to {now}", places.join("\n"), count.key));
        }
        if count.exact || now > 0 {
            text.push_str(&format!("{} {now}\n", count.key));
        }
    }
    Ok(text)
}

/// One line about the tree, printed when nothing is wrong.
pub(super) fn summary(tree: &Tree) -> String {
    let mut functions: Vec<usize> = tree.rust().flat_map(|source| source.functions()).map(|f| f.lines).collect();
    functions.sort_unstable();
    let files = file_lengths(tree);
    let lines: usize = files.iter().sum();
    format!(
        "clean; {} Rust files, {lines} lines, 90 in 100 files up to {} lines; {} functions, median {} lines",
        files.len(),
        p90(files),
        functions.len(),
        functions.get(functions.len() / 2).copied().unwrap_or(0),
    )
}

fn counts(tree: &Tree) -> Vec<Count> {
    let mut counts = lengths(tree);
    counts.extend(by_crate("summaries", english::summaries(tree)));
    counts.extend(by_crate("absences", english::absences(tree)));
    counts.extend(by_crate("participles", type_names::participles(tree)));
    counts.push(Count {
        key: "type_names_of_many_meanings".to_owned(),
        guilty: type_names::meanings(tree),
        exact: false,
    });
    counts
}

/// One count for each crate that has faults of a rule.
fn by_crate(rule: &str, faults: Vec<Fault>) -> impl Iterator<Item = Count> {
    let mut crates: BTreeMap<String, Vec<Fault>> = BTreeMap::new();
    for fault in faults {
        let path = fault.path.strip_prefix("crates/").unwrap_or(&fault.path);
        let name = path.split_once('/').map_or("", |(name, _)| name);
        crates.entry(format!("{rule}/{name}")).or_default().push(fault);
    }
    crates.into_iter().map(|(key, guilty)| Count { key, guilty, exact: false })
}

fn lengths(tree: &Tree) -> Vec<Count> {
    let mut functions = Vec::new();
    let mut files = Vec::new();
    for source in tree.rust() {
        for function in source.functions().into_iter().filter(|function| function.lines > FUNCTION_LIMIT) {
            let text = format!("{} has {} lines; a screen has {FUNCTION_LIMIT}", function.name, function.lines);
            functions.push(Fault::new(&source.path, function.line, text));
        }
        if source.line_count() > FILE_LIMIT {
            let text = format!("has {} lines; split it below {FILE_LIMIT}", source.line_count());
            files.push(Fault::new(&source.path, 1, text));
        }
    }
    let count = |key: &str, guilty| Count { key: key.to_owned(), guilty, exact: true };
    vec![count("functions_over_70_lines", functions), count("files_over_600_lines", files)]
}

fn limits(tree: &Tree) -> Result<BTreeMap<String, usize>, Fault> {
    let Some(page) = tree.source(PAGE) else {
        return Err(Fault::new(PAGE, 1, "there is no such file; it holds the counts that may only fall"));
    };
    let mut limits = BTreeMap::new();
    for (index, line) in page.text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let pair = line.split_once(' ').and_then(|(key, count)| Some((key.to_owned(), count.parse().ok()?)));
        match pair {
            Some((key, count)) => limits.insert(key, count),
            None => return Err(Fault::new(PAGE, index + 1, "expected a key and a count")),
        };
    }
    Ok(limits)
}

fn file_lengths(tree: &Tree) -> Vec<usize> {
    tree.rust().map(super::source::Source::line_count).collect()
}

/// The smallest length that nine files in ten do not exceed.
fn p90(mut lengths: Vec<usize>) -> usize {
    lengths.sort_unstable();
    let rank = (lengths.len() * 9).div_ceil(10);
    rank.checked_sub(1).map_or(0, |index| lengths[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: &str = "functions_over_70_lines 0\nfiles_over_600_lines 0\n";

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    #[track_caller]
    fn check_ratchet(page: &str, files: &[(&str, String)], expected: &[&str]) {
        let mut tree = Tree::of(&[(PAGE, page)]);
        for (path, text) in files {
            tree.replace(path, text.clone());
        }
        let faults: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn a_function_may_have_a_screen_and_no_more() {
        check_ratchet(ZERO, &[("a.rs", function(70))], &[]);
        check_ratchet(ZERO, &[("a.rs", function(71))], &["a.rs:1: long has 71 lines; a screen has 70"]);
    }

    #[test]
    fn a_file_may_have_600_lines_and_no_more() {
        let mut tree = Tree::of(&[(PAGE, ZERO)]);
        for n in 0..20 {
            tree.replace(&format!("{n}.rs"), "\n".repeat(10));
        }
        tree.replace("long.rs", "\n".repeat(600));
        assert_eq!(check(&tree), []);
        tree.replace("long.rs", "\n".repeat(601));
        assert_eq!(check(&tree).len(), 1);
    }

    #[test]
    fn one_file_in_ten_may_be_long() {
        check_ratchet(
            ZERO,
            &[("a.rs", "\n".repeat(401)), ("b.rs", "\n".repeat(10))],
            &["xtask/ratchet.txt:1: one file in ten is longer than 401 lines; the aim is 400"],
        );
        assert_eq!(p90((1..=10).collect()), 9);
        assert_eq!(p90(Vec::new()), 0);
    }

    #[test]
    fn the_ratchet_falls_and_never_rises() {
        let loose = "# comment\nfunctions_over_70_lines 2\nfiles_over_600_lines 0\n";
        let fell = ["xtask/ratchet.txt:1: functions_over_70_lines fell to 1: run cargo xtask tidy --bless"];
        check_ratchet(loose, &[("a.rs", function(80))], &fell);
        let mut tree = Tree::of(&[(PAGE, loose)]);
        tree.replace("a.rs", function(80));
        let blessed = bless(&tree).unwrap();
        assert!(blessed.contains("functions_over_70_lines 1\n"), "{blessed}");
        tree.replace(PAGE, ZERO.to_owned());
        assert!(bless(&tree).unwrap_err().contains("rose from 0 to 1"));
    }

    #[test]
    fn texts_are_counted_by_crate_and_may_fall_before_the_page() {
        let page = format!("{ZERO}summaries/load 1\nparticiples/load 2\n");
        let text = |path: &str| (path.to_owned(), "/// Of it.\nstruct Drawn;\n".to_owned());
        let files = [text("crates/load/src/a.rs"), text("crates/gen/src/a.rs")];
        let files: Vec<(&str, String)> = files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        check_ratchet(&page, &files[..1], &[]);
        let beyond = [
            "crates/gen/src/a.rs:1: the summary begins with \"Of\"; begin with a verb or a noun",
            "crates/gen/src/a.rs:2: `Drawn` is a participle; name the thing: what is drawn?",
        ];
        check_ratchet(&page, &files, &beyond);
        let mut tree = Tree::of(&[(PAGE, page.as_str())]);
        tree.replace("crates/load/src/a.rs", "struct Drawn;\n".to_owned());
        assert_eq!(
            bless(&tree).unwrap().lines().skip(1).collect::<Vec<_>>().join("\n"),
            format!("{ZERO}participles/load 1")
        );
    }

    #[test]
    fn a_missing_or_spoilt_page_is_a_fault() {
        assert_eq!(check(&Tree::of(&[])).len(), 1);
        check_ratchet("functions_over_70_lines many\n", &[], &["xtask/ratchet.txt:1: expected a key and a count"]);
    }
}
