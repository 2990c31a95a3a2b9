//! What protection costs: each point with standbys beside the one without, its log, how far standbys were behind, and the CPU time of
//! every role on every node.

pub mod forecast;
pub mod lag;
pub mod links;
pub mod slopes;
pub mod time_split;
pub mod two_ratios;

use super::estimate::{estimate, informative, measured, within_the_whole};
use super::evaluate::Findings;
use super::factor::level_number;
use super::level::Measured;
use super::observed::in_windows;
use super::point::PointFindings;
use super::run::Pair;
use super::telemetry::{Trace, cores, total, traces, traces_of};
use forecast::{Forecast, forecast};
use lag::{StandbyLag, by_standby, largest_percentile, standby_lag};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::deployment::InstanceName;
use proofload_model::replication::{ReplicationAsked, ReplicationMode, replication};
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::setting;
use proofload_record::Attempt;
use std::collections::BTreeSet;
use time_split::{TimeSplit, time_split};

/// Setting that the modes are levels of.
pub const MODE: &str = setting::REPLICATION_MODE;

/// Share of a core from which a role with a single thread is a stage that can do no more, %. Source: a thread that is measured from outside
/// never shows all of its core.
pub const SERIAL_FROM: f64 = 95.0;

/// Unit of megabytes.
const MEGABYTES: Unit = Unit::named("MB");

/// A point of a study with standbys.
#[derive(Debug, Clone)]
pub struct ReplicatedPoint {
    /// Its number.
    pub point: u32,
    /// What a commit waited for.
    pub mode: ReplicationMode,
    /// Throughput in per cent of that without standbys; `None` for that point itself.
    pub kept: Option<Measured>,
    /// Log that the primary wrote, MB/s.
    pub log: Measured,
    /// Log that a standby had not applied when a second was read, mean over the window, MB: that of the standby with the largest mean.
    pub behind: Measured,
    /// The 99th percentile of the seconds of each standby, the largest of them, MB.
    pub behind_p99: Measured,
    /// The most of it in any second at any standby, MB.
    pub most_behind: Measured,
    /// Time by which standbys trailed in applying it.
    pub lag: StandbyLag,
    /// Primary and standbys.
    pub nodes: Vec<NodeUse>,
    /// Mean use of the busiest core that the database may run on, % of it.
    pub busiest_core: Measured,
    /// Where the time of a transaction goes, or why it is not known.
    pub split: Result<TimeSplit, String>,
    /// What the mode should add, beside what it added; `None` where no commit waits and where nothing was calibrated.
    pub forecast: Option<Forecast>,
}

/// CPU time of one node.
#[derive(Debug, Clone)]
pub struct NodeUse {
    /// Its instance.
    pub instance: InstanceName,
    /// CPU time of all of its processes, CPU s/s.
    pub cpu: Measured,
    /// Roles by CPU time, the busiest first.
    pub roles: Vec<RoleUse>,
    /// Block devices under its data.
    pub devices: Vec<DeviceUse>,
}

/// Use of one block device.
#[derive(Debug, Clone)]
pub struct DeviceUse {
    /// Its name.
    pub name: String,
    /// Time in which it had a request, %.
    pub busy: Measured,
    /// Mean requests in flight.
    pub queue: Measured,
    /// Bytes written, MB/s.
    pub written: Measured,
}

/// CPU time of one role.
#[derive(Debug, Clone)]
pub struct RoleUse {
    /// Role, as the server names it.
    pub role: String,
    /// Most threads that it had.
    pub threads: u32,
    /// CPU time of all of them, % of one core.
    pub cpu: Quantity,
    /// Time in which they waited for a core or for their allowance of CPU time, % of one core; `None` in records from before that was read.
    pub waited: Option<Quantity>,
}

impl RoleUse {
    /// Whether a single thread of it can do no more: it is always at work, or always has work and waits for CPU time.
    pub fn is_serial_limit(&self) -> bool {
        self.threads == 1 && self.busy() >= SERIAL_FROM
    }

    /// Whether what it lacks is CPU time.
    pub fn is_short_of_cpu(&self) -> bool {
        self.is_serial_limit() && self.cpu.value() < SERIAL_FROM
    }

    /// Time in which it had work, % of one core.
    pub fn busy(&self) -> f64 {
        self.cpu.value() + self.waited.as_ref().map_or(0.0, Quantity::value)
    }
}

impl ReplicatedPoint {
    /// The busiest role with a single thread, and its node.
    pub fn busiest_single(&self) -> Option<(&InstanceName, &RoleUse)> {
        let all = self.nodes.iter().flat_map(|node| node.roles.iter().map(move |role| (&node.instance, role)));
        all.filter(|(_, role)| role.threads == 1).max_by(|(_, a), (_, b)| a.busy().total_cmp(&b.busy()))
    }
}

