//! Facts of a server and of the client path, on the lean path to the test server.

use crate::op_msg_server::Behaviour;
use crate::places::{Place, run};
use proofload_model::samples::Fact;

fn facts(settings: &[(&str, &str)]) -> Vec<Fact> {
    let (place, _server) = Place::lean(Behaviour::default(), settings);
    run(place.engine.verify_settings(&place.target)).expect("facts")
}

fn check(facts: &[Fact], subject: &str, name: &str, expected: (Option<&str>, Option<&str>, Option<bool>)) {
    let fact = facts.iter().find(|fact| fact.subject == subject && fact.name == name);
    let fact = fact.unwrap_or_else(|| panic!("no fact {name}: {facts:?}"));
    assert_eq!((fact.requested.as_deref(), fact.effective.as_deref(), fact.holds), expected, "{name}");
}

#[test]
fn what_was_asked_stands_beside_what_is_in_force() {
    let asked = [("path", "lean"), ("write_concern", "majority"), ("cache_size", "256MiB"), ("syncdelay", "60")];
    let facts = facts(&asked);
    check(&facts, "client", "path", (Some("lean"), Some("lean"), Some(true)));
    check(&facts, "client", "write_concern", (Some("majority"), Some("majority"), Some(true)));
    check(&facts, "engine", "cache_size", (Some("256MiB"), Some("256MiB"), Some(true)));
    check(&facts, "engine", "syncdelay", (Some("60"), Some("60"), Some(true)));
    check(&facts, "engine", "server_version", (None, Some("7.0.99"), None));
    check(&facts, "engine", "topology", (None, Some("standalone"), None));
    check(&facts, "engine", "storage_engine", (None, Some("memory"), None));
}

#[test]
fn what_is_not_in_force_does_not_hold() {
    let facts = facts(&[("cache_size", "1GiB"), ("syncdelay", "5"), ("no_such_parameter", "1")]);
    check(&facts, "engine", "cache_size", (Some("1GiB"), Some("256MiB"), Some(false)));
    check(&facts, "engine", "syncdelay", (Some("5"), Some("60"), Some(false)));
    check(&facts, "engine", "no_such_parameter", (Some("1"), None, Some(false)));
}
