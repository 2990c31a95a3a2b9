//! One point of the study: its levels, its runs, its verdict, its metrics.

use super::factor::{between, level_of};
use super::host::disturbance::{Estimand, HostUse, disturbed_from_outside};
use super::level::Measured;
use super::metrics::{metrics, throughput};
use super::run::{FEWEST_RUNS_FOR_SPREAD, Pair, RunFindings, run};
use super::void::Void;
use crate::metrics::{MetricKey, RELATIVE};
use crate::numbers::short;
use proofload_analysis::bootstrap::Estimate;
use proofload_analysis::quantity::Quantity;
use proofload_analysis::window::useless;
use proofload_model::plan::Run;
use proofload_model::settings::{Settings, Value, setting};
use proofload_record::{Attempt, Record, RunAttempts, State};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Runs of a point for each void visit, at least, so that the others count inside their repetitions. A choice: a point that takes more
/// repetitions away would cost the other points more than it tells, and of three repetitions two would be left, whose t quantile is 12.7.
const FEWEST_RUNS_PER_VOID_VISIT: usize = 4;

/// What is said about a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Within verified limits, without gaps, nothing shown to move, all checks passed.
    Valid,
    /// The same, with a wider interval than the study asks for, or with none.
    Wide,
    /// Every reason why it may not be used as a result.
    Void(Vec<Void>),
    /// No run of it was finished, and why.
    NotRun(String),
}

impl Verdict {
    /// Whether it is a result.
    pub fn is_valid(&self) -> bool {
        matches!(self, Self::Valid | Self::Wide)
    }

    /// Its word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Wide => "valid, wide",
            Self::Void(_) => "void",
            Self::NotRun(_) => "not run",
        }
    }

    /// The same, wide if the interval of the point's throughput is wider than asked, or that of one of its runs says nothing.
    fn by_width(self, runs: &[RunFindings], throughput: Option<&Estimate>, settings: &Settings) -> Self {
        let Ok(precision) = settings.number(setting::PROCEDURE_PRECISION) else { return self };
        let judged = runs.iter().all(|run| run.judged.is_some());
        let narrow = throughput.is_some_and(|throughput| throughput.relative_half_width() <= precision);
        let together = runs.iter().any(|run| run.width_accepted);
        if self == Self::Valid && judged && (together || !narrow) { Self::Wide } else { self }
    }

    /// The reasons against it.
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::Valid | Self::Wide => Vec::new(),
            Self::Void(reasons) => reasons.iter().map(ToString::to_string).collect(),
            Self::NotRun(why) => vec![why.clone()],
        }
    }
}

/// An attempt that came to its end and was made again.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierAttempt {
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Number of the attempt in the record.
    pub attempt: i64,
    /// Its throughput.
    pub throughput: Quantity,
    /// Why it is void.
    pub voids: Vec<Void>,
    /// What happened outside the database while it was measured.
    pub disturbed: Option<String>,
    /// Whether no other run was measured between it and the next attempt.
    pub made_again_at_once: bool,
}

/// A point of the study.
#[derive(Debug, Clone)]
pub struct PointFindings {
    /// Its number.
    pub id: u32,
    /// Level of each factor, in the order of the factors.
    pub levels: Vec<(String, Value)>,
    /// Finished runs, without sentinels; of a run that was measured again, the last attempt.
    pub runs: Vec<RunFindings>,
    /// Finished attempts before the last of their run.
    pub earlier: Vec<EarlierAttempt>,
    /// How many runs the plan has for it.
    pub planned: usize,
    /// What is said about it. One void run voids the point: leaving out bad runs would choose the result.
    pub verdict: Verdict,
    /// What its figures may claim; `None` without a finished run, and in records from before that was told.
    pub estimand: Option<Estimand>,
    /// Metrics by key. Of a void point they are context, never a result.
    pub metrics: BTreeMap<MetricKey, Measured>,
    /// Transactions per second.
    pub throughput: Result<Estimate, String>,
    /// Throughput in per cent of the largest valid point's.
    pub relative: Measured,
}

impl PointFindings {
    /// A metric by its key.
    pub fn metric(&self, key: impl Into<MetricKey>) -> Measured {
        let key: MetricKey = key.into();
        if key == RELATIVE {
            return self.relative.clone();
        }
        self.metrics.get(&key).cloned().unwrap_or_else(|| Err("this workload has no such metric".to_owned()))
    }