/// The points of a study in which any has standbys, in the order of the study; empty for others.
pub fn replicated(findings: &Findings<'_>) -> Vec<ReplicatedPoint> {
    let asked = |point: &PointFindings| {
        let settings = findings.record.plan.settings(&findings.record.study, point.id);
        replication(&settings).ok().flatten()
    };
    let all: Vec<(&PointFindings, Option<ReplicationAsked>)> =
        findings.points.iter().map(|point| (point, asked(point))).collect();
    if all.iter().all(|(_, asked)| asked.is_none()) {
        return Vec::new();
    }
    let alone: Vec<&PointFindings> = all.iter().filter(|(_, asked)| asked.is_none()).map(|(point, _)| *point).collect();
    let measured = all.iter().filter(|(point, _)| !point.runs.is_empty());
    measured.map(|(point, asked)| replicated_point(findings, point, asked.as_ref(), &alone)).collect()
}

fn replicated_point(
    findings: &Findings<'_>,
    point: &PointFindings,
    asked: Option<&ReplicationAsked>,
    alone: &[&PointFindings],
) -> ReplicatedPoint {
    let attempts = point.runs.iter().filter_map(|run| Some((run, findings.finished(run.run.index)?)));
    let runs: Vec<Pair<'_>> = attempts.collect();
    let standbys: &[InstanceName] = asked.map_or(&[], |asked| &asked.standbys);
    let nodes = std::iter::once(InstanceName::primary()).chain(standbys.iter().cloned());
    ReplicatedPoint {
        point: point.id,
        mode: asked.map_or(ReplicationMode::None, |asked| asked.mode),
        kept: asked.map(|_| kept(findings, point, alone)),
        log: over_windows(&runs, series::replication::LOG, 1e-6, Unit::MB_PER_SECOND),
        behind: behind(&runs),
        behind_p99: largest_percentile(by_standby(&runs, series::replication::UNAPPLIED), 99, (1e-6, MEGABYTES)),
        most_behind: largest(&runs, series::replication::UNAPPLIED),
        lag: standby_lag(&runs),
        nodes: nodes.map(|instance| node(&runs, instance)).collect(),
        busiest_core: busiest_core(&runs),
        split: time_split(point, &runs),
        forecast: asked.and_then(|asked| forecast(findings, point, asked.mode, base_of(point, alone))),
    }
}

/// The point without standbys whose other levels are the same.
fn base_of<'a>(point: &PointFindings, alone: &[&'a PointFindings]) -> Result<&'a PointFindings, String> {
    let others = |point: &PointFindings| -> Vec<(String, String)> {
        let levels = point.assigned().0.into_iter().filter(|(setting, _)| !setting.starts_with("replication."));
        levels.map(|(setting, value)| (setting, value.to_string())).collect()
    };
    let base = alone.iter().find(|base| others(base) == others(point));
    base.copied().ok_or_else(|| "the study has no matching point without standbys".to_owned())
}

/// Throughput beside that of the point without standbys; inside blocks, where there are any, also of points that moved within their runs.
fn kept(findings: &Findings<'_>, point: &PointFindings, alone: &[&PointFindings]) -> Measured {
    let base = base_of(point, alone)?;
    findings.throughput_over(point, base).map(|ratio| informative(ratio.scaled(100.0, Unit::PERCENT)))
}

