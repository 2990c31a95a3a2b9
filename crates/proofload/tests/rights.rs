//! A login that lacks rights at a server that runs already: told before anything is built, by `doctor`, by `run` and by `selftest`; and data that
//! stand are run by a login that could not build them.

/// The conformance suite's places: a started server.
#[path = "../../engine/tests/support/mod.rs"]
mod places;
mod support;

use places::{Place, Special};
use proofload_engine::Session as _;
use serde_json::Value as Json;
use support::{Bench, postgresql_here, text};

/// The states of what was found, and its remedies, of subjects that begin so.
fn found(output: &std::process::Output, subject: &str) -> Vec<(String, String)> {
    let told: Json = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let all = told["findings"].as_array().expect("a list").iter();
    all.filter(|one| text(&one["subject"]).starts_with(subject))
        .map(|one| (text(&one["state"]), text(&one["remedy"])))
        .collect()
}

/// A study of a login at a server that runs already.
fn study(url: &str) -> String {
    format!(
        "[study]\nname = \"poor\"\ntitle = \"By a login without rights\"\n\
         [workload]\nkind = \"tprocc\"\nscale = \"toy\"\nwarehouses = 1\nvirtual_users = 1\n\
         [engine]\nkind = \"postgresql\"\nurl = {url:?}\n\
         [procedure]\nrestore = \"never\"\nmeasure = \"2s\"\ndrift_tolerance = 1.0\nsteal_tolerance = 1.0\n\
         warm_up = {{ at_least = \"1s\", at_most = \"3s\", round = \"1s\", tolerance = 0.5 }}\n"
    )
}

#[test]
fn a_server_that_nobody_can_log_in_to_is_an_obstacle() {
    let bench = Bench::new("unreachable");
    bench.study(&study("postgresql://me@127.0.0.1:1/shop"));
    let looked = bench.run(&["doctor", "study.toml"]);
    let told = text(&looked.stdout);
    assert_eq!(looked.status.code(), Some(1), "{told}{}", text(&looked.stderr));
    assert!(told.starts_with("Can it run?  no, one thing is missing\n"), "{told}");
    assert!(told.contains("cannot connect to 127.0.0.1:1/shop: "), "{told}");
}

#[test]
fn each_host_of_a_url_is_asked_before_it_is_an_obstacle() {
    let bench = Bench::new("unreachable-hosts");
    bench.study(&study("postgresql://me@127.0.0.1:1,127.0.0.1:2/shop"));
    let looked = bench.run(&["doctor", "study.toml", "--json"]);
    let told: Json = serde_json::from_slice(&looked.stdout).expect("it is JSON");
    let all = told["findings"].as_array().expect("a list").iter();
    let of_login: Vec<&str> =
        all.filter(|one| one["subject"] == "rights of the login").filter_map(|one| one["found"].as_str()).collect();
    for host in ["127.0.0.1:1/shop: ", "127.0.0.1:2/shop: "] {
        assert!(of_login.len() == 1 && of_login[0].contains(&format!("cannot connect to {host}")), "{of_login:?}");
    }
}

#[test]
fn a_study_ends_at_the_first_run_that_cannot_log_in() {
    let bench = Bench::new("locked-out");
    let factor = "[[factor]]\nsetting = \"workload.virtual_users\"\nlevels = [1, 2, 3]\n";
    bench.study(&(study("postgresql://me@127.0.0.1:1/shop") + factor));
    let ran = bench.run(&["run", "study.toml", "-o", "x.proof", "--progress", "none"]);
    let told = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(told.contains("\nnobody can log in to 127.0.0.1:1/shop, so the other 2 runs were not tried\n"), "{told}");
    let causes = told.lines().filter(|line| line.contains("failed to connect")).count();
    assert_eq!(causes, 1, "the cause is told once: {told}");
    assert!(told.contains("no run has finished; after fixing the cause: proofload resume x.proof"), "{told}");
    assert!(told.contains("after a change of the study file, run it with another -o"), "{told}");
    assert!(told.contains("exit     1: the study is not finished: not run (3 points)"), "{told}");
    let record = proofload_record::read(&bench.path("x.proof")).expect("the record is read");
    let tried: std::collections::BTreeSet<u32> = record.attempts.iter().map(|attempt| attempt.run.index).collect();
    assert_eq!(tried.len(), 1, "{tried:?}");
    bench.expect_no_process();
}

