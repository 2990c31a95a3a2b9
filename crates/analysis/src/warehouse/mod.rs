//! The figures by which a data warehouse is rated: each formula with its source and how sure it is. Pure arithmetic over
//! measured or published numbers; may not read a record, and may not name a figure whose formula is not known.

mod capacity;
mod formula;
mod model;
#[cfg(test)]
mod published;
mod rates;
mod relative;
mod units;
mod verdict;

pub use capacity::{Reserve, maximum_user_data};
pub use formula::{FORMULAS, Formula, Status, formula};
pub use model::{Binding, CapacityRefusal, Demand, FARTHEST, Machine, OwnCapacity, Target, largest_raw_size};
pub use rates::{compression, hit_share, io_average};
pub use relative::{Baseline, ComparableResult, Unlike, relative_percent};
pub use units::{CpuSeconds, MbPerCpuSecond, MbPerSecond, Megabytes, QueriesPerHour, RawTerabytes, Seconds};
pub use verdict::{Calibration, Confidence, LimitingResource, RatingVerdict, WindowUse, verdict};
