//! Deciding live when the warm-up ends. The decision itself is `analysis::steady`, which needs nothing but the seconds so far.

use proofload_analysis::steady::{Detector, Rule, Verdict};
use proofload_model::study::Procedure;

/// State of a warm-up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WarmUpState {
    /// Go on.
    Waiting,
    /// Settled.
    Settled,
    /// The budget is spent: the window is still measured, as context, but the point is void.
    NeverSettled {
        /// Why it is not steady.
        reasons: Vec<String>,
    },
}

/// Watches one warm-up.
pub(crate) struct WarmUpWatch {
    detector: Detector,
    at_most: u64,
}

impl WarmUpWatch {
    /// Begins to watch by the rules of a procedure.
    pub(crate) fn new(procedure: &Procedure) -> Self {
        Self { detector: Detector::new(Rule::of(procedure)), at_most: procedure.warm_up.at_most.as_secs() }
    }

    /// Looks at all seconds since the load began.
    pub(crate) fn look(&mut self, throughput: &[f64]) -> WarmUpState {
        let spent = throughput.len() as u64 >= self.at_most;
        match self.detector.update(throughput) {
            Verdict::Steady { .. } => WarmUpState::Settled,
            Verdict::NotSteady { reasons, .. } if spent => {
                WarmUpState::NeverSettled { reasons: reasons.iter().map(ToString::to_string).collect() }
            }
            Verdict::Lost { at, .. } if spent => {
                WarmUpState::NeverSettled { reasons: vec![format!("throughput changed at second {at}")] }
            }
            Verdict::NotSteady { .. } | Verdict::Lost { .. } => WarmUpState::Waiting,
        }
    }
}
