//! What the guide of drills says of faults: each has a row of its table, and the table has no other.

use proofload_model::drill::FAULT_WORDS;
use std::collections::BTreeSet;

const GUIDE: &str = include_str!("../../../../docs/guides/drills.md");

/// The words in the first column of the table of faults, where each stands between backticks.
fn rows() -> Vec<&'static str> {
    let (_, rest) = GUIDE.split_once("| `drill.fault` |").expect("the table's head");
    let lines = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    let first = lines.map(|line| line.split('|').nth(1).expect("a first column"));
    first.flat_map(|column| column.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn every_fault_has_one_row_in_the_guide() {
    let rows = rows();
    let (told, known): (BTreeSet<&str>, BTreeSet<&str>) =
        (rows.iter().copied().collect(), FAULT_WORDS.iter().copied().collect());
    assert_eq!(told, known);
    assert_eq!(rows.len(), known.len(), "one of them is told twice");
}

#[test]
fn the_guide_refuses_no_url_that_a_study_may_have() {
    let refused =
        GUIDE.lines().skip_while(|line| !line.contains("Refused with drills:")).take(2).collect::<Vec<_>>().join(" ");
    for part in ["`engine.url`", "`switchover`", "`forced failover`", "`engine.changes = \"allowed\"`"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}
