//! Runs to their end by count, each verified in full.

use super::case::{Case, done, failed};
use proofload_model::samples::CheckOutcome;

/// YCSB's core workloads.
const ALL: &[&str] = &["a", "b", "c", "d", "e", "f"];

/// Core workloads, all reads compared, all records read back.
fn check_runs(engine: &str, mixes: &[&str], form: &[(&str, &str)]) {
    for mix in mixes.iter().copied() {
        let mut changes = vec![("mix", mix), ("operations", "600"), ("fields", "4"), ("scan_most", "20")];
        changes.extend(form);
        let Some(case) = Case::new(engine, &changes) else { return };
        case.build().expect("loads");
        case.check_data().expect("fits");
        let ran = case.run(|_| {}).expect("runs");
        assert!(ran.ended_by_itself, "{mix}");
        assert_eq!(failed(&ran.checks), [""; 0], "{engine} {mix}: {:?}", ran.checks);
        let errors: Vec<_> = ran.seconds.iter().flat_map(|second| &second.errors).collect();
        assert_eq!(ran.totals.iter().map(|counts| counts.done).sum::<u64>(), 600, "{mix}: {errors:?}");
        let inserted = u64::from(matches!(mix, "d" | "e")) * 30;
        assert_eq!(done(&ran, "insert"), inserted, "{mix}: one in each stratum of twenty");
    }
}

#[test]
fn core_workloads_on_sqlite() {
    check_runs("sqlite", ALL, &[]);
}

#[cfg(feature = "fixtures")]
#[test]
fn core_workloads_on_an_engine_of_a_folder_a_line_and_suites() {
    check_runs("example", &["a", "e"], &[]);
}

#[test]
fn core_workloads_on_postgresql() {
    check_runs("postgresql", &["a", "e"], &[]);
}

#[test]
fn core_workloads_on_postgresql_as_json() {
    check_runs("postgresql", &["e", "f"], &[("form", "json"), ("field_lengths", "uniform")]);
}

#[test]
fn core_workloads_on_mariadb() {
    check_runs("mariadb", &["a", "e"], &[]);
}

#[test]
fn core_workloads_on_mariadb_as_json() {
    check_runs("mariadb", &["e", "f"], &[("form", "json"), ("field_lengths", "uniform")]);
}

#[test]
#[ignore = "issue 17: half a minute; run where MySQL is"]
fn core_workloads_on_mysql_in_both_forms() {
    check_runs("mysql", ALL, &[]);
    check_runs("mysql", ALL, &[("form", "json"), ("field_lengths", "uniform"), ("field_length", "900")]);
}

#[test]
fn core_workloads_in_the_mode_of_ycsb() {
    check_runs("sqlite", ALL, &[("key_mode", "ycsb"), ("operations", "600")]);
}

#[test]
fn single_fields_and_whole_updates() {
    for (all, one) in [("true", "false"), ("false", "true")] {
        let changes =
            [("read_all_fields", all), ("write_all_fields", one), ("operations", "400"), ("mix", "f"), ("fields", "3")];
        let case = Case::new("sqlite", &changes).expect("SQLite is built in");
        case.build().expect("loads");
        let ran = case.run(|_| {}).expect("runs");
        assert_eq!(failed(&ran.checks), [""; 0], "{:?}", ran.checks);
        let written: f64 = ran
            .seconds
            .iter()
            .flat_map(|second| &second.engine)
            .filter(|of| of.name == "logical_written")
            .map(|of| of.value)
            .sum();
        let updates = done(&ran, "read_modify_write") as f64;
        let bytes = if one == "true" { 300.0 } else { 100.0 };
        assert!(written <= updates * bytes, "{written} bytes of {updates} updates");
    }
}

#[test]
fn the_null_engine_answers_everything_and_proves_only_the_mix() {
    let case = Case::new("null", &[("operations", "50000"), ("virtual_users", "7"), ("mix", "e")]).expect("built in");
    let ran = case.run(|_| {}).expect("runs");
    assert_eq!(ran.totals.iter().map(|counts| counts.done).sum::<u64>(), 50_000);
    assert_eq!(done(&ran, "insert"), 2_500);
    assert!(ran.checks.iter().all(|check| check.group == "inputs" && check.outcome == CheckOutcome::Met));
}

#[test]
fn operations_become_due_at_the_rate() {
    // Reads, which wait for no disk.
    let changes = [("mix", "c"), ("operations", "300"), ("rate", "100"), ("records", "100")];
    let case = Case::new("sqlite", &changes).expect("SQLite is built in");
    case.build().expect("loads");
    let ran = case.run(|_| {}).expect("runs");
    let service = ran.seconds.iter().flat_map(|second| &second.histograms);
    assert!(service.filter(|part| part.clock == proofload_model::samples::LatencyClock::Service).count() > 0);
    // A disk that is slow for a moment leaves no user free in time; not for three seconds at a rate that it holds.
    assert!(ran.seconds.iter().any(|second| second.client.send_lag_ns_p99.is_some()));
}

/// Operations/s that the generator reaches by itself, where it says so.
fn ceiling(engine: &str, changes: &[(&str, &str)]) -> Option<Option<f64>> {
    let case = Case::new(engine, changes)?;
    case.build().expect("it is loaded");
    let facts = case.connect().expect("it connects");
    Some(facts.iter().find(|fact| fact.name == "null_ceiling").map(|fact| fact.number.expect("it is a number")))
}

#[test]
fn the_generator_tells_what_it_reaches_against_the_null_engine() {
    assert_eq!(ceiling("null", &[]), Some(None), "the engine lives in the client threads");
    for changes in [&[][..], &[("rate", "10"), ("operations", "20")]] {
        // A host that stands still for a moment leaves the generator no time.
        let mut seen = Vec::new();
        for _ in 0..8 {
            let Some(found) = ceiling("postgresql", changes) else { return };
            seen.push(found.expect("it is measured"));
            if seen.last() > Some(&1_000.0) {
                break;
            }
        }
        let last = seen.last().copied();
        assert!(last > Some(1_000.0) && last < Some(1e9), "{seen:?} operations/s, whatever the rate of the study");
    }
}
