//! The search of a study: what it has found, and which load it would measure next. The conductor asks here, and so does the report: both
//! get the same answer from the same results.

use super::factor::{level_text, setting_title};
use super::level::Measured;
use super::point::{PointFindings, Verdict, point};
use crate::analysis::search::{Doubt, Ending, Found, Outcome, Question, Step, Tried, Try, Why, next};
use crate::analysis::{quantity::Quantity, search};
use crate::numbers::short;
use proofload_model::settings::Value;
use proofload_model::study::{Goal, Search, load_of, value_of};
use proofload_record::Record;
use std::collections::BTreeMap;

/// The name of the event that tells why a search chose a point.
pub const SEARCH_STEP: &str = "search_step";

/// The name of the event that tells how a search ended.
pub const SEARCH_ENDED: &str = "search_ended";

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
    pub path: Vec<Chosen>,
    /// Measurements so far.
    pub spent: usize,
    /// How it stands.
    pub state: SearchState,
}

/// A point of a search.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// Place in the list of points.
    pub point: usize,
    /// Its load.
    pub load: f64,
    /// Why it was measured, and measured again, as the record tells it.
    pub whys: Vec<String>,
    /// What the goal looks at: throughput, or the percentile.
    pub value: Measured,
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
pub enum Told {
    /// Words.
    Words(String),
    /// A measured number.
    Number(Box<Quantity>),
}

/// Every search of a record, without the other findings; none when its study has none.
pub fn searches(record: &Record) -> Vec<SearchFindings> {
    if record.study.settings.get("search.setting").is_none() {
        return Vec::new();
    }
    let points: Vec<PointFindings> = record.plan.points.iter().map(|planned| point(record, planned.id)).collect();
    searches_among(record, &points)
}

/// The same with the points that were evaluated.
pub(super) fn searches_among(record: &Record, points: &[PointFindings]) -> Vec<SearchFindings> {
    let Ok(Some(asked)) = proofload_model::study::search(&record.study.settings) else { return Vec::new() };
    let mut groups: Vec<(BTreeMap<String, Value>, Vec<usize>)> = Vec::new();
    for (place, planned) in record.plan.points.iter().enumerate() {
        let mut levels = planned.levels.clone();
        levels.remove(&asked.setting);
        match groups.iter_mut().find(|(known, _)| *known == levels) {
            Some((_, members)) => members.push(place),
            None => groups.push((levels, vec![place])),
        }
    }
    let whys = whys(record);
    groups.into_iter().map(|(levels, members)| one(&asked, levels, &members, (record, points, &whys))).collect()
}

