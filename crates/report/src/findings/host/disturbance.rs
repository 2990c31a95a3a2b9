//! What others did on the host while a run was measured, and what its figures may claim for it. Decides nothing about validity.

use super::foreign_requests::foreign_requests;
use super::spin_probe::{SpinSeen, spin_seen};
use crate::findings::load::standstill::Standstill;
use crate::findings::replication::links::late_relays;
use crate::findings::telemetry::{self, Trace, average, cpu_allowed, total, traces};
use crate::findings::verdict::silence;
use crate::workloads::Workload;
use proofload_analysis::distribution::mean;
use proofload_analysis::disturbance::{
    Disturbance, HostSecond, LimitedSecond, ProcessorSecond, Quietness, depends, is_steady, was_reached, work_per_unit,
    would_show,
};
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_analysis::quiet::{ObservedSecond, QuietMean, quiet_mean};
use proofload_model::facts::limit;
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::{Settings, setting};
use proofload_model::standby_hosts::standby_hosts;
use proofload_model::study::procedure;
use proofload_record::Attempt;
use std::collections::BTreeMap;
use std::fmt;

/// The limit that leaves a part of the host in the figures: caches and sibling threads are shared, whatever CPU time a group gets.
const CPU_LIMIT: &str = setting::LIMITS_CPU;

/// Share of the processor from which what others took is told.
const TOLD_FROM: f64 = 0.01;

/// Foreign processes that are named.
const NAMED: usize = 3;

/// What a figure is a figure of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Estimand {
    /// What the system does when nobody else uses the host: others took no more than the study tolerates.
    QuietHost,
    /// What it does when nobody else uses the host, as far as a thread that computes can tell where nothing else tells of others.
    QuietBySpin,
    /// The same, since this limit of the study was reached all the time, whatever others took.
    BoundBy(&'static str),
    /// The mean on this host over this time, neighbours included.
    AsGiven,
}

impl Estimand {
    /// Name of the third, which no figure of one point has: a ratio of two that had the same neighbours.
    pub const RATIO: &'static str = "ratio";

    /// Its name: `quiet host` or `as given`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::QuietHost | Self::QuietBySpin | Self::BoundBy(_) => "quiet host",
            Self::AsGiven => "as given",
        }
    }

    /// The claim that holds for both of two runs.
    pub(crate) fn with(self, other: &Self) -> Self {
        match (self, other) {
            (one, two) if one == *two => one,
            (Self::AsGiven, _) | (_, Self::AsGiven) => Self::AsGiven,
            (Self::QuietBySpin, _) | (_, Self::QuietBySpin) => Self::QuietBySpin,
            _ => Self::QuietHost,
        }
    }
}

impl fmt::Display for Estimand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BoundBy(setting) => write!(f, "{}, bound by {setting}", self.name()),
            Self::QuietBySpin => write!(f, "{}, by the spin probe", self.name()),
            Self::QuietHost | Self::AsGiven => f.write_str(self.name()),
        }
    }
}

/// What others did in the window of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct HostUse {
    /// What they took of the processor.
    pub disturbance: Disturbance,
    /// The largest foreign processes by name, with their mean CPU time, CPU s/s.
    pub processes: Vec<(String, f64)>,
    /// Share of the device's requests that were neither the database's nor its standbys'; `None` where one of them was not observed.
    pub foreign_requests: Option<f64>,
    /// Why the device makes the figures as given, in words; `None` where it does not.
    pub device_reason: Option<String>,
    /// What others did to a load that moved or was late, in words; `None` where they did too little for that, or a limit of the device was
    /// reached all the time. A reached limit of CPU time is no excuse for others who took more than the study tolerates.
    pub blamed: Option<String>,
    /// What a thread that computes saw; `None` where it did not run, since others were seen otherwise.
    pub spin: Option<SpinSeen>,
    /// Why that makes the figures as given, in words; `None` where it does not.
    pub spin_reason: Option<String>,
    /// Time in which the load generator's threads waited for a core as a share of their CPU time and that wait; `None` where not observed, as with
    /// embedded engines.
    pub client_wait: Option<f64>,
    /// Share of quota periods in which the allowance of CPU time was used up; `None` without a quota.
    pub throttled: Option<f64>,
    /// What the run's figures may claim.
    pub estimand: Estimand,
    /// Operations per second in quiet seconds, or why there is no such figure; `None` where the figures are of a quiet host anyway.
    pub quiet: Option<Result<QuietMean, String>>,
}

