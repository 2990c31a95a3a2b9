//! Paced mode the whole way through the load role; keying and think times are a hundredth of the clauses' at the toy
//! scale.

use super::case::{Case, failed, toy};
use super::role::{End, Told, run_for};
use crate::workloads::tprocc::paced::{DEFERRED, KINDS};
use crate::workloads::tprocc::settings::pacing_contradictions;
use proofload_model::samples::CheckOutcome;

/// A Delivery was done later in a second that is over.
fn has_delivered(told: &Told) -> bool {
    let mut counts = told.seconds.iter().flat_map(|second| &second.counts);
    counts.any(|counts| counts.kind == KINDS[DEFERRED] && counts.done > 0)
}

#[test]
fn terminals_are_served_by_few_sessions_and_their_deliveries_are_done() {
    let changes = [("pacing", "paced"), ("warehouses", "4"), ("virtual_users", "40"), ("connections", "3")];
    let case = Case::new("null", &changes).expect("it is built in");
    let ran = run_for(&case, End::Once(has_delivered));
    let of_pacing: Vec<_> = ran.checks.iter().filter(|check| check.group == "pacing").collect();
    assert_eq!(of_pacing.len(), 11);
    assert!(of_pacing.iter().all(|check| check.outcome != CheckOutcome::Failed), "{of_pacing:#?}");
    let done = |kind: &str| ran.totals.iter().find(|total| total.kind == kind).map(|total| total.done);
    assert!(done("deferred_delivery") > Some(0) && done("deferred_delivery") == done("delivery"));
    let lines: usize = ran.documents.iter().map(|(_, body)| body.lines().count() - 1).sum();
    assert_eq!(Some(lines as u64), done("delivery"), "every Delivery is in the log");
    assert!(ran.documents[0].1.starts_with("queued_s,ended_s,w_id,o_carrier_id,o_id_of_district_1,"));
    let fact = |name: &str| ran.facts.iter().find(|fact| fact.name == name).and_then(|fact| fact.effective.clone());
    assert_eq!(fact("virtual_users").as_deref(), Some("40"));
    assert_eq!((fact("connections").as_deref(), fact("delivery_workers").as_deref()), (Some("3"), Some("1")));
    assert!(fact("departures").is_some_and(|text| text.contains("queue of Deliveries") && !text.contains("keying")));
}

#[test]
fn a_paced_run_on_sqlite_is_verified() {
    let changes = [("pacing", "paced"), ("virtual_users", "20"), ("connections", "2")];
    let case = Case::new("sqlite", &changes).expect("it is built in");
    let ran = run_for(&case, End::Once(Told::does_work));
    assert_eq!(failed(&ran.checks), [""; 0]);
    assert!(ran.totals.iter().map(|total| total.done).sum::<u64>() > 0);
}

#[track_caller]
fn check_contradictions(changes: &[(&str, &str)], without: &[&str], expected: &[&str]) {
    let mut settings = toy(changes);
    without.iter().for_each(|name| drop(settings.0.remove(&format!("workload.{name}"))));
    let found = pacing_contradictions(&settings);
    assert_eq!(found.iter().map(|fault| fault.setting).collect::<Vec<_>>(), expected, "{found:?}");
}

#[test]
fn settings_of_pacing_that_do_not_go_together_are_found() {
    let paced = ("pacing", "paced");
    check_contradictions(&[], &[], &[]);
    check_contradictions(&[], &["virtual_users"], &["workload.virtual_users"]);
    check_contradictions(&[("connections", "3")], &[], &["workload.connections"]);
    check_contradictions(&[paced], &["virtual_users"], &[]);
    check_contradictions(&[paced, ("all_warehouses", "true")], &[], &["workload.all_warehouses"]);
    check_contradictions(&[paced, ("connections", "21")], &["virtual_users"], &["workload.connections"]);
    check_contradictions(&[paced, ("connections", "20")], &["virtual_users"], &[]);
}
