//! Attribution: what experiments with a point say of each resource. The conductor asks here too which visits are still needed, so that what
//! is decided while load runs is what a reader of the record finds.

mod choose;
mod follows;
mod gains;
mod hosts;
mod limit_use;
mod memory;
mod moved;
mod next;
mod point;
mod raise;
mod sides;
mod stalls;
mod together;
mod visits;
mod words;

pub use choose::{chosen_points, missing_knees};
pub(crate) use follows::{ONE_FOR_ONE, exceeds_one_for_one, how_far};
pub(crate) use memory::size_change;
pub use next::{ExpectedBlocks, NextBlock, expected_blocks, next_block};
pub(crate) use point::quantity;
pub use point::{JointVisit, PointAttribution, ResourceAttribution, attributions};
pub use raise::RaiseResult;
pub(crate) use visits::{VisitResult, visit_results};
pub(crate) use words::name_of;
pub use words::{conclusion, sentence_of};
