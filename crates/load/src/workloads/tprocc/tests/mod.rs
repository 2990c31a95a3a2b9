//! Tests that need a database. SQLite is always there; those of another engine are skipped aloud where it is missing, unless
//! `PROOFLOAD_REQUIRE_POSTGRESQL` or `PROOFLOAD_REQUIRE_MARIADB` is set.

mod build;
pub(super) mod case;
mod commits;
mod departures;
mod faults;
mod kills;
mod many;
mod meeting;
mod model;
mod one_flight;
mod paced;
mod peers;
mod procedures;
mod restart;
mod role;
mod run;
mod stall;
mod transactions;

use crate::workloads::support;
