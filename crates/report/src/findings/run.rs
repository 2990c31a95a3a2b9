//! One finished run: its window, its throughput second by second, its warm-up, its audits, its verdict.

pub(super) mod summary;

use super::audits::{Audit, audits};
use super::cache::tier::of_tier;
use super::host::disturbance::{HostLoad, HostUse, host_use, is_one_host};
use super::host::steal::steal;
use super::load::agents::{AgentFindings, agents};
use super::load::generator::{generator, is_in_process, is_saturated, little_of};
use super::load::lost_sessions::{LostSessions, lost_sessions};
use super::load::pacing::{Pacing, pacing};
use super::load::standstill::Standstill;
use super::load::{CompletedLoad, Failure, OfferedRate, completed, failures as failure_classes, offered, stalls_of};
use super::metrics::counted::{CountedTwice, counted};
use super::metrics::latencies::{ByKind, decoded};
use super::verdict;
use super::void::{Void, VoidClass};
use super::window::warm_up::{WarmUp, readiness, warm_up};
use super::window::whole_run::{self, WholeRun, whole_run};
use super::window::{FailureCount, Window};
use crate::workloads::{Workload, workload};
use proofload_analysis::bootstrap::mean_of;
use proofload_analysis::generator::{GeneratorCheck, LittleAudit};
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_analysis::stall::Stalls;
use proofload_analysis::validity::{Check as WindowCheck, Limits, VoidReason, check_window};
use proofload_analysis::window::{JudgedWindow, WindowRule, WindowVerdict, judge_window};
use proofload_model::drill::drill;
use proofload_model::plan::Run;
use proofload_model::readiness::ReadinessFound;
use proofload_model::samples::{Check, IntervalSample, LatencyClock, OperationCounts};
use proofload_model::settings::Settings;
use proofload_model::study::{Procedure, procedure};
use proofload_record::Attempt;

/// One finished run.
#[derive(Debug, Clone)]
pub struct RunFindings {
    /// Its place in the plan.
    pub run: Run,
    /// Number of the attempt in the record.
    pub attempt: i64,
    /// Measured load, seconds from time zero; `None` when it never came to that.
    pub load: Option<Window>,
    /// The part of it that the result is taken from.
    pub window: Option<Window>,
    /// Transactions ended (rolled back by design included) in each second from 0; NaN where the second is missing.
    pub per_second: Vec<f64>,
    /// The same for each kind.
    pub kinds: Vec<String>,
    /// Kinds that the database counts as well, in the order of the workload.
    pub counted: Vec<CountedTwice>,
    /// Response-time histograms of the window by kind, one per second.
    pub latencies: ByKind,
    /// Service-time histograms of the window likewise; `None` when not stored, as under a saturated load, whose service
    /// times are its response times.
    pub services: Option<ByKind>,
    /// How it ended, when it ended by a number of operations.
    pub completed: Option<CompletedLoad>,
    /// Offered against achieved, when a rate was asked for.
    pub offered: Option<OfferedRate>,
    /// What a paced load kept; `None` when it was not paced.
    pub pacing: Option<Pacing>,
    /// Errors of the window by class.
    pub failure_classes: Vec<Failure>,
    /// Sessions whose connection was lost; `None` when no connection was.
    pub lost_sessions: Option<LostSessions>,
    /// Stalls of the window.
    pub stalls: Stalls,
    /// Its rounds and the stretch that is rated, when it is rated whole.
    pub whole: Option<WholeRun>,
    /// Warm-up; `None` for a run that is rated whole.
    pub warm_up: Option<WarmUp>,
    /// Caches and standbys at its end.
    pub readiness: Vec<ReadinessFound>,
    /// Drift and changes inside the window.
    pub stability: Option<WindowCheck>,
    /// What is kept of the load and its mean; `None` of a run that is rated whole, and in records from before loads were judged so.
    pub judged: Option<JudgedWindow>,
    /// Mean steal of the cores that the database may run on, over the window, per cent of them; `None` where it was not observed.
    pub steal: Option<Quantity>,
    /// What others did on the host, and what the run's figures may claim; `None` in records from before that was told.
    pub host: Option<HostUse>,
    /// The generator's own state.
    pub generator: GeneratorCheck,
    /// Each of several load agents; empty when there was one.
    pub agents: Vec<AgentFindings>,
    /// Little's law over the window of a saturated closed loop.
    pub little: Option<LittleAudit>,
    /// Comparisons of what clients counted with what is stored.
    pub audits: Vec<Audit>,
    /// What was verified after the run.
    pub checks: Vec<Check>,
    /// Operations that failed in the window, and all that were due.
    pub failures: FailureCount,
    /// Why the run is void; empty when it is valid.
    pub voids: Vec<Void>,
    /// Whether its own interval says nothing, and the runs beside it tell how throughput varies.
    pub width_accepted: bool,
}

