//! The rule by which a warm-up counts as steady, made from the study's procedure. Plain values: nothing here looks at samples.

use proofload_model::study::Procedure;
use std::time::Duration;

/// Fewer samples than this say too little about their own noise: with windows of 10 s one warm-up in twelve
/// was declared too early in simulation, with 20 s one in sixty.
const FEWEST_SAMPLES: usize = 20;

/// When a system counts as steady. No default: a setting that changes a result is stated by the study.
///
/// **Tolerance and noise.** Drift is judged over the *horizon*: five rounds or the coming measurement,
/// whichever is longer; where throughput is seen to approach a level along a bending curve, over five
/// rounds only, because a slope taken further would overstate what is left and the remainder decides. Its
/// 95 % interval must lie inside ± `tolerance`, so a short noisy window
/// cannot pass: with first-order noise of 5 % (lag-one correlation 0.5, 1 s samples) the interval of
/// the drift over 60 s is ± 7.6 %. The detector then keeps waiting and lengthens the window it looks at
/// (2, 3, 4, 6, 8 … times five rounds, back from now); the half-width falls with the power 1.5 of that
/// length, about 12 × noise × horizon / length^1.5 for lengths in seconds. The bound on the remainder
/// narrows with the square root of the time observed only and decides on short studies: with that noise
/// and 30 s of measurement a flat system is declared after 80 s at a tolerance of 5 %, in simulation. If
/// the budget is too short for the noise, the verdict says that the interval is too wide, which is not
/// the same as drifting; the remedy is a longer budget or a wider tolerance written into the study.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Round length in whole seconds; a multiple of the checkpoint period where that is known.
    pub round: Duration,
    /// No verdict before this time of warm-up.
    pub at_least: Duration,
    /// Longest warm-up.
    pub at_most: Duration,
    /// Length of the coming measurement.
    pub measure: Duration,
    /// Tolerance of drift and of the remainder, as a share of the mean.
    pub tolerance: f64,
}

/// Rounds in the shortest window. Source: SNIA's test specification.
pub(super) const ROUNDS_IN_WINDOW: usize = 5;

impl Rule {
    /// The rule of a study's procedure.
    pub fn of(procedure: &Procedure) -> Self {
        let warm_up = &procedure.warm_up;
        Self {
            round: warm_up.round,
            at_least: warm_up.at_least,
            at_most: warm_up.at_most,
            measure: procedure.measure,
            tolerance: warm_up.tolerance,
        }
    }

    /// Round length in samples of 1 s, at least 1.
    pub(crate) fn round_seconds(&self) -> usize {
        (self.round.as_secs() as usize).max(1)
    }

    /// Shortest window in samples of 1 s: [`ROUNDS_IN_WINDOW`] rounds, and as many more as make
    /// [`FEWEST_SAMPLES`] where the budget allows them.
    pub(crate) fn window_seconds(&self) -> usize {
        let round = self.round_seconds();
        let samples = FEWEST_SAMPLES.min(self.at_most.as_secs() as usize);
        round * ROUNDS_IN_WINDOW.max(samples / round)
    }

    /// The time over which drift is judged: the shortest window or the measurement, the longer of both.
    pub fn horizon(&self) -> Duration {
        Duration::from_secs(self.window_seconds() as u64).max(self.measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_window_has_twenty_samples_where_the_budget_allows() {
        for (round, at_most, expected) in
            [(2, 300, 20), (2, 15, 14), (1, 5, 5), (4, 300, 20), (60, 3_600, 300), (3, 300, 18)]
        {
            let rule = Rule {
                round: Duration::from_secs(round),
                at_least: Duration::ZERO,
                at_most: Duration::from_secs(at_most),
                measure: Duration::from_secs(30),
                tolerance: 0.05,
            };
            assert_eq!(rule.window_seconds(), expected, "round {round}, budget {at_most}");
        }
    }
}
