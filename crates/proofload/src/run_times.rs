//! How long a run takes, phase by phase, before it is run. For plans and views; starts nothing and decides nothing.

use crate::conductor::{LOOK, MOST_PLANNED_TIMES, RETRY_WAIT, labels};
use proofload_analysis::recovery::BACK_FOR;
use proofload_load::{Rating, Work};
use proofload_model::drill::drill;
use proofload_model::error::Error;
use proofload_model::plan::{Plan, Point, Run};
use proofload_model::prober::PACE_LEAD;
use proofload_model::settings::{Settings, setting};
use proofload_model::study::{Study, procedure};
use proofload_model::units::duration_words;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Starting, verifying and stopping of an instance together, about.
const AROUND: Duration = Duration::from_secs(7);

/// A cautious rate of restoring a snapshot, bytes per second; where blocks are shared it takes next to no time.
const RESTORE_BYTES_PER_SECOND: u64 = 500_000_000;

/// A cautious rate of building data, bytes of rows per second; the report has the measured one.
const BUILD_BYTES_PER_SECOND: u64 = 12_000_000;

/// Shortest and longest time under load. Restoring, starting and verifying come on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) at_least: Duration,
    /// Upper bound; `None`: as long as its operations take.
    pub(crate) at_most: Option<Duration>,
}

impl Span {
    /// No time at all.
    pub(crate) const ZERO: Self = Self { at_least: Duration::ZERO, at_most: Some(Duration::ZERO) };

    const fn between(at_least: Duration, at_most: Duration) -> Self {
        Self { at_least, at_most: Some(at_most) }
    }

    /// One after the other.
    pub(crate) fn and(self, other: Self) -> Self {
        let at_most = self.at_most.zip(other.at_most).map(|(one, other)| one.saturating_add(other));
        Self { at_least: self.at_least + other.at_least, at_most }
    }

    /// Describes it in words.
    pub(crate) fn text(self) -> String {
        match self.at_most {
            None if self.at_least.is_zero() => "as long as they take".to_owned(),
            None => format!("{} and more", duration_words(self.at_least)),
            Some(most) if self.at_least.is_zero() => format!("at most {}", duration_words(most)),
            Some(most) if most == self.at_least => duration_words(most),
            Some(most) => format!("{} to {}", duration_words(self.at_least), duration_words(most)),
        }
    }

    /// Seconds, for programs; null where nothing bounds them.
    pub(crate) fn json(self) -> Json {
        json!({ "at_least": self.at_least.as_secs_f64(), "at_most": self.at_most.map(|most| most.as_secs_f64()) })
    }
}

/// One run: its phases under load, or the work at whose end it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunTimes {
    /// Time under load, further attempts included.
    pub(crate) span: Span,
    /// Warm-up, measured load and what follows its window; `None` of a run that ends by its work.
    pub(crate) phases: Option<Phases>,
    /// Work of a run that ends by it.
    pub(crate) work: Option<Work>,
    /// Whether its first seconds are measured.
    pub(crate) begins_measured: bool,
}

/// Phases of a run that ends by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phases {
    pub(crate) warm_up: Span,
    pub(crate) measure: Span,
    /// Load after the window of a drill; no time without one.
    pub(crate) drill: Span,
}

impl Phases {
    /// Time under load of one attempt.
    fn once(self) -> Span {
        self.warm_up.and(self.measure).and(self.drill)
    }
}

impl RunTimes {
    /// The times of a run with these settings.
    pub(crate) fn of(settings: &Settings) -> Result<Self, Error> {
        let workload = proofload_load::workload(settings.text(setting::WORKLOAD_KIND)?);
        let rating = workload.map(|workload| workload.rating(settings));
        let begins_measured = matches!(rating, Some(Rating::WholeRun { warm_up_rounds: 0 }));
        if let Some(work) = workload.and_then(|workload| workload.work(settings)) {
            let span = Span { at_least: Duration::ZERO, at_most: work.at_most };
            return Ok(Self { span, phases: None, work: Some(work), begins_measured });
        }
        let procedure = procedure(settings)?;
        let least = procedure.warm_up.at_least;
        let most = if procedure.has_fixed_warm_up() { least } else { procedure.warm_up.at_most };
        let phases = Phases {
            warm_up: Span::between(least, most),
            measure: Span::between(procedure.measure, procedure.longest_measured()),
            drill: after_window(settings)?,
        };
        let once = phases.once();
        let attempts = 1 + procedure.retries.min(MOST_PLANNED_TIMES);
        let at_most = once.at_most.map(|once| once.saturating_mul(attempts));
        Ok(Self { span: Span { at_most, ..once }, phases: Some(phases), work: None, begins_measured })
    }

    /// Describes it in words.
    pub(crate) fn text(&self) -> String {
        let Some(Work { operations, word, .. }) = self.work else { return self.span.text() };
        format!("{operations} {word}, {}", self.span.text())
    }

