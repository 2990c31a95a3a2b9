//! The plan: points in order, expanded from a study. Pure and seeded: same study, seed and version give a byte-equal plan. The plan of
//! a search begins with the smallest load and grows by what its results ask for: same study and additions give a byte-equal plan.

use crate::setting_words::RunOrder;
use crate::settings::{Settings, Value, setting};
use crate::study::{Factor, Search, Study, load_of, search};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One combination of levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Number, from 0, in the order of the levels in the file (the last factor varies fastest).
    pub id: u32,
    /// Level of each factor.
    pub levels: BTreeMap<String, Value>,
}

/// One run of one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Place in the order of execution, from 0.
    pub index: u32,
    /// Which point.
    pub point: u32,
    /// Which repetition of it, from 0. Sentinel runs count on after the study's repetitions; in a search, after all earlier runs of
    /// their point.
    pub repetition: u32,
    /// Whether it is a sentinel: the same point again and again, to see drift of the testbed.
    pub sentinel: bool,
    /// Number of its block, from 0, in a search that measures loads side by side; elsewhere the repetition is the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Seed of the run's inputs.
    pub seed: u64,
}

/// What will be done, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Points by id.
    pub points: Vec<Point>,
    /// Runs in order.
    pub runs: Vec<Run>,
}

impl Plan {
    /// All settings of a point.
    pub fn settings(&self, study: &Study, point: u32) -> Settings {
        study.settings.with(&self.points[point as usize].levels)
    }

    /// What varies, with its levels: the factors of the study, and of a search the loads that it has chosen, ascending.
    pub fn factors(&self, study: &Study) -> Vec<Factor> {
        let mut factors = study.factors.clone();
        if let Ok(Some(search)) = search(&study.settings) {
            let mut levels: Vec<Value> =
                self.points.iter().filter_map(|point| point.levels.get(&search.setting)).cloned().collect();
            let load = |value: &Value| load_of(value).unwrap_or(f64::NAN);
            levels.sort_by(|a, b| load(a).total_cmp(&load(b)));
            levels.dedup();
            factors.push(Factor { setting: search.setting, levels });
        }
        factors
    }

    /// Whether its search measures loads side by side.
    pub fn has_blocks(&self) -> bool {
        self.runs.iter().any(|run| run.block.is_some())
    }

    /// A point that a search asks for, without runs. Its number.
    pub fn add_point(&mut self, levels: BTreeMap<String, Value>) -> u32 {
        let id = u32::try_from(self.points.len()).unwrap_or(u32::MAX);
        self.points.push(Point { id, levels });
        id
    }

    /// Adds one run of each of these points for each repetition of the study: side by side in an order that is drawn, in a block of their
    /// own if `in_blocks`.
    pub fn measure(&mut self, study: &Study, points: &[u32], in_blocks: bool) {
        let mut counts = RunCounts::of(&self.runs);
        self.measure_counted(study, (points, in_blocks), &mut counts);
    }

    /// The same with counts of the runs that are there, which are kept.
    fn measure_counted(&mut self, study: &Study, (points, in_blocks): (&[u32], bool), counts: &mut RunCounts) {
        let every = study.settings.count(setting::STUDY_SENTINEL_EVERY).ok();
        for _ in 0..study.repetitions() {
            let block = in_blocks.then_some(counts.blocks);
            let mut order = points.to_vec();
            shuffle(&mut order, mix(study.seed(), self.runs.len() as u64));
            for point in order {
                self.push_next(study, point, (block, false), counts);
            }
            let ordinary = counts.ordinary;
            if every.is_some_and(|every| {
                (ordinary + 1 - points.len() as u32..=ordinary).any(|run| run.is_multiple_of(every))
            }) {
                let first = self.runs[0].point;
                self.push_next(study, first, (None, true), counts);
            }
        }
    }

    /// The next run of a point, numbered on after those that it has: inputs of its own.
    fn push_next(&mut self, study: &Study, point: u32, (block, sentinel): (Option<u32>, bool), counts: &mut RunCounts) {
        push(&mut self.runs, study, point, counts.of_point(point), sentinel);
        if let Some(run) = self.runs.last_mut() {
            run.block = block;
            counts.add(run);
        }
    }
}

