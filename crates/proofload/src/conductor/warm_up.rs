//! Deciding live when the warm-up ends: after its planned length, or as soon as `analysis::steady` declares the load steady.

use proofload_analysis::steady::{Detector, Rule, Verdict};
use proofload_model::events::RunEvent;
use proofload_model::study::Procedure;

/// Watches one warm-up.
pub(crate) enum WarmUpWatch {
    /// Ends after this many seconds.
    Fixed(u64),
    /// Ends in a steady state, or when the budget of seconds is spent.
    Detected(Box<Detector>, u64),
}

impl WarmUpWatch {
    /// Begins to watch by the rules of a procedure.
    pub(crate) fn new(procedure: &Procedure) -> Self {
        if procedure.has_fixed_warm_up() {
            return Self::Fixed(procedure.warm_up.at_least.as_secs());
        }
        Self::Detected(Box::new(Detector::new(Rule::of(procedure))), procedure.warm_up.at_most.as_secs())
    }

    /// Looks at all seconds since the load began; the event of its end, once it has ended.
    pub(crate) fn look(&mut self, throughput: &[f64]) -> Option<RunEvent> {
        let seconds = throughput.len() as u64;
        match self {
            Self::Fixed(planned) => (seconds >= *planned).then_some(RunEvent::WarmedUp { seconds }),
            Self::Detected(detector, budget) => {
                let verdict = detector.update(throughput);
                let settled = matches!(verdict, Verdict::Steady { .. });
                let seconds = Some(seconds);
                (settled || seconds >= Some(*budget)).then(|| match reasons(&verdict) {
                    None => RunEvent::Steady { seconds },
                    Some(verdict) => RunEvent::NotSteady { seconds, verdict },
                })
            }
        }
    }
}

/// What stands against a steady state, in words.
fn reasons(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Steady { .. } => None,
        Verdict::NotSteady { reasons, .. } => {
            Some(reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        }
        Verdict::Lost { at, .. } => Some(format!("throughput changed at second {at}")),
    }
}
