//! States that a deployment should have reached when its warm-up ends, and how each was found. May not judge one.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A state that a deployment should have reached when its warm-up ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadinessCondition {
    /// The share of reads that the cache tier answers no longer moves.
    CacheHits,
    /// The share of the cache tier in use that holds dirty lines no longer moves.
    CacheDirty,
    /// The mode of replication is in force.
    ModeInForce,
    /// The last standby has little log to apply, and does not fall behind.
    StandbyLag,
}

impl ReadinessCondition {
    /// Its name in tables and sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::CacheHits => "reads found in the cache",
            Self::CacheDirty => "dirty share of the cache",
            Self::ModeInForce => "seconds with the mode of replication in force",
            Self::StandbyLag => "log not applied by the last standby",
        }
    }

    /// Whether its values are shares of a whole; else they are bytes.
    pub fn is_share(self) -> bool {
        self != Self::StandbyLag
    }
}

/// How a condition was found at the end of a warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReadinessFound {
    /// The condition.
    pub condition: ReadinessCondition,
    /// Mean over the last rounds: a share, or bytes.
    pub value: f64,
    /// Drift over the time that the rule of the warm-up looks ahead, in the unit of `value`.
    pub drift: f64,
    /// Bounds of the 95 % interval of `drift`.
    pub bounds: (f64, f64),
    /// Number of seconds that were looked at.
    pub seconds: u64,
    /// Whether it holds.
    pub holds: bool,
}

impl fmt::Display for ReadinessFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = self.condition.title();
        let (scale, unit, drift_unit) =
            if self.condition.is_share() { (100.0, "%", "points") } else { (1e-6, "MB", "MB") };
        let [value, drift, low, high] = [self.value, self.drift, self.bounds.0, self.bounds.1].map(|one| scale * one);
        let verb = if self.holds { "ready, drift" } else { "not ready, drift" };
        write!(f, "{title}: {value:.1} {unit}, {verb} {drift:+.1} {drift_unit} [{low:+.1}, {high:+.1}]")
    }
}
