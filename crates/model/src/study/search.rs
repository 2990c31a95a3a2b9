//! `[search]`: which load a study looks for. The checks of a study file, all faults at once, and the typed view of what is valid.
//! May not choose a point: that is the report's analysis.

use super::factor::Factor;
use super::fault::Fault;
use super::validate::StudySource;
use crate::error::Error;
use crate::samples::ALL_KINDS;
use crate::settings::{Settings, Value, setting};
use std::time::Duration;

/// Percentiles of response times that a search can hold a limit against.
const STATISTICS: &[&str] = &["p50", "p95", "p99", "p999"];

/// Default of `search.plateau`: share of the largest throughput that a load may stay below it.
const PLATEAU: f64 = 0.02;

/// Default of `search.resolution`: width of the range that holds the answer, as a share of it.
const RESOLUTION: f64 = 0.05;

/// Default of `search.points`.
const POINTS: u32 = 24;

/// What is searched for.
#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    /// The smallest load with the largest throughput.
    Max {
        /// Share of the largest throughput by which a load may stay below it, 0 to 1.
        plateau: f64,
    },
    /// The largest load that keeps a percentile of its response times.
    Percentile {
        /// `p50`, `p95`, `p99` or `p999`.
        statistic: String,
        /// The limit.
        at_most: Duration,
        /// Kind of operation, or `all`.
        operation: String,
    },
}

/// A search over one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Path of the setting.
    pub setting: String,
    /// What is searched for.
    pub goal: Goal,
    /// The smallest load.
    pub from: Value,
    /// The largest load.
    pub to: Value,
    /// The answer is known when the range that holds it is no wider than this share of it, or than 1 of whole numbers.
    pub resolution: f64,
    /// Measurements at most, of each combination of the factors' levels; each of them has the study's repetitions.
    pub points: u32,
    /// Whether each load is measured side by side with the best so far and judged by their ratio.
    pub blocks: bool,
}

/// The search of a study; `None` when it has no search. Valid studies give no error.
pub fn search(settings: &Settings) -> Result<Option<Search>, Error> {
    let Ok(setting) = settings.text(setting::SEARCH_SETTING) else { return Ok(None) };
    let end = |path: &str| settings.get(path).cloned().ok_or_else(|| Error::new(format!("{path} is not set")));
    Ok(Some(Search {
        setting: setting.to_owned(),
        goal: goal(settings)?,
        from: end("search.from")?,
        to: end("search.to")?,
        resolution: settings.number("search.resolution").unwrap_or(RESOLUTION),
        points: settings.count("search.points").unwrap_or(POINTS),
        blocks: settings.get("search.find").is_some() && settings.boolean("search.blocks").unwrap_or(true),
    }))
}

fn goal(settings: &Settings) -> Result<Goal, Error> {
    if settings.get("search.find").is_some() {
        return Ok(Goal::Max { plateau: settings.number("search.plateau").unwrap_or(PLATEAU) });
    }
    let limit = STATISTICS.iter().find_map(|statistic| Some((statistic, settings.duration(&limit(statistic)).ok()?)));
    let (statistic, at_most) = limit.ok_or_else(|| Error::new("search.find is not set"))?;
    Ok(Goal::Percentile {
        statistic: (*statistic).to_owned(),
        at_most,
        operation: settings.text("search.operation").unwrap_or(ALL_KINDS).to_owned(),
    })
}

/// The setting with the limit of a percentile.
fn limit(statistic: &str) -> String {
    format!("search.find.{statistic}")
}

/// A number as a load; `None` for a value that is no number.
pub fn load_of(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

/// A load as a value of the searched setting, whose ends say what it takes.
pub fn value_of(search: &Search, load: f64) -> Value {
    match search.from {
        Value::Integer(_) => Value::Integer(load.round() as i64),
        _ => Value::Number(load),
    }
}

/// Checks `[search]` and gives its ends the type of the setting that they are values of. Says every fault; those of single values are
/// in `faults` already.
pub(super) fn check(source: &StudySource<'_>, factors: &[Factor], settings: &mut Settings, faults: &mut Vec<Fault>) {
    let found = source.paths().filter(|path| path.starts_with("search.")).count();
    if found == 0 {
        return;
    }
    let mut check = Check { source, settings, faults };
    check.setting(factors);
    check.goal();
    check.ends();
}

struct Check<'a> {
    source: &'a StudySource<'a>,
    settings: &'a mut Settings,
    faults: &'a mut Vec<Fault>,
}

