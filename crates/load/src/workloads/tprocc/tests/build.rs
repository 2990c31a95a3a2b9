//! Building: content, resuming, refusing.

use super::case::Case;
use crate::workload::Opened as _;
use crate::workloads::tprocc::build::Manifest;
use proofload_gen::tprocc::population::{Chunk, ContentHash, Table};

/// What the generator draws.
fn drawn(case: &Case) -> ContentHash {
    let population = case.settings.population(&case.job.spec);
    let mut sum = ContentHash::default();
    Chunk::all(case.settings.warehouses).for_each(|chunk| sum.merge(population.content_hash(chunk)));
    sum
}

/// What the engine gives back.
fn kept(case: &Case) -> ContentHash {
    let mut sum = ContentHash::default();
    case.content().into_iter().for_each(|(_, content)| sum.merge(content));
    sum
}

fn check_content(engine: &str) {
    let Some(case) = Case::built(engine, &[]) else { return };
    assert_eq!(kept(&case), drawn(&case));
    case.opened().check_data().unwrap();
    let manifest = Manifest::read(&mut case.desk(), &case.dialect).unwrap().unwrap();
    for (table, (name, content)) in Table::ALL.into_iter().zip(case.content()) {
        assert_eq!(manifest.table(table).unwrap(), content, "{name}");
    }
}

#[test]
fn sqlite_gives_back_what_was_drawn() {
    check_content("sqlite");
}

#[test]
fn postgresql_gives_back_what_was_drawn() {
    check_content("postgresql");
}