impl HostUse {
    /// Mean share of the processor that others took, as far as it was observed.
    pub fn taken(&self) -> f64 {
        self.disturbance.at_least()
    }

    /// What others took, as far as it matters: nothing where a limit of the device was reached all the time; `None` where not observed.
    pub(crate) fn taken_beside_limits(&self) -> Option<f64> {
        match self.estimand {
            // A reached limit of CPU time leaves caches and sibling threads to others. That no slope was shown within one run does not say that
            // work per CPU second is the same in runs beside more of them: a share of 0 would hide that from the regression over runs.
            Estimand::BoundBy(setting) if setting != CPU_LIMIT => Some(0.0),
            Estimand::BoundBy(_) | Estimand::QuietHost | Estimand::QuietBySpin | Estimand::AsGiven => {
                self.disturbance.observed()
            }
        }
    }

    /// What it did in quiet seconds, in the unit of a metric, and how many there were; `None` where there is no such figure.
    pub(crate) fn in_quiet_seconds(&self, workload: &Workload) -> Option<(Quantity, &QuietMean)> {
        let quiet = self.quiet.as_ref()?.as_ref().ok()?;
        let headline = workload.headline;
        let factor =
            workload.rates.iter().find(|(metric, _)| metric.name == headline.name).map_or(1.0, |(_, factor)| *factor);
        Some((quiet.mean.quantity(Unit::PER_SECOND).scaled(factor, headline.quantity_unit()), quiet))
    }

    /// The same in words with who it was: `others took 23 % of the processor (cc1 1.4 cores)`, and what they did with the device where that
    /// matters; `None` below a hundredth.
    pub fn text(&self) -> Option<String> {
        let taken = (self.taken() >= TOLD_FROM).then(|| taken_in_words(&self.disturbance, &self.processes));
        let told: Vec<String> = taken.into_iter().chain(self.device_reason.clone()).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Reason for figures as given: what others took, else what the spin probe saw. That blames nobody: the load itself keeps a thread from its
    /// core as well.
    pub fn reason(&self) -> Option<String> {
        self.text().or_else(|| self.spin_reason.clone())
    }
}

/// What others took, and who: `others took 23 % of the processor (cc1 1.4 cores)`.
pub fn taken_in_words(disturbance: &Disturbance, processes: &[(String, f64)]) -> String {
    let percent = 100.0 * disturbance.at_least();
    let name = |(name, rate): &(String, f64)| format!("{name} {rate:.1} cores");
    let mut who: Vec<String> = processes.iter().filter(|(_, rate)| *rate >= 0.05).map(name).collect();
    let stolen = disturbance.stolen.filter(|stolen| *stolen >= 0.01);
    who.extend(stolen.map(|stolen| format!("other guests {:.0} %", 100.0 * stolen)));
    let who = if who.is_empty() { String::new() } else { format!(" ({})", who.join(", ")) };
    format!("others took {percent:.0} % of the CPU{who}")
}

/// What others took of a host in words, where it was more than the study tolerates or was not fully observed: what counts for relays, whose
/// threads are under no limit of the database, whatever limit it reached.
pub(crate) fn taken_from_relays(
    disturbance: &Disturbance,
    processes: &[(String, f64)],
    settings: &Settings,
) -> Option<String> {
    let tolerated = procedure(settings).ok()?.steal_tolerance;
    let is_quiet = disturbance.observed().is_some_and(|taken| taken <= tolerated);
    (!is_quiet && disturbance.at_least() >= TOLD_FROM).then(|| taken_in_words(disturbance, processes))
}

/// The load that a host is held against.
#[derive(Clone, Copy)]
pub(crate) struct HostLoad<'a> {
    /// Operations in each second of the stretch.
    pub(crate) throughput: &'a [f64],
    /// Share of the processor that others may take.
    pub(crate) tolerated: f64,
    /// Whether users catch up what they left undone: they are paced, or operations arrive at a rate.
    pub(crate) catches_up: bool,
    /// Whether all instances are on one host.
    pub(crate) is_one_host: bool,
}

/// Whether the standbys of a study, where it has any, are on the host of the primary.
pub(crate) fn is_one_host(settings: &Settings) -> bool {
    standby_hosts(settings).is_ok_and(|apart| apart.is_none_or(|hosts| hosts.is_one_machine))
}

