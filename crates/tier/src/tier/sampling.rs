//! The sample of references that an open pool keeps for forecasts. It changes nothing of the pool.

use super::front::Tier;
use crate::forecast::{SamplePiece, SampleRing, SampleSettings};

impl Tier {
    /// Begins to keep a sample of the references, 1 MiB of memory, in the place of an earlier one.
    pub fn sample(&self, settings: SampleSettings) {
        let ring = SampleRing::new(settings);
        self.lock().sample = Some(ring);
    }

    /// References, at most so many, of the sample from a number on; `None` of a pool that keeps none.
    pub fn sampled_since(&self, number: u64, most: usize) -> Option<SamplePiece> {
        self.lock().sample.as_ref().map(|ring| ring.since(number, most, self.geometry.line_bytes))
    }
}
