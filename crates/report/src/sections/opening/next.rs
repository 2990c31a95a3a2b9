//! Next: levels that would find the knee, void points that can be measured again, a test of what bound, narrower intervals.

use super::curve::is_end;
use super::intervention::how_to_test;
use super::words::level;
use crate::blocks::{Inline, Prose, prose};
use crate::findings::{
    Curve, CurveGroup, CurveShape, Findings, PointFindings, RankedCurve, Verdict, level_number, level_text,
};
use proofload_model::settings::Value;
use proofload_model::units::Bytes;

/// Half-width of an interval, as a share, from which narrower ones are offered.
const WIDE: f64 = 0.05;

/// Quarters between two levels.
const PARTS: u32 = 4;

/// What helps in every kind of study once its points are measured.
pub(super) fn next(findings: &Findings<'_>) -> Prose {
    [how_to_test(findings), narrower(findings)].concat()
}

/// Points that can be measured again or are still missing; this comes first.
pub(super) fn again(findings: &Findings<'_>) -> Prose {
    let mendable = findings.points.iter().filter(|point| super::verdict::is_of_host(point)).count();
    let missing = findings.points.iter().filter(|point| matches!(point.verdict, Verdict::NotRun(_))).count();
    let resume = format!("proofload resume {}", findings.file_named());
    let mut text = Prose::new();
    if mendable > 0 {
        let points = if mendable == 1 { " void point again. " } else { " void points again. " };
        text.extend(prose![command(&format!("{resume} --void")), " measures ", mendable, points]);
    }
    if missing > 0 {
        let points = if missing == 1 { " missing point. " } else { " missing points. " };
        text.extend(prose![command(&resume), " measures ", missing, points]);
    }
    text
}

/// How many repetitions narrower intervals take.
fn narrower(findings: &Findings<'_>) -> Prose {
    let wide = |point: &PointFindings| {
        point.throughput.as_ref().is_ok_and(|throughput| throughput.relative_half_width() > WIDE)
    };
    if !findings.valid().any(wide) {
        return Prose::new();
    }
    let plan = format!("proofload plan STUDY --pilot {}", findings.file_named());
    prose![command(&plan), " shows how many runs narrower intervals need. "]
}

pub(super) fn command(text: &str) -> Inline {
    Inline::Code(text.to_owned())
}

/// Levels that would tell more of a curve.
pub(super) fn of_curve(findings: &Findings<'_>, curve: &Curve, ranked: &RankedCurve<'_>) -> Prose {
    let at = |place: usize| ranked.points[place].0;
    let last = ranked.points.len() - 1;
    // Where the knee is fitted its range is known closer than by the levels beside it.
    let fitted = match curve.groups.as_slice() {
        [CurveGroup { fit: Ok(fitted), .. }] => fitted.at.interval().bounds(),
        _ => None,
    };
    let number = |place: usize| at(place).level(&curve.setting).and_then(level_number);
    let measured = curve.groups.iter().flat_map(|group| &group.points).filter_map(|place| findings.points.get(*place));
    let known: Vec<String> = measured.filter_map(|point| point.level(&curve.setting)).map(level_text).collect();
    let find = |low: usize, high: usize, fitted: Option<(f64, f64)>| {
        let range = fitted.or_else(|| Some((number(low)?, number(high)?)));
        let mut levels = range.map_or_else(Vec::new, |range| between(range, at(low), curve));
        levels.retain(|level| !known.contains(level));
        if levels.is_empty() {
            return Prose::new();
        }
        prose!["To locate the turning point, add ", listed(&levels), ". "]
    };
    match ranked.shape {
        CurveShape::Level => {
            let why = findings.ranking(at(last).id).and_then(|ranking| ranking.candidates.first());
            match why {
                Some(_) => {
                    prose!["Vary what was nearest to its limit, or add levels below ", level(at(0), curve), ". "]
                }
                None => prose!["Add levels below ", level(at(0), curve), " to see where it breaks. "],
            }
        }
        CurveShape::From(first) if first == last && !is_end(findings, curve, at(last)) => {
            prose!["Give the larger levels a result before others are added. "]
        }
        CurveShape::From(first) if first == last => {
            let beyond = scaled(at(last), curve, 2.0).map(|beyond| level_text(&beyond));
            beyond.map_or_else(Prose::new, |beyond| prose!["Add larger levels, such as ", beyond, ". "])
        }
        CurveShape::From(0) | CurveShape::Scattered(_) => Prose::new(),
        CurveShape::From(first) | CurveShape::Between(first, _) => find(first - 1, first, fitted),
        // What is fitted is the rise.
        CurveShape::UpTo(end) => find(end, end + 1, None),
    }
}

/// Levels like a point's that part a range in four, those that are whole and none of the curve's own.
fn between((from, to): (f64, f64), like: &PointFindings, curve: &Curve) -> Vec<String> {
    let Some(like) = like.level(&curve.setting) else { return Vec::new() };
    let step = |part: u32| of_same_kind(like, from + (to - from) * f64::from(part) / f64::from(PARTS));
    let ends = [from, to].map(|end| of_same_kind(like, end).as_ref().map(level_text));
    let mut levels: Vec<String> = (1..PARTS).filter_map(step).map(|level| level_text(&level)).collect();
    levels.dedup();
    levels.retain(|level| !ends.iter().flatten().any(|end| end == level));
    levels
}

fn scaled(point: &PointFindings, curve: &Curve, factor: f64) -> Option<Value> {
    let value = point.level(&curve.setting)?;
    of_same_kind(value, level_number(value)? * factor)
}

/// A number as a level like another: whole bytes in whole MiB, whole counts.
fn of_same_kind(like: &Value, number: f64) -> Option<Value> {
    match like {
        Value::Bytes(_) if number >= 2_097_152.0 => {
            Some(Value::Bytes(Bytes((number / 1_048_576.0).round() as u64 * 1_048_576)))
        }
        Value::Integer(_) => Some(Value::Integer(number.round() as i64)),
        Value::Number(_) => Some(Value::Number((number * 100.0).round() / 100.0)),
        _ => None,
    }
}

/// `160, 192 and 224 MiB` as a list in a sentence.
fn listed(levels: &[String]) -> String {
    match levels {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}
