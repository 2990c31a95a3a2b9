//! Points that an experiment is made with.

use crate::findings::{CurveGroup, Findings, Knee, PointFindings};

/// Points by words: `largest`, `knee`, `all`, or their numbers, separated by commas. Only points with a finished run.
///
/// # Errors
/// A word that is none, or a point that has no finished run, as a whole sentence without its stop.
pub fn chosen_points(findings: &Findings<'_>, words: &str) -> Result<Vec<u32>, String> {
    let mut chosen = Vec::new();
    for word in words.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let found = match word {
            "largest" => largest(findings).into_iter().collect(),
            "knee" => knee(findings),
            "all" => measured(findings).map(|point| point.id).collect(),
            number => vec![of_number(findings, number)?],
        };
        chosen.extend(found);
    }
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.is_empty() { Err(format!("no point of {words:?} has a finished run")) } else { Ok(chosen) }
}

fn measured<'f>(findings: &'f Findings<'_>) -> impl Iterator<Item = &'f PointFindings> {
    findings.points.iter().filter(|point| !point.runs.is_empty())
}

/// The valid point with the largest throughput; of void ones, if there is no other.
fn largest(findings: &Findings<'_>) -> Option<u32> {
    let value = |point: &&PointFindings| point.throughput.as_ref().map_or(f64::NEG_INFINITY, |estimate| estimate.value);
    let any = || measured(findings).max_by(|one, other| value(one).total_cmp(&value(other)));
    findings.largest().or_else(any).map(|point| point.id)
}

/// The points next to each knee's range on both sides, and the largest.
fn knee(findings: &Findings<'_>) -> Vec<u32> {
    let mut found: Vec<u32> = largest(findings).into_iter().collect();
    let Ok(curve) = &findings.curve else { return found };
    for group in &curve.groups {
        let level =
            |place: &usize| findings.points[*place].level(&curve.setting).and_then(crate::findings::level_number);
        let Some((low, high)) = findings.knee(curve, group).range() else { continue };
        let has_runs = |place: &&usize| !findings.points[**place].runs.is_empty();
        let measured: Vec<&usize> = group.points.iter().filter(has_runs).collect();
        let below = measured.iter().rev().find(|place| level(place).is_some_and(|level| level <= low));
        let above = measured.iter().find(|place| level(place).is_some_and(|level| level >= high));
        found.extend(below.into_iter().chain(above).map(|place| findings.points[**place].id));
    }
    found
}

/// Tells why words that ask for the knee get the largest point alone: a sentence without its stop for each group of the curve
/// without a knee.
pub fn missing_knees(findings: &Findings<'_>, words: &str) -> Vec<String> {
    if !words.split(',').any(|word| word.trim() == "knee") {
        return Vec::new();
    }
    let curve = match &findings.curve {
        Ok(curve) => curve,
        Err(why) => return vec![format!("no knee is shown: {why}")],
    };
    let told = |group: &CurveGroup| {
        let Knee::None(why) = findings.knee(curve, group) else { return None };
        let at = if group.label.is_empty() { String::new() } else { format!(" at {}", group.label) };
        Some(format!("no knee is shown{at}: {}", why.text()))
    };
    curve.groups.iter().filter_map(told).collect()
}

fn of_number(findings: &Findings<'_>, word: &str) -> Result<u32, String> {
    let known = || measured(findings).map(|point| point.id.to_string()).collect::<Vec<_>>().join(", ");
    let number = word.parse::<u32>().ok().filter(|number| measured(findings).any(|point| point.id == *number));
    number.ok_or_else(|| {
        format!("no point {word:?} with a finished run; use largest, knee, all, or numbers among {}", known())
    })
}
