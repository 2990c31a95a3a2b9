//! The key-value workload on real engines, through the load role as an agent goes it. SQLite is always there;
//! PostgreSQL's tests are skipped aloud where it is missing, unless `PROOFLOAD_REQUIRE_POSTGRESQL` is set.

mod case;
mod faults;
mod kills;
mod live;
mod loads;
/// A server of the wire protocol in this process, with faults on command.
#[path = "../../../engine/tests/support/op_msg_server/mod.rs"]
mod op_msg_server;
mod parts;
mod runs;
mod stall;
/// The conformance suite's places: a folder, or a started server.
#[path = "../../../engine/tests/support/mod.rs"]
mod support;
mod wire;
