//! One finished run: its window, its throughput second by second, its warm-up, its audits, its verdict.

use super::agents::{AgentFindings, agents};
use super::audits::{Audit, audits};
use super::latencies::{ByKind, decoded};
use super::load::{
    CompletedLoad, Failure, OfferedRate, asked_rate, completed, failures as failure_classes, offered, send_lag_p99,
    stalls_of,
};
use super::lost_sessions::{LostSessions, lost_sessions};
use super::pacing::{Pacing, pacing};
use super::steal::steal;
use super::verdict::voids;
use super::void::Void;
use super::whole_run::{self, WholeRun};
use crate::workloads::{CountedKind, Workload, workload};
use proofload_analysis::bootstrap::mean_of;
use proofload_analysis::generator::{
    ClosedLoop, Doubt, GeneratorCheck, GeneratorObservations, LittleAudit, check_generator, little,
};
use proofload_analysis::latency::Sparse;
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_analysis::stall::Stalls;
use proofload_analysis::steady::{Rule, Verdict as SteadyVerdict, judge};
use proofload_analysis::validity::{Check as WindowCheck, Limits, check_window};
use proofload_model::engines::named_engine;
use proofload_model::events::RunEvent;
use proofload_model::facts::client;
use proofload_model::plan::Run;
use proofload_model::samples::{Check, IntervalSample, LatencyClock, OperationCounts};
use proofload_model::settings::Settings;
use proofload_model::study::{Procedure, procedure};
use proofload_record::Attempt;
use std::time::Duration;

/// The warm-up of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// How long it took, whole seconds.
    pub seconds: u64,
    /// Whether it was declared steady while it ran.
    pub settled: bool,
    /// The verdict computed again from the record.
    pub verdict: Option<SteadyVerdict>,
}

/// One kind of operation by the clients' counts and by the database's own.
#[derive(Debug, Clone)]
pub struct CountedTwice {
    /// Committed in each second of the window; `None` when the run has no such kind.
    pub clients: Option<Vec<f64>>,
    /// Rate per minute, by the database's counter between the marks at the window's ends.
    pub database: Option<f64>,
}

/// One finished run.
#[derive(Debug, Clone)]
pub struct RunFindings {
    /// Its place in the plan.
    pub run: Run,
    /// Number of the attempt in the record.
    pub attempt: i64,
    /// Measured window, seconds from time zero; `None` when it never came to that.
    pub window: Option<(u64, u64)>,
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
    /// Drift and changes inside the window.
    pub stability: Option<WindowCheck>,
    /// Mean steal of the cores that the database may run on, over the window, per cent of them; `None` where it was not observed.
    pub steal: Option<Quantity>,
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
    pub failures: (u64, u64),
    /// Why the run is void; empty when it is valid.
    pub voids: Vec<Void>,
}

impl RunFindings {
    /// Transactions in each second of the window.
    pub fn measured(&self) -> &[f64] {
        let Some((from, to)) = self.window else { return &[] };
        let (from, to) = (from as usize, (to as usize).min(self.per_second.len()));
        self.per_second.get(from.min(to)..to).unwrap_or_default()
    }

    /// Throughput for readers: over the window, or of the whole run.
    pub fn throughput(&self) -> Quantity {
        let of_seconds = || mean_of(self.measured()).quantity(Unit::PER_SECOND);
        self.whole.as_ref().map_or_else(of_seconds, WholeRun::throughput)
    }

    /// Window in seconds, for telemetry.
    pub fn window_seconds(&self) -> Option<(f64, f64)> {
        if let Some(whole) = &self.whole {
            return whole.stretch;
        }
        self.window.map(|(from, to)| (from as f64, to as f64))
    }
}

