//! Links of a site that was made: each leads to a file that is there, and to a part that this file has. Other sites are not asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Pages that have links as seen from another place: mdBook's error page, and its redirections.
const NOT_CHECKED: &[&str] = &["404.html", "toc.html"];

/// Links that lead nowhere, with the page that has them.
pub(super) fn broken(site: &Path) -> Result<Vec<String>, String> {
    let mut pages = BTreeMap::new();
    collect(site, &mut pages)?;
    let parts: BTreeMap<&PathBuf, BTreeSet<&str>> =
        pages.iter().map(|(path, text)| (path, values(text, "id").collect())).collect();
    let mut broken = Vec::new();
    for (path, text) in &pages {
        if NOT_CHECKED.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        for link in values(text, "href").chain(values(text, "src")) {
            if let Some(why) = fault_of(path, link, &parts) {
                broken.push(format!("{}: {link}: {why}", path.display()));
            }
        }
    }
    broken.sort();
    broken.dedup();
    Ok(broken)
}

fn collect(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("read {}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            let text = std::fs::read_to_string(&path).map_err(|error| format!("read {}: {error}", path.display()))?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// Values of an attribute.
fn values<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let beginning = format!(" {name}=\"");
    let ends: Vec<usize> = text.match_indices(&beginning).map(|(at, found)| at + found.len()).collect();
    ends.into_iter().filter_map(|from| text[from..].split('"').next())
}

fn fault_of(page: &Path, link: &str, parts: &BTreeMap<&PathBuf, BTreeSet<&str>>) -> Option<String> {
    let (path, part) = link.split_once('#').map_or((link, ""), |(path, part)| (path, part));
    if path.contains(':') {
        return None;
    }
    let target = if path.is_empty() { page.to_path_buf() } else { plain(&page.parent()?.join(path)) };
    if !target.exists() {
        return Some("there is no such file".to_owned());
    }
    let known = parts.get(&target)?;
    (!part.is_empty() && !known.contains(part)).then(|| format!("that page has no part {part}"))
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(plain.pop()),
            std::path::Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_parts_that_are_not_there_are_told() {
        let folder = std::env::temp_dir().join(format!("proofload-links-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("b")).expect("a folder");
        let a =
            "<a href=\"b/c.html#x\"></a><a href=\"b/c.html#y\"></a><a href=\"d.html\"></a><a href=\"https://e\"></a>";
        std::fs::write(folder.join("a.html"), a).expect("a page");
        std::fs::write(folder.join("b/c.html"), "<h2 id=\"x\"><a href=\"../a.html\"></a>").expect("a page");
        let found = broken(&folder);
        std::fs::remove_dir_all(&folder).expect("it is ours");
        let found = found.expect("it was read");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("c.html#y: that page has no part y") && found[1].contains("d.html: there is no"),
            "{found:?}"
        );
    }
}
