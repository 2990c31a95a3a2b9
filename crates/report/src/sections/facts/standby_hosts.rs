//! The hosts of standbys beside that of the primary, where they have their own: what each machine is made of.

use super::{title, value};
use crate::blocks::{Block, Cell, Column, Inline, Prose, Table, prose};
use crate::findings::Findings;
use proofload_model::deployment::InstanceName;
use proofload_model::facts::{FactName, host, storage};
use proofload_model::samples::Fact;

/// What is told of each host.
static MATERIALS: &[FactName] = &[
    host::MODEL,
    host::CPU,
    host::SOCKETS,
    host::CORES,
    host::MEMORY,
    storage::DEVICE_MODEL,
    storage::FILE_SYSTEM,
    host::SYSTEM,
    host::KERNEL,
    host::CLOCK_SOURCE,
];

/// Standbys that have a host of their own, in the order of their names.
pub(crate) fn apart(findings: &Findings<'_>) -> Vec<InstanceName> {
    let standbys = findings.record.facts.iter().map(|fact| &fact.instance).filter(|instance| instance.is_standby());
    let mut found: Vec<InstanceName> = standbys.cloned().collect();
    found.sort();
    found.dedup();
    found
}

/// The hosts beside each other; nothing where all instances share one.
pub(crate) fn blocks(findings: &Findings<'_>) -> Vec<Block> {
    let standbys = apart(findings);
    if standbys.is_empty() {
        return Vec::new();
    }
    let facts = &findings.record.facts;
    let of_standby = |row: &FactName, standby: &InstanceName| {
        facts.iter().rev().find(|fact| row.is_of(fact) && fact.instance == *standby)
    };
    let row = |name: &FactName| {
        let primary = name.last(facts);
        let others: Vec<Option<&Fact>> = standbys.iter().map(|standby| of_standby(name, standby)).collect();
        let is_told = primary.is_some() || others.iter().any(Option::is_some);
        let cells = std::iter::once(primary).chain(others).map(cell);
        is_told.then(|| std::iter::once(Cell::Prose(title(name.subject, &name.name))).chain(cells).collect())
    };
    let names = standbys.iter().map(|standby| Column::words(Inline::Datum(standby.to_string())));
    let columns = ["Fact", "primary"].map(Column::words).into_iter().chain(names).collect();
    vec![
        Block::Heading(prose!["Hosts of all nodes"]),
        Block::Table(Table {
            id: "table-hosts",
            caption: prose!["Hardware and software of each node's host."],
            columns,
            rows: MATERIALS.iter().filter_map(row).collect(),
            note: Prose::new(),
        }),
    ]
}

fn cell(fact: Option<&Fact>) -> Cell {
    let read = fact.and_then(|fact| Some((fact, fact.effective.as_ref()?)));
    match read {
        Some((fact, text)) => Cell::datum(value(&fact.subject, &fact.name, &fact.source, text)),
        None => Cell::Gap("not recorded".to_owned()),
    }
}
