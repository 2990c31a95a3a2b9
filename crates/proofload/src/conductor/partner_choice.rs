//! Runs of a plan as partners for those of another plan, found without a walk through all that are left. Pure.

use proofload_model::plan::{Plan, Run};
use proofload_model::settings::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Repetition of a run, and whether it is a sentinel.
type RunKind = (u32, bool);

/// Runs that have no partner yet.
pub(super) struct PartnerChoice<'p> {
    plan: &'p Plan,
    is_taken: Vec<bool>,
    /// Places of runs by kind and by their levels in words.
    of_levels: HashMap<(RunKind, String), VecDeque<usize>>,
    /// Places of runs by kind.
    of_kind: HashMap<RunKind, VecDeque<usize>>,
}

impl<'p> PartnerChoice<'p> {
    /// All runs of a plan.
    pub(super) fn of(plan: &'p Plan) -> Self {
        let mut of_levels: HashMap<(RunKind, String), VecDeque<usize>> = HashMap::new();
        let mut of_kind: HashMap<RunKind, VecDeque<usize>> = HashMap::new();
        for (place, run) in plan.runs.iter().enumerate() {
            let key = (kind(run), in_words(levels(plan, run)));
            of_levels.entry(key).or_default().push_back(place);
            of_kind.entry(kind(run)).or_default().push_back(place);
        }
        Self { plan, is_taken: vec![false; plan.runs.len()], of_levels, of_kind }
    }

    /// Takes the first run of the same kind with the levels of a run of the other plan; without one, the first of that kind.
    pub(super) fn take(&mut self, other: &Plan, run: &Run) -> Option<Run> {
        let place = self.of_same_levels(levels(other, run), kind(run)).or_else(|| self.of_same_kind(kind(run)))?;
        self.is_taken[place] = true;
        Some(self.plan.runs[place])
    }

    fn of_same_levels(&mut self, wanted: &BTreeMap<String, Value>, kind: RunKind) -> Option<usize> {
        let places = self.of_levels.get_mut(&(kind, in_words(wanted)))?;
        let fits = |place: &usize| !self.is_taken[*place] && levels(self.plan, &self.plan.runs[*place]) == wanted;
        let found = places.iter().position(fits)?;
        places.remove(found)
    }

    fn of_same_kind(&mut self, kind: RunKind) -> Option<usize> {
        let places = self.of_kind.get_mut(&kind)?;
        while let Some(place) = places.pop_front() {
            if !self.is_taken[place] {
                return Some(place);
            }
        }
        None
    }

    /// Runs that are left, in the order of the plan.
    pub(super) fn rest(self) -> impl Iterator<Item = Run> {
        self.plan.runs.iter().copied().zip(self.is_taken).filter(|(_, is_taken)| !is_taken).map(|(run, _)| run)
    }
}

fn kind(run: &Run) -> RunKind {
    (run.repetition, run.sentinel)
}

fn levels<'p>(plan: &'p Plan, run: &Run) -> &'p BTreeMap<String, Value> {
    &plan.points[run.point as usize].levels
}

/// Levels as one text: equal levels have equal texts, and others may.
fn in_words(levels: &BTreeMap<String, Value>) -> String {
    levels.iter().map(|(setting, value)| format!("{setting}={}\n", value.key_text())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::plan::Point;

    /// A plan with these runs: level of the point, repetition.
    fn plan(runs: &[(Value, u32)]) -> Plan {
        let points = (0..)
            .zip(runs)
            .map(|(id, (level, _))| Point { id, levels: BTreeMap::from([("limits.cores".to_owned(), level.clone())]) });
        let of_point = |(index, (_, repetition)): (u32, &(Value, u32))| Run {
            index,
            point: index,
            repetition: *repetition,
            sentinel: false,
            block: None,
            seed: 0,
        };
        Plan { points: points.collect(), runs: (0..).zip(runs).map(of_point).collect() }
    }

    #[test]
    fn the_first_of_the_same_levels_is_taken_else_the_first_of_the_repetition() {
        let level = |number: i64| Value::Integer(number);
        let second = plan(&[(level(1), 0), (level(2), 0), (Value::Number(3.0), 0), (level(2), 1), (level(9), 1)]);
        let first = plan(&[(level(2), 0), (level(3), 0), (level(2), 1), (level(2), 1), (level(2), 2)]);
        let mut choice = PartnerChoice::of(&second);
        let taken: Vec<Option<u32>> =
            first.runs.iter().map(|run| choice.take(&first, run).map(|run| run.index)).collect();
        // 3 and 3.0 have one text and are not equal: the first that is left of the repetition.
        assert_eq!(taken, [Some(1), Some(0), Some(3), Some(4), None]);
        assert_eq!(choice.rest().map(|run| run.index).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn levels_of_zeros_of_both_signs_are_equal() {
        let table = |number| Value::Table(BTreeMap::from([("skew".to_owned(), Value::Number(number))]));
        let second = plan(&[(Value::Number(1.0), 0), (Value::Number(-0.0), 0), (table(-0.0), 0)]);
        let first = plan(&[(table(0.0), 0), (Value::Number(0.0), 0)]);
        let mut choice = PartnerChoice::of(&second);
        let taken: Vec<Option<u32>> =
            first.runs.iter().map(|run| choice.take(&first, run).map(|run| run.index)).collect();
        assert_eq!(taken, [Some(2), Some(1)]);
    }

    #[test]
    fn no_run_is_looked_at_for_another_ones_levels() {
        let runs: Vec<(Value, u32)> = (0..1000).map(|number| (Value::Integer(number), 0)).collect();
        let choice = PartnerChoice::of(&plan(&runs)).of_levels.into_values().map(|places| places.len()).max();
        assert_eq!(choice, Some(1), "each run is found by its levels alone");
    }
}
