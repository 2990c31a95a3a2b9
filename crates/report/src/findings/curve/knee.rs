//! Where a curve bends, by intervals: the one definition, which page, figure, text, JSON and the choice of points for experiments share.

use super::standing::{CurveShape, RankedCurve, Standing};
use super::{Curve, CurveGroup};
use crate::findings::evaluate::Findings;
use crate::findings::factor::level_number;
use proofload_analysis::knee::{FittedKnee, NoFit, find::FEWEST_LEVELS};
use proofload_analysis::quantity::Interval;

/// The bend of a curve as far as intervals tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Knee {
    /// The joint of a fitted curve.
    Fitted(FittedKnee),
    /// Two neighbouring valid levels with the knee between them, in the unit of the factor.
    Between {
        /// The last level that is shown to be lower than the largest.
        above: f64,
        /// The first level that is not.
        at_most: f64,
        /// Whether a larger level is shown to be lower again.
        falls_again: bool,
    },
    /// No knee is shown, and why.
    None(NoKnee),
}

impl Knee {
    /// Range of the factor in which the knee lies; `None` where there is none.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Fitted(fitted) => fitted.at.interval().bounds(),
            Self::Between { above, at_most, .. } => Some((*above, *at_most)),
            Self::None(_) => None,
        }
    }
}

/// Reason why no knee is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoKnee {
    /// Fewer than two levels have a valid point: so many.
    TooFewLevels(usize),
    /// No level is shown to be lower than the largest.
    Level,
    /// All levels but the last are shown to be lower.
    StillRises,
    /// Only levels above the largest are shown to be lower.
    Falls,
    /// One level alone is not shown to be lower, and lies between others.
    Peak,
    /// Levels that are shown to be lower lie between others that are not.
    Scattered,
    /// A ratio to the largest has no interval, and why.
    NoInterval(String),
    /// The study has no curve, and why.
    NoCurve(String),
}

impl NoKnee {
    /// A word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::TooFewLevels(_) => "too_few_levels",
            Self::Level => "level",
            Self::StillRises => "still_rises",
            Self::Falls => "falls",
            Self::Peak => "peak",
            Self::Scattered => "scattered",
            Self::NoInterval(_) => "no_interval",
            Self::NoCurve(_) => "no_curve",
        }
    }

    /// The reason as a fragment of a sentence.
    pub fn text(&self) -> String {
        match self {
            Self::TooFewLevels(0) => "no level has a valid point".to_owned(),
            Self::TooFewLevels(count) => format!("only {count} level has a valid point, and at least 2 are needed"),
            Self::Level => "no level is shown to be lower than the largest".to_owned(),
            Self::StillRises => "throughput still rises at the largest level".to_owned(),
            Self::Falls => "no level below the largest is shown to be lower".to_owned(),
            Self::Peak => "levels on both sides of the largest are lower, so there is no plateau".to_owned(),
            Self::Scattered => "levels that are shown to be lower lie between others that are not".to_owned(),
            Self::NoInterval(why) => format!("a ratio to the largest has no interval ({why})"),
            Self::NoCurve(why) => why.clone(),
        }
    }
}

/// Tells why no knee was fitted, as a fragment of a sentence.
pub fn not_fitted(why: NoFit) -> String {
    match why {
        NoFit::TooFewLevels(count) => {
            format!("a fit takes {FEWEST_LEVELS} valid levels, and there are {count}")
        }
        NoFit::NoCurve => "no curve could be fitted".to_owned(),
        NoFit::NoJoint(shape) => format!("the {} fits best, which does not bend within the levels", shape.name()),
        NoFit::Rare { share } => {
            format!("only {:.0} % of the sweeps redrawn within the errors of the levels have a knee", 100.0 * share)
        }
    }
}

impl Findings<'_> {
    /// Knee of a group of the curve: a fitted one with its interval; else from the last level that is shown to be lower than the
    /// group's largest to the first from which on no level is.
    pub fn knee(&self, curve: &Curve, group: &CurveGroup) -> Knee {
        if let Ok(fitted) = &group.fit {
            return Knee::Fitted(fitted.clone());
        }
        let Some(ranked) = RankedCurve::of(self, group) else {
            let valid = group.points.iter().filter(|place| self.points[**place].verdict.is_valid());
            return Knee::None(NoKnee::TooFewLevels(valid.count()));
        };
        let standings: Vec<&Standing> = ranked.points.iter().map(|(_, standing)| standing).collect();
        let level =
            |place: usize| ranked.points[place].0.level(&curve.setting).and_then(level_number).unwrap_or(f64::NAN);
        match first_level(&standings, ranked.shape) {
            Ok(first) => Knee::Between {
                above: level(first - 1),
                at_most: level(first),
                falls_again: falls_again(&standings, first),
            },
            Err(why) => Knee::None(why),
        }
    }

    /// Knee of the curve's only group; `None` where there is no curve, and with several groups.
    pub fn only_knee(&self) -> Option<Knee> {
        let curve = self.curve.as_ref().ok()?;
        let [group] = curve.groups.as_slice() else { return None };
        Some(self.knee(curve, group))
    }
}

