//! Size of the log of a server: fitted to data that were just built by one more start, and the same at every start after that.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_model::wire::host::{Create, PrepareLimits, RefitLog, Stop};
use proofload_model::wire::{DataLocation, LimitsAsked};
use std::path::Path;
use support::{Bench, one};

const GIB: u64 = 1 << 30;

fn refit(place: &DataLocation) -> RefitLog {
    RefitLog { instance: one(), place: place.clone() }
}

/// Starts and stops the server; the size of its log then.
fn log_after_a_start(bench: &mut Bench, place: &DataLocation) -> u64 {
    bench.attach(place);
    bench.ask(PrepareLimits { instance: one(), limits: LimitsAsked::default() });
    bench.start(place);
    bench.ask(Stop { instance: one() });
    std::fs::metadata(Path::new(&place.folder).join("data/ib_logfile0")).expect("the log is there").len()
}

#[test]
fn the_log_of_mariadb_is_fitted_once_and_stays() {
    if let Err(error) = proofload_engine::engine("mariadb").expect("it is built in").locate() {
        return println!("SKIPPED: {error}");
    }
    let mut bench = Bench::new();
    let place = bench.place("mariadb", &[("innodb_buffer_pool_size", "32MiB")]);
    bench.ask(Create { instance: one(), place: place.clone() });
    assert_eq!(log_after_a_start(&mut bench, &place), GIB / 2);
    assert!(!bench.ask(refit(&place)), "few data have the log that they want");
    // No table of the server's, and no block of it is on the disk.
    let tables =
        std::fs::File::create(Path::new(&place.folder).join("data/stock.ibd")).expect("the folder takes a file");
    tables.set_len(3 * GIB).expect("a sparse file");
    assert_eq!(log_after_a_start(&mut bench, &place), GIB / 2, "a start alone changes nothing");
    assert!(bench.ask(refit(&place)));
    assert_eq!(log_after_a_start(&mut bench, &place), GIB);
    assert!(!bench.ask(refit(&place)));
    tables.set_len(9 * GIB).expect("a sparse file");
    assert_eq!(log_after_a_start(&mut bench, &place), GIB);
}

#[test]
fn an_engine_without_a_server_has_no_log_to_fit() {
    let mut bench = Bench::new();
    let place = bench.place("sqlite", &[]);
    bench.ask(Create { instance: one(), place: place.clone() });
    assert!(!bench.ask(refit(&place)));
}
