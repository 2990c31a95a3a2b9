//! A login that lacks rights at a server that runs already: told before anything is built, by `doctor`, by `run` and by `selftest`.

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
         [procedure]\nrestore = \"never\"\nwarm_up.at_least = \"1s\"\nmeasure = \"2s\"\n"
    ));
    let grant = "GRANT CREATE ON DATABASE \"shop\" TO \"poor\"";
    let ran = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let told = text(&ran.stderr);
    assert!(ran.status.code() == Some(1) && !bench.path("x.proof").exists(), "{told}");
    assert!(told.contains("nothing was started: the login lacks CREATE on database shop"), "{told}");
    assert!(told.contains(grant), "{told}");
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
}
