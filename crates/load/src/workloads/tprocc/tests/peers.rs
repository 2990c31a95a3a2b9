//! Defects that other clients of this workload are known for, where no other test shows that we do not have them. The
//! whole list stands in docs/guides/peer-defects.md.

use super::case::Case;
use crate::workloads::tprocc::statements;
use crate::workloads::tprocc::transactions::delivery;
use proofload_engine::{ErrorClass, Flight, Session as _, Statement, StatementId};
use proofload_gen::tprocc::inputs::Delivery;

/// Everything that a transaction sends was prepared when its user connected: the server's own list of the session says
/// so.
#[test]
fn every_statement_is_prepared_once_at_connect() {
    for (form, count) in [("statements", 15), ("procedures", 5)] {
        let Some(case) = Case::built("postgresql", &[("form", form)]) else { return };
        let mut all = statements::of(&case.dialect, case.settings.form, case.settings.lines).unwrap();
        assert_eq!(all.len(), count);
        let sql = "SELECT count(*) FROM pg_prepared_statements".to_owned();
        all.push(Statement { name: "prepared".to_owned(), sql, parameters: Vec::new(), columns: 1 });
        let mut session = case.session();
        session.runtime.block_on(session.session.prepare(&all)).unwrap();
        let mut flight = Flight::new();
        let call = flight.call(StatementId(u16::try_from(count).unwrap()), &[]);
        session.runtime.block_on(session.session.fly(&mut flight)).unwrap();
        let prepared = flight.row(call, 0).unwrap().value(0).integer().unwrap();
        assert!(prepared > i64::try_from(count).unwrap(), "{prepared} for {count}");
    }
}

/// Data that are not whole are an error with the key, which ends the user; no crash, and no transaction that is counted
/// as done.
fn check_incomplete(engine: &str, form: &str) {
    let Some(case) = Case::built(engine, &[("form", form)]) else { return };
    case.session().script("DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 22").unwrap();
    let before = case.content();
    let (runtime, mut work) = case.work();
    let error = runtime.block_on(delivery::run(&mut work, &Delivery { w_id: 1, o_carrier_id: 1 })).unwrap_err();
    assert!(error.to_string().contains("order (1, 3, 22) has no lines"), "{error}");
    assert!(!error.is_retryable() && error.class() != ErrorClass::ConnectionLost, "{error}");
    runtime.block_on(work.roll_back()).unwrap();
    assert_eq!(case.content(), before);
}

#[test]
fn a_delivery_on_incomplete_data_is_an_error_with_its_key() {
    check_incomplete("sqlite", "statements");
    check_incomplete("postgresql", "procedures");
}