/// Place of the first level of a plateau that follows a level which is shown to be lower; never the first of all.
fn first_level(standings: &[&Standing], shape: CurveShape) -> Result<usize, NoKnee> {
    let why_not = match shape {
        CurveShape::Level => NoKnee::Level,
        // The largest level alone is no plateau.
        CurveShape::From(first) if first + 1 == standings.len() => NoKnee::StillRises,
        CurveShape::Between(first, last) if first == last => NoKnee::Peak,
        CurveShape::From(first) | CurveShape::Between(first, _) => {
            let below = first.checked_sub(1).and_then(|below| standings.get(below));
            // Lower by its interval, not for want of one.
            if matches!(below, Some(Standing::Lower(_))) {
                return Ok(first);
            }
            NoKnee::Scattered
        }
        CurveShape::UpTo(_) => NoKnee::Falls,
        CurveShape::Scattered(_) => NoKnee::Scattered,
    };
    // What a shape says rests on every interval.
    Err(standings.iter().find_map(|standing| no_interval(standing)).unwrap_or(why_not))
}

/// Tells whether a level from this place on is lower by its interval, not for want of one.
fn falls_again(standings: &[&Standing], first: usize) -> bool {
    standings.iter().skip(first).any(|standing| matches!(standing, Standing::Lower(_)))
}

fn no_interval(standing: &Standing) -> Option<NoKnee> {
    match standing {
        Standing::NoInterval(loss) => match loss.interval() {
            Interval::None { why } => Some(NoKnee::NoInterval(why.clone())),
            Interval::Known { .. } => None,
        },
        Standing::Largest | Standing::Equal | Standing::NotShown { .. } | Standing::Lower(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::standing::shape;
    use super::*;
    use proofload_analysis::knee::Shape;
    use proofload_analysis::quantity::{Quantity, Unit};

    /// Standings by letters: `l` lower, `e` equal, `o` lower or not (no interval), `L` the largest.
    fn standings(letters: &str) -> Vec<Standing> {
        let loss = |interval| Quantity::new(30.0, Unit::PERCENT, 30, interval);
        let standing = |letter| match letter {
            'l' => Standing::Lower(loss(Interval::known(20.0, 40.0, "test"))),
            'o' => Standing::NoInterval(loss(Interval::none("one run"))),
            'e' => Standing::Equal,
            _ => Standing::Largest,
        };
        letters.chars().map(standing).collect()
    }

    #[track_caller]
    fn check(letters: &str, expected: Result<usize, NoKnee>) {
        let all = standings(letters);
        let all: Vec<&Standing> = all.iter().collect();
        assert_eq!(first_level(&all, shape(&all).expect("one is the largest")), expected, "{letters}");
    }

    #[test]
    fn a_knee_or_why_there_is_none() {
        check("llLe", Ok(2));
        check("lLel", Ok(1));
        check("olLe", Ok(2));
        check("eLe", Err(NoKnee::Level));
        check("llL", Err(NoKnee::StillRises));
        check("Lel", Err(NoKnee::Falls));
        check("lLl", Err(NoKnee::Peak));
        check("elL", Err(NoKnee::Scattered));
    }

    #[test]
    fn a_curve_falls_again_where_an_interval_shows_it() {
        let falls = |letters: &str| {
            let all = standings(letters);
            let all: Vec<&Standing> = all.iter().collect();
            let first = first_level(&all, shape(&all).expect("one is the largest")).expect("there is a knee");
            falls_again(&all, first)
        };
        assert!(falls("lLel") && falls("lLeol"));
        assert!(!falls("llLe") && !falls("lLeo"), "a ratio without an interval shows no fall");
    }

    /// What rests on a ratio without an interval is told as that, not as a rise.
    #[test]
    fn a_missing_interval_is_the_reason() {
        let missing = || Err(NoKnee::NoInterval("one run".to_owned()));
        check("loLe", missing());
        check("loL", missing());
        check("Lo", missing());
    }

    #[test]
    fn reasons_are_plain() {
        assert_eq!(NoKnee::TooFewLevels(1).text(), "only 1 level has a valid point, and at least 2 are needed");
        assert_eq!(not_fitted(NoFit::TooFewLevels(4)), "a fit takes 7 valid levels, and there are 4");
        let line = not_fitted(NoFit::NoJoint(Shape::Line));
        assert_eq!(line, "the straight line fits best, which does not bend within the levels");
    }
}