    /// A metric, if the point is valid.
    pub fn result(&self, key: impl Into<MetricKey>) -> Measured {
        match &self.verdict {
            Verdict::Valid | Verdict::Wide => self.metric(key),
            verdict => Err(format!("the point is {}", verdict.word())),
        }
    }

    /// Whether it is void only because throughput moved within its runs: a ratio inside repetitions or turns needs no rest, only the same
    /// conditions, so that it may be formed all the same.
    pub fn only_moved(&self) -> bool {
        matches!(self.verdict, Verdict::Void(_)) && self.runs.iter().all(|run| run.voids.is_empty() || run.only_moved())
    }

    /// Tells whether it counts where figures are formed inside repetitions: what moves there moves at all points of one. A run that spoils only
    /// its own visit takes its repetition with it, not the point, while enough runs are left.
    pub(super) fn counts_inside_repetitions(&self) -> bool {
        self.verdict.is_valid() || self.only_moved() || self.has_void_visits()
    }

    /// Whether it is void only for what moved in its runs and for single visits that count in no repetition.
    pub fn has_void_visits(&self) -> bool {
        let void = self.void_visits();
        let spoils = self.runs.iter().filter(|run| run.spoils_only_its_visit()).count();
        let is_few = FEWEST_RUNS_PER_VOID_VISIT * void <= self.runs.len();
        matches!(self.verdict, Verdict::Void(_)) && void > 0 && void == spoils && is_few
    }

    /// How many of its runs are void for more than what moved in them.
    pub(crate) fn void_visits(&self) -> usize {
        self.runs.iter().filter(|run| !run.counts_beside_others()).count()
    }

    /// Name of what its figures may claim: `quiet host` or `as given`; `None` where that is not told.
    pub fn estimand_name(&self) -> Option<&'static str> {
        self.estimand.as_ref().map(Estimand::name)
    }

    /// Why its load exceeded what it can do; `None` when it kept up or no rate was asked for.
    pub fn overload(&self) -> Option<String> {
        self.runs.iter().filter_map(|run| run.offered.as_ref()).find_map(crate::findings::OfferedRate::overload)
    }

    /// What others took of its host, in words, of the run in which it was most; `None` where it was not told or next to nothing.
    pub fn others(&self) -> Option<String> {
        let mut hosts: Vec<&HostUse> = self.runs.iter().filter_map(|run| run.host.as_ref()).collect();
        hosts.sort_by(|a, b| b.taken().total_cmp(&a.taken()));
        hosts.into_iter().find_map(HostUse::reason)
    }

    /// A sentence about its earlier attempts; `None` without any.
    pub(crate) fn told_earlier(&self) -> Option<String> {
        let reasons: Vec<String> = self.earlier.iter().map(EarlierAttempt::reasons).collect();
        let attempts = self.earlier.len() + self.runs.len();
        (!reasons.is_empty())
            .then(|| format!("{} of {attempts} attempts were repeated: {}", reasons.len(), reasons.join("; ")))
    }

    /// The name of one of its runs: the point's, with the number of the run where there are several.
    pub fn run_label(&self, run: &RunFindings) -> String {
        if self.planned > 1 { format!("{}, run {}", self.label(), run.run.repetition + 1) } else { self.label() }
    }

    /// Its levels in words.
    pub fn label(&self) -> String {
        let texts: Vec<String> = self.levels.iter().map(|(setting, value)| level_of(setting, value)).collect();
        if texts.is_empty() {
            "the only point".to_owned()
        } else {
            texts.join(between(self.levels.iter().map(|(_, value)| value)))
        }
    }

    /// The level of a factor, or what the level of a group assigns to a setting.
    pub fn level(&self, setting: &str) -> Option<&Value> {
        let own = self.levels.iter().find(|(known, _)| known == setting).map(|(_, value)| value);
        own.or_else(|| self.levels.iter().find_map(|(known, value)| value.assigned(known, setting)))
    }

    /// Every setting that its levels assign.
    pub fn assigned(&self) -> Settings {
        Settings::default().with(self.levels.iter().map(|(setting, value)| (setting, value)))
    }
}

impl EarlierAttempt {
    /// Its number, why it was made again and what it came to, in words.
    fn reasons(&self) -> String {
        let voids: Vec<String> = self.voids.iter().map(ToString::to_string).collect();
        let told = |outside: &&String| voids.iter().any(|void| void.contains(outside.as_str()));
        let outside = self.disturbed.as_ref().filter(|outside| !told(outside)).cloned();
        let reasons: Vec<String> = outside.into_iter().chain(voids).collect();
        let (number, run, came_to) = (self.attempt, self.repetition + 1, short(self.throughput.value()));
        format!("attempt {number} of run {run}, {came_to}/s: {}", reasons.join(", "))
    }
}