/// Evaluates a finished attempt.
pub(super) fn run(attempt: &Attempt, settings: &Settings) -> RunFindings {
    let (window, workload) = (attempt.window(), workload(settings));
    let inside = window.map(|window| within(&attempt.intervals, window)).unwrap_or_default();
    let whole = whole_run::whole_run(attempt);
    // Of a run that is rated whole every operation counts, also when other users had no work left.
    let rated = match (&whole, window) {
        (Some(_), Some((from, _))) => within(&attempt.intervals, (from, u64::MAX)),
        _ => inside.clone(),
    };
    let mut findings = RunFindings {
        run: attempt.run,
        attempt: attempt.id,
        window,
        per_second: per_second(attempt, window),
        kinds: kinds(&attempt.intervals, workload),
        counted: workload.counted.iter().map(|counted| counted_twice(attempt, &inside, window, counted)).collect(),
        latencies: ByKind::new(),
        services: None,
        completed: completed(attempt),
        offered: offered(&inside, settings),
        pacing: None,
        failure_classes: failure_classes(&rated),
        lost_sessions: lost_sessions(attempt),
        stalls: Stalls { median: f64::NAN, ..Stalls::default() },
        whole,
        warm_up: None,
        stability: None,
        steal: None,
        generator: GeneratorCheck::default(),
        agents: agents(attempt, window, is_in_process(attempt, settings)),
        little: None,
        audits: audits(attempt, workload),
        checks: attempt.checks.clone(),
        failures: failures(&rated),
        voids: Vec::new(),
    };
    let procedure = procedure(settings).ok();
    findings.warm_up = warm_up(attempt, &findings.per_second, procedure.as_ref());
    let unreadable = fill_latencies(&mut findings, &rated);
    if findings.whole.is_none() {
        findings.stalls = stalls_of(window, &inside, &findings.latencies, findings.measured());
    }
    findings.stability = procedure.as_ref().map(|procedure| stability(&findings, procedure));
    findings.steal = findings.window_seconds().and_then(|window| steal(attempt, window));
    findings.generator = generator(attempt, &inside, is_in_process(attempt, settings), findings.measured());
    if !findings.agents.is_empty() {
        findings.generator.bound = bound_by_agents(&findings.agents);
    }
    findings.little = little_of(&findings, settings);
    findings.pacing = pacing(&findings, attempt, workload, settings);
    findings.voids = voids(&findings, attempt, procedure.as_ref());
    findings.voids.extend(unreadable.into_iter().map(Void::verification));
    findings
}

/// Drift and changes inside the window: by its seconds, or by the rounds of a run that is rated whole.
fn stability(findings: &RunFindings, procedure: &Procedure) -> WindowCheck {
    let seconds = padded(findings);
    match &findings.whole {
        Some(whole) => whole_run::check(whole, &seconds, procedure.drift_tolerance),
        None => check_window(&seconds, &Limits::of(procedure)),
    }
}

/// The measured seconds with a gap for each that is missing at the end.
fn padded(findings: &RunFindings) -> Vec<f64> {
    let length = findings.window.map_or(0, |(from, to)| (to.saturating_sub(from)) as usize);
    let mut values = findings.measured().to_vec();
    values.resize(length, f64::NAN);
    values
}

fn within(intervals: &[IntervalSample], (from, to): (u64, u64)) -> Vec<&IntervalSample> {
    intervals.iter().filter(|interval| (from..to).contains(&interval.index)).collect()
}

/// Committed and rolled back by design.
fn ended(interval: &IntervalSample) -> u64 {
    interval.counts.iter().map(OperationCounts::completed).sum()
}

