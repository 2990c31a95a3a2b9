//! Points that are no sweep of one number: which has the largest throughput, and what is lost with the others.

use super::topic::{Topic, TopicText};
use super::why;
use super::words::{at, listed, losses, name, none_lower, reached, shown_losses};
use crate::blocks::{Inline, Prose, prose};
use crate::findings::{Findings, PointFindings, Standing};
use crate::numbers::short;

pub(super) const TOPIC: Topic = Topic { applies: |findings| findings.valid().count() > 1, tell, figure: None };

/// Valid points with their standings, the largest first.
fn ranked<'f>(findings: &'f Findings<'_>) -> Vec<(&'f PointFindings, Standing)> {
    let mut all: Vec<(&PointFindings, Standing)> =
        findings.valid().filter_map(|point| Some((point, findings.standing(point)?))).collect();
    let value = |point: &PointFindings| point.relative.as_ref().map_or(f64::NAN, |relative| relative.value());
    all.sort_by(|(a, _), (b, _)| value(b).total_cmp(&value(a)));
    all
}

pub(super) fn tell(findings: &Findings<'_>) -> TopicText {
    let ranked = ranked(findings);
    let Some((best, _)) = ranked.first() else { return TopicText::default() };
    let lower =
        || ranked.iter().filter(|(_, standing)| !standing.is_level()).map(|(point, standing)| (*point, standing));
    let broke = if lower().next().is_none() { none_lower(findings, "point") } else { shown_losses(findings, lower()) };
    let explained: Vec<&PointFindings> = lower().map(|(point, _)| point).take(1).chain([*best]).collect();
    TopicText {
        answer: answer(findings, best, &ranked),
        held: reached(findings, best),
        broke,
        why: why::why(findings, &explained),
        sure: unseen(&ranked),
        next: Prose::new(),
    }
}

fn answer(findings: &Findings<'_>, best: &PointFindings, ranked: &[(&PointFindings, Standing)]) -> Prose {
    let level: Vec<String> =
        ranked.iter().filter(|(_, standing)| standing.is_level()).map(|(point, _)| name(findings, point)).collect();
    let headline = findings.workload.headline;
    let Ok(largest) = best.result(headline.key()) else { return Prose::new() };
    let value = Inline::brief(&largest, headline.axis_unit);
    let lead = match level.as_slice() {
        [_] => prose!["Throughput is largest", at(findings, best), ", ", value, ". "],
        several if ranked.iter().all(|(_, standing)| !matches!(standing, Standing::NotShown { .. })) => {
            prose! {
                "Within 5\u{a0}% throughput is the same with ", listed(several), ": ", value, at(findings, best), ". "
            }
        }
        several => {
            prose! {
                "No difference is shown between ", listed(several), "; the largest is ", value, at(findings, best), ". "
            }
        }
    };
    let lower = ranked.iter().filter(|(_, standing)| !standing.is_level()).map(|(point, standing)| (*point, standing));
    [lead, losses(findings, lower)].concat()
}

/// How large a loss could not be seen, and what no interval tells.
fn unseen(ranked: &[(&PointFindings, Standing)]) -> Prose {
    let unseen = ranked.iter().filter_map(|(_, standing)| match standing {
        Standing::NotShown { unseen } => Some(*unseen),
        _ => None,
    });
    let mut text = match unseen.reduce(f64::max) {
        Some(unseen) => {
            prose!["Where no difference is shown, losses of up to ", short(unseen), " % cannot be excluded. "]
        }
        None => Prose::new(),
    };
    if ranked.iter().any(|(_, standing)| matches!(standing, Standing::NoInterval(_))) {
        text.extend(prose!["Differences without an interval come from single values, so their variation is unknown. "]);
    }
    text
}
