//! Whether a limit that throughput follows is reached now, or only once it is lowered. What was used of it decides, not the result.

use super::decide::{Decision, ResourceVerdict};

/// Share of a limit that is used from which on it counts as reached.
const FULL: f64 = 0.95;
/// Share of the seconds at a limit from which on it counts as reached although less is used on average.
const MOST_SECONDS: f64 = 0.5;
/// Share of a limit that is used at least where it is reached in bursts: nothing is at its limit for a larger share of the time than is used
/// of it, so that with less no elasticity of one that binds (0.7) can come of it.
const LEAST_IN_BURSTS: f64 = 0.7;

/// What was used of a limit that only acts once it is reached, as shares of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitUse {
    /// Mean over the visits of the untouched point that count.
    pub mean: f64,
    /// Share of their seconds in which the limit was reached; `None` where it was not observed by the second.
    pub at_limit: Option<f64>,
    /// Mean over the visits in which it alone was lowered, of what was in force then; `None` without one.
    pub lowered: Option<f64>,
}

/// How a limit is reached by the untouched point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReach {
    /// All the time, or nearly.
    Always,
    /// Bursts reach it: by the second, or in shorter ones, after which even a lowered limit is not used up on average.
    InBursts,
    /// Never: it binds from some lower value on.
    Not,
}

impl LimitUse {
    /// Tells whether a visit, or a second, used so much of a limit that it reached it.
    pub fn is_full(share: f64) -> bool {
        share >= FULL
    }

    /// How the limit is reached. Use without bursts fills a limit that is lowered below it, and one that comes in bursts does not: it is at
    /// the limit for a part of the time only, before and after.
    pub fn reach(&self) -> LimitReach {
        let in_seconds = self.at_limit.is_some_and(|share| share >= MOST_SECONDS);
        let in_shorter = self.mean >= LEAST_IN_BURSTS && self.lowered.is_some_and(|share| !Self::is_full(share));
        if Self::is_full(self.mean) {
            LimitReach::Always
        } else if in_seconds || in_shorter {
            LimitReach::InBursts
        } else {
            LimitReach::Not
        }
    }
}

impl Decision {
    /// The decision on a limit of which so much was used: one that is not reached does not bind now, and contributes at most.
    #[must_use]
    pub fn given(self, used: &LimitUse) -> Self {
        match self.verdict {
            ResourceVerdict::Confirmed if used.reach() == LimitReach::Not => {
                Self { verdict: ResourceVerdict::Contributes, ..self }
            }
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mean: f64, at_limit: Option<f64>, lowered: Option<f64>, expected: LimitReach) {
        assert_eq!(LimitUse { mean, at_limit, lowered }.reach(), expected, "{mean} {at_limit:?} {lowered:?}");
    }

    #[test]
    fn a_limit_is_reached_all_the_time_in_bursts_or_not() {
        check(0.99, None, None, LimitReach::Always);
        // 92 % without bursts: the lowered limit is used up.
        check(0.92, None, Some(1.0), LimitReach::Not);
        check(0.92, Some(0.2), Some(0.99), LimitReach::Not);
        // Checkpoints: at the limit in most seconds, nothing in the others.
        check(0.75, Some(0.7), Some(0.83), LimitReach::InBursts);
        check(0.75, Some(0.7), Some(1.0), LimitReach::InBursts);
        // Bursts of parts of a second: 0.8 / (0.7 + 0.3 · 0.8) of the lowered limit is used.
        check(0.8, Some(0.1), Some(0.85), LimitReach::InBursts);
        // Not for more than 60 % of the time at the limit.
        check(0.6, None, Some(0.68), LimitReach::Not);
        check(0.6, None, None, LimitReach::Not);
    }

    #[test]
    fn what_does_not_bind_now_contributes_at_most() {
        let decision = |verdict| Decision { p: Some(0.001), verdict };
        let (part, full) = (
            LimitUse { mean: 0.92, at_limit: None, lowered: Some(1.0) },
            LimitUse { mean: 0.99, at_limit: None, lowered: Some(1.0) },
        );
        let confirmed = decision(ResourceVerdict::Confirmed);
        assert_eq!(confirmed.clone().given(&full), confirmed);
        assert_eq!(confirmed.given(&part), decision(ResourceVerdict::Contributes));
        let refuted = decision(ResourceVerdict::Refuted { is_firm: true });
        assert_eq!(refuted.clone().given(&part), refuted);
    }
}
