//! What a study asks of the detector. Plain values: nothing here looks at samples.

use std::time::Duration;

/// Fewer samples than this say too little about their own noise: with windows of 10 s one warm-up in twelve
/// was declared too early in simulation, with 20 s one in sixty.
const FEWEST_SAMPLES: usize = 20;

/// When a system counts as steady. No default: a setting that changes a result is stated by the study.
///
/// **Tolerance and noise.** Drift is judged over the *horizon*: five rounds or the coming measurement,
/// whichever is longer; where throughput is seen to approach a level along a bending curve, over five
/// rounds only, because a slope taken further would overstate what is left and the remainder decides. Its
/// 95 % interval must lie inside ± `drift_tolerance`, so a short noisy window
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
    /// Rounds in the shortest window, 5 in SNIA's test specification.
    pub rounds_in_window: u32,
    /// No verdict before this time of warm-up.
    pub at_least: Duration,
    /// The budget; at its end the verdict is final.
    pub at_most: Duration,
    /// Length of the coming measurement, for the expected shortfall.
    pub measure: Duration,
    /// Largest drift over the horizon, as a share of the mean (0.02 is ± 2 %).
    pub drift_tolerance: f64,
    /// Largest expected shortfall of the measurement from the final level, as a share of it; where the
    /// measurement is too short and noisy to resolve that much, what it can resolve is taken instead.
    pub remainder_tolerance: f64,
}

/// The study's own words from which a [`Rule`] follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Procedure {
    /// Shortest warm-up.
    pub at_least: Duration,
    /// Longest warm-up.
    pub at_most: Duration,
    /// Length of the measurement.
    pub measure: Duration,
    /// Checkpoint, flush or compaction period, from engine events or the study, if known.
    pub period: Option<Duration>,
    /// Tolerance for drift and for the remainder, as a share (0.02 is the method's value).
    pub tolerance: f64,
}

impl Rule {
    /// Rounds of a fifth of the shortest warm-up, between 1 s and 60 s, lengthened to a whole number of
    /// periods where the period is known; windows of five rounds.
    pub fn of(procedure: &Procedure) -> Self {
        let shortest = (procedure.at_least.as_secs() / 5).clamp(1, 60);
        let period = procedure.period.map_or(1, |p| (p.as_secs_f64().round() as u64).max(1));
        Self {
            round: Duration::from_secs(shortest.div_ceil(period) * period),
            rounds_in_window: 5,
            at_least: procedure.at_least,
            at_most: procedure.at_most,
            measure: procedure.measure,
            drift_tolerance: procedure.tolerance,
            remainder_tolerance: procedure.tolerance,
        }
    }

    /// Round length in samples of 1 s, at least 1.
    pub(super) fn round_seconds(&self) -> usize {
        (self.round.as_secs() as usize).max(1)
    }

    /// Shortest window in samples of 1 s: the asked rounds, never fewer than three, and as many more as make
    /// [`FEWEST_SAMPLES`] where the budget allows them.
    pub(super) fn window_seconds(&self) -> usize {
        let round = self.round_seconds();
        let samples = FEWEST_SAMPLES.min(self.at_most.as_secs() as usize);
        round * (self.rounds_in_window as usize).max(3).max(samples / round)
    }

    /// The time over which drift is judged: the shortest window or the measurement, the longer of both.
    pub fn horizon(&self) -> Duration {
        Duration::from_secs(self.window_seconds() as u64).max(self.measure)
    }
}

/// A readiness predicate of the engine (buffer pool full, dirty pages level, no compaction debt),
/// evaluated once per round.
#[derive(Clone, Debug, PartialEq)]
pub struct Readiness {
    /// Name as printed, with its condition: "buffer pool hit rate slope <= 1 %/min".
    pub name: String,
    /// One entry per round since the warm-up began.
    pub rounds: Vec<State>,
}

/// What a predicate said in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// True for the whole round; the observed value.
    Satisfied(f64),
    /// Observed value of a predicate that was not true for the whole round.
    Unsatisfied(f64),
    /// The counter is missing; printed as such, never taken as satisfied and never as an obstacle.
    NotObserved,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(at_least: u64, period: Option<f64>, round: u64) {
        let rule = Rule::of(&Procedure {
            at_least: Duration::from_secs(at_least),
            at_most: Duration::from_secs(7_200),
            measure: Duration::from_secs(30),
            period: period.map(Duration::from_secs_f64),
            tolerance: 0.02,
        });
        assert_eq!(rule.round.as_secs(), round);
    }

    #[test]
    fn rounds_are_whole_periods_and_scale_with_the_shortest_warm_up() {
        check(10, None, 2);
        check(50, None, 10);
        check(3_600, None, 60);
        check(0, None, 1);
        check(10, Some(30.0), 30);
        check(3_600, Some(45.0), 90);
        check(3_600, Some(300.0), 300);
    }

    #[test]
    fn the_shortest_window_has_twenty_samples_where_the_budget_allows() {
        for (round, at_most, expected) in
            [(2, 300, 20), (2, 15, 14), (1, 5, 5), (4, 300, 20), (60, 3_600, 300), (3, 300, 18)]
        {
            let rule = Rule {
                round: Duration::from_secs(round),
                rounds_in_window: 5,
                at_least: Duration::ZERO,
                at_most: Duration::from_secs(at_most),
                measure: Duration::from_secs(30),
                drift_tolerance: 0.05,
                remainder_tolerance: 0.05,
            };
            assert_eq!(rule.window_seconds(), expected, "round {round}, budget {at_most}");
        }
    }
}