/// Runs and attempts of each point, without sentinels, found by one pass whatever the number of points.
#[derive(Default)]
struct PointAttempts<'r> {
    planned: HashMap<u32, Vec<&'r Run>>,
    attempts: HashMap<u32, Vec<&'r Attempt>>,
}

impl<'r> PointAttempts<'r> {
    fn of(runs: impl Iterator<Item = &'r Run>, attempts: impl Iterator<Item = &'r Attempt>) -> Self {
        let mut found = Self::default();
        for run in runs.filter(|run| !run.sentinel) {
            found.planned.entry(run.point).or_default().push(run);
        }
        for attempt in attempts.filter(|attempt| !attempt.run.sentinel) {
            found.attempts.entry(attempt.run.point).or_default().push(attempt);
        }
        found
    }

    fn planned(&self, point: u32) -> &[&'r Run] {
        self.planned.get(&point).map_or(&[], Vec::as_slice)
    }

    fn attempts(&self, point: u32) -> &[&'r Attempt] {
        self.attempts.get(&point).map_or(&[], Vec::as_slice)
    }
}

/// Evaluates every point of the plan.
pub(super) fn points(record: &Record) -> Vec<PointFindings> {
    let found = PointAttempts::of(record.plan.runs.iter(), record.attempts.iter());
    let by_run = record.by_run();
    record.plan.points.iter().map(|planned| point(record, (&found, &by_run), planned.id)).collect()
}

fn point(record: &Record, (found, by_run): (&PointAttempts<'_>, &RunAttempts<'_>), id: u32) -> PointFindings {
    let settings = record.plan.settings(&record.study, id);
    let (planned, of_point) = (found.planned(id), found.attempts(id));
    let attempts: Vec<_> = planned.iter().filter_map(|run| by_run.finished(run.index)).collect();
    let mut runs: Vec<RunFindings> = attempts.iter().map(|attempt| run(attempt, &settings)).collect();
    judge_width_together(&mut runs, &attempts);
    let last: HashSet<i64> = attempts.iter().map(|attempt| attempt.id).collect();
    let by_number: HashMap<i64, &Attempt> = of_point.iter().map(|attempt| (attempt.id, *attempt)).collect();
    let is_earlier = |attempt: &&&Attempt| attempt.state == State::Finished && !last.contains(&attempt.id);
    let earlier = of_point.iter().filter(is_earlier).map(|attempt| {
        let found = run(attempt, &settings);
        EarlierAttempt {
            repetition: attempt.run.repetition,
            attempt: attempt.id,
            throughput: found.throughput(),
            voids: found.voids,
            disturbed: disturbed_from_outside(attempt, &settings),
            made_again_at_once: by_number.get(&(attempt.id + 1)).is_some_and(|next| next.run == attempt.run),
        }
    });
    let earlier = earlier.collect();
    let pairs: Vec<Pair<'_>> = runs.iter().zip(attempts.iter().copied()).collect();
    let (metrics, throughput) = (metrics(&pairs, &settings), throughput(&pairs));
    PointFindings {
        id,
        levels: levels(record, id),
        planned: planned.len(),
        verdict: verdict(of_point, &runs).by_width(&runs, throughput.as_ref().ok(), &settings),
        estimand: estimand(&runs),
        metrics,
        throughput,
        relative: Err("no point is valid".to_owned()),
        runs,
        earlier,
    }
}

/// Lets runs stand that vary too much for an interval of their own, where the spread between the runs of the point says something.
/// One run is then one draw, however it varies inside.
fn judge_width_together(runs: &mut [RunFindings], attempts: &[&Attempt]) {
    let pairs: Vec<Pair<'_>> = runs.iter().zip(attempts.iter().copied()).collect();
    let says_something = throughput(&pairs).is_ok_and(|mean| mean.missing.is_none() && useless(&mean).is_none());
    if runs.len() >= FEWEST_RUNS_FOR_SPREAD as usize && says_something {
        runs.iter_mut().for_each(RunFindings::accept_width);
    }
}

/// The claim that holds for every run.
fn estimand(runs: &[RunFindings]) -> Option<Estimand> {
    let each: Option<Vec<Estimand>> = runs.iter().map(|run| Some(run.host.as_ref()?.estimand.clone())).collect();
    each?.into_iter().reduce(|one, other| one.with(&other))
}

