//! The smallest load on the plateau of the largest value: upwards by equal ratios until the value no longer rises, then towards the
//! largest value from its right, then to the plateau's left edge.

use super::choose::{Rule, again, climb, start};
use super::seen::LoadResult;
use super::types::{Doubt, Ending, Question, SearchAnswer, Step, Try, Why};
use std::cmp::Ordering;

/// A plateau is one only if it is wider than so many times what a proportional rise would take to cross it: else the value still rises.
const WIDTH: f64 = 5.0;

/// Values within so many times the plateau's share of the largest may be as large.
const NEAR: f64 = 2.0;

/// A value that falls short of the plateau by more than so many times its share is so beyond doubt.
const FAR: f64 = 3.0;

/// Loads without a gain that end the climb.
const WITHOUT_GAIN: usize = 2;

/// The rule.
pub(super) struct Peak {
    pub(super) plateau: f64,
}

/// The results as the plateau divides them.
struct PeakShape<'a> {
    seen: &'a [LoadResult],
    /// Place of the largest value.
    best: usize,
    /// Place of the first load on the plateau.
    edge: usize,
    /// The least value on the plateau.
    least: f64,
    /// The least value not far from it.
    near: f64,
}

/// The height of the plateau. The largest of several noisy values is the luckiest as well, so those near it that are not shown to be
/// smaller count with it.
fn level(seen: &[LoadResult], best: &LoadResult, plateau: f64) -> f64 {
    let near = |one: &&LoadResult| {
        let overlaps = one.bounds.is_some() && best.bounds.is_some() && one.high() >= best.low();
        one.load == best.load || overlaps && one.value >= best.value * (1.0 - NEAR * plateau)
    };
    let weight = |one: &LoadResult| one.times as f64;
    let sum: f64 = seen.iter().filter(near).map(|one| weight(one) * one.value).sum();
    sum / seen.iter().filter(near).map(weight).sum::<f64>()
}

impl<'a> PeakShape<'a> {
    fn of(seen: &'a [LoadResult], plateau: f64) -> Option<Self> {
        let rank = |place: usize| (seen[place].value, seen[place].times as f64);
        let best = (0..seen.len()).rev().max_by(|a, b| rank(*a).partial_cmp(&rank(*b)).unwrap_or(Ordering::Equal))?;
        let level = level(seen, &seen[best], plateau);
        let (least, near) = (level * (1.0 - plateau), level * (1.0 - FAR * plateau));
        let edge = seen.iter().position(|one| one.value >= least)?;
        Some(Self { seen, best, edge, least, near })
    }

