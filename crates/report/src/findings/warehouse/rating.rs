//! What a point is worth as a warehouse: what bound it, how much data fits, up to which size it meets targets, and how it
//! compares with named references of the same work.

use super::super::evaluate::Findings;
use super::super::level::Measured;
use super::super::point::PointFindings;
use super::calibrated::{found, number};
use super::data::{QueryWork, WarehouseData, layout, warehouse_data, work};
use super::rates::{OWN_SHARE, Sources, capacity, core_count, sources};
use crate::metrics::{
    CPU, CPU_TIME, DATABASE_CPU, MetricName, QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, SCAN_PHYSICAL,
};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_analysis::warehouse::{
    Baseline, Calibration, CapacityRefusal, ComparableResult, Confidence, CpuSeconds, Demand, FARTHEST,
    LimitingResource, Machine, MbPerCpuSecond, MbPerSecond, Megabytes, OwnCapacity, QueriesPerHour, RatingVerdict,
    RawTerabytes, Reserve, Seconds, Target, WindowUse, largest_raw_size, maximum_user_data, relative_percent, verdict,
};
use proofload_import::{Reference, ReferencePoint};
use proofload_model::facts::FactName;
use proofload_model::facts::calibration::{COLD, DEVICE_READ, IN_CACHE};
use proofload_model::settings::{Settings, setting};
use proofload_record::Attempt;

/// Mean response times that the capacity model is asked for, s.
pub const TARGETS_S: [f64; 4] = [10.0, 60.0, 600.0, 3_600.0];

/// Size up to which a target can hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// The target can hold up to this size at most.
    Until(OwnCapacity),
    /// The target can hold beyond this size, which is as far as may be concluded.
    Beyond(RawTerabytes),
    /// Why it is not known.
    Unknown(String),
}

/// What bound the work, and why that is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundFinding {
    /// What bound the work.
    pub bound: LimitingResource,
    /// How far to trust it.
    pub confidence: Confidence,
    /// What it rests on, lower-case fragments.
    pub reasons: Vec<String>,
}

/// A point's rating.
#[derive(Debug, Clone)]
pub struct Rating {
    /// `rows` or `columns`, where it is known.
    pub layout: Option<String>,
    /// Its data.
    pub data: WarehouseData,
    /// What the machine was found to do at most.
    pub calibration: Calibration,
    /// Accounting that the rates rest on.
    pub sources: Sources,
    /// What bound the work.
    pub verdict: Result<BoundFinding, String>,
    /// Maximum user data, TB, with the measured compression.
    pub maximum: Measured,
    /// Largest raw size at which each of [`TARGETS_S`] can hold.
    pub targets: Vec<Reach>,
    /// Relative throughput against each reference of this workload, by its title.
    pub relative: Vec<(String, Result<f64, String>)>,
}

/// Rates a point; `None` without a finished run.
pub fn rating(findings: &Findings<'_>, point: &PointFindings) -> Option<Rating> {
    let attempt = findings.finished(point.runs.first()?.run.index)?;
    let settings = findings.record.plan.settings(&findings.record.study, point.id);
    let (data, calibration) = (warehouse_data(attempt), calibration(findings, attempt));
    let layout = data.layout.clone().or_else(|| layout(&settings));
    let maximum = maximum(findings, &data);
    let streams = settings.count(setting::WORKLOAD_STREAMS).unwrap_or(1);
    let target = |seconds: &f64| {
        let target = Target { rate: QueriesPerHour(0.0), streams, within: Seconds(*seconds) };
        let known = demand(point, &data, &calibration);
        known.map_or_else(Reach::Unknown, |(demand, machine)| reach(&demand, &machine, &target, &maximum))
    };
    Some(Rating {
        verdict: bound(findings, point, attempt, &calibration),
        sources: sources(attempt),
        targets: TARGETS_S.iter().map(target).collect(),
        relative: relative(findings, point, layout.as_deref(), &data),
        maximum,
        layout,
        data,
        calibration,
    })
}

