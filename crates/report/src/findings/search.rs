//! The search of a study: what it has found, and which load it would measure next. The conductor asks here, and so does the report: both
//! get the same answer from the same results.

pub(super) mod blocks;
pub(super) mod words;

use super::factor::{between, level_text, setting_title};
use super::level::Measured;
use super::point::{PointFindings, Verdict, points};
use crate::groups::by_key;
use crate::metrics::{LatencyStatistic, MetricKey, THROUGHPUT};
use blocks::SideBySide;
use proofload_analysis::search::{Ending, MeasuredLoad, Outcome, Question, SearchAnswer, Step, Try, next};
use proofload_analysis::{quantity::Quantity, search};
use proofload_model::events::RunEvent;
use proofload_model::plan::Plan;
use proofload_model::settings::{Value, setting};
use proofload_model::study::{Goal, Search, load_of};
use proofload_record::Record;
use std::collections::BTreeMap;

/// How often a load is measured at most while its interval does not tell: alone, where distant runs differ by more than their intervals
/// know of, and side by side with others, where each block narrows the interval of the ratio. Source: docs/guides/search.md, noise.
const TIMES_ALONE: usize = 2;
const TIMES_IN_BLOCKS: usize = 3;

/// The search under one combination of the factors' levels.
#[derive(Debug, Clone)]
pub struct SearchFindings {
    /// What was asked.
    pub asked: Search,
    /// Levels of the factors.
    pub levels: BTreeMap<String, Value>,
    /// The same in words; empty when there is no factor.
    pub label: String,
    /// Its points in the order in which they were chosen.
    pub path: Vec<ChosenLoad>,
    /// Measurements so far.
    pub spent: usize,
    /// How it stands.
    pub state: SearchState,
}

/// A point of a search.
#[derive(Debug, Clone)]
pub struct ChosenLoad {
    /// Place in the list of points.
    pub point: usize,
    /// Its load.
    pub load: f64,
    /// Why it was measured, and measured again, as the record tells it.
    pub whys: Vec<String>,
    /// What the goal looks at: throughput, or the percentile.
    pub value: Measured,
    /// Throughput over the largest, both measured side by side; `None` where each load was measured alone.
    pub of_largest: Option<Measured>,
}

impl ChosenLoad {
    /// Whether the search has a result of it: a value, or a share of the largest where loads were measured side by side.
    fn has_result(&self) -> bool {
        self.of_largest.as_ref().unwrap_or(&self.value).is_ok()
    }
}

/// How a search stands.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchState {
    /// Runs that were chosen are still missing.
    Waiting,
    /// This is next.
    Next(Try),
    /// It has ended.
    Ended(Ending),
}

/// A piece of a sentence about a search.
#[derive(Debug, Clone, PartialEq)]
pub enum SentencePart {
    /// Words.
    Words(String),
    /// A measured number.
    Number(Box<Quantity>),
}

/// Every search of a record, without the other findings; empty when its study does not search.
pub fn searches(record: &Record) -> Vec<SearchFindings> {
    if record.study.settings.get(setting::SEARCH_SETTING).is_none() {
        return Vec::new();
    }
    searches_among(record, &points(record))
}

/// The same with the points that were evaluated.
pub(super) fn searches_among(record: &Record, points: &[PointFindings]) -> Vec<SearchFindings> {
    let Ok(Some(asked)) = proofload_model::study::search(&record.study.settings) else { return Vec::new() };
    let groups = by_key(record.plan.points.iter().enumerate().map(|(place, planned)| {
        let mut levels = planned.levels.clone();
        levels.remove(&asked.setting);
        (levels, place)
    }));
    let whys = whys(record);
    groups.into_iter().map(|(levels, members)| one(&asked, levels, &members, (record, points, &whys))).collect()
}

/// Why each point was chosen, by its number.
fn whys(record: &Record) -> BTreeMap<u64, Vec<String>> {
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for event in &record.events {
        if let RunEvent::SearchStep { point, why, .. } = &event.event {
            found.entry(*point).or_default().push(why.clone());
        }
    }
    found
}