fn per_second(attempt: &Attempt, window: Option<(u64, u64)>) -> Vec<f64> {
    let last = attempt.intervals.iter().map(|interval| interval.index + 1).max().unwrap_or(0);
    let length = last.max(window.map_or(0, |(_, to)| to)).min(10_000_000);
    let mut values = vec![f64::NAN; length as usize];
    for interval in &attempt.intervals {
        if let Some(value) = values.get_mut(interval.index as usize) {
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

fn counted_twice(
    attempt: &Attempt,
    inside: &[&IntervalSample],
    window: Option<(u64, u64)>,
    counted: &CountedKind,
) -> CountedTwice {
    CountedTwice { clients: by_clients(inside, window, counted.kind), database: by_database(attempt, counted.counter) }
}

fn by_clients(inside: &[&IntervalSample], window: Option<(u64, u64)>, kind: &str) -> Option<Vec<f64>> {
    let (from, to) = window?;
    let mut values = vec![f64::NAN; (to - from) as usize];
    let mut any = false;
    for interval in inside {
        let found = interval.counts.iter().find(|counts| counts.kind == kind);
        any |= found.is_some();
        values[(interval.index - from) as usize] = found.map_or(0.0, |counts| counts.done as f64);
    }
    any.then_some(values)
}

/// Growth of the database's counter between the marks at the ends of the window, per minute.
fn by_database(attempt: &Attempt, counter: &str) -> Option<f64> {
    let read = |label: &str| {
        let (_, mark) = attempt.marks.iter().rev().find(|(known, _)| known == label)?;
        let (_, count) = mark.counters.iter().find(|(name, _)| name == counter)?;
        Some((mark.offset.as_seconds(), *count as f64))
    };
    let ((from, before), (to, after)) = (read("window_start")?, read("window_end")?);
    (to > from).then(|| (after - before) / (to - from) * 60.0)
}

fn failures(inside: &[&IntervalSample]) -> (u64, u64) {
    let counts = || inside.iter().flat_map(|interval| &interval.counts);
    (counts().map(|counts| counts.failed).sum(), counts().map(|counts| counts.due).sum())
}

fn warm_up(attempt: &Attempt, per_second: &[f64], procedure: Option<&Procedure>) -> Option<WarmUp> {
    let steady = attempt.last_event(|event| match event {
        RunEvent::Steady { seconds } => Some(*seconds),
        _ => None,
    });
    let not_steady = attempt.last_event(|event| match event {
        RunEvent::NotSteady { seconds, .. } => Some(*seconds),
        _ => None,
    });
    let (settled, seconds) = (steady.is_some(), steady.or(not_steady)?);
    let seconds = seconds.or_else(|| attempt.window().map(|(from, _)| from))?;
    let verdict =
        procedure.map(|procedure| judge(&per_second[..per_second.len().min(seconds as usize)], &Rule::of(procedure)));
    Some(WarmUp { seconds, settled, verdict })
}

/// Decodes the window's histograms; what cannot be decoded comes back as a reason to void.
fn fill_latencies(findings: &mut RunFindings, inside: &[&IntervalSample]) -> Vec<String> {
    let (responses, mut unreadable) = decoded(&findings.kinds, inside, LatencyClock::Response);
    findings.latencies = responses;
    let mut stored = inside.iter().flat_map(|interval| &interval.histograms);
    if stored.any(|part| part.clock == LatencyClock::Service) {
        let (services, more) = decoded(&findings.kinds, inside, LatencyClock::Service);
        findings.services = Some(services);
        unreadable.extend(more);
    }
    unreadable
}

/// True where the engine runs inside the load agent, whose threads' CPU is then the engine's own and says nothing of the generator.
fn is_in_process(attempt: &Attempt, settings: &Settings) -> bool {
    let said = client::ENGINE_IN_PROCESS.text(&attempt.facts);
    // Older records do not have the fact.
    let engine = || settings.text("engine.kind").ok().and_then(named_engine).is_some_and(|engine| engine.in_process);
    said.map_or_else(engine, |said| said == "true")
}

fn generator(attempt: &Attempt, inside: &[&IntervalSample], embedded: bool, measured: &[f64]) -> GeneratorCheck {
    let threads = inside.iter().map(|interval| interval.client.thread_cpu_ns.len()).max().unwrap_or(0);
    let share = |thread: usize| {
        let spent: u64 = inside.iter().filter_map(|interval| interval.client.thread_cpu_ns.get(thread)).sum();
        spent as f64 / 1e9 / inside.len() as f64
    };
    let observed = GeneratorObservations {
        client_threads: if embedded { Vec::new() } else { (0..threads).map(share).collect() },
        send_lag_p99: send_lag_p99(inside).map(|lag| Duration::from_nanos(lag as u64)),
        throughput: proofload_analysis::distribution::mean(measured),
        null_ceiling: client::NULL_CEILING.number(&attempt.facts),
    };
    let mut check = check_generator(&observed);
    if embedded {
        check.not_observed.retain(|what| *what != "cpu of the client threads");
        check.not_observed.push("cpu of the client threads apart from the engine's, which runs in them");
    }
    check
}

/// The load generator was the limit if any of its agents was.
fn bound_by_agents(agents: &[AgentFindings]) -> Vec<Doubt> {
    let of_agent = |agent: &AgentFindings| {
        let name = agent.name.clone();
        agent.bound.clone().into_iter().map(move |doubt| Doubt::OfAgent { agent: name.clone(), doubt: Box::new(doubt) })
    };
    agents.iter().flat_map(of_agent).collect()
}

/// Little's law where users never wait.
fn little_of(findings: &RunFindings, settings: &Settings) -> Option<LittleAudit> {
    let saturated = settings.text("workload.pacing").map_or(true, |pacing| pacing == "saturated");
    let saturated = saturated && asked_rate(settings).is_none();
    let saturated = saturated && findings.whole.is_none();
    let users = settings.number("workload.virtual_users").ok().filter(|users| *users > 0.0)?;
    let total = Sparse::merged(findings.latencies.values().flatten());
    let seconds = findings.measured().len() as f64;
    (saturated && total.count() > 0 && seconds > 0.0).then(|| {
        little(&ClosedLoop {
            users,
            throughput: total.count() as f64 / seconds,
            mean_response: total.mean() / 1e9,
            mean_wait: 0.0,
        })
    })
}
