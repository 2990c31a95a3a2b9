//! What experiments change of a running server: put in force, read back, put back, and gone after a kill.
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_engine::Target;
use proofload_model::intervention::{LimitMeter, ResourceClass};
use proofload_model::wire::LimitsAsked;
use proofload_model::wire::host::{
    CatchUp, ChangeLimits, Create, HostService as _, PrepareLimits, ReadMeters, ReadWork, Release, Stop,
};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Bench, of, one};

/// Far longer than a server that nobody uses has work of its own.
const IDLE_WITHIN: Duration = Duration::from_secs(120);

fn change(bench: &mut Bench, wanted: &[&str], shares: &[(&str, f64)]) -> BTreeMap<String, Option<f64>> {
    let shares: BTreeMap<String, f64> = shares.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
    let of_engine = wanted.iter().map(|name| (*name).to_owned()).collect();
    told(&bench.ask(ChangeLimits { instance: one(), shares, of_engine }))
}

fn told(meters: &[LimitMeter]) -> BTreeMap<String, Option<f64>> {
    meters.iter().map(|meter| (meter.setting.clone(), meter.in_force)).collect()
}

fn named(found: &[(&str, f64)]) -> BTreeMap<String, Option<f64>> {
    found.iter().map(|(name, value)| ((*name).to_owned(), Some(*value))).collect()
}

/// Changes the first of some resources, kills the server, and finds all as asked after the next start. `whole`: what is in force of each as
/// the study says; `changed`: share of the first, and what is in force then.
fn check(engine: &str, settings: &[(&str, &str)], whole: &[(&str, f64)], changed: (f64, f64)) {
    if let Err(error) = proofload_engine::engine(engine).expect("it is built in").locate() {
        return println!("SKIPPED: {error}");
    }
    let mut bench = Bench::new();
    let place = bench.place(engine, settings);
    bench.ask(Create { instance: one(), place: place.clone() });
    bench.attach(&place);
    bench.ask(PrepareLimits { instance: one(), limits: LimitsAsked::default() });
    let process = of(&bench.start(&place), "instance.process").0.expect("it is told").to_owned();
    let target = Target::new(place.clone(), bench.address.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let of_kind = proofload_engine::engine(engine).expect("it is built in");
    runtime.block_on(of_kind.create_database(&target)).expect("a study's build makes it");
    let wanted: Vec<&str> = whole.iter().map(|(name, _)| *name).chain(["engine.nothing"]).collect();
    assert_eq!(change(&mut bench, &wanted, &[]), named(whole), "what it does not have is not there");
    let lowered = [&[(whole[0].0, changed.1)], &whole[1..]].concat();
    assert_eq!(change(&mut bench, &wanted, &[(whole[0].0, changed.0)]), named(&lowered));
    let of_engine = || wanted.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let began = Instant::now();
    while !bench.ask(ReadWork { instance: one(), of_engine: of_engine() }).is_empty() {
        assert!(began.elapsed() < IDLE_WITHIN, "nobody uses the server, and its work does not end");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(change(&mut bench, &wanted, &[]), named(whole), "it is put back");
    assert_eq!(bench.ask(CatchUp { instance: one(), of_engine: of_engine() }), [""; 0], "little was left undone");
    change(&mut bench, &wanted, &[(whole[0].0, changed.0)]);
    let killed = Command::new("kill").args(["-KILL", &process]).status().expect("kill runs");
    assert!(killed.success());
    let _ended_by_the_kill = bench.role.stop(Stop { instance: one() });
    bench.ask(Release { instance: one() });
    bench.attach(&place);
    bench.ask(PrepareLimits { instance: one(), limits: LimitsAsked::default() });
    bench.start(&place);
    let meters = bench.ask(ReadMeters { instance: one(), of_engine: of_engine() });
    assert_eq!(told(&meters), named(whole), "nothing stays after a kill");
    assert!(meters.iter().all(|meter| (meter.class == ResourceClass::Bound) == (meter.asked == 1.0)));
    assert_eq!(change(&mut bench, &[], &[]), BTreeMap::new(), "nothing that was not asked for is read");
}

#[test]
fn checkpoints_and_autovacuum_of_postgresql_are_off_for_a_while() {
    let settings = [("shared_buffers", "16MB"), ("checkpoint_timeout", "30s"), ("max_wal_size", "64MB")];
    check("postgresql", &settings, &[("engine.autovacuum", 1.0), ("engine.checkpoints", 1.0)], (0.8, 0.0));
}

#[test]
fn commits_wait_for_no_flush_for_a_while() {
    check("postgresql", &[("shared_buffers", "16MB")], &[("engine.durability", 1.0)], (0.8, 0.0));
    check("mariadb", &[("innodb_buffer_pool_size", "64MiB")], &[("engine.durability", 1.0)], (0.8, 0.0));
}

#[test]
fn page_flushing_of_mariadb_is_off_for_a_while() {
    // A low-water mark of the study's own is put back.
    let settings = [
        ("innodb_buffer_pool_size", "64MiB"),
        ("innodb_log_file_size", "64MiB"),
        ("innodb_max_dirty_pages_pct_lwm", "5"),
    ];
    check("mariadb", &settings, &[("engine.page_flushing", 1.0), ("engine.checkpoints", 1.0)], (0.8, 0.0));
}

#[test]
fn the_cache_of_mariadb_is_smaller_for_a_while() {
    let settings = [("innodb_buffer_pool_size", "64MiB"), ("innodb_log_file_size", "4MiB")];
    let whole = [("engine.cache", f64::from(64 << 20)), ("engine.checkpoints", 1.0)];
    check("mariadb", &settings, &whole, (0.75, f64::from(48 << 20)));
}
