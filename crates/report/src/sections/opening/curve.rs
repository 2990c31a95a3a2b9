//! A sweep of one numeric factor: where throughput is the same, and what is lost beside it.

use super::topic::{Topic, TopicText};
use super::words::{level, losses, none_lower, reached, shown_losses, titled};
use super::{next, why};
use crate::blocks::{Prose, prose};
use crate::findings::{Curve, CurveShape, Findings, PointFindings, RankedCurve, setting_title};
use crate::numbers::short;
use proofload_analysis::quantity::Quantity;

pub(super) const TOPIC: Topic = Topic { applies: |findings| ranked(findings).is_some(), tell, figure: None };

/// The curve and its points by rising level; `None` where there is no curve of one group with two valid points.
fn ranked<'f>(findings: &'f Findings<'_>) -> Option<(&'f Curve, RankedCurve<'f>)> {
    let curve = findings.curve.as_ref().ok()?;
    Some((curve, RankedCurve::of_only(findings, curve)?))
}

fn tell(findings: &Findings<'_>) -> TopicText {
    let Some((curve, ranked)) = ranked(findings) else { return TopicText::default() };
    let lower = ranked.lower();
    let broke =
        if lower.is_empty() { none_lower(findings, "level") } else { shown_losses(findings, lower.iter().copied()) };
    TopicText {
        answer: [same(findings, curve, &ranked), losses(findings, lower.iter().copied())].concat(),
        held: reached(findings, held(&ranked, &lower)),
        broke,
        why: why::why(findings, &explained(&ranked, &lower)),
        sure: unseen(&ranked),
        next: next::of_curve(findings, curve, &ranked),
    }
}

/// Where throughput is the same, as far as the intervals tell.
fn same(findings: &Findings<'_>, curve: &Curve, ranked: &RankedCurve<'_>) -> Prose {
    let at = |place: usize| ranked.points[place].0;
    let last = ranked.points.len() - 1;
    let title = setting_title(&curve.setting);
    let far = match ranked.unseen() {
        None => " is the same within 5\u{a0}%",
        Some(_) => " shows no difference",
    };
    match ranked.shape {
        CurveShape::Level => {
            let range = format!("{} to {}", level(at(0), curve), titled(at(last), curve));
            prose!["From ", range, " throughput", far, ". "]
        }
        CurveShape::From(first) if first == last => {
            let end = if is_end(findings, curve, at(last)) { "level" } else { "level with a result" };
            prose!["Throughput still rises up to ", titled(at(last), curve), ", the largest ", end, ". "]
        }
        CurveShape::From(first) => prose!["From ", titled(at(first), curve), " on, throughput", far, ". "],
        CurveShape::UpTo(0) => {
            let end = if is_end(findings, curve, at(0)) { "level" } else { "level with a result" };
            prose!["Throughput is largest at ", titled(at(0), curve), ", the smallest ", end, ". "]
        }
        CurveShape::UpTo(end) => prose!["Up to ", titled(at(end), curve), " throughput", far, ". "],
        CurveShape::Between(first, end) if first == end => {
            prose!["Throughput is largest at ", titled(at(first), curve), ". "]
        }
        CurveShape::Between(first, end) => {
            let range = format!("{} to {}", level(at(first), curve), titled(at(end), curve));
            prose!["From ", range, " throughput is largest, and", far, ". "]
        }
        CurveShape::Scattered(largest) => {
            let lead = prose!["Throughput is largest at ", titled(at(largest), curve)];
            match bend(curve) {
                // Past the bend, levels differ by less than they vary, so that which of them is largest says little.
                Some(bend) => [
                    prose!["The curve bends at ", bend, "; beyond it a larger level gains little. "],
                    lead,
                    prose![". "],
                ]
                .concat(),
                None => [lead, prose![" and shows no simple trend over ", title, ". "]].concat(),
            }
        }
    }
}

/// Whether a point has the smallest or the largest level of its group, with those that have no result.
pub(super) fn is_end(findings: &Findings<'_>, curve: &Curve, point: &PointFindings) -> bool {
    let ends = curve.groups.iter().flat_map(|group| [group.points.first(), group.points.last()]).flatten();
    ends.filter_map(|place| findings.points.get(*place)).any(|end| end.id == point.id)
}

/// Where the curve bends, if that could be fitted and is known within a factor of two each way.
fn bend(curve: &Curve) -> Option<Quantity> {
    let at = &curve.groups.first()?.fit.as_ref().ok()?.at;
    let (low, high) = at.interval().bounds()?;
    (low >= at.value() / 2.0 && high <= at.value() * 2.0).then(|| at.clone())
}

/// The point that held: the one on the level stretch next to where it breaks, or the largest.
fn held<'f>(ranked: &RankedCurve<'f>, lower: &[(&'f PointFindings, &crate::findings::Standing)]) -> &'f PointFindings {
    let place = match ranked.shape {
        CurveShape::From(first) | CurveShape::Between(first, _) => first,
        CurveShape::UpTo(last) => last,
        CurveShape::Scattered(largest) => largest,
        CurveShape::Level => 0,
    };
    debug_assert!(lower.iter().all(|(point, _)| point.id != ranked.points[place].0.id));
    ranked.points[place].0
}

/// The points whose limits are told: the first that broke, and the one that held.
fn explained<'f>(
    ranked: &RankedCurve<'f>,
    lower: &[(&'f PointFindings, &crate::findings::Standing)],
) -> Vec<&'f PointFindings> {
    let first = lower.first().map(|(point, _)| *point);
    first.into_iter().chain([held(ranked, lower)]).collect()
}

/// How large a loss on the level stretch could not be seen.
fn unseen(ranked: &RankedCurve<'_>) -> Prose {
    match ranked.unseen() {
        Some(unseen) if ranked.points.iter().filter(|(_, standing)| standing.is_level()).count() > 1 => {
            prose!["Where no difference is shown, losses of up to ", short(unseen), " % cannot be excluded. "]
        }
        _ => Prose::new(),
    }
}
