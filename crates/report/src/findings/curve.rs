//! The curve of throughput over a factor: per cent of the largest, what each step is worth, where it bends.

pub(super) mod knee;
pub(super) mod standing;

use super::blocks::BlockFindings;
use super::factor::{level_number, setting_title};
use super::level::Measured;
use super::point::PointFindings;
use crate::groups::by_key;
use proofload_analysis::bootstrap::{Estimate, ratio_of_means};
use proofload_analysis::elasticity::{Level, Step, elasticities};
use proofload_analysis::knee::{FittedKnee, NoFit, Question, fit_knee};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::settings::{Value, setting};
use proofload_model::study::{Factor, Study};

/// Share of the largest result within which a level counts as the same.
pub(crate) const WITHIN: f64 = 0.05;

/// The curve over what a search varies, else over the first factor whose levels are numbers; one group for each combination of the other factors' levels.
#[derive(Debug, Clone)]
pub struct Curve {
    /// The factor.
    pub setting: String,
    /// Whether the levels are spaced by ratios rather than by differences.
    pub geometric: bool,
    /// Groups in the order of the points.
    pub groups: Vec<CurveGroup>,
}

/// Points that differ in the curve's factor alone.
#[derive(Debug, Clone)]
pub struct CurveGroup {
    /// Levels of the other factors in words; empty when there is no other.
    pub label: String,
    /// Places in the list of points, by rising level.
    pub points: Vec<usize>,
    /// What each step between valid neighbours is worth.
    pub steps: Vec<Step>,
    /// The knee of a curve fitted through its valid levels, or why there is none.
    pub fit: Result<FittedKnee, NoFit>,
}

/// Finds the curve; the error says why there is none.
///
/// Errors of levels are those inside blocks, where there are blocks.
pub(super) fn curve(
    study: &Study,
    factors: &[Factor],
    points: &[PointFindings],
    blocks: Option<&BlockFindings>,
) -> Result<Curve, String> {
    let numeric = |setting: &&Factor| {
        setting.levels.len() > 1 && setting.levels.iter().all(|level| level_number(level).is_some())
    };
    let searched = |factor: &&Factor| study.settings.text(setting::SEARCH_SETTING) == Ok(&factor.setting);
    let factor = factors.iter().filter(searched).find(numeric).or_else(|| factors.iter().find(numeric));
    let factor = factor.ok_or("this study varies no factor with two or more numeric levels")?;
    let groups = by_key(points.iter().enumerate().map(|(index, point)| (other_levels(point, &factor.setting), index)));
    let level = |index: &usize| points[*index].level(&factor.setting).and_then(level_number).unwrap_or(f64::NAN);
    let group = |(label, mut members): (String, Vec<usize>)| {
        members.sort_by(|a, b| level(a).total_cmp(&level(b)));
        let valid = members.iter().filter(|index| points[**index].verdict.is_valid());
        let levels: Vec<Level> = valid
            .filter_map(|index| Some(Level::of(level(index), &throughput(&points[*index], blocks)?)))
            .filter(|level| level.resource > 0.0 && level.value > 0.0)
            .collect();
        CurveGroup {
            label,
            points: members,
            steps: elasticities(&levels),
            fit: fit(&levels, study.seed(), &factor.levels),
        }
    };
    let mut numbers: Vec<f64> = factor.levels.iter().filter_map(level_number).collect();
    numbers.sort_by(f64::total_cmp);
    Ok(Curve {
        setting: factor.setting.clone(),
        // A search climbs by ratios, wherever it narrows its range afterwards.
        geometric: is_geometric(&numbers)
            || searched(&factor) && numbers.last() >= numbers.first().map(|first| first * 4.0).as_ref(),
        groups: groups.into_iter().map(group).collect(),
    })
}

/// Throughput of a point, inside blocks where there are any.
fn throughput(point: &PointFindings, blocks: Option<&BlockFindings>) -> Option<Estimate> {
    let inside = blocks.and_then(|blocks| blocks.mean(point.id));
    inside.or_else(|| point.throughput.clone().ok())
}

