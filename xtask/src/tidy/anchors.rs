//! Links into a page name a heading that the page has.

use super::pages::{beside, link_targets};
use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// Finds links whose part after `#` is no heading of the page they lead to.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    tree.sources().filter(|source| source.is_page()).flat_map(|page| of_page(tree, page)).collect()
}

fn of_page(tree: &Tree, page: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, line) in page.text.lines().enumerate() {
        for (path, anchor) in link_targets(line).filter_map(|target| target.split_once('#')) {
            let path = if path.is_empty() { page.path.clone() } else { beside(&page.path, path) };
            let lacks = tree.source(&path).is_some_and(|target| !headings(target).any(|heading| heading == anchor));
            if lacks {
                faults.push(Fault::new(&page.path, index + 1, format!("{path} has no heading #{anchor}")));
            }
        }
    }
    faults
}

/// The headings of a page as anchors: lower case, blanks as hyphens, nothing else but letters and digits.
fn headings(page: &Source) -> impl Iterator<Item = String> {
    page.text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn links_to_missing_headings_are_found() {
        let files = [
            (
                "a.md",
                "# One Thing, more\n[good](#one-thing-more) [bad](#one)\n[good](docs/b.md#two)\n[bad](docs/b.md#three)\n",
            ),
            ("docs/b.md", "## Two\n[up](../a.md#one-thing-more)\n[bad](../a.md#two)\n"),
        ];
        check_rule(check, &files, &["a.md:2", "a.md:4", "docs/b.md:3"]);
    }
}
