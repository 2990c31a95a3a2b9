//! Standing of each point against the one with the largest throughput, as far as its interval tells. Has no words for it.

use super::{Curve, CurveGroup, WITHIN, largest_of, relative_to};
use crate::findings::evaluate::Findings;
use crate::findings::point::PointFindings;
use proofload_analysis::quantity::{Interval, Quantity, Unit};

/// Standing of a valid point.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// The largest, to which the others are compared.
    Largest,
    /// The whole interval lies within 5 % of the largest, or above.
    Equal,
    /// The interval holds the largest: no difference is shown.
    NotShown {
        /// Largest loss that the interval does not exclude, %.
        unseen: f64,
    },
    /// Shown to be lower, by so many per cent of the largest.
    Lower(Quantity),
    /// Lower or not: the ratio has no interval. The loss by the values alone, %.
    NoInterval(Quantity),
}

impl Standing {
    /// Tells whether nothing shows it to be lower.
    pub fn is_level(&self) -> bool {
        matches!(self, Self::Largest | Self::Equal | Self::NotShown { .. })
    }

    /// What is missing to the largest, %; `None` where nothing is shown to be.
    pub fn loss(&self) -> Option<&Quantity> {
        match self {
            Self::Lower(loss) | Self::NoInterval(loss) => Some(loss),
            Self::Largest | Self::Equal | Self::NotShown { .. } => None,
        }
    }

    /// Standing by the throughput relative to the largest, %.
    pub fn of(relative: &Quantity, is_largest: bool) -> Self {
        if is_largest {
            return Self::Largest;
        }
        match relative.interval().bounds() {
            None => Self::NoInterval(missing(relative)),
            Some((low, _)) if low >= 100.0 * (1.0 - WITHIN) => Self::Equal,
            Some((_, high)) if high < 100.0 => Self::Lower(missing(relative)),
            Some((low, _)) => Self::NotShown { unseen: 100.0 - low },
        }
    }
}

/// What is missing to 100 %.
fn missing(relative: &Quantity) -> Quantity {
    let interval = match relative.interval() {
        Interval::Known { low, high, method } => Interval::known(100.0 - high, 100.0 - low, method.clone()),
        Interval::None { why } => Interval::none(why.clone()),
    };
    Quantity::new(100.0 - relative.value(), Unit::PERCENT, relative.n(), interval)
}

/// Shape of a curve: where along rising levels nothing is shown to be lower than the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveShape {
    /// Level everywhere.
    Level,
    /// Level from this place on.
    From(usize),
    /// Level up to this place.
    UpTo(usize),
    /// Level between two places.
    Between(usize, usize),
    /// Level at the place of the largest, and at others that are not its neighbours.
    Scattered(usize),
}

/// Valid points of a curve by rising level, with their standings.
#[derive(Debug, Clone)]
pub struct RankedCurve<'f> {
    /// Points and standings.
    pub points: Vec<(&'f PointFindings, Standing)>,
    /// Where nothing is shown to be lower.
    pub shape: CurveShape,
}

impl<'f> RankedCurve<'f> {
    /// Ranks the points of a group of a curve against the largest of the group; `None` with fewer than two valid ones.
    pub fn of(findings: &'f Findings<'_>, group: &CurveGroup) -> Option<Self> {
        let members: Vec<&PointFindings> = group.points.iter().map(|index| &findings.points[*index]).collect();
        let blocks = findings.blocks.as_ref();
        let largest = largest_of(members.iter().copied(), blocks)?;
        let of_largest = (largest.id, largest.throughput.as_ref().ok()?);
        let standing = |point: &PointFindings| {
            let relative = relative_to(point, of_largest, blocks).ok()?;
            Some(Standing::of(&relative, point.id == largest.id))
        };
        let points: Vec<(&PointFindings, Standing)> =
            members.into_iter().filter_map(|point| Some((point, standing(point)?))).collect();
        let shape = shape(&points.iter().map(|(_, standing)| standing).collect::<Vec<_>>())?;
        (points.len() > 1).then_some(Self { points, shape })
    }

    /// Ranks the points of the only group of a curve.
    pub fn of_only(findings: &'f Findings<'_>, curve: &Curve) -> Option<Self> {
        let [group] = curve.groups.as_slice() else { return None };
        Self::of(findings, group)
    }