/// Raw size of a point's data, GB.
pub fn raw_of(data: &WarehouseData) -> Measured {
    let raw = data.raw_bytes.ok_or("the raw bytes were not recorded")?;
    Ok(Quantity::new(raw as f64 / 1e9, Unit::named("GB"), 1, Interval::none("counted")))
}

fn calibration(findings: &Findings<'_>, attempt: &Attempt) -> Calibration {
    let known = |name: &FactName| number(findings.record, attempt, name).ok();
    Calibration {
        device: known(&DEVICE_READ).map(MbPerSecond),
        cores: capacity(attempt),
        in_cache: known(&IN_CACHE).map(MbPerCpuSecond),
        cold: known(&COLD).map(MbPerCpuSecond),
    }
}

fn bound(
    findings: &Findings<'_>,
    point: &PointFindings,
    attempt: &Attempt,
    calibration: &Calibration,
) -> Result<BoundFinding, String> {
    let (database, all) = (point.metric(DATABASE_CPU)?, point.metric(CPU)?.value());
    // Of the cores; what the database may use of them may be less.
    let own = core_count(attempt).and_then(|cores| Some(100.0 * point.metric(CPU_TIME).ok()?.value() / cores));
    let shared = own.is_some_and(|own| own < OWN_SHARE * all);
    let used = WindowUse { cpu_percent: database, device_mb_s: point.metric(SCAN_PHYSICAL)? };
    let verdict = verdict(&used, calibration);
    let mut reasons = reasons(used.cpu_percent.value(), &verdict);
    // Why, where a calibration was tried.
    let was_tried = found(findings.record, attempt, &DEVICE_READ).is_some();
    reasons.extend(number(findings.record, attempt, &DEVICE_READ).err().filter(|_| was_tried));
    if shared {
        let all = crate::numbers::short(all);
        reasons.push(format!("the host was shared: with other processes, its cores were {all} % busy"));
    }
    Ok(BoundFinding { bound: verdict.bound, confidence: verdict.confidence, reasons })
}

fn reasons(cpu_percent: f64, verdict: &RatingVerdict) -> Vec<String> {
    let short = crate::numbers::short;
    let device = match verdict.device_share {
        Some(share) => format!("the device read at {} % of its calibrated sequential rate", short(100.0 * share)),
        None => "the sequential rate of the device was not calibrated".to_owned(),
    };
    let predicted = match verdict.predicted {
        Some(LimitingResource::Io) => {
            Some("by calibration, the cores consume more than the device delivers".to_owned())
        }
        Some(LimitingResource::Cpu) => {
            Some("by calibration, the device delivers more than the cores consume".to_owned())
        }
        Some(LimitingResource::Unclear) | None => None,
    };
    [format!("CPU at {} %", short(cpu_percent)), device].into_iter().chain(predicted).collect()
}

fn maximum(findings: &Findings<'_>, data: &WarehouseData) -> Measured {
    let capacity = findings.record.study.settings.bytes(setting::HARDWARE_CAPACITY);
    let capacity = capacity.map_err(|_| "the study does not state hardware.capacity")?;
    let missing = "raw bytes and stored bytes were not both recorded";
    let stored = data.stored_bytes().filter(|stored| *stored > 0).ok_or(missing)?;
    let ratio = data.raw_bytes.ok_or(missing)? as f64 / stored as f64;
    let RawTerabytes(raw) = maximum_user_data(capacity.0 as f64, Reserve::PUBLISHED, ratio);
    Ok(Quantity::new(raw, Unit::named("TB"), 1, Interval::none("computed from sizes")))
}

/// What a query costs, and what the machine can do.
fn demand(point: &PointFindings, data: &WarehouseData, calibration: &Calibration) -> Result<(Demand, Machine), String> {
    let value = |metric: MetricName| point.metric(metric.key()).map(|quantity| quantity.value());
    let per_query = 3600.0 / value(QUERIES_PER_HOUR)?;
    let demand = Demand {
        device: Megabytes(value(SCAN_PHYSICAL)? * per_query),
        cpu: CpuSeconds(value(CPU_TIME)? * per_query),
        raw: RawTerabytes::of_bytes(data.raw_bytes.ok_or("the raw bytes were not recorded")?),
    };
    let machine = Machine {
        device: calibration.device.ok_or("the device was not calibrated")?,
        cores: calibration.cores.ok_or("CPU utilization was not observed")?,
    };
    Ok((demand, machine))
}

