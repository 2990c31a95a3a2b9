//! A load that is divided between agents does what it does undivided.

use super::case::{Case, Ran, done, failed};

const KINDS: [&str; 3] = ["read", "update", "read_modify_write"];

fn counts(ran: &Ran) -> [u64; 3] {
    KINDS.map(|kind| done(ran, kind))
}

/// What a check found.
fn found<'r>(ran: &'r Ran, name: &str) -> &'r str {
    ran.checks.iter().find(|check| check.name == name).map_or("", |check| check.found.as_str())
}

/// Every operation is a function of the seed, its user and its index in it: so the numbers of each kind, and of the
/// latest writes of each user that are not replaced by a later one of its own, are those of one agent.
#[track_caller]
fn check(engine: &str, operations: &str, divisions: &[&[u32]]) {
    let mix = [("mix", "own"), ("read", "0.4"), ("update", "0.35"), ("read_modify_write", "0.25")];
    let settings = [("records", "500"), ("virtual_users", "11"), ("operations", operations)];
    let Some(case) = Case::new(engine, &[&mix[..], &settings[..]].concat()) else { return };
    case.build().expect("it is loaded");
    let whole = case.run(|_| ()).expect("it runs");
    for shares in divisions {
        let ran = case.run_in_parts(shares).expect("it runs in parts");
        assert_eq!(counts(&ran), counts(&whole), "{shares:?}");
        assert_eq!(counts(&ran).iter().sum::<u64>().to_string(), operations);
        assert_eq!(failed(&ran.checks), [""; 0]);
        assert_eq!(found(&ran, "latest writes"), found(&whole, "latest writes"), "{shares:?}");
        assert!(ran.ended_by_itself);
    }
}

#[test]
fn parts_do_what_the_whole_does() {
    check("null", "12007", &[&[1, 1, 1], &[1, 2, 4], &[3, 1]]);
    check("postgresql", "2003", &[&[1, 2, 4]]);
}

#[test]
fn one_of_several_that_is_told_too_late_refuses() {
    let case = Case::new("null", &[("virtual_users", "4")]).expect("it is always there");
    let error = case.start_late().to_string();
    assert!(error.contains("after time zero"), "{error}");
}
