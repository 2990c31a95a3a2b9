//! What a cache is worth: configurations beside each other, hits both ways, what other sizes should give, how long requests took, what the slow
//! medium did, and how the cache became warm.

use super::{forecast, over_time, published, tables};
use crate::blocks::{Block, Inline, Notice, Prose, prose};
use crate::findings::Findings;
use crate::findings::cache::tier::{CachedPoint, DelayTimes, cached};
use crate::numbers::{count, short};
use proofload_model::facts::tier;
use proofload_model::samples::Fact;
use proofload_model::tier_warming::LEFT_OUT;
use proofload_model::units::duration_words;

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let points = cached(findings);
    if points.is_empty() {
        return Vec::new();
    }
    let answer = answer(findings);
    let mut blocks = Vec::new();
    if !answer.is_empty() {
        blocks.push(Block::Paragraph(answer));
    }
    blocks.push(slow_medium(&points));
    blocks.extend(filled(findings, &points));
    blocks.push(Block::Table(tables::configurations(findings, &points)));
    blocks.extend(published::blocks(findings, &points));
    let forecasts = forecast::table(findings);
    blocks.extend(forecasts.map(|table| Block::Fold(prose!["Other cache sizes"], vec![table])));
    blocks.push(Block::Table(tables::operations(findings, &points)));
    blocks.extend(tables::latencies(findings, &points).map(Block::Table));
    blocks.extend(over_time::figure(findings, &points));
    let mut details =
        vec![Block::Table(tables::held(findings, &points)), Block::Table(tables::traffic(findings, &points))];
    if points.iter().any(|one| one.plan.slow.is_modelled()) {
        details.push(Block::Table(tables::medium(findings, &points)));
        details.extend(delays(findings, &points));
    }
    blocks.push(Block::Fold(prose!["Content of the cache, and the drives behind it"], details));
    blocks
}

/// The answer; empty in a study without tiers, and where no ratio is known.
fn answer(findings: &Findings<'_>) -> Prose {
    let points = cached(findings);
    let mut text = Prose::new();
    for one in &points {
        let (Some(point), Some(Ok(times))) = (findings.point(one.point), &one.times) else { continue };
        let lead = if text.is_empty() { "Compared with the slow medium alone, " } else { "; " };
        let verb = if text.is_empty() { " reaches " } else { " " };
        text.extend(prose![lead, Inline::Strong(prose![point.label()]), verb, (times, "×"), " the throughput"]);
        if let Some(Ok(hits)) = &one.both.read_hits {
            text.extend(prose![", with ", (hits, "%"), " of reads in the cache"]);
        }
    }
    if !text.is_empty() {
        text.extend(prose![". "]);
    }
    text
}

/// What the slow medium is: a model is said to be one wherever its figures stand.
fn slow_medium(points: &[CachedPoint]) -> Block {
    let media = each_once(points.iter().map(|one| one.plan.slow.to_string()));
    let delayed = delayed(points);
    if !points.iter().any(|one| one.plan.slow.is_modelled()) {
        return match delayed {
            None => Block::Paragraph(prose!["The slow medium is ", media.join("; "), "."]),
            Some(delayed) => {
                Block::Notice(Notice::Caution, prose!["The slow medium is ", media.join("; "), ". ", delayed])
            }
        };
    }
    Block::Notice(
        Notice::Caution,
        prose! {
            "The slow medium is ", media.join("; "), ". This medium is modelled: each request was executed on a file \
             and held until the model's drives would have completed it. ", over_stroke(points),
            " The cache is a real file on this host's storage.",
            delayed.map(|delayed| format!(" {delayed}")).unwrap_or_default()
        },
    )
}

/// Values in the order in which they come first: levels of other factors may stand between two that are the same.
fn each_once<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// The share of the stroke of modelled drives under the data.
fn over_stroke(points: &[CachedPoint]) -> String {
    let modelled = points.iter().filter(|one| one.plan.slow.is_modelled());
    let strokes = each_once(modelled.map(|one| one.plan.slow.stroke));
    let words = strokes.iter().map(|stroke| {
        if stroke.is_contiguous() {
            "The data lie contiguously from the outer edge of the drives: seeks are as short as between so few bytes."
                .to_owned()
        } else {
            format!("The data are {stroke} of the drives: seeks are as long as in data that fill this share of them.")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What flushes are delayed by on purpose; `None` where no point delays them.
fn delayed(points: &[CachedPoint]) -> Option<String> {
    let delays = each_once(points.iter().map(|one| one.plan.flush_delay));
    if delays.iter().all(Option::is_none) {
        return None;
    }
    let words: Vec<String> =
        delays.into_iter().map(|delay| delay.map_or_else(|| "nothing".to_owned(), duration_words)).collect();
    Some(format!(
        "Each flush is delayed by {}, as the study asks for: it was durable before, and acknowledged so much later.",
        words.join("; ")
    ))
}

/// How late modelled media handed back requests and syncs; `None` where no record has the times.
fn delays(findings: &Findings<'_>, points: &[CachedPoint]) -> Option<Block> {
    let text = |times: DelayTimes| format!("median {} ms, 99th percentile {} ms", short(times.p50), short(times.p99));
    let told = points.iter().filter_map(|one| {
        let (point, late) = (findings.point(one.point)?, one.medium.late_times?);
        let outrun = one.medium.outrun_times.map(|times| format!(" (files slower than the model: {})", text(times)));
        Some(format!("{}: {}{}", point.label(), text(late), outrun.unwrap_or_default()))
    });
    let told: Vec<String> = told.collect();
    let lead = "Delay of requests and syncs beyond the model, as the median of the seconds' medians and the largest 99th \
                percentile of a second: ";
    (!told.is_empty()).then(|| Block::Paragraph(prose![lead, told.join("; "), "."]))
}

/// Numbers of lines of a list that were not filled, with the reasons; `None` where all were, or nobody knows.
fn left_out(facts: &[Fact]) -> Option<String> {
    let told = LEFT_OUT.into_iter().filter_map(|(reason, words)| {
        let lines = tier::NOT_WARMED.of(reason).number(facts).filter(|lines| *lines > 0.0)?;
        Some(format!("{} {words}", count(lines as u64)))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// How far caches were filled from lists of lines; `None` where no point asks for it.
fn filled(findings: &Findings<'_>, points: &[CachedPoint]) -> Option<Block> {
    let told = |one: &CachedPoint| {
        one.plan.cache.warming()?;
        let point = findings.point(one.point)?;
        let facts = &point.runs.iter().find_map(|run| findings.record.finished(run.run.index))?.facts;
        let (lines, named) = (tier::WARMED.number(facts)?, tier::WARM_NAMED.number(facts)?);
        let left_out = left_out(facts).map(|reasons| format!(" (not filled: {reasons})")).unwrap_or_default();
        Some(format!("{}: {} of {} lines{left_out}", point.label(), count(lines as u64), count(named as u64)))
    };
    let told: Vec<String> = points.iter().filter_map(told).collect();
    let text =
        "Before the load, each new cache was filled from a list of lines. In the first finished run of each point: ";
    (!told.is_empty()).then(|| Block::Paragraph(prose![text, told.join("; "), "."]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_at_points_apart_is_told_once() {
        assert_eq!(each_once(["7.2k", "15k", "7.2k", "15k"].into_iter()), ["7.2k", "15k"]);
    }
}