impl RunFindings {
    /// Transactions in each second of the window.
    pub fn measured(&self) -> &[f64] {
        self.window.map_or(&[], |window| window.of(&self.per_second))
    }

    /// Throughput for readers: over the window, or of the whole run.
    pub fn throughput(&self) -> Quantity {
        let of_seconds = || match &self.judged {
            Some(judged) => judged.mean.quantity(Unit::PER_SECOND),
            None => mean_of(self.measured()).quantity(Unit::PER_SECOND),
        };
        self.whole.as_ref().map_or_else(of_seconds, WholeRun::throughput)
    }

    /// Whether its one reason to be void is that throughput moved or varied too much within its window.
    pub(super) fn only_moved(&self) -> bool {
        let reason = self.judged.as_ref().map(|judged| &judged.verdict);
        let moved = matches!(reason, Some(WindowVerdict::Void(VoidReason::Moving { .. } | VoidReason::Useless { .. })));
        moved && self.voids.len() == 1
    }

    /// Whether it counts beside the other runs of its repetition: it is valid, or void only for what moved.
    pub(super) fn counts_beside_others(&self) -> bool {
        self.voids.is_empty() || self.only_moved()
    }

    /// Whether its reasons to be void say nothing of the other runs of its point: the host, or seconds that were not recorded, beside what
    /// moved. A limit, a check, a count or the generator would say something.
    pub(super) fn spoils_only_its_visit(&self) -> bool {
        let is_gap_or_movement = |reason: &&VoidReason| {
            matches!(reason, VoidReason::Gap { .. } | VoidReason::Moving { .. } | VoidReason::Useless { .. })
        };
        let reasons = self.stability.iter().flat_map(|check| &check.voids).filter(is_gap_or_movement);
        let seen: Vec<String> = reasons.map(ToString::to_string).collect();
        let is_own = |void: &Void| void.class == VoidClass::Host || seen.contains(&void.text);
        !self.counts_beside_others() && self.voids.iter().all(is_own)
    }

    /// Whether its one reason to be void is that throughput varied too much for its length: what it varied by is known.
    fn only_varied(&self) -> bool {
        let reason = self.judged.as_ref().map(|judged| &judged.verdict);
        matches!(reason, Some(WindowVerdict::Void(VoidReason::Useless { .. }))) && self.voids.len() == 1
    }

    /// Drops the width of its own interval as a reason against it: runs beside it tell how throughput varies.
    pub(super) fn accept_width(&mut self) {
        let Some(judged) = self.judged.as_mut().filter(|_| self.voids.len() == 1) else { return };
        if matches!(judged.verdict, WindowVerdict::Void(VoidReason::Useless { .. })) {
            judged.verdict = WindowVerdict::Wide;
            self.stability = Some(told(judged));
            self.voids.clear();
            self.width_accepted = true;
        }
    }

    /// Whether it tells how throughput varies: it is valid, or void only because it varied too much.
    pub fn tells_spread(&self) -> bool {
        self.voids.is_empty() || self.only_varied()
    }

    /// Window in seconds, for telemetry.
    pub fn window_seconds(&self) -> Option<(f64, f64)> {
        stretch(self.window, self.whole.as_ref())
    }
}

/// Fewest runs of a point whose spread stands in for the intervals of each. By the spread between three runs a
/// mean is covered as often as it should be: tests of `analysis::hierarchy`.
pub(super) const FEWEST_RUNS_FOR_SPREAD: u32 = 3;

/// A run with its attempt.
pub(super) type Pair<'a> = (&'a RunFindings, &'a Attempt);

