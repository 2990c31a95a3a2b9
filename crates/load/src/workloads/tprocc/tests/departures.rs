//! Departures from the clauses: each does what it is said to do, breaks the checks that it excuses and no others, and
//! no data are taken for those of another profile.

use super::case::{Case, failed, toy};
use crate::workload::WorkloadRun as _;
use crate::workloads::blocking_session::integer;
use crate::workloads::tprocc::checks::excused;
use crate::workloads::tprocc::transactions::{order_status, payment};
use crate::workloads::tprocc::workload_run::TproccRun;
use proofload_gen::tprocc::inputs::{CustomerBy, OrderStatus, Payment};
use proofload_gen::tprocc::population::Hundredths;
use proofload_gen::tprocc::{Departure, LastName};
use proofload_model::samples::CheckOutcome;

const MIX: [(&str, &str); 2] = [("mix", "weights"), ("weights", "10/10/2/2/1")];

/// What an excused check finds without its excuse must not be met: else the excuse hides a check that could be made.
#[test]
fn each_departure_breaks_the_checks_that_it_excuses_and_no_others() {
    for departure in Departure::ALL {
        let changes = [&MIX[..], &[("departures", departure.name())]].concat();
        let case = Case::built("sqlite", &changes).unwrap();
        let before = case.before();
        let (user, counts) = case.run_user(0, 1_200);
        let found = case.found(&before, &user, &counts);
        let told = excused(found.clone(), &case.settings.profile);
        assert_eq!(failed(&told), [""; 0], "{departure:?}: {told:#?}");
        let words = format!("not applicable under departure {} ({})", departure.number(), departure.name());
        for (found, told) in found.iter().zip(&told).filter(|(found, told)| found != told) {
            assert!(
                !matches!(found.outcome, CheckOutcome::Met | CheckOutcome::NotApplicable),
                "{departure:?}: {found:#?}"
            );
            assert_eq!((told.found.as_str(), told.outcome), (words.as_str(), CheckOutcome::NotApplicable));
        }
    }
}

fn check_all_departures(engine: &str, form: &str) {
    let changes = [&MIX[..], &[("profile", "hammerdb-compatible"), ("form", form)]].concat();
    let Some(case) = Case::built(engine, &changes) else { return };
    let before = case.before();
    let (user, counts) = case.run_user(0, 600);
    let checks = case.verify(&before, &user, &counts);
    assert_eq!(failed(&checks), [""; 0], "{checks:#?}");
    let tally = &user.runner.tally;
    assert!(tally.rolled_back == 0 && tally.entered.unused_lines > 0 && tally.order_statuses > 10);
    // The line of an unused item is there, with 0.00; no other line of the run is without an amount.
    let unused = case.session().one_row(&format!(
        "SELECT count(*), coalesce(sum(CASE WHEN ol_amount = 0 THEN 1 ELSE 0 END), 0) FROM order_line WHERE ol_i_id = {}",
        case.settings.scale.unused_item()
    ));
    let unused = unused.unwrap();
    let expected = i64::try_from(tally.entered.unused_lines).unwrap();
    assert_eq!((integer(&unused, 0).unwrap(), integer(&unused, 1).unwrap()), (expected, expected));
    check_line_amounts(&case);
}

/// Every line of the run has tax and discount in its amount (PostgreSQL's decimals are exact; SQLite's data are held
/// against them by their content).
fn check_line_amounts(case: &Case) {
    if case.dialect.engine != "postgresql" {
        return;
    }
    let wrong = "SELECT count(*) FROM order_line
        JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id JOIN item ON i_id = ol_i_id
        JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
        JOIN warehouse ON w_id = ol_w_id JOIN district ON d_w_id = ol_w_id AND d_id = ol_d_id
        WHERE o_id > 30 AND ol_amount <> round(i_price * ol_quantity * (1 + w_tax + d_tax) * (1 - c_discount), 2)";
    assert_eq!(integer(&case.session().one_row(wrong).unwrap(), 0).unwrap(), 0);
}

