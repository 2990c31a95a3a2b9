//! Points that an experiment is made with.

use crate::findings::point_choice::{KnownLevels, Level, is_asked_for};
use crate::findings::{CurveGroup, Findings, Knee, PointFindings};
use proofload_model::settings::Value;
use proofload_model::study::Factor;

/// Words that choose points by their results.
const WORDS: [&str; 3] = ["largest", "knee", "all"];

/// Points by words: `largest`, `knee`, `all`, their numbers from 1, or levels such as `limits.memory=64MiB`, separated by commas. Only points
/// with a finished run. Levels of one setting are alternatives; of several settings a point has one each.
///
/// # Errors
/// A word that is none, a level that no point has, levels that no point with a finished run has, or a point without one, as a whole sentence
/// without its stop.
pub fn chosen_points(findings: &Findings<'_>, words: &str) -> Result<Vec<u32>, String> {
    if measured(findings).next().is_none() {
        return Err("no point has a finished run".to_owned());
    }
    let (mut chosen, mut levels) = (Vec::new(), Vec::new());
    for word in parts(words, |level| findings.points.iter().any(|point| has(findings, point, level))) {
        if let Some(level) = Level::parse(&word) {
            levels.push(level);
            continue;
        }
        let found = match word.as_str() {
            "largest" => largest(findings).into_iter().collect(),
            "knee" => knee(findings),
            "all" => measured(findings).map(|point| point.id).collect(),
            number => vec![of_number(findings, number)?],
        };
        chosen.extend(found);
    }
    chosen.extend(of_levels(findings, &levels)?);
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.is_empty() { Err(format!("no point of {words:?} has a finished run")) } else { Ok(chosen) }
}

/// Parts of a list with commas. Levels may have commas of their own: of a level the longest text is taken that some point has, and a part that
/// is no word, number or level belongs to the level before it.
fn parts(words: &str, is_level: impl Fn(&Level) -> bool) -> Vec<String> {
    let given: Vec<&str> = words.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let mut rest = given.as_slice();
    let mut parts: Vec<String> = Vec::new();
    while let Some(&part) = rest.first() {
        let is_known = |count: &usize| Level::parse(&rest[..*count].join(", ")).is_some_and(|level| is_level(&level));
        let count = if part.contains('=') { (2..=rest.len()).rev().find(is_known).unwrap_or(1) } else { 1 };
        let is_own = part.contains('=') || WORDS.contains(&part) || part.parse::<u32>().is_ok();
        match parts.last_mut().filter(|last| !is_own && last.contains('=')) {
            Some(level) => {
                level.push_str(", ");
                level.push_str(part);
            }
            None => parts.push(rest[..count].join(", ")),
        }
        rest = &rest[count..];
    }
    parts
}

/// Points with these levels; an empty list for an empty one.
fn of_levels(findings: &Findings<'_>, levels: &[Level]) -> Result<Vec<u32>, String> {
    if levels.is_empty() {
        return Ok(Vec::new());
    }
    let has = |point: &PointFindings, level: &Level| has(findings, point, level);
    if let Some(wrong) = levels.iter().find(|level| !findings.points.iter().any(|point| has(point, level))) {
        return Err(known_levels(findings).refusal(wrong, "--points"));
    }
    let told = |level: &Level| format!("{}={}", level.setting, level.value);
    if let Some(unmeasured) = levels.iter().find(|level| !measured(findings).any(|point| has(point, level))) {
        return Err(format!("no point with a finished run has {}", told(unmeasured)));
    }
    let asked = measured(findings).filter(|point| is_asked_for(levels, |level| has(point, level)));
    let asked: Vec<u32> = asked.map(|point| point.id).collect();
    if asked.is_empty() {
        let levels: Vec<String> = levels.iter().map(told).collect();
        return Err(format!("no point with a finished run has all of these levels: {}", levels.join(", ")));
    }
    Ok(asked)
}

/// Tells whether a point has a level.
fn has(findings: &Findings<'_>, point: &PointFindings, level: &Level) -> bool {
    varied(findings, point, &level.setting).is_some_and(|value| level.is(&value))
}

/// The level of a factor at a point, or what a setting comes to that a group varies; `None` for what does not vary.
fn varied(findings: &Findings<'_>, point: &PointFindings, setting: &str) -> Option<Value> {
    let assigned = point.level(setting).cloned();
    let is_in_group = || findings.factors.iter().any(|factor| factor.varies(setting));
    let (plan, study) = (&findings.record.plan, &findings.record.study);
    let as_set = || plan.settings(study, point.id).get(setting).cloned().filter(|_| is_in_group());
    assigned.or_else(as_set)
}

/// Levels of all points.
fn known_levels(findings: &Findings<'_>) -> KnownLevels {
    let mut known = KnownLevels::default();
    for point in &findings.points {
        point.levels.iter().for_each(|(factor, level)| known.add(factor, level));
        for path in findings.factors.iter().flat_map(Factor::paths) {
            if let Some(value) = varied(findings, point, &path) {
                known.add_inside(&path, &value);
            }
        }
    }
    known
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

/// The point of a number that counts from 1, as people count; in the plan they count from 0.
fn of_number(findings: &Findings<'_>, word: &str) -> Result<u32, String> {
    let number = word.parse::<u32>().ok().and_then(|number| number.checked_sub(1));
    let number = number.filter(|number| measured(findings).any(|point| point.id == *number));
    number.ok_or_else(|| {
        let known: Vec<String> = measured(findings).map(numbered).collect();
        format!(
            "no point {word:?} with a finished run; use largest, knee, all, a level (SETTING=LEVEL), or numbers among {}",
            known.join(", ")
        )
    })
}

/// The number of a point as people count, with its levels.
fn numbered(point: &PointFindings) -> String {
    format!("{} ({})", point.id.saturating_add(1), point.label())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_of_a_group_keeps_its_commas() {
        let parts = |words| parts(words, |_| false);
        assert_eq!(parts("largest, 1,3"), ["largest", "1", "3"]);
        assert_eq!(parts("limits.memory=64MiB,knee"), ["limits.memory=64MiB", "knee"]);
        let groups = "replication=mode async, standbys 2, replication=unchanged, 4";
        assert_eq!(parts(groups), ["replication=mode async, standbys 2", "replication=unchanged", "4"]);
        assert_eq!(parts("larges, 1"), ["larges", "1"]);
    }

    #[test]
    fn a_level_with_a_number_or_a_key_of_its_own_is_taken_whole() {
        let known = ["1, 2", "a=1, b=2", "1"];
        let parts = |words| parts(words, |level| level.setting == "x" && known.contains(&level.value.as_str()));
        assert_eq!(parts("x=1,2"), ["x=1, 2"]);
        assert_eq!(parts("x=1,2, 3, largest"), ["x=1, 2", "3", "largest"]);
        assert_eq!(parts("x=a=1,b=2,x=1"), ["x=a=1, b=2", "x=1"]);
        assert_eq!(parts("x=1,x=1,2"), ["x=1", "x=1, 2"]);
        assert_eq!(parts("y=1,2"), ["y=1", "2"]);
    }
}