fn levels(record: &Record, id: u32) -> Vec<(String, Value)> {
    let Some(point) = record.plan.points.get(id as usize) else { return Vec::new() };
    let level = |setting: &String| point.levels.get(setting).map(|value| (setting.clone(), value.clone()));
    record.plan.factors(&record.study).iter().filter_map(|factor| level(&factor.setting)).collect()
}

fn verdict(of_point: &[&Attempt], runs: &[RunFindings]) -> Verdict {
    if runs.is_empty() {
        return Verdict::NotRun(why_not_run(of_point));
    }
    let mut found: Vec<(&Void, Vec<u32>)> = Vec::new();
    for (void, run) in runs.iter().flat_map(|run| run.voids.iter().map(move |void| (void, run.run.repetition))) {
        match found.iter_mut().find(|(known, _)| *known == void) {
            Some((_, runs)) if runs.contains(&run) => {}
            Some((_, runs)) => runs.push(run),
            None => found.push((void, vec![run])),
        }
    }
    let of_all = |of: &[u32]| of.len() == runs.len();
    let reasons: Vec<Void> =
        found.iter().map(|(void, of)| if of_all(of) { (*void).clone() } else { void.of_runs(of) }).collect();
    if reasons.is_empty() { Verdict::Valid } else { Verdict::Void(reasons) }
}

fn why_not_run(of_point: &[&Attempt]) -> String {
    let Some(last) = of_point.last() else { return "the study has not reached it yet".to_owned() };
    match &last.state {
        State::Failed { .. } if last.is_interrupted() => "its last attempt was interrupted".to_owned(),
        State::Failed { reason } => format!("its last attempt failed: {reason}"),
        State::Open => "its last attempt was interrupted or is still running".to_owned(),
        State::Finished => "its last attempt belongs to another plan".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_analysis::quantity::{Interval, Unit};
    use proofload_model::time::WallTime;
    use proofload_record::AgentRows;

    #[test]
    fn what_others_took_is_told_once() {
        let text = |void: &str| {
            let throughput = Quantity::new(120.0, Unit::PERCENT, 1, Interval::none("one run"));
            let disturbed = Some("others took 82 % of the CPU".to_owned());
            let voids = vec![Void::host(void)];
            EarlierAttempt { repetition: 0, attempt: 4, throughput, voids, disturbed, made_again_at_once: true }
                .reasons()
        };
        let varied = text("throughput varied; meanwhile others took 82 % of the CPU");
        assert!(varied.ends_with(": throughput varied; meanwhile others took 82 % of the CPU"), "{varied}");
        let gap = text("telemetry is missing");
        assert!(gap.ends_with(": others took 82 % of the CPU, telemetry is missing"), "{gap}");
    }

    #[test]
    fn runs_and_attempts_are_looked_at_once_whatever_the_number_of_points() {
        let points = 50_u32;
        let run = |index: u32| Run {
            index,
            point: index % points,
            repetition: index / points,
            sentinel: index % 10 == 9,
            block: None,
            seed: 0,
        };
        let runs: Vec<Run> = (0..points * 2).map(run).collect();
        let attempts: Vec<Attempt> = (1..).zip(&runs).map(|(id, run)| attempt(id, *run)).collect();
        let looks = std::cell::Cell::new(0);
        let look = || looks.set(looks.get() + 1);
        let found = PointAttempts::of(runs.iter().inspect(|_| look()), attempts.iter().inspect(|_| look()));
        let (mut planned, mut tried) = (0, 0);
        for point in 0..points {
            let of_point = |run: &Run| run.point == point && !run.sentinel;
            assert!(found.planned(point).iter().all(|run| of_point(run)));
            assert!(found.attempts(point).iter().all(|attempt| of_point(&attempt.run)));
            planned += found.planned(point).len();
            tried += found.attempts(point).len();
        }
        let counted = runs.iter().filter(|run| !run.sentinel).count();
        assert_eq!((planned, tried), (counted, counted));
        assert_eq!(looks.get(), runs.len() + attempts.len());
        assert!(found.planned(points).is_empty() && found.attempts(points).is_empty());
    }

    fn attempt(id: i64, run: Run) -> Attempt {
        Attempt {
            id,
            run,
            state: State::Finished,
            started: WallTime(id),
            events: Vec::new(),
            facts: Vec::new(),
            intervals: Vec::new(),
            agents: AgentRows::default(),
            series: Vec::new(),
            marks: Vec::new(),
            checks: Vec::new(),
            seal_holds: None,
        }
    }
}
