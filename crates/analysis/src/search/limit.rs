//! The largest load that keeps a limit: upwards by equal ratios until it is broken, then the middle of the range.

use super::choose::{Rule, again, climb, start};
use super::seen::LoadResult;
use super::types::{Doubt, Ending, Question, SearchAnswer, Step, Try, Why};

/// The rule.
pub(super) struct Limit {
    pub(super) at_most: f64,
}

impl Limit {
    fn breaks(&self, one: &LoadResult) -> bool {
        one.value > self.at_most
    }

    /// The largest load below the first that breaks the limit, and that one.
    fn turn<'a>(&self, seen: &'a [LoadResult]) -> Option<(&'a LoadResult, &'a LoadResult)> {
        let first = seen.iter().position(|one| self.breaks(one))?;
        Some((seen.get(first.checked_sub(1)?)?, &seen[first]))
    }

    fn doubts(&self, seen: &[LoadResult], (low, high): (&LoadResult, &LoadResult)) -> Vec<Doubt> {
        let unsure = [low, high].into_iter().filter(|one| one.straddles(self.at_most));
        let mut doubts: Vec<Doubt> = unsure.map(|one| Doubt::Interval { load: one.load }).collect();
        let kept = seen.iter().filter(|one| one.load > high.load && !self.breaks(one));
        doubts.extend(kept.map(|one| Doubt::KeptAbove { load: one.load }));
        let falls = seen.windows(2).filter(|pair| pair[1].high() < pair[0].low());
        doubts.extend(falls.map(|pair| Doubt::Falls { from: pair[0].load, to: pair[1].load }));
        doubts
    }
}

impl Rule for Limit {
    fn step(&self, question: &Question, seen: &[LoadResult]) -> Step {
        let (Some(first), Some(top)) = (seen.first(), seen.last()) else { return start(question) };
        let unsure = |one: &&LoadResult| one.straddles(self.at_most);
        if self.breaks(first) {
            return again(question, Some(first).filter(unsure)).unwrap_or(Step::Ended(Ending::BeforeStart));
        }
        let Some((low, high)) = self.turn(seen) else {
            let up = climb(question, top).or_else(|| again(question, Some(top).filter(unsure)));
            return up.unwrap_or(Step::Ended(Ending::BeyondEnd));
        };
        if let Some(load) = question.middle(low.load, high.load) {
            let why = Why::Between { low: low.load, high: high.load };
            return Step::Try(Try::new(load, why));
        }
        again(question, [low, high].into_iter().filter(unsure)).unwrap_or_else(|| {
            let doubts = self.doubts(seen, (low, high));
            Step::Ended(Ending::Found(SearchAnswer {
                load: low.load,
                range: (low.load, high.load),
                best: None,
                doubts,
            }))
        })
    }

    fn so_far(&self, seen: &[LoadResult]) -> Option<SearchAnswer> {
        let (low, high) = self.turn(seen)?;
        let doubts = self.doubts(seen, (low, high));
        Some(SearchAnswer { load: low.load, range: (low.load, high.load), best: None, doubts })
    }
}
