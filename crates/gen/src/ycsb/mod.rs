//! The key-value workload in YCSB's vocabulary: its keys, its values and its operations.
//!
//! Everything is a pure function of two seeds and an index: operation `index` is the same on every client, after
//! every restart and in any order of asking. Where inserts make the keyspace grow, the choice of a record also
//! depends on how many records are readable, which the caller states in a [`Keyspace`]. No statement, no document
//! and no connection here.
//!
//! Sources: Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010, and YCSB 0.17.0
//! (brianfrankcooper/YCSB), whose distributions are named where ours equal or differ from them.

mod choice;
pub mod compatible;
mod feistel;
mod inserts;
mod keys;
mod keyspace;
mod mix;
mod operation;
mod plan;
mod precise;
mod real;
mod settings;
mod stream;
mod values;
mod version;
mod wrong;
mod zipf;

pub use keys::Keys;
pub use keyspace::Keyspace;
pub use mix::{Kind, Mix, Shares};
pub use operation::Operation;
pub use plan::Plan;
pub use settings::{Compatibility, InsertOrder, KeyChoice, LengthChoice, ScanLengths, Settings, Shape};
pub use values::Values;
pub use version::{GENERATOR_VERSION, YCSB_THETA};
pub use wrong::Wrong;
