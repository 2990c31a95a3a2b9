//! What a warehouse record says beyond throughput and response times: data, queries, scan rates, what bound the work, and how
//! much data the machine can take. May not know blocks, formats or charts.

mod calibrated;
mod data;
mod metrics;
mod pairs;
mod queries;
mod rates;
mod rating;
mod recorded;

pub use calibrated::{CalibrationFindings, Cost, calibrated, cost};
pub use data::{KIND, WarehouseData, layout, warehouse_data};
pub(super) use metrics::{geometric_means, metrics, query_times};
pub use pairs::{Pairing, pairings, published_pairings};
pub use queries::{Class, QueryTotals, query_totals};
pub use rates::Sources;
pub use rating::{Rating, Reach, TARGETS_S, baselines, rating, raw_of};
pub use recorded::recorded_reference;
