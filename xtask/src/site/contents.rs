//! The table of contents: parts in this order, in them the pages that the readme names in its order, then the others by their path.

use std::collections::BTreeMap;

/// Parts, and how the paths of their pages begin; a page belongs to the part with the longest beginning that fits.
const PARTS: &[(&str, &[&str])] = &[
    ("Begin", &["docs/tutorials/"]),
    ("Guides", &["docs/guides/"]),
    ("Reference", &["docs/", "references/", "suites/"]),
    ("The project", &[""]),
    ("Decisions", &["docs/adr/"]),
];

/// The page that comes first.
const FIRST: &str = "README.md";

/// The text of `SUMMARY.md`.
pub(super) fn contents(pages: &BTreeMap<String, String>) -> String {
    let readme = pages.get(FIRST).map_or("", String::as_str);
    let mut text = format!("# Summary\n\n[Proofload]({FIRST})\n");
    for (part, (title, _)) in PARTS.iter().enumerate() {
        let mut of_part: Vec<&String> =
            pages.keys().filter(|path| *path != FIRST && part_of(path) == Some(part)).collect();
        of_part.sort_by_key(|path| {
            (readme.find(&format!("]({path})")).unwrap_or(usize::MAX), !path.ends_with(FIRST), *path)
        });
        if !of_part.is_empty() {
            text.push_str(&format!("\n# {title}\n\n"));
        }
        for path in of_part {
            text.push_str(&format!("- [{}]({path})\n", title_of(&pages[path]).unwrap_or(path)));
        }
    }
    text
}

fn part_of(path: &str) -> Option<usize> {
    let fit = |beginnings: &[&str]| {
        beginnings.iter().filter(|beginning| path.starts_with(*beginning)).map(|beginning| beginning.len()).max()
    };
    let fits = PARTS.iter().enumerate().filter_map(|(part, (_, beginnings))| Some((fit(beginnings)?, part)));
    fits.max().map(|(_, part)| part)
}

/// The first heading of a page.
fn title_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_stand_in_parts_by_the_order_of_the_readme() {
        let page = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let pages = BTreeMap::from([
            page("README.md", "# P\n[b](docs/guides/b.md) [a](docs/guides/a.md)"),
            page("docs/guides/a.md", "# A"),
            page("docs/guides/b.md", "# B"),
            page("docs/adr/0001-x.md", "# 1. X"),
            page("docs/adr/README.md", "# Decisions"),
            page("ARCHITECTURE.md", "# Architecture"),
        ]);
        let wanted = "# Summary\n\n[Proofload](README.md)\n\n# Guides\n\n- [B](docs/guides/b.md)\n- [A](docs/guides/a.md)\n\n\
                      # The project\n\n- [Architecture](ARCHITECTURE.md)\n\n# Decisions\n\n- [Decisions](docs/adr/README.md)\n\
                      - [1. X](docs/adr/0001-x.md)\n";
        assert_eq!(contents(&pages), wanted);
    }
}