/// Evaluates a finished attempt.
pub(super) fn run(attempt: &Attempt, settings: &Settings) -> RunFindings {
    let (load, workload) = (attempt.window().map(|(from, to)| Window { from, to }), workload(settings));
    let (whole, per_second) = (whole_run(attempt), per_second(attempt, load));
    let procedure = procedure(settings).ok();
    let judged = judged(load, &per_second, whole.as_ref(), procedure.as_ref());
    let window = kept(load, judged.as_ref());
    let inside = window.map(|window| window.inside(&attempt.intervals)).unwrap_or_default();
    let rated = rated(attempt, window, whole.as_ref(), &inside);
    let kinds = kinds(&attempt.intervals, workload);
    let measured = window.map_or(&[][..], |window| window.of(&per_second));
    let (latencies, services, unreadable) = by_clock(&kinds, &rated);
    let stalls = match whole {
        Some(_) => Stalls { median: f64::NAN, ..Stalls::default() },
        None => stalls_of(window, &inside, &latencies, measured),
    };
    let checked = || procedure.as_ref().map(|procedure| stability(window, measured, whole.as_ref(), procedure));
    let stability = judged.as_ref().map(told).or_else(checked);
    let stretch = stretch(window, whole.as_ref());
    let (warm_up, steal) = (warm_up(attempt), stretch.and_then(|stretch| steal(attempt, stretch)));
    let embedded = is_in_process(attempt, settings);
    let agents = agents(attempt, load, embedded);
    let generator = generator(attempt, &inside, &agents, embedded, measured);
    let (failures, audits) = (FailureCount::over(&rated), audits(attempt, workload));
    let (pacing, stood) = (pacing(&latencies, attempt, workload, settings), Standstill::within(&inside));
    let host = host(attempt, stretch, measured, settings, procedure.as_ref());
    let voids = [
        verdict::of_facts(attempt),
        verdict::of_start(attempt, window, whole.as_ref(), warm_up.as_ref(), judged.is_some()),
        verdict::of_window(stability.as_ref(), host.as_ref(), steal.as_ref(), tolerated(procedure.as_ref()), &stood),
        verdict::of_telemetry(attempt, stretch),
        [verdict::of_replication(attempt, settings, stretch, host.as_ref()), of_tier(attempt, stretch)].concat(),
        verdict::of_failures(failures, error_budget(procedure.as_ref()), host.as_ref(), &stood),
        verdict::of_limits(pacing.as_ref()),
        verdict::of_generator(&generator, host.as_ref(), is_drill(settings)),
        verdict::of_drill_and_checks(attempt, settings, &audits),
        unreadable.into_iter().map(Void::verification).collect(),
    ];
    RunFindings {
        run: attempt.run,
        attempt: attempt.id,
        load,
        window,
        counted: counted(attempt, &inside, window, workload),
        completed: completed(attempt),
        offered: offered(&inside, settings),
        failure_classes: failure_classes(&rated),
        lost_sessions: lost_sessions(attempt),
        little: little_of(&latencies, measured.len(), settings).filter(|_| whole.is_none()),
        checks: attempt.checks.clone(),
        voids: voids.concat(),
        width_accepted: false,
        per_second,
        kinds,
        latencies,
        services,
        pacing,
        stalls,
        whole,
        warm_up,
        readiness: readiness(attempt),
        stability,
        judged,
        steal,
        host,
        generator,
        agents,
        audits,
        failures,
    }
}

/// Share of operations that may fail.
fn error_budget(procedure: Option<&Procedure>) -> f64 {
    procedure.map_or(0.0, |procedure| procedure.error_budget)
}

/// Whether a fault was made after the window.
fn is_drill(settings: &Settings) -> bool {
    drill(settings).is_ok_and(|asked| asked.is_some())
}

/// Intervals whose operations count. Of a run that is rated whole every one does, also when other users had no work left.
fn rated<'a>(
    attempt: &'a Attempt,
    window: Option<Window>,
    whole: Option<&WholeRun>,
    inside: &[&'a IntervalSample],
) -> Vec<&'a IntervalSample> {
    match (whole, window) {
        (Some(_), Some(window)) => Window { to: u64::MAX, ..window }.inside(&attempt.intervals),
        _ => inside.to_vec(),
    }
}

/// What others did on the host; `None` in records from before that was told.
fn host(
    attempt: &Attempt,
    stretch: Option<(f64, f64)>,
    measured: &[f64],
    settings: &Settings,
    procedure: Option<&Procedure>,
) -> Option<HostUse> {
    let procedure = procedure.filter(|procedure| procedure.precision.is_some())?;
    let load = HostLoad {
        throughput: measured,
        tolerated: procedure.steal_tolerance,
        catches_up: !is_saturated(settings),
        is_one_host: is_one_host(settings),
    };
    Some(host_use(attempt, stretch?, load))
}

