//! The conformance suite on every registered engine, as far as its capabilities reach. The checks are those of the self-test.

mod support;

use proofload_engine::conformance::{Bench, CHECKS, CheckResult, Words};
use proofload_engine::{ENGINES, Engine};
use support::{Place, Special};

/// Runs every check on every engine with SQL sessions that keeps data, the null engine's own on that.
#[test]
fn every_engine_keeps_the_contract() {
    for engine in ENGINES.iter().filter(|engine| engine.facts().capabilities.sql) {
        let name = engine.facts().name;
        let words = Words::of(*engine).unwrap_or_else(|error| panic!("{error}"));
        let settings: Vec<(&str, &str)> =
            words.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let place = match Place::new(*engine, &settings, &Special::default()) {
            Ok(place) => place,
            Err(reason) => {
                let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
                assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
                eprintln!("SKIPPED: {name}: {reason}");
                continue;
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            place.engine.create_database(&place.target).await.expect("creates the database");
            let bench = Bench::new(place.engine, &place.target).expect("words");
            if engine.facts().capabilities.durable {
                check(*engine, &bench).await
            } else {
                bench.without_data().await.expect("holds")
            }
        });
    }
}

async fn check(engine: &dyn Engine, bench: &Bench<'_>) {
    let name = engine.facts().name;
    for check in CHECKS {
        let found = (check.look)(bench).await.unwrap_or_else(|error| panic!("{name}: {}: {error}", check.name));
        // Everything applies at a place of our own, but there may be no server to observe.
        let applies =
            found == CheckResult::Kept || engine.facts().capabilities.embedded && check.name.contains("observer");
        assert!(applies, "{name}: {}: {found:?}", check.name);
    }
}