/// Looks at a stretch of an attempt.
pub(crate) fn host_use(attempt: &Attempt, stretch: (f64, f64), load: HostLoad<'_>) -> HostUse {
    let HostLoad { throughput, tolerated, .. } = load;
    let cores = telemetry::cores(attempt);
    let disturbance = Disturbance::of(&processor(attempt, &cores, stretch), cores.len() as f64);
    let mean_of = |series: SeriesName| {
        let values = total(&traces(attempt, series))?.within(stretch).values();
        (!values.is_empty()).then(|| mean(&values))
    };
    let requests = foreign_requests(attempt, stretch, load.is_one_host);
    let spin = spin_seen(attempt, stretch);
    let beyond = requests.as_ref().and_then(|requests| requests.beyond(tolerated));
    let seen =
        OthersSeen { is_device_busy: beyond.is_some(), had_core: spin.as_ref().map(|spin| spin.is_quiet(tolerated)) };
    let estimand = estimand(attempt, stretch, throughput, &disturbance, tolerated, &seen);
    let client = mean_of(series::foreign::CLIENT_WAIT).zip(mean_of(series::foreign::CLIENT_CPU));
    let is_given = estimand == Estimand::AsGiven;
    let mut found = HostUse {
        blamed: None,
        quiet: is_given.then(|| quiet(attempt, stretch, load, &disturbance)),
        processes: processes(attempt, stretch),
        foreign_requests: requests.and_then(|requests| requests.share()),
        spin_reason: spin
            .as_ref()
            .filter(|_| is_given && disturbance.is_blind())
            .and_then(|spin| spin.beyond(tolerated)),
        device_reason: beyond.clone().filter(|_| is_given),
        spin,
        client_wait: client.filter(|(wait, cpu)| wait + cpu > 0.0).map(|(wait, cpu)| wait / (wait + cpu)),
        throttled: mean_of(series::group::THROTTLED).map(|percent| percent / 100.0),
        estimand,
        disturbance,
    };
    found.blamed = match &found.estimand {
        Estimand::AsGiven => found.text(),
        Estimand::BoundBy(setting) if *setting == CPU_LIMIT => {
            taken_beyond(&found.disturbance, &found.processes, beyond, tolerated)
        }
        Estimand::QuietHost | Estimand::QuietBySpin | Estimand::BoundBy(_) => None,
    };
    found
}

