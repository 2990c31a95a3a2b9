//! What is counted of a link while bytes pass it, for who watches it. Only reads.

use super::direction::Direction;
use super::lateness::LatenessCounts;
use super::link::Way;
use std::sync::Arc;
use std::time::Duration;

/// A handle of the counters of a link.
pub(crate) struct RelayMeter([Arc<Direction>; 2]);

/// Counters of one direction since the link was made.
pub(crate) struct DirectionCounts {
    /// The direction.
    pub(crate) way: Way,
    /// How late bytes left.
    pub(crate) late: LatenessCounts,
    /// CPU time of the threads that relay it.
    pub(crate) cpu: Duration,
}

impl RelayMeter {
    /// Counters of these directions, in the order of [`Way::BOTH`].
    pub(super) fn of(directions: &[Arc<Direction>; 2]) -> Self {
        Self(directions.clone())
    }

    /// Reads them.
    pub(crate) fn read(&self) -> [DirectionCounts; 2] {
        [0, 1].map(|place: usize| {
            let direction = &self.0[place];
            DirectionCounts { way: Way::BOTH[place], late: direction.lateness(), cpu: direction.cpu() }
        })
    }
}
