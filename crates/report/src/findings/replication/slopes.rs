//! How much throughput follows a resource of replication: the network between nodes, and the CPU time that each node or
//! one role of threads may use.

use super::links::measured_round_trip;
use crate::findings::curve::other_levels;
use crate::findings::evaluate::Findings;
use crate::findings::factor::level_number;
use crate::findings::point::PointFindings;
use crate::groups::by_key;
use proofload_analysis::elasticity::Level;
use proofload_analysis::quantity::Quantity;
use proofload_analysis::slope::slope_of_levels;
use proofload_model::intervention::THREAD_CPU;
use proofload_model::settings::setting;

/// Setting of the round trip, which is measured before the load.
const RTT: &str = setting::REPLICATION_RTT;

/// Settings to which it is told.
const RESOURCES: &[&str] =
    &[RTT, setting::REPLICATION_BANDWIDTH, setting::LIMITS_CPU, setting::LIMITS_STANDBY_CPU, THREAD_CPU];

/// Setting of the role that `limits.thread_cpu` limits, which no study varies.
const ROLE: &str = "limits.thread";

/// Elasticity within this of 0 is none. Source: docs/guides/replication.md.
pub const NONE_WITHIN: f64 = 0.1;

/// Elasticity of throughput to one resource at equal other levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Slope {
    /// Setting.
    pub setting: &'static str,
    /// Role whose threads the setting limits; `None` for a setting that limits no role.
    pub role: Option<String>,
    /// Other levels, in words; empty where nothing else varies.
    pub at: String,
    /// Points that it comes from.
    pub points: Vec<u32>,
    /// d ln X / d ln R.
    pub elasticity: Quantity,
}

impl Slope {
    /// Whether throughput does not follow the resource.
    pub fn is_none(&self) -> bool {
        let within = self.elasticity.interval().bounds().is_none_or(|(low, high)| (low..=high).contains(&0.0));
        within && self.elasticity.value().abs() <= NONE_WITHIN
    }
}

/// Every slope of factors that are resources: inside repetitions over points that are valid or only moved, else over valid points.
pub fn slopes(findings: &Findings<'_>) -> Vec<Slope> {
    let is_factor = |setting: &&&str| findings.factors.iter().any(|factor| factor.setting == **setting);
    RESOURCES.iter().filter(is_factor).flat_map(|setting| of_setting(findings, setting)).collect()
}

fn of_setting(findings: &Findings<'_>, setting: &'static str) -> Vec<Slope> {
    let told = |point: &&PointFindings| point.counts_inside_repetitions() && resource(point, setting).is_some();
    let groups = by_key(findings.points.iter().filter(told).map(|point| (other_levels(point, setting), point)));
    let role = findings.record.study.settings.text(ROLE).ok().filter(|_| setting == THREAD_CPU);
    let slope = |(at, members): (String, Vec<&PointFindings>)| {
        let (members, elasticity) = elasticity(findings, setting, members)?;
        let points = members.iter().map(|point| point.id).collect();
        Some(Slope { setting, role: role.map(str::to_owned), at, points, elasticity })
    };
    groups.into_iter().filter_map(slope).collect()
}

fn resource(point: &PointFindings, setting: &str) -> Option<f64> {
    point.level(setting).and_then(level_number).filter(|level| *level > 0.0)
}

/// The resource at each of some points: the round trip as it was measured, where it was at all of them; else the level.
fn resources(findings: &Findings<'_>, setting: &str, points: &[&PointFindings]) -> Option<Vec<(u32, f64)>> {
    let measured = |point: &&PointFindings| {
        let trip = measured_round_trip(findings, point).filter(|trip| *trip > 0.0)?;
        Some((point.id, trip))
    };
    let as_measured: Option<Vec<(u32, f64)>> =
        if setting == RTT { points.iter().map(measured).collect() } else { None };
    as_measured.or_else(|| points.iter().map(|point| Some((point.id, resource(point, setting)?))).collect())
}

/// The slope and the points that it comes from.
fn elasticity<'p>(
    findings: &Findings<'_>,
    setting: &str,
    members: Vec<&'p PointFindings>,
) -> Option<(Vec<&'p PointFindings>, Quantity)> {
    let levels = resources(findings, setting, &members)?;
    if let Some(inside) = findings.blocks.as_ref().and_then(|blocks| blocks.slope(&levels)) {
        return Some((members, inside));
    }
    let valid: Vec<&PointFindings> = members.into_iter().filter(|point| point.verdict.is_valid()).collect();
    let levels = resources(findings, setting, &valid)?;
    let level = |(point, (_, resource)): (&&PointFindings, &(u32, f64))| {
        Some(Level::of(*resource, point.throughput.as_ref().ok()?))
    };
    let slope = slope_of_levels(&valid.iter().zip(&levels).map(level).collect::<Option<Vec<_>>>()?)?;
    Some((valid, slope))
}