    /// Points that are shown to be lower: those below the level stretch, then those above it, the nearest first.
    pub fn lower(&self) -> Vec<(&'f PointFindings, &Standing)> {
        let largest = self.points.iter().position(|(_, standing)| *standing == Standing::Largest).unwrap_or(0);
        let (first, last) = match self.shape {
            CurveShape::Level => (0, self.points.len() - 1),
            CurveShape::From(first) => (first, self.points.len() - 1),
            CurveShape::UpTo(last) => (0, last),
            CurveShape::Between(first, last) => (first, last),
            CurveShape::Scattered(_) => (largest, largest),
        };
        let order =
            |place: usize| if place < first { (false, first - place) } else { (true, place.saturating_sub(last)) };
        let ranked = self.points.iter().enumerate().filter(|(_, (_, standing))| !standing.is_level());
        let mut lower: Vec<_> = ranked.map(|(place, (point, standing))| (order(place), (*point, standing))).collect();
        lower.sort_by_key(|(order, _)| *order);
        lower.into_iter().map(|(_, one)| one).collect()
    }

    /// Largest loss that was not excluded at any level point, %; `None` where each is within 5 %.
    pub fn unseen(&self) -> Option<f64> {
        let each = self.points.iter().filter_map(|(_, standing)| match standing {
            Standing::NotShown { unseen } => Some(*unseen),
            _ => None,
        });
        each.reduce(f64::max)
    }
}

pub(super) fn shape(standings: &[&Standing]) -> Option<CurveShape> {
    let level: Vec<bool> = standings.iter().map(|standing| standing.is_level()).collect();
    let (first, last) = (level.iter().position(|level| *level)?, level.iter().rposition(|level| *level)?);
    let end = level.len() - 1;
    if !level[first..=last].iter().all(|level| *level) {
        return Some(CurveShape::Scattered(standings.iter().position(|one| **one == Standing::Largest)?));
    }
    Some(match (first, last) {
        (0, last) if last == end => CurveShape::Level,
        (first, last) if last == end => CurveShape::From(first),
        (0, last) => CurveShape::UpTo(last),
        (first, last) => CurveShape::Between(first, last),
    })
}

impl Findings<'_> {
    /// Standing of a valid point; `None` of others.
    pub fn standing(&self, point: &PointFindings) -> Option<Standing> {
        let largest = self.largest()?;
        let relative = point.relative.as_ref().ok()?;
        Some(Standing::of(relative, point.id == largest.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(value: f64, bounds: Option<(f64, f64)>) -> Quantity {
        let interval =
            bounds.map_or_else(|| Interval::none("one run"), |(low, high)| Interval::known(low, high, "test"));
        Quantity::new(value, Unit::PERCENT, 30, interval)
    }

    #[test]
    fn a_standing_says_no_more_than_its_interval() {
        let of = |value, bounds| Standing::of(&relative(value, bounds), false);
        assert_eq!(of(98.0, Some((96.0, 99.0))), Standing::Equal);
        assert_eq!(of(97.0, Some((91.0, 106.0))), Standing::NotShown { unseen: 9.0 });
        let Standing::Lower(loss) = of(73.0, Some((64.0, 85.0))) else { panic!("shown to be lower") };
        assert_eq!((loss.value(), loss.interval().bounds()), (27.0, Some((15.0, 36.0))));
        assert!(matches!(of(50.0, None), Standing::NoInterval(_)));
        assert_eq!(Standing::of(&relative(100.0, None), true), Standing::Largest);
    }

    #[test]
    fn shapes_are_told_apart() {
        let low = Standing::Lower(relative(30.0, Some((20.0, 40.0))));
        let shape_of = |letters: &str| {
            let standing = |letter| match letter {
                'l' => low.clone(),
                'e' => Standing::Equal,
                _ => Standing::Largest,
            };
            let all: Vec<Standing> = letters.chars().map(standing).collect();
            shape(&all.iter().collect::<Vec<_>>())
        };
        let cases = [
            ("eLe", Some(CurveShape::Level)),
            ("llLe", Some(CurveShape::From(2))),
            ("Lel", Some(CurveShape::UpTo(1))),
            ("lLel", Some(CurveShape::Between(1, 2))),
            ("elL", Some(CurveShape::Scattered(2))),
            ("ll", None),
        ];
        for (letters, expected) in cases {
            assert_eq!(shape_of(letters), expected, "{letters}");
        }
    }
}
