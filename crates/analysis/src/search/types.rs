//! What a search is asked, what it is told, what it answers. May not choose.

/// What is searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The smallest load whose value is within a share of the largest value.
    Peak {
        /// The share, 0 to 1.
        plateau: f64,
    },
    /// The largest load whose value is at most this, every smaller one that was tried keeping it too.
    Limit {
        /// The limit, in the unit of the values.
        at_most: f64,
    },
}

/// What a search is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// What is searched for.
    pub goal: Goal,
    /// The smallest load; above 0. It is tried first.
    pub from: f64,
    /// The largest load.
    pub to: f64,
    /// Whether loads are whole numbers.
    pub whole: bool,
    /// The answer is known when the range that holds it is no wider than this share of it, or than 1 of whole numbers.
    pub resolution: f64,
    /// Measurements at most.
    pub points: usize,
    /// How often a load may be measured while its interval does not tell.
    pub times: usize,
}

/// A load that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredLoad {
    /// The load.
    pub load: f64,
    /// Measurements that its outcome is made of.
    pub times: usize,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A value with its 95 % interval, where there is one.
    Measured {
        /// The value.
        value: f64,
        /// Lower and upper bound.
        bounds: Option<(f64, f64)>,
    },
    /// The load was more than could be done: no limit is kept.
    Behind,
    /// No result, and why.
    Void {
        /// Why.
        why: String,
    },
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Measure a load.
    Try(Try),
    /// Nothing more.
    Ended(Ending),
}

/// A load to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Try {
    /// The load.
    pub load: f64,
    /// Whether it is to be added to what was measured of this load.
    pub again: bool,
    /// Load with the largest value of the others, beside which it may be measured; `None` without another result.
    pub beside: Option<f64>,
    /// Why this one.
    pub why: Why,
}

impl Try {
    /// A load for the first time.
    pub(super) fn new(load: f64, why: Why) -> Self {
        Self { load, again: false, beside: None, why }
    }
}

/// Why a load is measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// The search begins at its smallest load.
    Start,
    /// The limit was kept, or the value was still rising, up to this load.
    Climb {
        /// The largest load so far.
        after: f64,
    },
    /// The answer lies above the one and not above the other.
    Between {
        /// Too small, or kept the limit.
        low: f64,
        /// Reached the plateau, or broke the limit.
        high: f64,
    },
    /// The value fell from the one to the other: the largest may lie between them.
    Fall {
        /// Where the value was largest.
        best: f64,
        /// Where it had fallen.
        fallen: f64,
    },
    /// It was void.
    AfterVoid,
    /// The answer hangs on it, and its interval does not tell.
    Unsure,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Search with an answer.
    Found(SearchAnswer),
    /// The answer is not below the largest load: the limit is still kept there, or the value still rises.
    BeyondEnd,
    /// The answer is not above the smallest load: the limit is broken there, or the value is on the plateau.
    BeforeStart,
    /// Twice void at a load that the answer hangs on.
    CannotTell {
        /// The load.
        load: f64,
        /// Why it is void.
        why: String,
        /// What is known without it.
        so_far: Option<SearchAnswer>,
    },
    /// No measurement is left.
    Exhausted {
        /// What is known.
        so_far: Option<SearchAnswer>,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchAnswer {
    /// The load.
    pub load: f64,
    /// Neighbouring loads between which the answer turns: the largest that kept a limit and the smallest that broke it; or the largest
    /// short of a plateau and the smallest on it.
    pub range: (f64, f64),
    /// Load of the largest value, for a peak.
    pub best: Option<f64>,
    /// What stands against it.
    pub doubts: Vec<Doubt>,
}

/// What stands against an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// The interval of this load, or its lack of one, does not tell on which side it is, although it was measured again.
    Interval {
        /// The load.
        load: f64,
    },
    /// A larger load kept the limit again.
    KeptAbove {
        /// The load.
        load: f64,
    },
    /// A value at the larger of two loads that is below that at the smaller one, beyond their intervals.
    Falls {
        /// The smaller.
        from: f64,
        /// The larger.
        to: f64,
    },
    /// A dip of the value between two loads where it is larger, beyond the intervals.
    Dips {
        /// The load.
        load: f64,
    },
    /// The largest value is that of the largest load: beyond it may be a larger one.
    LargestAtEnd,
}