/// A series of the primary over the windows of all runs, its components added up.
fn over_windows(runs: &[Pair<'_>], wanted: SeriesName, factor: f64, unit: Unit) -> Measured {
    let windows = in_windows(runs, |attempt| total(&traces(attempt, wanted)), "it")?;
    of_windows(&windows, factor, unit)
}

fn of_windows(windows: &[Vec<f64>], factor: f64, unit: Unit) -> Measured {
    let slices: Vec<&[f64]> = windows.iter().map(Vec::as_slice).collect();
    measured(&estimate(&slices), unit, factor).map(informative)
}

/// Names of what traces are of, in any run.
fn names(runs: &[Pair<'_>], traces: impl Fn(&Attempt) -> Vec<Trace>) -> BTreeSet<String> {
    runs.iter().flat_map(|(_, attempt)| traces(attempt)).map(|trace| trace.instance).collect()
}

/// The largest mean of any trace over the windows of all runs; `None` where there is none.
fn largest_mean(
    runs: &[Pair<'_>],
    traces: impl Fn(&Attempt) -> Vec<Trace>,
    (factor, unit): (f64, Unit),
) -> Option<Quantity> {
    let of_one = |name: String| {
        let pick = |attempt: &Attempt| traces(attempt).into_iter().find(|trace| trace.instance == name);
        of_windows(&in_windows(runs, pick, "").ok()?, factor, unit.clone()).ok()
    };
    names(runs, &traces).into_iter().filter_map(of_one).max_by(|a, b| a.value().total_cmp(&b.value()))
}

/// Use of the core that was busiest over the windows of all runs.
fn busiest_core(runs: &[Pair<'_>]) -> Measured {
    let busiest = largest_mean(runs, cores, (1.0, Unit::PERCENT)).map(within_the_whole);
    busiest.ok_or_else(|| "per-core utilization was not observed".to_owned())
}

/// Log that the standby with the largest mean had not applied, over the windows of all runs.
fn behind(runs: &[Pair<'_>]) -> Measured {
    let lag = |attempt: &Attempt| traces(attempt, series::replication::UNAPPLIED);
    largest_mean(runs, lag, (1e-6, MEGABYTES)).ok_or_else(|| "it was not observed".to_owned())
}

/// The most of any second, standby and run.
fn largest(runs: &[Pair<'_>], wanted: SeriesName) -> Measured {
    let all = |(run, attempt): &Pair<'_>| -> Vec<f64> {
        let Some(window) = run.window_seconds() else { return Vec::new() };
        traces(attempt, wanted).iter().flat_map(|trace| trace.within(window).values()).collect()
    };
    let values: Vec<f64> = runs.iter().flat_map(all).collect();
    let most = values.iter().copied().reduce(f64::max).ok_or("it was not observed")?;
    let why = Interval::none("the maximum of readings taken every second");
    Ok(Quantity::new(most * 1e-6, MEGABYTES, values.len() as u64, why))
}

fn node(runs: &[Pair<'_>], instance: InstanceName) -> NodeUse {
    let by_group = in_windows(runs, |attempt| total(&traces_of(attempt, &instance, series::group::CPU)), "");
    let by_threads = || in_windows(runs, |attempt| threads_together(attempt, &instance), "its CPU time");
    let cpu = by_group.or_else(|_| by_threads()).and_then(|windows| of_windows(&windows, 1.0, Unit::named("CPU s/s")));
    let of_role = |attempt: &Attempt| traces_of(attempt, &instance, series::threads::ROLE);
    let mut roles: Vec<RoleUse> =
        names(runs, of_role).into_iter().filter_map(|name| role(runs, &instance, name)).collect();
    roles.sort_by(|a, b| b.cpu.value().total_cmp(&a.cpu.value()));
    let devices = devices(runs, &instance);
    NodeUse { instance, cpu, roles, devices }
}

/// The block devices of a node over the windows of all runs.
fn devices(runs: &[Pair<'_>], instance: &InstanceName) -> Vec<DeviceUse> {
    let busy = |attempt: &Attempt| traces_of(attempt, instance, series::device::BUSY);
    let of_device = |name: String| {
        let of = |wanted: SeriesName, factor: f64, unit: Unit| {
            let pick = |attempt: &Attempt| {
                traces_of(attempt, instance, wanted).into_iter().find(|trace| trace.instance == name)
            };
            of_windows(&in_windows(runs, pick, "the device")?, factor, unit)
        };
        let busy = of(series::device::BUSY, 1.0, Unit::PERCENT).map(within_the_whole);
        let queue = of(series::device::QUEUE, 1.0, Unit::named("requests"));
        let written = of(series::device::WRITE_BYTES, 1e-6, Unit::MB_PER_SECOND);
        DeviceUse { busy, queue, written, name }
    };
    names(runs, busy).into_iter().map(of_device).collect()
}

/// CPU seconds per second of all threads, where there is no control group that counts them.
fn threads_together(attempt: &Attempt, instance: &InstanceName) -> Option<Trace> {
    let mut all = total(&traces_of(attempt, instance, series::threads::CPU_SUM))?;
    all.samples.iter_mut().for_each(|(_, value)| *value /= 100.0);
    Some(all)
}

fn role(runs: &[Pair<'_>], instance: &InstanceName, role: String) -> Option<RoleUse> {
    let pick = |attempt: &Attempt, wanted| {
        traces_of(attempt, instance, wanted).into_iter().find(|trace| trace.instance == role)
    };
    let windows = in_windows(runs, |attempt| pick(attempt, series::threads::ROLE), "").ok()?;
    let threads = in_windows(runs, |attempt| pick(attempt, series::threads::ROLE_THREADS), "").ok()?;
    let threads = threads.into_iter().flatten().fold(0.0, f64::max) as u32;
    let cpu = of_windows(&windows, 1.0, Unit::PERCENT).ok()?;
    let waited = in_windows(runs, |attempt| pick(attempt, series::threads::ROLE_WAIT), "");
    let waited = waited.and_then(|windows| of_windows(&windows, 1.0, Unit::PERCENT)).ok();
    Some(RoleUse { role, threads, cpu, waited })
}

/// Virtual users of a point, where its workload counts them.
pub fn users(findings: &Findings<'_>, point: u32) -> Option<u64> {
    let settings = findings.record.plan.settings(&findings.record.study, point);
    level_number(settings.get(setting::WORKLOAD_VIRTUAL_USERS)?).map(|users| users as u64)
}
