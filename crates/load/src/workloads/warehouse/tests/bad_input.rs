//! What a run meets and must bear or refuse, on every engine: queries that take too long or find no room, wrong
//! answers, other data.

use super::case::Case;
use super::runs::{run, run_with};
use crate::workload::WorkloadRun as _;
use proofload_model::samples::CheckOutcome;

/// A cap that every query meets: each fails by it, and the stream goes on.
pub(super) fn check_cap(case: &Case) {
    let ran = run(case, &[("rounds", "1"), ("query_cap", "1ms"), ("queries", "q01,q09,q13")]);
    let codes: Vec<&str> = ran.errors.iter().map(|error| error.code.as_str()).collect();
    assert_eq!(codes, ["query_cap"; 3], "{:?}", ran.errors);
    assert_eq!((ran.count(|of| of.due), ran.count(|of| of.failed)), (3, 3));
}

/// Too little room for temporary files: queries that need some fail by it, others do not, and the stream goes on.
/// SQLite has no such limit.
pub(super) fn check_room(case: &Case) {
    let queries = ("queries", "q06,q18");
    let ran = match case.request.spec.place.engine.as_str() {
        "duckdb" => {
            let memory = [("memory_limit", "12MiB"), ("threads", "1")];
            let ample = run_with(case, &memory, &[("rounds", "1"), queries]);
            assert_eq!(ample.count(|of| of.done), 2, "what does not fit memory is spilled: {:?}", ample.errors);
            let tiny = [memory[0], memory[1], ("max_temp_directory_size", "16KiB")];
            run_with(case, &tiny, &[("rounds", "2"), queries])
        }
        "postgresql" => {
            // Without an index in the order of the grouping, which the planner takes or leaves by the luck of its sample.
            for set in [
                "work_mem = '64kB'",
                "temp_file_limit = '256kB'",
                "enable_indexscan = off",
                "enable_indexonlyscan = off",
            ] {
                case.session().script(&format!("ALTER ROLE CURRENT_USER SET {set}")).unwrap();
            }
            let ran = run(case, &[("rounds", "2"), queries]);
            case.session().script("ALTER ROLE CURRENT_USER RESET ALL").unwrap();
            ran
        }
        _ => return,
    };
    assert_eq!((ran.count(|of| of.done), ran.count(|of| of.failed)), (2, 2), "{:?}", ran.errors);
    assert!(ran.errors.iter().all(|error| error.kind == "q18" && error.code == "out_of_space"), "{:?}", ran.errors);
}

/// Data of another scale factor, layout or generator are refused before a stream begins, with each difference.
pub(super) fn check_other_data(case: &Case) {
    let refused = |changes: &[(&str, &str)], words: &str| {
        let workload_run = case.opened_with(changes);
        for error in [workload_run.check_data().err(), workload_run.begin().err(), workload_run.build().err()] {
            let error = error.expect("other data").to_string();
            assert!(
                error.starts_with("the data in the database do not match the study: ") && error.contains(words),
                "{error}"
            );
        }
    };
    refused(&[("scale_factor", "0.02")], "scale factor is 0.01, but the study needs 0.02");
    let note = |generator: &str| {
        let sql = format!("UPDATE proofload_manifest SET content = '{generator}' WHERE entry = 'generator'");
        case.session().script(&sql).unwrap();
    };
    note("dbgen 1");
    refused(&[], "generator is dbgen 1, but the study needs tpchgen");
    note(crate::workloads::warehouse::data::GENERATOR);
    case.workload_run().check_data().unwrap();
}

/// One row more, and queries that count it give wrong answers: they fail, and the run goes on. The data are spoilt
/// afterwards.
pub(super) fn check_wrong_answers(case: &Case) {
    case.session()
        .script("INSERT INTO lineitem SELECT l_orderkey, l_partkey, l_suppkey, 8, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment FROM lineitem WHERE l_orderkey = 3 AND l_linenumber = 1")
        .unwrap();
    let ran = run(case, &[("rounds", "1"), ("queries", "q01,q04")]);
    assert_eq!((ran.count(|of| of.done), ran.count(|of| of.failed)), (1, 1), "{:?}", ran.errors);
    assert_eq!((ran.errors[0].kind.as_str(), ran.errors[0].code.as_str()), ("q01", "wrong_answer"));
    let check = ran.check("golden answers");
    assert_eq!((check.found.as_str(), check.outcome), ("1 right, 1 wrong, 0 not validated", CheckOutcome::Failed));
    assert!(check.offenders[0].starts_with("q01: rows "), "{:?}", check.offenders);
}
