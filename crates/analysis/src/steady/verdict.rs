//! What the detector says, in types; the texts for the report follow from them.

use std::fmt;

use super::super::quantity::Quantity;

/// A stretch of the warm-up in whole seconds since its start: `from` included, `to` excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First second.
    pub from: usize,
    /// Second after the last.
    pub to: usize,
}

impl Window {
    /// Length in seconds.
    pub fn seconds(&self) -> usize {
        self.to - self.from
    }
}

/// The verdict on a warm-up. "Not steady" is a result, not an error.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Steady since `window`, which ended when this was declared.
    Steady {
        /// The evidence window.
        window: Window,
        /// What was found in it.
        evidence: Box<Evidence>,
    },
    /// The load is not (yet) steady.
    NotSteady {
        /// Every reason that stands against the best window, at least one.
        reasons: Vec<Reason>,
        /// The window that came nearest, as context and never as the result.
        best: Option<Box<Evidence>>,
        /// Whether the budget has ended, so that waiting longer changes nothing.
        budget_spent: bool,
    },
    /// Was steady, then changed.
    Lost {
        /// Second of the warm-up at which the change began.
        at: usize,
        /// When it had been declared steady, as seconds since the start.
        declared: usize,
    },
}

impl Verdict {
    /// The evidence window if steady.
    pub fn steady_window(&self) -> Option<Window> {
        match self {
            Self::Steady { window, .. } => Some(*window),
            Self::NotSteady { .. } | Self::Lost { .. } => None,
        }
    }
}

/// What was found in one window.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The window.
    pub window: Window,
    /// Mean throughput over it, samples per second as given.
    pub mean: f64,
    /// Drift over the rule's horizon as a share of the mean, with its interval.
    pub drift: Quantity,
    /// Expected shortfall of the coming measurement from the final level as a share of it (negative when
    /// throughput falls towards its level), with its profile-likelihood interval.
    pub remainder: Option<Quantity>,
    /// Whether throughput approaches a level along a curve that is seen to bend, with a time constant
    /// shorter than the time observed; a line or noise alone is not.
    pub end_in_sight: bool,
    /// Half-width of the 95 % interval that the coming measurement's own mean will have, as a share of it,
    /// from the noise of this window: a remainder below it cannot be seen and is not asked for.
    pub resolution: f64,
}

/// Why a warm-up is not steady.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Fewer seconds than the shortest window or the shortest warm-up.
    TooShort {
        /// Seconds seen since the start or the last gap.
        seconds: usize,
        /// Seconds needed.
        needed: usize,
    },
    /// A second is missing inside the stretch that would be judged.
    Gap {
        /// The missing second.
        at: usize,
    },
    /// Nothing was completed.
    NoThroughput,
    /// The drift's interval lies (partly) outside the tolerance and the drift itself does too.
    Drifting {
        /// Drift over the horizon as a share of the mean.
        drift: Quantity,
        /// The tolerance.
        tolerance: f64,
    },
    /// The drift is inside the tolerance, but its interval is too wide to say so.
    TooNoisy {
        /// Drift over the horizon as a share of the mean.
        drift: Quantity,
        /// The tolerance.
        tolerance: f64,
    },
    /// The fitted exponential says that the measurement would miss the final level.
    Remainder {
        /// Expected shortfall as a share of the final level.
        remainder: Quantity,
        /// The tolerance.
        tolerance: f64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { seconds, needed } => {
                write!(f, "only {seconds} s of load so far; a verdict needs {needed} s")
            }
            Self::Gap { at } => write!(f, "second {at} is missing from the samples"),
            Self::NoThroughput => f.write_str("no operation completed"),
            Self::Drifting { drift, tolerance } => {
                write!(f, "throughput drifts by {}, tolerance {:.1} %", percent(drift), 100.0 * tolerance)
            }
            Self::TooNoisy { drift, tolerance } => write!(
                f,
                "too noisy to tell: drift {}, tolerance {:.1} %; use a longer warm-up budget or a wider tolerance",
                percent(drift),
                100.0 * tolerance
            ),
            Self::Remainder { remainder, tolerance } => write!(
                f,
                "the measurement would miss the final level by {}, tolerance {:.1} %",
                percent(remainder),
                100.0 * tolerance
            ),
        }
    }
}

fn percent(share: &Quantity) -> String {
    let value = 100.0 * share.value();
    match share.interval().bounds() {
        Some((low, high)) => format!("{value:.1} % [{:.1}, {:.1}]", 100.0 * low, 100.0 * high),
        None => format!("{value:.1} %"),
    }
}