#[test]
fn nothing_is_built_by_a_login_that_may_not() {
    if !postgresql_here("nothing_is_built_by_a_login_that_may_not") {
        return;
    }
    let postgresql = proofload_engine::engine("postgresql").expect("it is built in");
    let place = Place::new(postgresql, &[], &Special::default()).expect("a server");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        postgresql.create_database(&place.target).await.expect("a database");
        let mut session = place.connect().await;
        for statement in ["CREATE ROLE poor LOGIN", "CREATE DATABASE shop"] {
            session.script(statement).await.expect("makes both");
        }
    });
    let address = place.target.address().expect("a server");
    let url = address.replace("user=proofload dbname=proofload", "user=poor dbname=shop");
    let bench = Bench::new("rights");
    bench.study(&study(&url));
    let grant = "GRANT CREATE ON DATABASE \"shop\" TO \"poor\"";
    let ran = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let told = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(told.contains("nothing was built: the login lacks CREATE on database shop"), "{told}");
    assert!(told.contains(grant) && told.contains("proofload doctor STUDY"), "{told}");
    assert!(!told.contains(": building"), "it says so before the phase begins: {told}");
    let looked = bench.run(&["doctor", "study.toml", "--json"]);
    assert_eq!(looked.status.code(), Some(1), "{}", text(&looked.stderr));
    let monitor = ("warning".to_owned(), "GRANT pg_monitor TO \"poor\"".to_owned());
    assert_eq!(found(&looked, "right CREATE"), [("missing".to_owned(), grant.to_owned())]);
    assert_eq!(found(&looked, "right pg_read_all_stats"), [monitor]);
    let tested = bench.run(&["selftest", "--engine", "postgresql", "--url", &url, "--confirm", "proofload_selftest"]);
    let told = text(&tested.stderr);
    assert!(tested.status.code() == Some(1) && !bench.path("selftest.json").exists(), "{told}");
    assert!(told.contains("nothing was made: the login lacks CREATEDB"), "{told}");
    assert!(told.contains("ALTER ROLE \"poor\" CREATEDB"), "{told}");
    // Once the right is granted, the record is finished; then a login that could build nothing runs on the data as they stand.
    let mut shop = place.target.clone();
    shop.endpoints = Some(address.replace("dbname=proofload", "dbname=shop")).into();
    let carry_out = |statements: &[&str]| {
        runtime.block_on(async {
            let mut session = postgresql.connect(&shop).await.expect("connects");
            for statement in statements {
                session.script(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
            }
        });
    };
    carry_out(&[grant]);
    let resumed = bench.run(&["resume", "x.proof"]);
    assert!(matches!(resumed.status.code(), Some(0 | 5 | 6)), "{}", text(&resumed.stderr));
    carry_out(&[
        "CREATE ROLE runner LOGIN",
        "GRANT USAGE ON SCHEMA proofload TO runner",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA proofload TO runner",
    ]);
    let by_runner = format!("engine.url={:?}", url.replace("user=poor", "user=runner"));
    let looked = bench.run(&["doctor", "study.toml", "--json", "--set", &by_runner]);
    let states: Vec<String> = found(&looked, "right CREATE").into_iter().map(|(state, _)| state).collect();
    assert_eq!(states, ["warning"], "{}", text(&looked.stdout));
    let again = bench.run(&["run", "study.toml", "-o", "y.proof", "--set", &by_runner]);
    let told = text(&again.stderr);
    assert!(!told.contains("the login lacks") && !told.contains("nothing was built"), "{told}");
}
