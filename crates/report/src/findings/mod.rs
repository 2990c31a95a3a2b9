//! Findings: what a record says, typed and pure. Numbers leave here as quantities or as a reason why there is none.
//! May not know blocks, formats or charts.

mod agents;
mod audits;
mod bottleneck;
pub mod comparison;
mod counters;
mod curve;
mod efficiency;
mod evaluate;
mod factor;
mod latencies;
mod level;
mod load;
mod lost_sessions;
mod metrics;
mod pacing;
mod point;
mod run;
mod search;
mod search_words;
mod sentinel;
mod steal;
mod telemetry;
mod verdict;
mod void;
pub mod warehouse;
mod whole_run;

pub use agents::AgentFindings;
pub use audits::Audit;
pub use bottleneck::{NOT_CONFIRMED, Ranking};
pub use curve::{Curve, CurveGroup};
pub use evaluate::{Findings, evaluate, evaluate_beside};
pub use factor::{level_number, level_text, setting_title, size_text};
pub use latencies::{ByKind, FEWER_THAN, PERCENTILES};
pub use level::Measured;
pub use load::{CompletedLoad, Failure, LEAST_ACHIEVED, OfferedRate};
pub use lost_sessions::LostSessions;
pub use pacing::{KeptLimit, Pacing};
pub use point::{PointFindings, Verdict};
pub use run::{CountedTwice, RunFindings, WarmUp};
pub use search::{ChosenLoad, SearchFindings, SearchState, SentencePart, searches};
pub use sentinel::Sentinels;
pub use steal::NOTABLE_STEAL;
pub use telemetry::{Trace, traces};
pub use void::{Void, VoidClass};
pub use whole_run::WholeRun;
