//! Tests that need a database. SQLite is always there; those of other engines are skipped aloud where the engine is
//! missing, unless `PROOFLOAD_REQUIRE_POSTGRESQL` is set.

mod answers;
mod bad_input;
mod case;
mod data;
mod engines;
mod golden;
mod layouts;
mod loads;
mod official;
mod runs;

use crate::workloads::support;
