//! The crate table of `ARCHITECTURE.md` against cargo's metadata.
//!
//! The table is the truth that people read; this rule keeps it true. A crate imports what its row allows, in
//! tests also what the column for tests allows, and every crate has a row.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::Fault;
use super::source::Source;
use super::tree::{Package, Tree, Use};

/// The page that holds the table.
const PAGE: &str = "ARCHITECTURE.md";

/// One row of the table.
struct LayerRow {
    line: usize,
    may: BTreeSet<String>,
    tests_may: BTreeSet<String>,
}

/// Compares the table with the packages.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let Some(page) = tree.source(PAGE) else {
        return vec![Fault::new(PAGE, 1, "there is no such page; it holds the crate table")];
    };
    let rows = rows(page);
    if rows.is_empty() {
        return vec![Fault::new(PAGE, 1, "has no table with the columns \"crate\" and \"may import\"")];
    }
    let mut faults = Vec::new();
    for (name, row) in &rows {
        if !tree.packages.iter().any(|package| package.name == *name) {
            faults.push(Fault::new(PAGE, row.line, format!("the table names `{name}`, which is no package")));
        }
    }
    for package in &tree.packages {
        match rows.get(&package.name) {
            Some(row) => faults.extend(strangers(package, row)),
            None => faults.push(Fault::new(PAGE, 1, format!("the table has no row for `{}`", package.name))),
        }
    }
    faults
}

fn strangers(package: &Package, row: &LayerRow) -> Vec<Fault> {
    let forbidden = package.imports.iter().filter(|(name, how)| {
        let in_tests = *how == Use::Tests && row.tests_may.contains(name);
        !row.may.contains(name) && !in_tests
    });
    forbidden
        .map(|(name, how)| {
            let where_ = if *how == Use::Tests { " in its tests" } else { "" };
            Fault::new(
                PAGE,
                row.line,
                format!("`{}` imports `{name}`{where_}; its row does not allow it", package.name),
            )
        })
        .collect()
}

/// The rows by crate: the first table whose header has a column "may import".
fn rows(page: &Source) -> BTreeMap<String, LayerRow> {
    let lines: Vec<&str> = page.text.lines().collect();
    let header = lines.iter().position(|line| line.starts_with('|') && line.contains("may import"));
    let Some(header) = header else {
        return BTreeMap::new();
    };
    let columns = cells(lines[header]);
    let find = |title: &str| columns.iter().position(|column| *column == title);
    let (Some(crates), Some(may), tests) = (find("crate"), find("may import"), find("tests may also import")) else {
        return BTreeMap::new();
    };
    let body = lines.iter().enumerate().skip(header + 2).take_while(|(_, line)| line.starts_with('|'));
    let body: Vec<(usize, Vec<&str>)> = body.map(|(index, line)| (index + 1, cells(line))).collect();
    let names = body.iter().flat_map(|(_, row)| quoted(row.get(crates)));
    let all: BTreeSet<String> = names.collect();
    let mut rows = BTreeMap::new();
    for (line, row) in &body {
        let tests_may = tests.map_or_else(BTreeSet::new, |tests| allowed(row.get(tests), &all));
        for name in quoted(row.get(crates)) {
            let row = LayerRow { line: *line, may: allowed(row.get(may), &all), tests_may: tests_may.clone() };
            rows.insert(name, row);
        }
    }
    rows
}

/// The crates that a cell allows: those it names in backticks, or all.
fn allowed(cell: Option<&&str>, all: &BTreeSet<String>) -> BTreeSet<String> {
    if cell.is_some_and(|cell| cell.starts_with("all of these")) {
        return all.clone();
    }
    quoted(cell).collect()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn quoted(cell: Option<&&str>) -> impl Iterator<Item = String> {
    cell.copied().unwrap_or("").split('`').skip(1).step_by(2).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# Architecture\n\n| crate | may import | tests may also import | for |\n|---|---|---|---|\n\
        | `model`, `gen` | nothing of ours | | words |\n| `load` | `model` | `gen` | load |\n| `proofload` | all of these | | binary |\n";

    #[track_caller]
    fn check_imports(imports: &[(&str, &[(&str, Use)])], expected: &[&str]) {
        let mut tree = Tree::of(&[(PAGE, TABLE)]);
        for (name, used) in imports {
            let imports = used.iter().map(|(name, how)| ((*name).to_owned(), *how)).collect();
            tree.packages.push(Package { name: (*name).to_owned(), imports });
        }
        let texts: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_tree_as_in_the_table_is_clean() {
        let all = [("model", Use::Product), ("load", Use::Product), ("gen", Use::Product)];
        let load = [("model", Use::Product), ("gen", Use::Tests)];
        check_imports(&[("model", &[]), ("gen", &[]), ("load", &load), ("proofload", &all)], &[]);
    }

    #[test]
    fn forbidden_imports_missing_rows_and_ghosts_are_found() {
        let model = [("gen", Use::Tests)];
        let load = [("gen", Use::Product)];
        check_imports(
            &[("model", &model), ("gen", &[]), ("load", &load), ("report", &[])],
            &[
                "ARCHITECTURE.md:7: the table names `proofload`, which is no package",
                "ARCHITECTURE.md:5: `model` imports `gen` in its tests; its row does not allow it",
                "ARCHITECTURE.md:6: `load` imports `gen`; its row does not allow it",
                "ARCHITECTURE.md:1: the table has no row for `report`",
            ],
        );
    }

    #[test]
    fn a_page_without_the_table_is_a_fault() {
        assert_eq!(check(&Tree::of(&[(PAGE, "# Architecture\n")])).len(), 1);
        assert_eq!(check(&Tree::of(&[])).len(), 1);
    }
}