fn one(
    asked: &Search,
    levels: BTreeMap<String, Value>,
    members: &[usize],
    (record, points, whys): (&Record, &[PointFindings], &BTreeMap<u64, Vec<String>>),
) -> SearchFindings {
    let chosen = |place: &usize| {
        let point = &points[*place];
        ChosenLoad {
            point: *place,
            load: point.level(&asked.setting).and_then(load_of).unwrap_or(f64::NAN),
            whys: whys.get(&u64::from(point.id)).cloned().unwrap_or_default(),
            value: metric(&asked.goal).and_then(|metric| point.result(metric)),
            of_largest: None,
        }
    };
    let mut path: Vec<ChosenLoad> = members.iter().map(chosen).collect();
    let repetitions = record.study.repetitions().max(1) as usize;
    let complete = path.iter().all(|chosen| points[chosen.point].runs.len() == points[chosen.point].planned);
    let (tried, spent) = if record.plan.has_blocks() {
        let side_by_side = SideBySide::of(points, &path);
        side_by_side.tell(&mut path);
        (side_by_side.tried(&path, repetitions), side_by_side.blocks() / repetitions)
    } else {
        let tried = path.iter().map(|chosen| MeasuredLoad {
            load: chosen.load,
            times: points[chosen.point].planned / repetitions,
            outcome: outcome(&asked.goal, &points[chosen.point], &chosen.value),
        });
        let tried: Vec<MeasuredLoad> = tried.collect();
        let spent = tried.iter().map(|one| one.times).sum();
        (tried, spent)
    };
    let state = match next(&question(asked, record.plan.has_blocks()), &tried, spent) {
        _ if !complete => SearchState::Waiting,
        Step::Try(step) => SearchState::Next(step),
        Step::Ended(ending) => SearchState::Ended(ending),
    };
    let label = label(&levels);
    SearchFindings { asked: asked.clone(), levels, label, path, spent, state }
}

fn label(levels: &BTreeMap<String, Value>) -> String {
    let word = |(setting, value): (&String, &Value)| match value {
        Value::Text(_) | Value::Table(_) => level_text(value),
        value => format!("{} {}", level_text(value), setting_title(setting)),
    };
    levels.iter().map(word).collect::<Vec<_>>().join(between(levels.values()))
}

/// The metric that a goal looks at.
fn metric(goal: &Goal) -> Result<MetricKey, String> {
    match goal {
        Goal::Max { .. } => Ok(THROUGHPUT.key()),
        Goal::Percentile { statistic, operation, .. } => {
            let known = LatencyStatistic::from_word(statistic);
            known
                .map(|known| MetricKey::response(known, operation))
                .ok_or_else(|| format!("there is no percentile {statistic}"))
        }
    }
}

fn question(asked: &Search, in_blocks: bool) -> Question {
    let goal = match &asked.goal {
        Goal::Max { plateau } => search::Goal::Peak { plateau: *plateau },
        Goal::Percentile { at_most, .. } => search::Goal::Limit { at_most: at_most.as_nanos() as f64 },
    };
    let load = |value: &Value| load_of(value).unwrap_or(1.0);
    Question {
        goal,
        from: load(&asked.from),
        to: load(&asked.to),
        whole: matches!(asked.from, Value::Integer(_)),
        resolution: asked.resolution,
        points: asked.points as usize,
        times: if in_blocks { TIMES_IN_BLOCKS } else { TIMES_ALONE },
    }
}

/// What a point says to the goal. A percentile of a load that was not kept up with is no service level, whatever it is.
fn outcome(goal: &Goal, point: &PointFindings, value: &Measured) -> Outcome {
    if let Verdict::Void(reasons) = &point.verdict {
        let why: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        return Outcome::Void { why: why.join("; ") };
    }
    if matches!(goal, Goal::Percentile { .. }) && point.overload().is_some() {
        return Outcome::Behind;
    }
    match value {
        Ok(quantity) => Outcome::Measured { value: quantity.value(), bounds: quantity.interval().bounds() },
        Err(why) => Outcome::Void { why: why.clone() },
    }
}

impl SearchFindings {
    /// Number of the point to which a step adds runs; `None` where it takes a new one, as a void load does: its void run would void all
    /// runs of the point.
    pub fn point_of(&self, step: &Try, plan: &Plan) -> Option<u32> {
        let known = self.path.iter().rev().find(|chosen| chosen.load == step.load && chosen.has_result())?;
        step.again.then(|| plan.points[known.point].id)
    }

    /// The load beside which a step is measured, with the number of its point; `None` where each is measured alone.
    pub fn beside(&self, step: &Try, plan: &Plan) -> Option<(f64, u32)> {
        let load = step.beside.filter(|_| plan.has_blocks())?;
        let known = self.path.iter().rev().find(|chosen| chosen.load == load && chosen.has_result())?;
        Some((load, plan.points[known.point].id))
    }

    /// The answer, if there is one at the resolution that was asked for.
    pub fn found(&self) -> Option<&SearchAnswer> {
        match &self.state {
            SearchState::Ended(Ending::Found(found)) => Some(found),
            _ => None,
        }
    }

    /// Whether loads were measured side by side.
    pub(crate) fn is_side_by_side(&self) -> bool {
        self.path.iter().any(|chosen| chosen.of_largest.is_some())
    }

    /// What is known: the answer, or what there was when the search had to end.
    pub(crate) fn so_far(&self) -> Option<&SearchAnswer> {
        match &self.state {
            SearchState::Ended(Ending::CannotTell { so_far, .. } | Ending::Exhausted { so_far }) => so_far.as_ref(),
            _ => self.found(),
        }
    }
}
