//! Deterministic data, keys and parameters.
//!
//! This crate answers two questions and nothing else: *which rows does a database hold after
//! the load*, and *which inputs does virtual user `u` send as its transaction number `n`*. Both
//! answers are pure functions of a [`Seed`]: no clock, no thread, no file, no environment, no
//! floating-point number in a row, and no import from the other crates.
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
//!     profile: Profile::Spec,
//!     scale: Scale::TOY,
//!     c_load: CLoad::draw(seed),
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
//!     profile: Profile::Spec,
//!     scale: Scale::TOY,
//!     constants: Constants::for_run(seed, CLoad::draw(seed), &Scale::TOY),
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

mod error;
mod rng;
mod seed;
mod text;
pub mod tprocc;

pub use error::Error;
pub use rng::Rng;
pub use seed::Seed;
pub use text::Text;