    fn best(&self) -> &'a LoadResult {
        &self.seen[self.best]
    }

    fn edge(&self) -> &'a LoadResult {
        &self.seen[self.edge]
    }

    fn below(&self) -> Option<&'a LoadResult> {
        self.seen.get(self.edge.checked_sub(1)?)
    }

    /// Whether the value has fallen off the plateau here, beyond its interval.
    fn has_fallen(&self, one: &LoadResult) -> bool {
        one.load > self.best().load
            && one.value < self.least
            && (one.bounds.is_none() || one.high() < self.best().value)
    }

    /// The fallen neighbour on the right of the largest value, where a larger one may lie in between. Where both neighbours are off
    /// the plateau, the larger of them is the nearer to it.
    fn right_first(&self, question: &Question) -> Option<&'a LoadResult> {
        let right = self.seen.get(self.best + 1).filter(|right| self.has_fallen(right))?;
        let nearer =
            |left: &&LoadResult| left.value > right.value && question.middle(left.load, self.best().load).is_some();
        let left = self.below().filter(|_| self.edge == self.best).filter(nearer);
        left.is_none().then_some(right)
    }

    /// Whether the value no longer rises at the largest load so far.
    fn has_turned(&self) -> bool {
        let Some(top) = self.seen.last() else { return false };
        let above = self.seen.len() - 1 - self.edge;
        self.has_fallen(top) || above >= WITHOUT_GAIN && top.load >= 2.0 * self.edge().load
    }

    /// Loads that the answer hangs on and whose interval does not tell on which side of the plateau's bound they are; a load short of the
    /// plateau also when it is not far from it, for an interval of one run does not know how runs differ, and one unlucky run there moves
    /// the answer far.
    fn unsure(&self) -> impl Iterator<Item = &'a LoadResult> {
        let least = self.least;
        let edge = Some(self.edge()).filter(|edge| edge.straddles(least));
        let short = |below: &&LoadResult| below.value >= self.near || below.straddles(least);
        edge.into_iter().chain(self.below().filter(short))
    }

    /// The largest value, where another comes near it, and none that was measured more than once comes nearer: the largest of several is
    /// the luckiest as well, and all hangs on it.
    fn lucky(&self, plateau: f64) -> Option<&'a LoadResult> {
        let best = self.best();
        let others = || self.seen.iter().filter(|one| one.load != best.load);
        let certain = |one: &LoadResult| one.times > 1 && one.value >= best.value * (1.0 - plateau);
        (others().any(|one| one.value >= self.near) && !others().any(certain)).then_some(best)
    }

    fn found(&self, question: Option<&Question>) -> SearchAnswer {
        let edge = self.edge();
        let straddle = self.below().into_iter().chain(Some(edge)).filter(|one| one.straddles(self.least));
        let mut doubts: Vec<Doubt> = straddle.map(|one| Doubt::Interval { load: one.load }).collect();
        doubts.extend(self.dip());
        if question.is_some_and(|question| self.best().load >= question.to) {
            doubts.push(Doubt::LargestAtEnd);
        }
        let range = (self.below().map_or(edge.load, |below| below.load), edge.load);
        SearchAnswer { load: edge.load, range, best: Some(self.best().load), doubts }
    }

    /// A load beyond whose interval the value was larger on both sides.
    fn dip(&self) -> Option<Doubt> {
        let larger = |side: &[LoadResult], one: &LoadResult| side.iter().any(|other| other.low() > one.high());
        let dips = |place: &usize| {
            let one = &self.seen[*place];
            larger(&self.seen[..*place], one) && larger(&self.seen[place + 1..], one)
        };
        (0..self.seen.len()).find(dips).map(|place| Doubt::Dips { load: self.seen[place].load })
    }
}

impl Rule for Peak {
    fn step(&self, question: &Question, seen: &[LoadResult]) -> Step {
        let (Some(shape), Some(top)) = (PeakShape::of(seen, self.plateau), seen.last()) else { return start(question) };
        if !shape.has_turned()
            && let Some(up) = climb(question, top)
        {
            return up;
        }
        if let Some(step) = again(question, shape.lucky(self.plateau)) {
            return step;
        }
        let (best, edge) = (shape.best(), shape.edge());
        if let Some(right) = shape.right_first(question)
            && let Some(load) = question.middle(best.load, right.load)
        {
            return Step::Try(Try::new(load, Why::Fall { best: best.load, fallen: right.load }));
        }
        // On the plateau up to the end: is there enough of it to be one?
        let width = 1.0 + WIDTH * self.plateau;
        let rises_from = |load: f64| top.load >= question.to && !shape.has_fallen(top) && question.to < load * width;
        match shape.below() {
            Some(below) if rises_from(below.load) => return Step::Ended(Ending::BeyondEnd),
            Some(below) => {
                if let Some(load) = question.middle(below.load, edge.load) {
                    let why = Why::Between { low: below.load, high: edge.load };
                    return Step::Try(Try::new(load, why));
                }
            }
            None => {}
        }
        if let Some(step) = again(question, shape.unsure()) {
            return step;
        }
        // The smallest load that there is may be the answer; any other smallest one hides what is below it.
        let smallest = question.whole && question.from <= 1.0;
        Step::Ended(if shape.edge == 0 && !smallest {
            Ending::BeforeStart
        } else if rises_from(edge.load) {
            Ending::BeyondEnd
        } else {
            Ending::Found(shape.found(Some(question)))
        })
    }

    fn so_far(&self, seen: &[LoadResult]) -> Option<SearchAnswer> {
        Some(PeakShape::of(seen, self.plateau)?.found(None))
    }
}
