//! Tests that need a database. SQLite is always there; PostgreSQL's are skipped aloud where it is missing, unless
//! `PROOFLOAD_REQUIRE_POSTGRESQL` is set.

mod build;
pub(super) mod case;
mod faults;
mod many;
mod model;
mod role;
mod run;
/// The conformance suite's places: a folder, or a started server.
#[path = "../../../../../engine/tests/support/mod.rs"]
#[expect(dead_code, reason = "the conformance suite uses more of it")]
mod support;
mod transactions;