/// Share of steal beyond which a run is void: infinite, except in records that were judged so.
fn tolerated(procedure: Option<&Procedure>) -> f64 {
    let judged_so = procedure.filter(|procedure| procedure.precision.is_none());
    judged_so.map_or(f64::INFINITY, |procedure| procedure.steal_tolerance)
}

/// The window in seconds; of a run that is rated whole the stretch in which all users were at work.
fn stretch(window: Option<Window>, whole: Option<&WholeRun>) -> Option<(f64, f64)> {
    match whole {
        Some(whole) => whole.stretch,
        None => window.map(Window::span),
    }
}

/// The verdict on the load's seconds, a gap for each that is missing at the end; `None` for a run that is rated whole, and where the study is
/// from before loads were judged so.
fn judged(
    load: Option<Window>,
    per_second: &[f64],
    whole: Option<&WholeRun>,
    procedure: Option<&Procedure>,
) -> Option<JudgedWindow> {
    let rule = procedure.and_then(WindowRule::of).filter(|_| whole.is_none())?;
    let load = load?;
    let mut seconds = load.of(per_second).to_vec();
    seconds.resize(load.seconds(), f64::NAN);
    Some(judge_window(&seconds, &rule))
}

/// The part of the load that the result is taken from.
fn kept(load: Option<Window>, judged: Option<&JudgedWindow>) -> Option<Window> {
    let cut = judged.map_or(0, |judged| judged.cut as u64);
    load.map(|load| Window { from: load.from + cut, ..load })
}

/// The verdict in the form of the check of records from before it.
fn told(judged: &JudgedWindow) -> WindowCheck {
    let voids = match &judged.verdict {
        WindowVerdict::Void(reason) => vec![reason.clone()],
        WindowVerdict::Valid | WindowVerdict::Wide => Vec::new(),
    };
    WindowCheck { voids, drift: judged.movement.clone(), notes: Vec::new() }
}

/// Drift and changes inside the window: by its seconds, a gap for each that is missing at the end, or by the rounds of a run
/// that is rated whole.
fn stability(window: Option<Window>, measured: &[f64], whole: Option<&WholeRun>, procedure: &Procedure) -> WindowCheck {
    let mut seconds = measured.to_vec();
    seconds.resize(window.map_or(0, Window::seconds), f64::NAN);
    match whole {
        Some(whole) => whole_run::check(whole, &seconds, procedure.drift_tolerance),
        None => check_window(&seconds, &Limits::of(procedure)),
    }
}

/// Committed and rolled back by design.
fn ended(interval: &IntervalSample) -> u64 {
    interval.counts.iter().map(OperationCounts::completed).sum()
}

fn per_second(attempt: &Attempt, window: Option<Window>) -> Vec<f64> {
    let last = attempt.intervals.iter().map(|interval| interval.index + 1).max().unwrap_or(0);
    let length = last.max(window.map_or(0, |window| window.to)).min(attempt.most_seconds());
    let mut values = vec![f64::NAN; length as usize];
    for interval in &attempt.intervals {
        let value = values.get_mut(interval.index as usize).filter(|_| !interval.client.has_paused());
        if let Some(value) = value {
            *value = ended(interval) as f64;
        }
    }
    values
}

/// Kinds of which any operation became due: a mix may leave out some that the workload knows.
fn kinds(intervals: &[IntervalSample], workload: &Workload) -> Vec<String> {
    let counts = intervals.iter().flat_map(|interval| &interval.counts);
    let asked = counts.filter(|counts| counts.due > 0 || counts.done > 0 || counts.failed > 0);
    let mut kinds: Vec<String> = asked.map(|counts| counts.kind.clone()).collect();
    kinds.sort();
    kinds.dedup();
    workload.sort_kinds(&mut kinds);
    kinds
}

/// Histograms by kind of response times, and of service times where they are stored; what cannot be decoded comes last, as reasons
/// to void.
fn by_clock(kinds: &[String], inside: &[&IntervalSample]) -> (ByKind, Option<ByKind>, Vec<String>) {
    let (responses, mut unreadable) = decoded(kinds, inside, LatencyClock::Response);
    let mut stored = inside.iter().flat_map(|interval| &interval.histograms);
    let services = stored.any(|part| part.clock == LatencyClock::Service).then(|| {
        let (services, more) = decoded(kinds, inside, LatencyClock::Service);
        unreadable.extend(more);
        services
    });
    (responses, services, unreadable)
}
