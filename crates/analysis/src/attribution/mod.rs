//! Attribution by intervention: each resource of a point is changed in turn, in randomised blocks with the untouched point; how far the
//! result follows decides what bound it. Source: elasticities of closed systems, Cao, Advances in Applied Probability 22 (1990).

mod decide;
mod estimate;
mod reach;
mod sequence;

pub use decide::{Decision, ResourceVerdict, ResponseDecision, decide, decide_response};
pub use estimate::{Experiment, KnobElasticity, KnobVisit, Movement, Treatment};
pub use reach::{LimitReach, LimitUse};
pub use sequence::{LEAST_BLOCKS, MOST_BLOCKS, PILOT_BLOCKS, kept, order, suffices};
