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
    bench.study(&format!(
        "[study]\nname = \"poor\"\ntitle = \"By a login without rights\"\n\
         [workload]\nkind = \"tprocc\"\nscale = \"toy\"\nwarehouses = 1\nvirtual_users = 1\n\
         [engine]\nkind = \"postgresql\"\nurl = {url:?}\n\
         [procedure]\nrestore = \"never\"\nmeasure = \"2s\"\ndrift_tolerance = 1.0\nsteal_tolerance = 1.0\n\
         warm_up = {{ at_least = \"1s\", at_most = \"3s\", round = \"1s\", tolerance = 0.5 }}\n"
    ));
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
