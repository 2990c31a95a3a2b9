//! The self-test: what holds of every engine, on small data in an empty database, for a reader's server and for the tests. Lists and
//! re-exports.

mod bench;
mod contract;
mod counters;
mod ground;
mod part;
mod parts;
mod settings;
mod upkeep;
mod whole_load;

pub use bench::{Bench, ServerLeave};
pub(crate) use counters::{counters, counters_moved};
pub use ground::Ground;
pub use part::{SelftestPart, SelftestStep, StepOutcome, Steps};
pub use parts::parts;
pub use settings::settings;
pub(crate) use settings::{LOAD_TIME, spec};
pub use whole_load::{WholeLoad, whole_load};
