//! Pages of the repository, and the files that they link to. Paths stay as they are, so that links between pages need no change.

use crate::program::text;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Pages that are no documentation.
const NOT_SHOWN: &[&str] = &["crates/"];

/// What the site is made of, by path in the repository.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Pages, with links that also work on the site.
    pub(super) pages: BTreeMap<String, String>,
    /// Other files that pages link to.
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

/// Reads all of it.
pub(super) fn gather(root: &Path) -> Result<Sources, String> {
    let paths = text(Command::new("git").args(["ls-files", "-z", "*.md"]).current_dir(root))?;
    let mut sources = Sources::default();
    let shown = |path: &&str| !path.is_empty() && !NOT_SHOWN.iter().any(|beginning| path.starts_with(beginning));
    for path in paths.split('\0').filter(shown) {
        let text = std::fs::read_to_string(root.join(path)).map_err(|error| format!("read {path}: {error}"))?;
        let mut linked = Vec::new();
        let text = with_links(&text, |link| of_link(root, path, link, &mut linked));
        sources.pages.insert(path.to_owned(), text);
        for file in linked {
            let content = std::fs::read(root.join(&file)).map_err(|error| format!("read {file}: {error}"))?;
            sources.files.insert(file, content);
        }
    }
    if sources.pages.is_empty() { Err("git lists no pages here".to_owned()) } else { Ok(sources) }
}

/// The link as the site needs it: a folder becomes its page, and a readme is the index of its folder, as mdBook calls it.
fn of_link(root: &Path, page: &str, link: &str, linked: &mut Vec<String>) -> String {
    let (path, anchor) = link.find('#').map_or((link, ""), |at| link.split_at(at));
    if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
        return link.to_owned();
    }
    let target = beside(page, path);
    if root.join(&target).is_dir() {
        return format!("{}/index.md{anchor}", path.trim_end_matches('/'));
    }
    if let Some(folder) = path.strip_suffix("README.md") {
        return format!("{folder}index.md{anchor}");
    }
    if !target.ends_with(".md") {
        linked.push(target);
    }
    link.to_owned()
}

/// The path that a link of a page leads to, without `..`.
pub(super) fn beside(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A page with each link target replaced; code blocks and code in a line stay as they are.
fn with_links(text: &str, mut replaced: impl FnMut(&str) -> String) -> String {
    let mut fenced = false;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || !line.contains("](") {
            out.push_str(line);
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            let (before, after) = rest.split_at(at + 2);
            out.push_str(before);
            let end = after.find(')').unwrap_or(0);
            out.push_str(&replaced(&after[..end]));
            rest = &after[end..];
        }
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_replaced_outside_of_code() {
        let page = "a [b](c) and [d](e#f).\n```\n[g](h)\n```\n";
        assert_eq!(with_links(page, |link| format!("<{link}>")), "a [b](<c>) and [d](<e#f>).\n```\n[g](h)\n```\n");
    }

    #[test]
    fn a_readme_is_the_index_of_its_folder() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let mut linked = Vec::new();
        for (link, wanted) in [
            ("docs/adr", "docs/adr/index.md"),
            ("references/README.md#a", "references/index.md#a"),
            ("docs/terms.md#b", "docs/terms.md#b"),
            ("#c", "#c"),
            ("https://d", "https://d"),
            ("LICENSE-MIT", "LICENSE-MIT"),
        ] {
            assert_eq!(of_link(root, "README.md", link, &mut linked), wanted);
        }
        assert_eq!(linked, ["LICENSE-MIT"]);
    }

    #[test]
    fn a_link_is_followed_from_its_page() {
        assert_eq!(beside("docs/guides/a.md", "../adr/./b.md"), "docs/adr/b.md");
        assert_eq!(beside("README.md", "docs/a.md"), "docs/a.md");
    }
}