impl Check<'_> {
    fn fault(&mut self, key: &str, reason: impl Into<String>) {
        let line = self.source.line(key);
        self.faults.push(Fault::new(line, key, reason));
    }

    fn missing(&mut self, key: &str, what: &str) {
        if !self.source.is_given(key) {
            self.fault(key, format!("is required: {what}"));
        }
    }

    /// One that is a load of this study's workload, and varies nowhere else.
    fn setting(&mut self, factors: &[Factor]) {
        let Ok(setting) = self.settings.text(setting::SEARCH_SETTING).map(str::to_owned) else {
            return self
                .missing(setting::SEARCH_SETTING, "the setting that is searched, such as workload.virtual_users");
        };
        if self.source.load_setting(&setting).is_none() {
            let loads = self.source.load_settings().join(", ");
            return self.fault(
                setting::SEARCH_SETTING,
                format!("{setting} is not a load setting of this workload; a search can vary {loads}"),
            );
        }
        if factors.iter().any(|factor| factor.varies(&setting)) {
            self.fault(
                setting::SEARCH_SETTING,
                format!("{setting} is also a factor; a search chooses its levels itself"),
            );
        }
    }

    /// Exactly one goal, and what belongs to it alone.
    fn goal(&mut self) {
        let limits: Vec<String> = STATISTICS.iter().map(|statistic| limit(statistic)).collect();
        let percentiles: Vec<&String> = limits.iter().filter(|path| self.source.is_given(path)).collect();
        let max = self.source.is_given("search.find");
        match (max, percentiles.as_slice()) {
            (false, []) => {
                self.missing("search.find", "\"max\", or the limit of a percentile, such as { p99 = \"10ms\" }");
            }
            (false, [_]) | (true, []) => {}
            (_, [first, ..]) => {
                let first = (*first).clone();
                self.fault(&first, "a search needs exactly one goal: \"max\", or the limit of one percentile");
            }
        }
        for path in &limits {
            if self.settings.duration(path).is_ok_and(|limit| limit.is_zero()) {
                self.fault(path, "must be above 0");
            }
        }
        if max && percentiles.is_empty() && self.source.is_given("search.operation") {
            self.fault(
                "search.operation",
                "is only used with the limit of a percentile; remove it with find = \"max\"",
            );
        }
        for path in ["search.plateau", "search.blocks"] {
            if !max && !percentiles.is_empty() && self.source.is_given(path) {
                self.fault(path, "only used with find = \"max\"; remove it with the limit of a percentile");
            }
        }
        self.operation();
    }

    /// A kind of operation that the workload has.
    fn operation(&mut self) {
        let Ok(operation) = self.settings.text("search.operation").map(str::to_owned) else { return };
        let Some(known) =
            self.source.operations().filter(|known| operation != ALL_KINDS && !known.contains(&&*operation))
        else {
            return;
        };
        self.fault("search.operation", format!("unknown kind of operation {operation:?}; known: {}", known.join(", ")));
    }

    /// Two values of the setting, the smaller first; a study without a value of its own gets the smaller one.
    fn ends(&mut self) {
        let mut loads = Vec::new();
        for (path, what) in [("search.from", "the smallest load"), ("search.to", "the largest load")] {
            let Some(text) = self.settings.get(path).map(ToString::to_string) else {
                self.missing(path, what);
                continue;
            };
            let setting = self.settings.text(setting::SEARCH_SETTING).unwrap_or_default().to_owned();
            let Some(spec) = self.source.load_setting(&setting) else { continue };
            match spec.kind.read_text(&text) {
                Ok(value) => {
                    loads.extend(load_of(&value));
                    self.settings.0.insert(path.to_owned(), value);
                }
                Err(reason) => self.fault(path, reason),
            }
        }
        if let [from, to] = loads[..]
            && from >= to
        {
            self.fault("search.to", "must be above search.from");
        }
        let start = self
            .settings
            .text(setting::SEARCH_SETTING)
            .ok()
            .map(str::to_owned)
            .zip(self.settings.get("search.from").cloned());
        if let Some((setting, from)) = start {
            self.settings.0.entry(setting).or_insert(from);
        }
    }
}
