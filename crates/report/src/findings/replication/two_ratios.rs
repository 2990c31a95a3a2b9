//! What a mode keeps, told twice where each mode has a search of its own: at the load at which a database without standbys is at its best,
//! and of the largest throughput, each at its own best load.

use crate::findings::estimate::informative;
use crate::findings::evaluate::Findings;
use crate::findings::level::Measured;
use crate::findings::point::PointFindings;
use crate::findings::search::{ChosenLoad, SearchFindings};
use proofload_analysis::bootstrap::ratio_of_means;
use proofload_analysis::quantity::Unit;
use proofload_model::replication::ReplicationMode;
use proofload_model::settings::{Settings, Value};

/// A search under a mode beside the one without standbys.
#[derive(Debug, Clone)]
pub struct TwoRatios {
    /// Levels of the factors, in words.
    pub label: String,
    /// Load at which the database without standbys is at its best.
    pub alone_at: f64,
    /// Throughput at that load, % of that without standbys there.
    pub equal_load: Measured,
    /// Load at which it is at its own best.
    pub best_at: f64,
    /// The largest throughput, % of the largest without standbys.
    pub of_maxima: Measured,
}

/// One for each search under a mode with standbys; empty in a study without searches or without a mode `none` beside them.
pub fn two_ratios(findings: &Findings<'_>) -> Vec<TwoRatios> {
    let with_standbys = findings.searches.iter().filter(|search| mode(search) != Some(ReplicationMode::None));
    with_standbys.filter_map(|search| of_search(findings, search)).collect()
}

/// Setting below which a mode and its network stand.
const REPLICATION: &str = "replication.";

fn mode(search: &SearchFindings) -> Option<ReplicationMode> {
    match assigned(search).get(super::MODE) {
        Some(Value::Text(word)) => ReplicationMode::of(word),
        _ => None,
    }
}

/// Every setting that the levels of a search assign.
fn assigned(search: &SearchFindings) -> Settings {
    Settings::default().with(&search.levels)
}

fn of_search(findings: &Findings<'_>, search: &SearchFindings) -> Option<TwoRatios> {
    mode(search)?;
    let others = |search: &SearchFindings| -> Vec<(String, Value)> {
        assigned(search).0.into_iter().filter(|(setting, _)| !setting.starts_with(REPLICATION)).collect()
    };
    let is_base = |base: &&SearchFindings| mode(base) == Some(ReplicationMode::None) && others(base) == others(search);
    let base = findings.searches.iter().find(is_base)?;
    let (alone, own) = (best(findings, base)?, best(findings, search)?);
    let there = search.path.iter().find(|chosen| chosen.load == alone.load);
    let there = there.ok_or_else(|| "this load was not measured with this mode".to_owned());
    Some(TwoRatios {
        label: search.label.clone(),
        alone_at: alone.load,
        equal_load: there.and_then(|chosen| kept(findings, chosen, alone)),
        best_at: own.load,
        of_maxima: kept(findings, own, alone),
    })
}

/// The load with the largest throughput among those with a result.
fn best<'s>(findings: &Findings<'_>, search: &'s SearchFindings) -> Option<&'s ChosenLoad> {
    let value = |chosen: &ChosenLoad| throughput(&findings.points[chosen.point]);
    let found = search.so_far().and_then(|answer| answer.best);
    let named = search.path.iter().find(|chosen| Some(chosen.load) == found && value(chosen).is_some());
    let valid = search.path.iter().filter(|chosen| value(chosen).is_some());
    named.or_else(|| valid.max_by(|a, b| value(a).partial_cmp(&value(b)).unwrap_or(std::cmp::Ordering::Equal)))
}

fn throughput(point: &PointFindings) -> Option<f64> {
    point.throughput.as_ref().ok().filter(|_| point.verdict.is_valid()).map(|estimate| estimate.value)
}

fn kept(findings: &Findings<'_>, one: &ChosenLoad, of: &ChosenLoad) -> Measured {
    let estimate = |chosen: &ChosenLoad| {
        let point = &findings.points[chosen.point];
        let valid = Some(&point.throughput).filter(|_| point.verdict.is_valid());
        valid.ok_or_else(|| format!("{} is {}", point.label(), point.verdict.word()))?.clone()
    };
    Ok(informative(ratio_of_means(&estimate(one)?, &estimate(of)?).scaled(100.0, Unit::PERCENT)))
}
