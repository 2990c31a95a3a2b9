//! Whole runs: clean ones pass every check, and equal inputs leave equal data on every engine.

use super::case::{Case, failed};
use proofload_model::samples::CheckOutcome;

fn check_clean_run(engine: &str) {
    let Some(case) = Case::built(engine, &[("mix", "weights"), ("weights", "10/10/4/4/4")]) else { return };
    let before = case.before();
    let (user, counts) = case.run_user(0, 600);
    let checks = case.verify(&before, &user, &counts);
    assert_eq!(failed(&checks), [""; 0], "{checks:#?}");
    assert!(user.tally.rolled_back > 0 && user.tally.orders_delivered > 0 && user.tally.deliveries_with_skips > 0);
    let met = |group: &str| {
        let of_group: Vec<_> = checks.iter().filter(|check| check.group == group).collect();
        assert!(of_group.iter().all(|check| check.outcome == CheckOutcome::Met), "{of_group:#?}");
        of_group.len()
    };
    assert_eq!(["consistency", "conservation", "acknowledged", "agreement"].map(met), [13, 16, 3, 2]);
}

#[test]
fn a_clean_run_on_sqlite_passes_every_check() {
    check_clean_run("sqlite");
}

#[test]
fn a_clean_run_on_postgresql_passes_every_check() {
    check_clean_run("postgresql");
}

#[test]
fn equal_inputs_leave_equal_data_on_sqlite_and_postgresql() {
    let contents: Vec<_> = ["sqlite", "postgresql"]
        .into_iter()
        .filter_map(|engine| Case::built(engine, &[]))
        .map(|case| {
            case.run_user(0, 400);
            case.content()
        })
        .collect();
    if let [sqlite, postgresql] = &contents[..] {
        assert_eq!(sqlite, postgresql);
    }
}