#[test]
fn all_departures_together_pass_what_applies_on_sqlite() {
    check_all_departures("sqlite", "statements");
}

#[test]
fn all_departures_together_pass_what_applies_on_postgresql() {
    check_all_departures("postgresql", "statements");
    check_all_departures("postgresql", "procedures");
}

/// The customer taken by last name, for names with every number of rows: the middle, or under departure 8 one less for
/// odd numbers.
fn check_middle_rows(case: &Case) {
    let is_low = case.settings.profile.has(Departure::MiddleRowLow);
    let (runtime, mut work) = case.work();
    let mut odd = 0;
    for (d_id, number) in (1..=10).flat_map(|d_id| (0..10).map(move |number| (d_id, number))) {
        let last = LastName::of(number);
        let rows = format!(
            "SELECT c_id FROM customer WHERE c_w_id = 1 AND c_d_id = {d_id} AND c_last = '{}' ORDER BY c_first, c_id",
            last.as_str()
        );
        let named: Vec<i64> = case.session().query(&rows).unwrap().iter().map(|row| integer(row, 0).unwrap()).collect();
        let middle = if is_low { (named.len() / 2).max(1) } else { named.len().div_ceil(2) };
        odd += usize::from(is_low && middle < named.len().div_ceil(2));
        let customer = CustomerBy::LastName(last);
        let status = OrderStatus { w_id: 1, d_id, customer };
        let paid = Payment { w_id: 1, d_id, c_w_id: 1, c_d_id: d_id, customer, h_amount: Hundredths(100) };
        let seen = runtime.block_on(order_status::run(&mut work, &status)).unwrap().c_id;
        let charged = runtime.block_on(payment::run(&mut work, &paid)).unwrap().c_id;
        assert_eq!((i64::from(seen), i64::from(charged)), (named[middle - 1], named[middle - 1]), "{named:?}");
    }
    assert_eq!(odd > 10, is_low);
}

#[test]
fn by_last_name_the_middle_row_is_taken_or_the_one_below() {
    let ways = [
        ("none", "sqlite", "statements"),
        ("8", "postgresql", "procedures"),
        ("none", "mariadb", "procedures"),
        ("8", "mariadb", "statements"),
    ];
    check_ways(&ways);
}

/// What the test before leaves out of SQLite and PostgreSQL.
#[test]
#[ignore = "issue 17: half a minute; engines and forms that another test has with one of the two rules"]
fn by_last_name_the_middle_row_is_taken_or_the_one_below_in_other_ways() {
    check_ways(&[
        ("8", "sqlite", "statements"),
        ("none", "postgresql", "procedures"),
        ("8", "postgresql", "statements"),
    ]);
}

#[test]
#[ignore = "issue 17: a minute; run where MySQL is"]
fn by_last_name_the_middle_row_is_taken_on_mysql_or_the_one_below() {
    check_ways(&[("none", "mysql", "procedures"), ("none", "mysql", "statements"), ("8", "mysql", "statements")]);
}

fn check_ways(ways: &[(&str, &str, &str)]) {
    for (departures, engine, form) in ways.iter().copied() {
        let Some(case) = Case::built(engine, &[("departures", departures), ("form", form)]) else { continue };
        check_middle_rows(&case);
    }
}

#[test]
fn data_of_another_profile_are_refused() {
    let case = Case::built("sqlite", &[]).unwrap();
    let check = |departures: &str| {
        let mut request = case.request.clone();
        request.spec.settings = toy(&[("departures", departures)]);
        TproccRun::new(request).unwrap().check_data().map_err(|error| error.to_string())
    };
    // Departures of inputs and transactions need no data of their own.
    assert_eq!(check("[\"1\", \"4\", \"6\", \"8\", \"10\", \"11\"]"), Ok(()));
    let error = check("[\"3\", \"4\"]").unwrap_err();
    let start = "the data in the database do not match the study: profile is spec, but the study needs spec with departures 3; ";
    assert!(error.starts_with(start), "{error}");
}