/// Counts of the runs of a plan, kept while it grows: no run is counted twice.
#[derive(Debug, Default)]
struct RunCounts {
    /// Runs of each point.
    of_points: Vec<u32>,
    /// Runs that are no sentinels.
    ordinary: u32,
    /// Blocks.
    blocks: u32,
}

impl RunCounts {
    fn of(runs: &[Run]) -> Self {
        let mut counts = Self::default();
        runs.iter().for_each(|run| counts.add(run));
        counts
    }

    fn add(&mut self, run: &Run) {
        #[cfg(test)]
        tests::RUNS_COUNTED.set(tests::RUNS_COUNTED.get() + 1);
        let point = run.point as usize;
        if self.of_points.len() <= point {
            self.of_points.resize(point + 1, 0);
        }
        self.of_points[point] += 1;
        self.ordinary += u32::from(!run.sentinel);
        self.blocks = self.blocks.max(run.block.map_or(0, |block| block + 1));
    }

    fn of_point(&self, point: u32) -> u32 {
        self.of_points.get(point as usize).copied().unwrap_or(0)
    }
}

/// The first plan of a search: its smallest load under each combination of the factors' levels.
fn begin_search(study: &Study, search: &Search) -> Plan {
    let mut combinations: Vec<BTreeMap<String, Value>> = product(study).into_iter().map(|point| point.levels).collect();
    if !RunOrder::is_given(&study.settings) {
        shuffle(&mut combinations, mix(study.seed(), 0));
    }
    let (mut plan, mut counts) = (Plan { points: Vec::new(), runs: Vec::new() }, RunCounts::default());
    for mut levels in combinations {
        levels.insert(search.setting.clone(), search.from.clone());
        let point = plan.add_point(levels);
        plan.measure_counted(study, (&[point], search.blocks), &mut counts);
    }
    plan
}

/// Expands a study; of a search, what is known before its first result.
pub fn expand(study: &Study) -> Plan {
    if let Ok(Some(search)) = search(&study.settings) {
        return begin_search(study, &search);
    }
    let points = product(study);
    let shuffled = !RunOrder::is_given(&study.settings);
    let sentinel_every = study.settings.count(setting::STUDY_SENTINEL_EVERY).ok();
    let mut runs: Vec<Run> = Vec::new();
    let mut sentinels = 0;
    for repetition in 0..study.repetitions() {
        let mut order: Vec<u32> = points.iter().map(|point| point.id).collect();
        if shuffled {
            shuffle(&mut order, mix(study.seed(), u64::from(repetition)));
        }
        for point in order {
            push(&mut runs, study, point, repetition, false);
            let ordinary = runs.len() as u32 - sentinels;
            if sentinel_every.is_some_and(|every| ordinary.is_multiple_of(every)) {
                let first = runs[0].point;
                push(&mut runs, study, first, study.repetitions() + sentinels, true);
                sentinels += 1;
            }
        }
    }
    Plan { points, runs }
}

/// Runs at most: those of the plan, or of a search all that it may choose. Expands nothing.
pub fn most_runs(study: &Study) -> usize {
    let points = study.factors.iter().fold(1, |points: usize, factor| points.saturating_mul(factor.levels.len()));
    let measured = match search(&study.settings) {
        // Every load but the first has another beside it.
        Ok(Some(search)) => search.points + if search.blocks { search.points.saturating_sub(1) } else { 0 },
        _ => 1,
    };
    let ordinary = points.saturating_mul(measured as usize).saturating_mul(study.repetitions() as usize);
    let every = study.settings.count(setting::STUDY_SENTINEL_EVERY).ok().filter(|every| *every > 0);
    ordinary + every.map_or(0, |every| ordinary / every as usize)
}

/// Adds one run.
fn push(runs: &mut Vec<Run>, study: &Study, point: u32, repetition: u32, sentinel: bool) {
    let seed = mix(mix(study.seed(), u64::from(point) + 1), u64::from(repetition) + 1);
    runs.push(Run {
        index: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        point,
        repetition,
        sentinel,
        block: None,
        seed,
    });
}