/// Why each point was chosen, by its number.
fn whys(record: &Record) -> BTreeMap<u64, Vec<String>> {
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for event in record.events.iter().filter(|event| event.name == SEARCH_STEP) {
        let Ok(detail) = serde_json::from_str::<serde_json::Value>(&event.detail) else { continue };
        if let (Some(point), Some(why)) = (detail["point"].as_u64(), detail["why"].as_str()) {
            found.entry(point).or_default().push(why.to_owned());
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
        Chosen {
            point: *place,
            load: point.level(&asked.setting).and_then(load_of).unwrap_or(f64::NAN),
            whys: whys.get(&u64::from(point.id)).cloned().unwrap_or_default(),
            value: point.result(&metric(&asked.goal)),
        }
    };
    let path: Vec<Chosen> = members.iter().map(chosen).collect();
    let repetitions = record.study.repetitions().max(1) as usize;
    let times = |chosen: &Chosen| points[chosen.point].planned / repetitions;
    let spent = path.iter().map(times).sum();
    let complete = |chosen: &Chosen| points[chosen.point].runs.len() == points[chosen.point].planned;
    let state = if path.iter().all(complete) {
        let tried = path.iter().map(|chosen| Tried {
            load: chosen.load,
            times: times(chosen),
            outcome: outcome(&asked.goal, &points[chosen.point], &chosen.value),
        });
        match next(&question(asked), &tried.collect::<Vec<_>>()) {
            Step::Try(step) => SearchState::Next(step),
            Step::Ended(ending) => SearchState::Ended(ending),
        }
    } else {
        SearchState::Waiting
    };
    let label = label(&levels);
    SearchFindings { asked: asked.clone(), levels, label, path, spent, state }
}

fn label(levels: &BTreeMap<String, Value>) -> String {
    let word = |(setting, value): (&String, &Value)| match value {
        Value::Text(_) => level_text(value),
        value => format!("{} {}", level_text(value), setting_title(setting)),
    };
    levels.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The metric that a goal looks at.
fn metric(goal: &Goal) -> String {
    match goal {
        Goal::Max { .. } => "throughput".to_owned(),
        Goal::Percentile { statistic, operation, .. } => format!("response_ns_{statistic}.{operation}"),
    }
}

fn question(asked: &Search) -> Question {
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
    /// Has it an answer, at the resolution that was asked for?
    pub fn found(&self) -> Option<&Found> {
        match &self.state {
            SearchState::Ended(Ending::Found(found)) => Some(found),
            _ => None,
        }
    }

    /// What is known: the answer, or what there was when the search had to end.
    pub fn so_far(&self) -> Option<&Found> {
        match &self.state {
            SearchState::Ended(Ending::CannotTell { so_far, .. } | Ending::Exhausted { so_far }) => so_far.as_ref(),
            _ => self.found(),
        }
    }

    /// A load as the study would write it.
    pub fn load(&self, load: f64) -> String {
        match value_of(&self.asked, load) {
            Value::Number(number) => short_exact(number),
            value => crate::numbers::count(value.to_string().parse().unwrap_or_default()),
        }
    }

    /// A load with what it is of.
    fn of(&self, load: f64) -> String {
        let title = setting_title(&self.asked.setting);
        let unit =
            if self.asked.setting == "workload.rate" { "operations per second offered".to_owned() } else { title };
        let number = self.load(load);
        // "1 virtual user": all settings that can be searched are plural nouns.
        let unit = if number == "1" { unit.strip_suffix('s').unwrap_or(&unit) } else { unit.as_str() };
        format!("{number} {unit}")
    }

    /// What is looked for, as a clause behind "the".
    pub fn goal(&self) -> String {
        match &self.asked.goal {
            Goal::Max { plateau } => {
                format!("smallest load whose throughput is within {} % of the largest", short(100.0 * plateau))
            }
            Goal::Percentile { statistic, at_most, operation } => {
                let whose = if operation == "all" { "all operations".to_owned() } else { operation.clone() };
                let limit = level_text(&Value::Duration(*at_most));
                format!("largest load whose {} of response times of {whose} is at most {limit}", percentile(statistic))
            }
        }
    }

    /// Why a load is next, for the record.
    pub fn why(&self, step: &Try) -> String {
        let load = |load: f64| self.load(load);
        let percentile = matches!(self.asked.goal, Goal::Percentile { .. });
        match &step.why {
            Why::Start => "the smallest load".to_owned(),
            Why::Climb { after } if percentile => format!("the limit was kept up to {}", load(*after)),
            Why::Climb { after } => format!("throughput may still rise after {}", load(*after)),
            Why::Between { low, high } if percentile => {
                format!("the limit was kept at {} and broken at {}", load(*low), load(*high))
            }
            Why::Between { low, high } => {
                format!("{} is short of the plateau and {} is on it", load(*low), load(*high))
            }
            Why::Fall { best, fallen } => {
                format!("throughput fell from {} to {}: the largest may lie between them", load(*best), load(*fallen))
            }
            Why::AfterVoid => "it was void".to_owned(),
            Why::Unsure => "again: the answer hangs on it, and its interval does not tell".to_owned(),
        }
    }

    /// Why a search has no answer; none while it goes on and when it has one.
    pub fn why_not(&self) -> Option<String> {
        let SearchState::Ended(ending) = &self.state else { return None };
        let percentile = matches!(self.asked.goal, Goal::Percentile { .. });
        let (from, to) = (load_of(&self.asked.from)?, load_of(&self.asked.to)?);
        Some(match ending {
            Ending::Found(_) => return None,
            Ending::BeyondEnd if percentile => {
                format!("the limit is still kept at {}, the largest load: raise search.to", self.of(to))
            }
            Ending::BeyondEnd => {
                format!("throughput still rises towards {}, the largest load: raise search.to", self.of(to))
            }
            Ending::BeforeStart if percentile => {
                format!(
                    "the limit is broken at {} already, the smallest load: lower search.from or raise the limit",
                    self.of(from)
                )
            }
            Ending::BeforeStart => {
                format!("throughput does not rise beyond {}, the smallest load: lower search.from", self.of(from))
            }
            Ending::CannotTell { load, why, .. } => {
                format!("{} was void twice, and the answer hangs on it: {why}", self.of(*load))
            }
            Ending::Exhausted { .. } => {
                format!("all {} measurements were made before it was known: raise search.points", self.asked.points)
            }
        })
    }

    /// What stands against an answer, a sentence each.
    pub fn doubts(&self) -> Vec<String> {
        let percentile = matches!(self.asked.goal, Goal::Percentile { .. });
        let of = |load: f64| self.load(load);
        let word = |doubt: &Doubt| match doubt {
            Doubt::Interval { load } if percentile => {
                format!("The interval at {} holds the limit, so the turn may lie on its other side.", of(*load))
            }
            Doubt::Interval { load } => {
                format!("The interval at {} does not tell whether it is on the plateau.", of(*load))
            }
            Doubt::KeptAbove { load } => format!("Above it the limit was kept again, at {}.", of(*load)),
            Doubt::Falls { from, to } => {
                format!(
                    "The percentile does not rise with the load throughout: it is lower at {} than at {}.",
                    of(*to),
                    of(*from)
                )
            }
            Doubt::Dips { load } => {
                format!("Throughput does not rise and fall once: it dips at {} and is larger on both sides.", of(*load))
            }
            Doubt::LargestAtEnd => {
                "The largest throughput is that of the largest load; beyond it may be a larger one.".to_owned()
            }
        };
        self.so_far().map(|found| found.doubts.iter().map(word).collect()).unwrap_or_default()
    }

    /// The answer, or why there is none, as sentences with their numbers.
    pub fn told(&self) -> Vec<Told> {
        let mut told = Vec::new();
        match (&self.state, self.found(), self.why_not()) {
            (_, Some(found), _) => {
                told.push(Told::Words(format!("{}: the {}", self.of(found.load), self.goal())));
                self.tell_values(found, &mut told);
            }
            (_, None, Some(why)) => {
                told.push(Told::Words(format!("No answer: {why}.")));
                if let Some(found) = self.so_far() {
                    told.push(Told::Words(format!(" So far the {} is {}", self.goal(), self.of(found.load))));
                    self.tell_values(found, &mut told);
                }
            }
            (SearchState::Next(step), ..) => {
                told.push(Told::Words(format!(
                    "Not ended: next is {}, because {}.",
                    self.of(step.load),
                    self.why(step)
                )));
            }
            _ => told.push(Told::Words("Not ended: runs that were chosen are missing.".to_owned())),
        }
        told.extend(self.doubts().into_iter().map(|doubt| Told::Words(format!(" {doubt}"))));
        told
    }

    /// The values at the answer and beside it.
    fn tell_values(&self, found: &Found, told: &mut Vec<Told>) {
        let value = |load: f64| {
            let mut of_load = self.path.iter().rev().filter(|chosen| chosen.load == load);
            of_load
                .find_map(|chosen| chosen.value.as_ref().ok())
                .map(|quantity| Told::Number(Box::new(quantity.clone())))
        };
        let mut part = |lead: &str, load: f64, tail: String| {
            if let Some(number) = value(load) {
                told.extend([Told::Words(lead.to_owned()), number, Told::Words(tail)]);
            }
        };
        part("; ", found.load, " there".to_owned());
        let (low, high) = found.range;
        let other = if low == found.load { high } else { low };
        if other != found.load {
            part(", ", other, format!(" at {}", self.load(other)));
        }
        if let Some(best) = found.best.filter(|best| *best != found.load) {
            part(", and the largest, ", best, format!(", at {}", self.load(best)));
        }
        told.push(Told::Words(".".to_owned()));
    }

    /// The same as plain text.
    pub fn text(&self) -> String {
        let word = |told: &Told| match told {
            Told::Words(words) => words.clone(),
            Told::Number(quantity) => plain(quantity),
        };
        self.told().iter().map(word).collect()
    }
}

/// A quantity as plain text.
fn plain(quantity: &Quantity) -> String {
    let shown = crate::numbers::shown(quantity);
    let interval = shown.interval.map(|(low, high)| format!(" [{low}, {high}]")).unwrap_or_default();
    let why = shown.missing.map(|why| format!(", no interval: {why}")).unwrap_or_default();
    format!("{} {}{interval} (n = {}{why})", shown.value, shown.unit, shown.n)
}

/// A rate with its digits, thousands apart.
fn short_exact(number: f64) -> String {
    let text = number.to_string();
    let places = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    crate::numbers::grouped(number, places)
}

/// `p999` in words.
fn percentile(statistic: &str) -> String {
    match statistic {
        "p50" => "median".to_owned(),
        "p999" => "99.9th percentile".to_owned(),
        other => format!("{}th percentile", other.trim_start_matches('p')),
    }
}
