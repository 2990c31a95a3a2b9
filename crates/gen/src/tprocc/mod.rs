//! TPROC-C, the OLTP workload derived from TPC-C: its rows and its inputs.
//!
//! Clause numbers are those of TPC-C revision 5.11 (February 2010). Results obtained with it
//! are "TPC-C-derived, not a TPC result". No SQL and no transaction logic here.

mod constants;
mod departures;
pub mod inputs;
mod last_name;
mod nurand;
pub mod population;
mod profile;
mod scale;

pub use constants::{CLoad, Constants};
pub use departures::{Departure, Departures};
pub use last_name::{LastName, last_name};
pub use nurand::NuRand;
pub use profile::Profile;
pub use scale::{DISTRICTS_PER_WAREHOUSE, Scale};