fn fit(levels: &[Level], seed: u64, of: &[Value]) -> Result<FittedKnee, NoFit> {
    let unit = match of.first() {
        Some(Value::Bytes(_)) => Unit::named("B"),
        Some(Value::Duration(_)) => Unit::named("s"),
        _ => Unit::named(""),
    };
    fit_knee(levels, &Question { unit, within: WITHIN, resamples: 1000, seed })
}

/// Levels of all factors but one, in words.
pub(super) fn other_levels(point: &PointFindings, but: &str) -> String {
    let others = || point.levels.iter().filter(|(setting, _)| setting != but);
    let word = |(setting, value): &(String, Value)| match value {
        told @ (Value::Text(_) | Value::Table(_)) => super::factor::level_text(told),
        value => format!("{} {}", super::factor::level_text(value), setting_title(setting)),
    };
    others().map(word).collect::<Vec<_>>().join(super::factor::between(others().map(|(_, value)| value)))
}

/// Whether neighbours differ by about equal ratios, and not by equal differences.
fn is_geometric(sorted: &[f64]) -> bool {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return false };
    if *first <= 0.0 || sorted.len() < 3 || last / first < 4.0 {
        return false;
    }
    let spread = |steps: Vec<f64>| {
        let (low, high) =
            steps.iter().fold((f64::INFINITY, 0.0f64), |(low, high), step| (low.min(*step), high.max(*step)));
        high / low
    };
    let differences = spread(sorted.windows(2).map(|pair| pair[1] - pair[0]).collect());
    let ratios = spread(sorted.windows(2).map(|pair| (pair[1] / pair[0]).ln()).collect());
    ratios < differences
}

/// The valid one among points with the largest throughput, inside blocks where there are any.
pub(super) fn largest_of<'p>(
    points: impl Iterator<Item = &'p PointFindings>,
    blocks: Option<&BlockFindings>,
) -> Option<&'p PointFindings> {
    let value = |point: &PointFindings| throughput(point, blocks).map_or(f64::NEG_INFINITY, |estimate| estimate.value);
    points.filter(|point| point.verdict.is_valid()).max_by(|a, b| value(a).total_cmp(&value(b)))
}

/// Fills in the throughput of each point in per cent of the largest valid one's.
///
/// The ratio is taken inside blocks where there are any.
pub(super) fn fill_relative(points: &mut [PointFindings], blocks: Option<&BlockFindings>) {
    let largest = largest_of(points.iter(), blocks);
    let Some((largest, estimate)) = largest.and_then(|point| Some((point.id, point.throughput.clone().ok()?))) else {
        return;
    };
    if estimate.value > 0.0 {
        for point in points {
            point.relative = relative_to(point, (largest, &estimate), blocks);
        }
    }
}

/// Throughput of a valid point in per cent of that of another with its estimate, inside blocks where there are any.
fn relative_to(point: &PointFindings, (to, of_it): (u32, &Estimate), blocks: Option<&BlockFindings>) -> Measured {
    let inside = blocks.and_then(|blocks| blocks.ratio(point.id, to));
    relative(point, to, |own| inside.unwrap_or_else(|| ratio_of_means(own, of_it)))
}

fn relative(point: &PointFindings, largest: u32, ratio: impl FnOnce(&Estimate) -> Quantity) -> Measured {
    if !point.verdict.is_valid() {
        return Err(format!("the point is {}", point.verdict.word()));
    }
    let own = point.throughput.as_ref().map_err(Clone::clone)?;
    if point.id == largest {
        return Ok(Quantity::new(
            100.0,
            Unit::PERCENT,
            2 * own.n,
            Interval::none("the largest point is the reference"),
        ));
    }
    Ok(super::estimate::informative(ratio(own).scaled(100.0, Unit::PERCENT)))
}
