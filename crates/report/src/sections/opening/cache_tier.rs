//! A study of a cache before a slow medium: how many times the throughput of the medium alone, and how many reads hit.

use super::topic::{Topic, TopicText};
use super::why;
use super::words::reached;
use crate::blocks::{Inline, Prose, prose};
use crate::findings::cache::tier::{CachedPoint, cached};
use crate::findings::{Findings, PointFindings};
use proofload_analysis::quantity::Quantity;

pub(super) const TOPIC: Topic =
    Topic { applies: |findings| !times(findings, &cached(findings)).is_empty(), tell, figure: None };

/// Points with a cache and their throughput over that without, the smallest first.
fn times<'f>(findings: &'f Findings<'_>, points: &[CachedPoint]) -> Vec<(&'f PointFindings, Quantity)> {
    let one = |one: &CachedPoint| {
        let times = one.times.as_ref()?.as_ref().ok()?.clone();
        Some((findings.point(one.point)?, times))
    };
    let mut all: Vec<(&PointFindings, Quantity)> = points.iter().filter_map(one).collect();
    all.sort_by(|a, b| a.1.value().total_cmp(&b.1.value()));
    all
}

fn tell(findings: &Findings<'_>) -> TopicText {
    let points = cached(findings);
    let times = times(findings, &points);
    let best = times.last().map(|(point, _)| *point);
    let bare = points.iter().find(|one| one.plan.cache.size.is_nothing());
    let bare_point = bare.and_then(|one| findings.point(one.point));
    TopicText {
        answer: answer(&times),
        held: best.map_or_else(Prose::new, |point| reached(findings, point)),
        broke: bare.map_or_else(Prose::new, |bare| medium(bare, bare_point)),
        why: [hits(findings, &points), best.map_or_else(Prose::new, |point| why::at(findings, point))].concat(),
        sure: modelled(&points),
        next: if crate::findings::cache::forecast::cache_forecasts(findings).is_empty() {
            Prose::new()
        } else {
            let predict = format!("proofload tier predict {} --size SIZE", findings.file_named());
            prose![super::next::command(&predict), " forecasts other cache sizes. "]
        },
    }
}

fn answer(times: &[(&PointFindings, Quantity)]) -> Prose {
    let mut text = Prose::new();
    for (number, (point, ratio)) in times.iter().enumerate() {
        let lead = if number == 0 { "With a " } else { "; with a " };
        let end = if number == 0 { " times that of the slow medium alone" } else { " times" };
        let verb = if number == 0 { " throughput is " } else { " " };
        text.extend(prose![lead, point.label(), verb, Inline::brief(ratio, ""), end]);
    }
    text.extend(prose![". "]);
    text
}

/// How busy the slow medium was without a cache.
fn medium(bare: &CachedPoint, point: Option<&PointFindings>) -> Prose {
    let Some(label) = point.map(PointFindings::label) else { return Prose::new() };
    let (Ok(busy), Ok(queue)) = (&bare.medium.busy, &bare.medium.queue) else { return Prose::new() };
    prose! {
        "The slow medium, with ", label, ": its drives were busy ", Inline::ranged(busy, "%"), " of the time with ",
        Inline::ranged(queue, "requests"), " in the queue. "
    }
}

/// Reads that were in the cache at each point with one.
fn hits(findings: &Findings<'_>, points: &[CachedPoint]) -> Prose {
    let mut text = Prose::new();
    for one in points.iter().filter(|one| one.times.is_some()) {
        let point = findings.point(one.point);
        let (Some(point), Some(Ok(hits))) = (point, &one.both.read_hits) else { continue };
        let lead = if text.is_empty() { "Read hits: " } else { ", " };
        text.extend(prose![lead, Inline::ranged(hits, "%"), " with a ", point.label()]);
    }
    if !text.is_empty() {
        text.extend(prose![". "]);
    }
    text
}

fn modelled(points: &[CachedPoint]) -> Prose {
    match points.iter().find(|one| one.plan.slow.is_modelled()) {
        Some(one) => prose!["The slow medium is ", one.plan.slow.to_string(), ". "],
        None => Prose::new(),
    }
}
