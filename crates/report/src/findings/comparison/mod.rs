//! Two records side by side: their points paired by levels, what else differs, ratios of their results with a verdict each, and
//! whether the candidate may pass a gate. May not know blocks, formats or charts.

mod beside;
mod compare;
mod differences;
mod duet_checks;
mod estimands;
mod filter;
mod gate;
mod metric;
mod outcome;
mod pairing;
mod query_pairs;
mod same_seconds;
mod throughput;

pub use super::point_choice::Level;
pub use beside::AttemptsByTime;
pub use compare::{Comparison, LeftOut, NamedRecord, PairLabel, Row, Verdict, VoidPoint, compare};
pub use differences::{Difference, Subject};
pub use duet_checks::{contention_words, duet_check};
pub use filter::{ComparisonFilter, are_throughput, expect_directed, expect_levels, expect_metrics};
pub use gate::{Finding, Gate, GateOutcome, JudgedRow, NotInTurns, Policy, Rules, gate};
pub(super) use metric::metrics_of;
pub use metric::{Better, Metric};
pub use pairing::Which;
pub use query_pairs::QueryPair;
