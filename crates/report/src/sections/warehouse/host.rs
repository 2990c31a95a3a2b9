//! What the certificate says of the machine: what it is made of, and whether it is set up as such measurements want it. Facts and
//! settings as they are; may not look at the machine.

use super::super::facts;
use crate::blocks::{Block, Cell, Column, Inline, Prose, Table, prose};
use crate::findings::{Findings, level_text};
use proofload_model::facts::{FactName, host, storage};
use proofload_model::samples::Fact;
use proofload_model::settings::{Value, setting};

/// Facts of the bill of materials.
static MATERIALS: &[FactName] = &[
    host::MODEL,
    host::CPU,
    host::SOCKETS,
    host::CORES,
    host::MEMORY,
    storage::DEVICE_MODEL.titled("Storage device"),
    storage::FILE_SYSTEM,
    host::SYSTEM,
    host::KERNEL,
];

/// Settings of the bill of materials, as the study states them.
const STATED: &[(&str, &str)] = &[
    (setting::HARDWARE_CAPACITY, "Capacity of the drives, by data sheet"),
    (setting::HARDWARE_DRIVE_IOPS, "Random reads of the drives, by data sheet, 1/s"),
    (setting::HARDWARE_WATTS, "Power, by data sheet, W"),
    (setting::HARDWARE_RACK_UNITS, "Height, rack units"),
];

/// A setting of the host: the fact, what is checked, what is wanted in words, and the values that are.
type Wanted = (FactName, &'static str, &'static str, &'static [&'static str]);

/// Checks of P5's procedure (power plan, SMT) and what moves results elsewhere.
static CHECKS: &[Wanted] = &[
    (host::GOVERNOR, "Frequency governor", "performance", &["performance"]),
    (host::SMT_CONTROL, "SMT", "on, if the CPU has it", &["on", "1", "notsupported", "notimplemented"]),
    (host::SWAPPINESS, "vm.swappiness", "at most 10", &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]),
    (host::CLOCK_SOURCE, "Clock source", "tsc or kvm-clock", &["tsc", "kvm-clock", "arch_sys_counter"]),
];

/// Names and values of the bill of materials.
pub(super) fn materials(findings: &Findings<'_>) -> Vec<(Prose, Prose)> {
    let mut pairs = crate::sections::facts::in_full::named(findings, MATERIALS);
    pairs.retain(|(_, value)| value.iter().any(|piece| *piece != Inline::Datum(String::new())));
    for (path, title) in STATED {
        let stated = findings.record.study.settings.get(path);
        pairs.extend(stated.map(|value| (prose![*title], prose![stated_text(value)])));
    }
    pairs
}

/// A value as data sheets write it: drives in decimal units.
fn stated_text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => format!("{}\u{a0}GB", crate::numbers::short(bytes.0 as f64 / 1e9)),
        other => level_text(other),
    }
}

/// The value of a check in the record.
fn found<'f>(findings: &'f Findings<'_>, (name, ..): &Wanted) -> Option<(&'f Fact, &'f str)> {
    name.last(&findings.record.facts).and_then(|fact| Some((fact, fact.effective.as_deref()?)))
}

/// A line about all checks: which settings move results.
pub(super) fn verdict(findings: &Findings<'_>) -> Prose {
    let moves = |check: &&Wanted| found(findings, check).is_some_and(|(_, text)| !check.3.contains(&text));
    let names: Vec<&str> = CHECKS.iter().filter(moves).map(|(_, title, ..)| *title).collect();
    if names.is_empty() {
        return prose!["Settings of the host: none is known to affect results"];
    }
    prose!["Settings of the host that affect results: ", names.join(", ")]
}

/// The checks, each with what was found.
pub(super) fn checks(findings: &Findings<'_>) -> Block {
    let row = |check: &Wanted| {
        let (name, title, wanted, good) = check;
        let (found, verdict) = match found(findings, check) {
            Some((fact, text)) => {
                let holds = good.contains(&text);
                let words = facts::value(name.subject, &name.name, &fact.source, text);
                (Cell::datum(words), Cell::Verdict(holds, if holds { "as recommended" } else { "affects results" }))
            }
            None => (Cell::Gap("not recorded".to_owned()), Cell::Empty),
        };
        vec![Cell::Prose(prose![*title]), found, Cell::Prose(prose![*wanted]), verdict]
    };
    Block::Table(Table {
        id: "table-host-checks",
        caption: prose!["Settings of the host and recommended values."],
        columns: ["Setting", "Found", "Wanted", "Verdict"].map(Column::words).to_vec(),
        rows: CHECKS.iter().map(row).collect(),
        note: Prose::new(),
    })
}
