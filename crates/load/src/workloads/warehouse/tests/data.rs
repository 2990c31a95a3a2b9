//! The data: byte for byte the official table files, in every engine and whatever the number of parts.

use super::case::Case;
use crate::workloads::warehouse::build::read_table;
use crate::workloads::warehouse::data::{Chunk, Content, GENERATOR, Row, Rows, Table};
use tpchgen::generators as official;

/// The official file of a table, as the generator crate writes it.
fn official(table: Table, scale: f64) -> String {
    let lines: Vec<String> = match table {
        Table::Region => official::RegionGenerator::new(scale, 1, 1).iter().map(|row| format!("{row}\n")).collect(),
        Table::Nation => official::NationGenerator::new(scale, 1, 1).iter().map(|row| format!("{row}\n")).collect(),
        Table::Part => official::PartGenerator::new(scale, 1, 1).iter().map(|row| format!("{row}\n")).collect(),
        Table::Supplier => official::SupplierGenerator::new(scale, 1, 1).iter().map(|row| format!("{row}\n")).collect(),
        Table::PartSupp => official::PartSuppGenerator::new(scale, 1, 1).iter().map(|row| format!("{row}\n")).collect(),
        Table::Customer => official::CustomerGenerator::new(scale, 1, 1).iter().map(|row| format!("{row}\n")).collect(),
        Table::Orders => official::OrderGenerator::new(scale, 1, 1).iter().map(|row| format!("{row}\n")).collect(),
        Table::LineItem => official::LineItemGenerator::new(scale, 1, 1).iter().map(|row| format!("{row}\n")).collect(),
    };
    lines.concat()
}

/// The official file of a table, from our rows.
pub(super) fn lines(table: Table, scale: f64) -> String {
    let (mut lines, mut row, mut rows) = (String::new(), Row::new(), Rows::new(table, scale, 1, 1));
    while rows.next(&mut row) {
        row.write_line(table, &mut lines);
    }
    lines
}

fn content(table: Table, mut rows: Rows) -> Content {
    let (mut content, mut row) = (Content::default(), Row::new());
    while rows.next(&mut row) {
        content.add(table, &row);
    }
    content
}

#[test]
fn our_lines_are_the_official_ones_and_parts_are_the_whole() {
    for table in Table::ALL {
        let lines = lines(table, 0.01);
        let whole = content(table, Rows::new(table, 0.01, 1, 1));
        assert!(lines == official(table, 0.01), "{}", table.name());
        assert_eq!(whole.bytes, lines.len() as u64, "{}", table.name());
        assert_eq!(Content::read(&whole.text(table), table), Some(whole));
        let mut sum = Content::default();
        let chunks = Chunk::all(0.01, 12_500).into_iter().filter(|chunk| chunk.table == table);
        chunks.for_each(|chunk| sum.merge(&content(table, chunk.rows(0.01))));
        assert_eq!(sum, whole, "{}", table.name());
        if table != Table::LineItem {
            assert_eq!(whole.rows, table.rows(0.01), "{}", table.name());
        }
    }
}

/// What an engine gives back, as official files: rows sorted by their keys, since engines give them in any order.
pub(super) fn check_files(case: &Case) {
    let engine = &case.request.spec.place.engine;
    let mut session = case.session();
    for table in Table::ALL {
        let mut lines = Vec::new();
        let add = |row: &Row| {
            let mut line = String::new();
            row.write_line(table, &mut line);
            lines.push(line);
        };
        read_table(&mut session, table, 0.01, add).unwrap();
        let mut right: Vec<String> = official(table, 0.01).lines().map(|line| format!("{line}\n")).collect();
        lines.sort_unstable();
        right.sort_unstable();
        assert!(lines == right, "{engine} gives back other rows of {}", table.name());
    }
}

#[test]
fn the_noted_generator_is_the_one_that_is_built_in() {
    let lock = include_str!("../../../../../../Cargo.lock");
    let (name, version) = GENERATOR.split_once(' ').unwrap();
    assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n")), "{GENERATOR}");
}