    /// Time under load of one attempt, about; `None` where only its end tells.
    pub(crate) fn expected(&self) -> Option<Duration> {
        let Phases { warm_up, measure, drill } = self.phases?;
        let middle = |span: Span| span.at_most.map_or(span.at_least, |most| (span.at_least + most) / 2);
        Some(middle(warm_up) + measure.at_least + drill.at_least)
    }
}

/// The longest planned time of one attempt, with its wait and what comes before and after its load, about; `None` where only its end tells.
pub(crate) fn planned_attempt(settings: &Settings, bytes: u64) -> Option<Duration> {
    let times = RunTimes::of(settings).ok()?;
    let load = times.phases.map_or(times.span, Phases::once).at_most?;
    let wait = procedure(settings).map_or(Duration::ZERO, |procedure| procedure.wait_for_quiet);
    Some(load.saturating_add(wait).saturating_add(around(settings, bytes)))
}

/// The longest that a run waits for a quiet host, further attempts included, about; a wait ends with a look at the host.
pub(crate) fn longest_wait(settings: &Settings) -> Duration {
    let Ok(procedure) = procedure(settings) else { return Duration::ZERO };
    let before_each = procedure.wait_for_quiet.saturating_mul(1 + procedure.retries);
    before_each.saturating_add(RETRY_WAIT.saturating_mul(procedure.retries))
}

/// Load after the window of a drill: at least until users can have been back for so long, at most until the time is up; nothing without one.
fn after_window(settings: &Settings) -> Result<Span, Error> {
    let Some(asked) = drill(settings)? else { return Ok(Span::ZERO) };
    let lasts = if asked.replaces_the_primary() { asked.promote_after } else { asked.lasts };
    let around = PACE_LEAD + Duration::from_secs(BACK_FOR as u64);
    Ok(Span::between(lasts + around, asked.phase + lasts.max(asked.within) + around))
}

/// A run of the plan as a view and a plan tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedRun {
    /// Its levels in words.
    pub(crate) label: String,
    pub(crate) times: RunTimes,
    /// What comes before and after its load, about.
    pub(crate) around: Duration,
    /// Building the data that it needs as the first, about.
    pub(crate) build: Duration,
    /// Whether it goes on at the same time as another run of the view, so that it adds no time.
    pub(crate) is_beside: bool,
}

/// What all runs of a point have alike.
struct PlannedPoint {
    times: RunTimes,
    around: Duration,
    /// Label and expected size of its data; `None` where it keeps none.
    data: Option<(String, u64)>,
}

impl PlannedPoint {
    fn of(study: &Study, settings: &Settings) -> Self {
        let unknown =
            RunTimes { span: Span { at_most: None, ..Span::ZERO }, phases: None, work: None, begins_measured: false };
        let data = data_set(study, settings).ok().flatten();
        let bytes = data.as_ref().map_or(0, |(_, bytes)| *bytes);
        Self { times: RunTimes::of(settings).unwrap_or(unknown), around: around(settings, bytes), data }
    }
}

/// All runs of a plan, in its order. What a point has is found out once, however often it is run.
pub(crate) fn planned_runs(study: &Study, plan: &Plan) -> Vec<PlannedRun> {
    let of_point = |point: &Point| PlannedPoint::of(study, &plan.settings(study, point.id));
    let points: Vec<PlannedPoint> = plan.points.iter().map(of_point).collect();
    let mut built: BTreeSet<&str> = BTreeSet::new();
    let planned = |(run, label): (&Run, String)| {
        let PlannedPoint { times, around, data } = &points[run.point as usize];
        let build = if let Some((name, bytes)) = data
            && built.insert(name.as_str())
        {
            build_time(*bytes)
        } else {
            Duration::ZERO
        };
        PlannedRun { label, times: *times, around: *around, build, is_beside: false }
    };
    plan.runs.iter().zip(labels(plan)).map(planned).collect()
}

fn around(settings: &Settings, bytes: u64) -> Duration {
    let procedure = procedure(settings);
    let restores = procedure.as_ref().is_ok_and(|procedure| procedure.restore_every_run);
    let looks = procedure.is_ok_and(|procedure| !procedure.wait_for_quiet.is_zero());
    let restore = if restores { Duration::from_secs(bytes / RESTORE_BYTES_PER_SECOND) } else { Duration::ZERO };
    AROUND + restore + if looks { LOOK } else { Duration::ZERO }
}

/// About how long building data of this size takes, at least a second.
pub(crate) fn build_time(bytes: u64) -> Duration {
    Duration::from_secs((bytes / BUILD_BYTES_PER_SECOND).max(1))
}

/// Label and expected size of the data of a point; `None` where it keeps none.
pub(crate) fn data_set(study: &Study, settings: &Settings) -> Result<Option<(String, u64)>, Error> {
    let Some(workload) = proofload_load::workload(settings.text(setting::WORKLOAD_KIND)?) else { return Ok(None) };
    let engine = settings.text(setting::ENGINE_KIND)?;
    if !proofload_engine::engine(engine).is_some_and(|engine| engine.facts().capabilities.durable) {
        return Ok(None);
    }
    let label = format!("{engine} {}", workload.data_label(settings, study.seed()));
    Ok(Some((label, workload.expected_bytes(settings).0)))
}