/// The product of all factors; one point without levels when there is none.
fn product(study: &Study) -> Vec<Point> {
    let mut combinations = vec![BTreeMap::new()];
    for factor in &study.factors {
        let extended = combinations.iter().flat_map(|levels| {
            factor.levels.iter().map(|level| {
                let mut more = levels.clone();
                more.insert(factor.setting.clone(), level.clone());
                more
            })
        });
        combinations = extended.collect();
    }
    combinations
        .into_iter()
        .enumerate()
        .map(|(id, levels)| Point { id: u32::try_from(id).unwrap_or(u32::MAX), levels })
        .collect()
}

/// Fisher-Yates with a counter-based generator.
fn shuffle<T>(items: &mut [T], seed: u64) {
    for last in (1..items.len()).rev() {
        let chosen = mix(seed, last as u64) % (last as u64 + 1);
        items.swap(last, usize::try_from(chosen).unwrap_or(0));
    }
}

/// Derives a number from two (finaliser of `SplitMix64`: Steele, Lea and Flood, OOPSLA 2014).
pub fn mix(seed: u64, salt: u64) -> u64 {
    let mut state = seed.wrapping_add(salt.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Runs that were counted, again where a plan counts its runs anew.
        pub(super) static RUNS_COUNTED: Cell<u64> = const { Cell::new(0) };
    }

    /// A study with two factors, and these settings beside.
    fn study(cores: i64, users: i64, settings: &[(&str, Value)]) -> Study {
        let levels = |most: i64| (1..=most).map(Value::Integer).collect();
        let factor = |setting: &str, most| Factor { setting: setting.to_owned(), levels: levels(most) };
        let settings = settings.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
        Study {
            settings: Settings(settings),
            factors: vec![factor("limits.cores", cores), factor("workload.users", users)],
        }
    }

    #[test]
    fn most_runs_are_those_of_the_plan_although_nothing_is_expanded() {
        let whole = |settings: &[(&str, Value)]| {
            let study = study(3, 4, settings);
            assert_eq!(most_runs(&study), expand(&study).runs.len(), "{settings:?}");
        };
        let (repetitions, every) = ("study.repetitions", "study.sentinel_every");
        whole(&[]);
        whole(&[(repetitions, Value::Integer(5))]);
        whole(&[(repetitions, Value::Integer(5)), (every, Value::Integer(7))]);
        whole(&[(repetitions, Value::Integer(2)), (every, Value::Integer(24))]);
        let one = Study { factors: Vec::new(), ..study(1, 1, &[]) };
        assert_eq!((most_runs(&one), expand(&one).runs.len()), (1, 1));
    }

    #[test]
    fn a_run_is_counted_once_while_a_plan_begins_and_grows() {
        let study = study(20, 50, &[("study.sentinel_every", Value::Integer(10))]);
        let (mut plan, mut counts) = (Plan { points: Vec::new(), runs: Vec::new() }, RunCounts::default());
        let before = RUNS_COUNTED.get();
        for number in 0..1000 {
            let point = plan.add_point(BTreeMap::new());
            assert_eq!(point, number);
            plan.measure_counted(&study, (&[point], true), &mut counts);
        }
        assert_eq!((plan.runs.len(), RUNS_COUNTED.get() - before), (1100, 1100));
        let sentinels: Vec<u32> = plan.runs.iter().filter(|run| run.sentinel).map(|run| run.repetition).collect();
        assert_eq!(sentinels, (1..=100).collect::<Vec<u32>>(), "numbered on after the first point's own run");
        assert_eq!(plan.runs.iter().filter_map(|run| run.block).max(), Some(999));
        // One that grows counts what is there once more, and no run twice.
        let before = RUNS_COUNTED.get();
        plan.measure(&study, &[3, 7], true);
        assert_eq!(RUNS_COUNTED.get() - before, plan.runs.len() as u64);
        let last = plan.runs.iter().rev().filter(|run| !run.sentinel).take(2);
        assert!(last.clone().all(|run| run.block == Some(1000) && run.repetition == 1) && last.count() == 2);
    }
}