fn reach(demand: &Demand, machine: &Machine, target: &Target, maximum: &Measured) -> Reach {
    let storage = maximum.as_ref().ok().map(|maximum| RawTerabytes(maximum.value()));
    match largest_raw_size(demand, machine, target, storage, FARTHEST) {
        Ok(found) => Reach::Until(found),
        Err(CapacityRefusal::TooFar { measured, farthest }) => Reach::Beyond(RawTerabytes(measured.0 * farthest)),
        Err(CapacityRefusal::Input(what)) => Reach::Unknown(format!("the capacity model needs {what} above 0")),
    }
}

fn relative(
    findings: &Findings<'_>,
    point: &PointFindings,
    layout: Option<&str>,
    data: &WarehouseData,
) -> Vec<(String, Result<f64, String>)> {
    let settings = findings.record.plan.settings(&findings.record.study, point.id);
    let one = |reference: &Reference| (reference.title.clone(), against(point, layout, data, &settings, reference));
    baselines(findings).into_iter().map(one).collect()
}

/// References of this workload, which relative throughput is computed against.
pub fn baselines<'f>(findings: &'f Findings<'_>) -> Vec<&'f Reference> {
    let named = findings.reference.as_ref().and_then(|reference| reference.as_ref().ok());
    let ours = |reference: &&Reference| reference.workload.as_deref() == Some(super::data::KIND);
    named.into_iter().chain(&findings.beside).filter(ours).collect()
}

fn against(
    point: &PointFindings,
    layout: Option<&str>,
    data: &WarehouseData,
    settings: &Settings,
    reference: &Reference,
) -> Result<f64, String> {
    let unknown = || "not recorded".to_owned();
    let QueryWork { mix, queries } = work(settings);
    let own = ComparableResult {
        layout: layout.map_or_else(unknown, str::to_owned),
        scale_factor: data.scale_factor.clone().unwrap_or_else(unknown),
        generator: data.generator.clone().unwrap_or_else(unknown),
        queries: format!("{queries} by {mix}"),
        queries_per_hour_per_tb: point.result(QUERIES_PER_HOUR_PER_TB)?.value(),
    };
    let level =
        |other: &ReferencePoint, name: &str| other.level(name).map_or("not published".to_owned(), str::to_owned);
    let streams = settings.get(setting::WORKLOAD_STREAMS).map(ToString::to_string);
    let same = |other: &&ReferencePoint| {
        let as_many = other.level(setting::WORKLOAD_STREAMS).is_none_or(|level| streams.as_deref() == Some(level));
        other.level("layout") == Some(own.layout.as_str()) && as_many
    };
    let other = reference.points.iter().find(same).ok_or_else(|| {
        let streams = streams.as_deref().unwrap_or("unknown");
        format!("{} has no result for {} with as many streams ({streams})", reference.title, own.layout)
    })?;
    let rated = ComparableResult {
        layout: own.layout.clone(),
        scale_factor: level(other, setting::WORKLOAD_SCALE_FACTOR),
        generator: level(other, "data.generator"),
        queries: format!(
            "{} by {}",
            other.level(setting::WORKLOAD_QUERIES).unwrap_or("all"),
            level(other, setting::WORKLOAD_MIX)
        ),
        queries_per_hour_per_tb: other
            .metrics
            .get(QUERIES_PER_HOUR_PER_TB.name)
            .map_or(f64::NAN, |figure| figure.value),
    };
    let baseline = Baseline { name: reference.title.clone(), rated };
    relative_percent(&own, &baseline).map_err(|unlike| unlike.to_string())
}
