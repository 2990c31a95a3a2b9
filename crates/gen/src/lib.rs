//! Deterministic data, keys and parameters.
//!
//! This crate answers two questions and nothing else: *which rows does a database hold after
//! the load*, and *which inputs does virtual user `u` send as its transaction number `n`* (of the
//! key-value workload: *which operation has number `n`*). Both answers are pure functions of a
//! [`Seed`]: no clock, no thread, no file, no environment, no floating-point number in a row, and
//! no import from the other crates.
//!
//! # Population
//!
//! ```
//! use proofload_gen::Seed;
//! use proofload_gen::tprocc::population::{Population, RowStream, Timestamp};
//! use proofload_gen::tprocc::{CLoad, Profile, Scale};
//!
//! let seed = Seed(42);
//! let population = Population {
//!     seed,
//!     profile: Profile::SPEC,
//!     scale: Scale::TOY,
//!     c_load: CLoad::draw(seed, &Profile::SPEC),
//!     loaded_at: Timestamp(1_767_225_600_000_000),
//! };
//! let mut stock = population.stock(1);
//! while let Some(row) = stock.next_row() {
//!     // `row` is overwritten by the next call: no allocation per row.
//!     let _ = (row.s_i_id, row.s_data.as_str());
//! }
//! ```
//!
//! A loader that is generic over tables walks a [`Chunk`](tprocc::population::Chunk) with
//! [`Population::visit`](tprocc::population::Population::visit) and takes each row apart with
//! [`Row::for_each_value`](tprocc::population::Row::for_each_value);
//! [`ContentHash`](tprocc::population::ContentHash) compares what was meant with what an engine
//! gives back, whatever the order of its rows.
//!
//! # Inputs
//!
//! ```
//! use proofload_gen::Seed;
//! use proofload_gen::tprocc::inputs::{Homes, InputPlan, InputSettings, Mix};
//! use proofload_gen::tprocc::{CLoad, Constants, Profile, Scale};
//!
//! let seed = Seed(42);
//! let plan = InputPlan::new(InputSettings {
//!     seed,
//!     profile: Profile::SPEC,
//!     scale: Scale::TOY,
//!     c_load: CLoad::draw(seed, &Profile::SPEC),
//!     constants: Constants::for_run(seed, CLoad::draw(seed, &Profile::SPEC), &Scale::TOY, &Profile::SPEC),
//!     warehouses: 10,
//!     users: 4,
//!     mix: Mix::Deck,
//!     homes: Homes::Fixed,
//! })?;
//! let mut inputs = plan.user(3);
//! let first = inputs.next_input();
//! assert_eq!(first, plan.input_at(3, 0));
//! # Ok::<(), proofload_gen::Error>(())
//! ```
//!
//! # Key-value operations
//!
//! ```
//! use proofload_gen::Seed;
//! use proofload_gen::ycsb::{
//!     Compatibility, InsertOrder, KeyChoice, LengthChoice, Mix, Plan, ScanLengths, Settings, Shape,
//! };
//!
//! let plan = Plan::new(Settings {
//!     data_seed: Seed(42),
//!     input_seed: Seed(43),
//!     records: 300_000_000,
//!     expected_operations: 2_000_000_000,
//!     mix: Mix::preset('a')?,
//!     shape: Shape { fields: 10, length: 100, lengths: LengthChoice::Constant, least_length: 100 },
//!     key_choice: KeyChoice::preset('a')?,
//!     compatibility: Compatibility::Exact,
//!     insert_order: InsertOrder::Hashed,
//!     zero_padding: 1,
//!     read_all_fields: true,
//!     write_all_fields: false,
//!     scan_lengths: ScanLengths { least: 1, most: 100, choice: LengthChoice::Uniform },
//! })?;
//! let (keys, values) = (plan.keys(), plan.values());
//! let mut keyspace = plan.keyspace(); // one per virtual user
//! let mut key = String::with_capacity(proofload_gen::ycsb::Keys::MOST_CHARACTERS);
//! let mut value = [0; 100];
//!
//! let index = 1_999_999_999;
//! keyspace.set(plan.readable_after(index));
//! let operation = plan.operation(index, &keyspace);
//! keys.write(operation.record, &mut key);
//! if let Some(field) = operation.field {
//!     values.fill(operation.record, field, index + 1, &mut value);
//!     assert_eq!(values.check(operation.record, field, &value), Ok(index + 1));
//! }
//! # Ok::<(), proofload_gen::Error>(())
//! ```

mod arrivals;
mod error;
mod rng;
mod seed;
mod text;
pub mod tprocc;
pub mod ycsb;

pub use arrivals::{PoissonArrivals, exponential_ns};
pub use error::Error;
pub use rng::Rng;
pub use seed::Seed;
pub use text::Text;