/// What others took and did with the device in words, each where it was more than is tolerated.
fn taken_beyond(
    disturbance: &Disturbance,
    processes: &[(String, f64)],
    device: Option<String>,
    tolerated: f64,
) -> Option<String> {
    let taken = (disturbance.at_least() > tolerated).then(|| taken_in_words(disturbance, processes));
    let told: Vec<String> = taken.into_iter().chain(device).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The mean over quiet seconds of a load that leaves nothing undone.
fn quiet(
    attempt: &Attempt,
    stretch: (f64, f64),
    load: HostLoad<'_>,
    disturbance: &Disturbance,
) -> Result<QuietMean, String> {
    if load.catches_up {
        return Err("users catch up on delayed work, so quiet seconds look too fast".to_owned());
    }
    if load.throughput.len() as f64 != stretch.1 - stretch.0 {
        return Err("the run is rated as a whole, not second by second".to_owned());
    }
    disturbance.observed().ok_or("CPU use by others was not observed")?;
    let read = taken_by_second(attempt, stretch, disturbance);
    // A reading tells of the second before it, and its moment lies anywhere in its own.
    let taken = |second: i64| [second, second + 1].iter().filter_map(|at| read.get(at).copied()).reduce(f64::max);
    let first = stretch.0.floor() as i64;
    let seconds =
        (first..).zip(load.throughput).map(|(second, done)| ObservedSecond { done: *done, taken: taken(second) });
    quiet_mean(&seconds.collect::<Vec<_>>(), load.tolerated)
}

/// What happened outside the database while a finished attempt was measured, in words: others took more of the processor or of the device than
/// the study tolerates and no limit of the device made that irrelevant, or they made a relay of the study late; the load generator stood still, or
/// telemetry is missing. Throughput is not looked at, so that measuring again does not choose the result.
pub fn disturbed_from_outside(attempt: &Attempt, settings: &Settings) -> Option<String> {
    let (from, to) = attempt.window()?;
    let stretch = (from as f64, to as f64);
    let inside: Vec<_> = attempt.intervals.iter().filter(|interval| (from..to).contains(&interval.index)).collect();
    let stood = Standstill::within(&inside);
    if stood.seconds > 0 {
        return Some(stood.to_string());
    }
    if let Some(silence) = silence(attempt, stretch) {
        return Some(silence);
    }
    let cores = telemetry::cores(attempt);
    let disturbance = Disturbance::of(&processor(attempt, &cores, stretch), cores.len() as f64);
    let processes = processes(attempt, stretch);
    if let Some(others) = taken_from_relays(&disturbance, &processes, settings)
        && let Some(late) = late_relays(attempt, settings, Some(stretch)).first()
    {
        return Some(format!("{late}; meanwhile {others}"));
    }
    let tolerated = procedure(settings).ok()?.steal_tolerance;
    if reached(attempt, stretch).is_some_and(|(setting, _)| setting != CPU_LIMIT) {
        return None;
    }
    let requests = foreign_requests(attempt, stretch, is_one_host(settings));
    let device = requests.and_then(|requests| requests.beyond(tolerated));
    taken_beyond(&disturbance, &processes, device, tolerated)
}

/// Share of its demand that other guests of the hypervisor took from the host in a stretch; `None` where it was not observed. Processes of
/// the same kernel are left out: they take what a lowered database leaves, and so would explain away what lowering it costs.
pub(crate) fn stolen_in(attempt: &Attempt, stretch: (f64, f64)) -> Option<f64> {
    let cores = telemetry::cores(attempt);
    Disturbance::of(&processor(attempt, &cores, stretch), cores.len() as f64).stolen
}

/// The seconds in which the cores were read; others are read within the same second.
fn processor(attempt: &Attempt, cores: &[Trace], stretch: (f64, f64)) -> Vec<ProcessorSecond> {
    let count = cores.len() as f64;
    let part = count / traces(attempt, series::cores::BUSY).len().max(1) as f64;
    // The probe counts what was stolen as use.
    let used = average(cores).map(|trace| trace.within(stretch).samples).unwrap_or_default();
    let stolen = by_second(telemetry::steal(attempt), stretch);
    let of = |series: SeriesName| by_second(total(&traces(attempt, series)), stretch);
    let (foreign, there) = (of(series::foreign::CPU), of(series::foreign::CLIENT_CPU_THERE));
    let clients = if there.is_empty() { of(series::foreign::CLIENT_CPU) } else { there };
    let database = of(series::group::CPU);
    // Without a group the processes of the database are counted among Proofload's.
    let without_group = traces(attempt, series::group::CPU).is_empty().then_some(0.0);
    let second = |(at, percent): (f64, f64)| {
        let second = at.floor() as i64;
        let seen = HostSecond {
            used: percent / 100.0 * count,
            stolen: stolen.get(&second).map(|percent| percent / 100.0 * count),
            part,
            foreign: foreign.get(&second).copied(),
            database: database.get(&second).copied().or(without_group),
            clients: clients.get(&second).copied(),
        };
        seen.processor()
    };
    used.into_iter().map(second).collect()
}

fn by_second(trace: Option<Trace>, stretch: (f64, f64)) -> BTreeMap<i64, f64> {
    let samples = trace.map(|trace| trace.within(stretch).samples).unwrap_or_default();
    samples.into_iter().map(|(at, value)| (at.floor() as i64, value)).collect()
}

fn processes(attempt: &Attempt, (from, to): (f64, f64)) -> Vec<(String, f64)> {
    let of_each = traces(attempt, series::foreign::PROCESS).into_iter().map(|trace| {
        let sum: f64 = trace.within((from, to)).values().iter().sum();
        (trace.instance, sum / (to - from))
    });
    let mut found: Vec<(String, f64)> = of_each.filter(|(_, rate)| *rate > 0.0).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.truncate(NAMED);
    found
}

/// What tells of others beside the use of the processor.
struct OthersSeen {
    /// Whether others kept a device busy for longer than is tolerated.
    is_device_busy: bool,
    /// Whether a thread that computes had its cores; `None` where none did.
    had_core: Option<bool>,
}

fn estimand(
    attempt: &Attempt,
    stretch: (f64, f64),
    throughput: &[f64],
    disturbance: &Disturbance,
    tolerated: f64,
    seen: &OthersSeen,
) -> Estimand {
    let quietness = |is_device_busy: bool| disturbance.quietness(seen.had_core, is_device_busy, tolerated);
    match reached(attempt, stretch) {
        // A reached limit of CPU time takes away most of the host, not all: caches and sibling threads are shared. Who waits for its quota does not
        // wait for the device.
        Some((CPU_LIMIT, limit)) => match leaks(attempt, stretch, throughput, (disturbance, quietness(false)), limit) {
            true => Estimand::AsGiven,
            false => Estimand::BoundBy(CPU_LIMIT),
        },
        Some((setting, _)) => Estimand::BoundBy(setting),
        None => match quietness(seen.is_device_busy) {
            Quietness::Quiet => Estimand::QuietHost,
            Quietness::QuietBySpin => Estimand::QuietBySpin,
            Quietness::QuietWhereSeen | Quietness::Busy | Quietness::Hidden => Estimand::AsGiven,
        },
    }
}

/// The limit that was reached all the time, one of the device before that of CPU time, since it leaves nothing of the host in the figures.
fn reached(attempt: &Attempt, stretch: (f64, f64)) -> Option<(&'static str, f64)> {
    let all = limits_used(attempt).filter(|(_, limit, trace)| was_reached(&trace.within(stretch).values(), *limit));
    all.map(|(setting, limit, _)| (setting, limit)).min_by_key(|(setting, _)| *setting == CPU_LIMIT)
}

/// Whether a load under a reached limit of CPU time depends on its neighbours, or nobody can tell: work per CPU second, held against what
/// others took in the same second. Where these took no more than is tolerated there is nothing to tell, nor of a load that is rated as a whole
/// beside others who were seen. What is hidden of them may have varied as the work did, so that only steady work excludes them.
fn leaks(
    attempt: &Attempt,
    stretch: (f64, f64),
    throughput: &[f64],
    (disturbance, quietness): (&Disturbance, Quietness),
    limit: f64,
) -> bool {
    match quietness {
        // Without the limit it would be a quiet host: a slope, which chance shows in one run of a hundred, takes nothing of that away.
        Quietness::Quiet | Quietness::QuietBySpin => return false,
        // All that tells of others is a thread that was kept from its core.
        Quietness::Busy if disturbance.is_blind() => return true,
        Quietness::Busy | Quietness::QuietWhereSeen | Quietness::Hidden => (),
    }
    let is_observed = disturbance.observed().is_some();
    if throughput.len() as f64 != stretch.1 - stretch.0 {
        return !is_observed;
    }
    let used = by_second(total(&traces(attempt, series::group::CPU)), stretch);
    let taken = taken_by_second(attempt, stretch, disturbance);
    let first = stretch.0.floor() as i64;
    let second = |(second, done): (i64, &f64)| {
        Some(LimitedSecond { done: *done, used: *used.get(&second)?, taken: *taken.get(&second)? })
    };
    let seconds: Vec<LimitedSecond> = (first..).zip(throughput).filter_map(second).collect();
    let (work, taken) = work_per_unit(&seconds, limit);
    let would_show = if is_observed { would_show(&work, &taken) } else { is_steady(&work) };
    depends(&work, &taken) || !would_show
}

/// What others took in each second in which the cores were read.
fn taken_by_second(attempt: &Attempt, stretch: (f64, f64), disturbance: &Disturbance) -> BTreeMap<i64, f64> {
    let cores = average(&telemetry::cores(attempt)).map(|trace| trace.within(stretch).samples).unwrap_or_default();
    cores.iter().map(|(at, _)| at.floor() as i64).zip(disturbance.seconds.iter().copied()).collect()
}

/// Limits of CPU time and of the device with their use: setting, limit as read back, use in the limit's unit.
pub(crate) fn limits_used(attempt: &Attempt) -> impl Iterator<Item = (&'static str, f64, Trace)> + '_ {
    let facts = &attempt.facts;
    let limits = [
        (CPU_LIMIT, cpu_allowed(attempt), series::group::CPU),
        (setting::LIMITS_READ_IOPS, limit::READ_IOPS.number(facts), series::group::READS),
        (setting::LIMITS_WRITE_IOPS, limit::WRITE_IOPS.number(facts), series::group::WRITES),
        (setting::LIMITS_READ_BANDWIDTH, limit::READ_BANDWIDTH.number(facts), series::group::READ_BYTES),
        (setting::LIMITS_WRITE_BANDWIDTH, limit::WRITE_BANDWIDTH.number(facts), series::group::WRITE_BYTES),
    ];
    limits.into_iter().filter_map(|(setting, limit, series)| Some((setting, limit?, total(&traces(attempt, series))?)))
}
