//! Little's law on published figures: whether throughput and mean latency fit the number of users.

use super::types::{ReferenceOperation, ReferencePoint};
use proofload_model::samples::LatencyClock;

/// Contains reads and updates that are counted apart as well.
const COMPOUND: &str = "read_modify_write";

impl ReferencePoint {
    /// Operations in flight on average, a count: throughput times mean service time, weighted by the operations'
    /// published counts or shares. `None` when one of them was not published. At most the number of users; near it when
    /// they never wait. Source: Little, Operations Research 9 (1961).
    pub fn in_flight(&self) -> Option<f64> {
        let throughput = self.metrics.get("throughput").filter(|figure| figure.unit == "1/s")?.value;
        let operations = self.weighed();
        let weights: f64 = operations.iter().map(|operation| weight(operation)).sum::<Option<f64>>()?;
        let seconds =
            |operation: &&ReferenceOperation| Some(weight(operation)? * operation.figures.get("mean")?.seconds()?);
        let mean = operations.iter().map(seconds).sum::<Option<f64>>()? / weights;
        let in_flight = throughput * mean;
        (in_flight.is_finite() && !operations.is_empty()).then_some(in_flight)
    }

    fn weighed(&self) -> Vec<&ReferenceOperation> {
        let service = |operation: &&ReferenceOperation| operation.clock == LatencyClock::Service;
        let simple = |operation: &&ReferenceOperation| operation.kind != COMPOUND;
        self.operations.iter().filter(service).filter(simple).collect()
    }
}

fn weight(operation: &ReferenceOperation) -> Option<f64> {
    operation.figures.get("count").or_else(|| operation.figures.get("share")).map(|figure| figure.value)
}
