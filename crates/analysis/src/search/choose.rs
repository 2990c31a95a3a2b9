//! The next step of a search: void loads once more, then what the goal asks for, within the bound on measurements.

use super::seen::{LoadResult, seen};
use super::types::{Ending, Goal, MeasuredLoad, Outcome, Question, SearchAnswer, Step, Try, Why};
use super::{limit, peak};

/// What a goal says of the results so far.
pub(super) trait Rule {
    /// The next step, were measurements free.
    fn step(&self, question: &Question, seen: &[LoadResult]) -> Step;
    /// What is known already.
    fn so_far(&self, seen: &[LoadResult]) -> Option<SearchAnswer>;
}

/// The next step after so many measurements. Depends on what was measured and not on its order.
pub fn next(question: &Question, tried: &[MeasuredLoad], spent: usize) -> Step {
    let rule: &dyn Rule = match &question.goal {
        Goal::Peak { plateau } => &peak::Peak { plateau: *plateau },
        Goal::Limit { at_most } => &limit::Limit { at_most: *at_most },
    };
    let seen = seen(tried);
    let step = match void(tried) {
        Some((load, why, true)) => {
            return Step::Ended(Ending::CannotTell { load, why, so_far: rule.so_far(&seen) });
        }
        Some((load, _, false)) => Step::Try(Try::new(load, Why::AfterVoid)),
        None => rule.step(question, &seen),
    };
    match step {
        Step::Try(_) if spent >= question.points => Step::Ended(Ending::Exhausted { so_far: rule.so_far(&seen) }),
        Step::Try(step) => Step::Try(Try { beside: beside(&seen, step.load), ..step }),
        ended => ended,
    }
}

/// The load with the largest value of the others.
fn beside(seen: &[LoadResult], load: f64) -> Option<f64> {
    let others = seen.iter().filter(|one| one.load != load);
    others.max_by(|a, b| a.value.total_cmp(&b.value)).map(|one| one.load)
}

/// The smallest load that has no result but void ones, why, and whether it was void more than once.
fn void(tried: &[MeasuredLoad]) -> Option<(f64, String, bool)> {
    let has_result =
        |load: f64| tried.iter().any(|one| one.load == load && !matches!(one.outcome, Outcome::Void { .. }));
    let voids = |load: f64| tried.iter().filter(|one| one.load == load).count();
    let without = tried.iter().filter(|one| !has_result(one.load));
    let first = without.min_by(|a, b| a.load.total_cmp(&b.load))?;
    let Outcome::Void { why } = &first.outcome else { return None };
    Some((first.load, why.clone(), voids(first.load) > 1))
}

/// The step upwards; `None` when the largest load was tried.
pub(super) fn climb(question: &Question, top: &LoadResult) -> Option<Step> {
    let load = question.above(top.load)?;
    Some(Step::Try(Try::new(load, Why::Climb { after: top.load })))
}

/// Once more, for want of certainty, the one of these loads that was measured least, if it may be measured again.
pub(super) fn again<'a>(question: &Question, unsure: impl IntoIterator<Item = &'a LoadResult>) -> Option<Step> {
    let least = unsure.into_iter().filter(|one| one.times < question.times).min_by_key(|one| one.times)?;
    Some(Step::Try(Try { again: true, ..Try::new(least.load, Why::Unsure) }))
}

/// The first step.
pub(super) fn start(question: &Question) -> Step {
    Step::Try(Try::new(question.from, Why::Start))
}
