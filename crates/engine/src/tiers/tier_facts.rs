//! What a tier was asked to be and what it is, as facts that the run is judged by.

use super::plan::mode_word;
use proofload_model::facts::tier;
use proofload_model::samples::Fact;
use proofload_model::tier::{TierPlan, TierVolume};
use proofload_model::tier_cleaning::{AUTO, CachePart, CleanDepth, marks_text, times_text};
use proofload_model::tier_warming::WarmedList;
use proofload_model::units::{Bytes, duration_text};
use proofload_tier::tier::{PoolSnapshot, PoolStatus};
use std::time::Duration;

/// The source of these facts.
pub(crate) const SOURCE: &str = "the open cache tier";

/// An open tier as it was read.
pub struct ReadTier<'a> {
    /// What it was asked to be.
    pub plan: &'a TierPlan,
    /// Its volumes, in the order of their numbers.
    pub volumes: &'a [TierVolume],
    /// Room for lines that was asked for when the cache was made.
    pub asked_size: Bytes,
    /// Data behind the cache.
    pub data: Bytes,
    /// How it reaches the database, as who exports it has read that back.
    pub export: Fact,
    /// Whether the cache is read and written without the page cache of the operating system.
    pub is_direct: bool,
    /// Lines of the list of its plan by what became of them when the cache was made; `None` where nobody knows.
    pub warmed: Option<WarmedList>,
    /// What it was when it was opened, before it was warmed.
    pub first: &'a PoolSnapshot,
    /// What it is now.
    pub now: &'a PoolSnapshot,
}

/// Facts of an open tier.
pub fn facts(read: &ReadTier<'_>) -> Vec<Fact> {
    let plan = read.plan;
    let mut facts = vec![
        tier::MEDIUM.carried_out(plan.slow.to_string(), SOURCE),
        tier::DATA.observed(read.data, SOURCE),
        read.export.clone(),
    ];
    if plan.slow.is_modelled() {
        facts.push(tier::STROKE.carried_out(plan.slow.stroke.to_string(), SOURCE));
    }
    facts.extend(plan.flush_delay.map(|asked| delay(asked, read.now.flush_times.delay)));
    if plan.cache.size.is_nothing() {
        facts.push(tier::CACHE.observed(Bytes(0).to_string(), SOURCE));
    } else {
        facts.extend(of_cache(read));
    }
    for (volume, found) in read.volumes.iter().zip(&read.now.volumes) {
        let asked = plan.cache.quota(*volume).map(|part| part.of_lines(read.now.status.active_lines));
        facts.extend(quota(read, *volume, (asked, found.quota_lines)));
        let wanted = if plan.cache.accelerates(*volume) { plan.cache.mode.word() } else { "pass" };
        // A volume that lost a write serves nothing until it is opened again.
        let found = if found.failed { "failed" } else { mode_word(found.mode) };
        facts.push(tier::MODE.of(volume.word()).compared(wanted, Some(found), wanted == found, SOURCE));
    }
    facts
}

/// What every flush is delayed by, as the open tier tells it.
fn delay(asked: Duration, in_force: Duration) -> Fact {
    let text = duration_text(in_force);
    tier::FLUSH_DELAY.compared(duration_text(asked), Some(text), asked == in_force, SOURCE)
}

/// The part of the cache that a volume may hold at most; `None` where none was asked for and there is none.
fn quota(read: &ReadTier<'_>, volume: TierVolume, (asked, found): (Option<u32>, Option<u32>)) -> Option<Fact> {
    let line = u64::from(read.now.status.line_bytes);
    let text = |lines: Option<u32>| {
        lines.map_or_else(|| "none".to_owned(), |lines| Bytes(u64::from(lines) * line).to_string())
    };
    let is_one = asked.or(found).is_some();
    is_one.then(|| tier::QUOTA.of(volume.word()).compared(text(asked), Some(text(found)), asked == found, SOURCE))
}

/// How the cleaner was asked to work, and how it does.
fn of_cleaner(read: &ReadTier<'_>) -> [Fact; 3] {
    let (plan, now) = (&read.plan.cache.cleaning, &read.now.status);
    let (asked, depth) = (plan.depth.to_string(), depth_text(now));
    let (asked_marks, marks) = (plan.marks_text(), marks_in_force(now));
    let (asked_times, times) = (plan.times_text(), times_text(now.idle_after, now.age_limit));
    let is_depth = (plan.depth == CleanDepth::Auto) == now.tunes_depth && asked == depth;
    let (is_marks, is_times) = (asked_marks == marks, asked_times == times);
    [
        tier::CLEAN_DEPTH.compared(asked, Some(depth), is_depth, SOURCE),
        tier::CLEAN_MARKS.compared(asked_marks, Some(marks), is_marks, SOURCE),
        tier::CLEAN_TIMES.compared(asked_times, Some(times), is_times, SOURCE),
    ]
}

fn depth_text(now: &PoolStatus) -> String {
    if now.tunes_depth { AUTO.to_owned() } else { now.clean_depth.to_string() }
}

fn marks_in_force(now: &PoolStatus) -> String {
    let part = CachePart::of_parts;
    let marks = now.marks;
    marks_text(part(marks.target), (part(marks.urgent_from), part(marks.urgent_to)), part(marks.bypass_from))
}

fn of_cache(read: &ReadTier<'_>) -> Vec<Fact> {
    let (plan, now) = (&read.plan.cache, &read.now.status);
    let line = u64::from(now.line_bytes);
    let (wanted, size) = (read.asked_size, Bytes(u64::from(now.active_lines) * line));
    let is_size = wanted.0.abs_diff(size.0) < line.max(1) * 8;
    let (asked, in_force) = (plan.policy.word(), now.policy.name());
    let direct = if read.is_direct {
        "direct"
    } else {
        "through the page cache, because the file system does not support direct I/O"
    };
    let lines_at_start: u64 = read.first.volumes.iter().map(|volume| u64::from(volume.lines)).sum();
    let dirty_at_start = u64::from(read.first.status.dirty_lines);
    let mut facts = vec![
        tier::CACHE.compared(wanted.to_string(), Some(size.to_string()), is_size, SOURCE),
        tier::LINE.compared(plan.line.to_string(), Some(Bytes(line).to_string()), plan.line.0 == line, SOURCE),
        tier::POLICY.compared(asked, Some(in_force), asked == in_force, SOURCE),
        tier::CACHE_IO.observed(direct, SOURCE),
        tier::LINES_AT_START.observed(Bytes(lines_at_start * line).to_string(), SOURCE),
        tier::DIRTY_AT_START.observed(Bytes(dirty_at_start * line).to_string(), SOURCE),
        tier::MEMORY.observed(Bytes(now.memory_bytes).to_string(), SOURCE),
    ];
    facts.extend(of_cleaner(read));
    facts.extend(of_warming(read));
    facts
}

/// Lines of its list that a cache was filled with, and why it was not filled with others.
fn of_warming(read: &ReadTier<'_>) -> Vec<Fact> {
    let Some(warm) = read.plan.cache.warming() else { return Vec::new() };
    let list = tier::WARM_LIST.observed(&warm.list, SOURCE);
    let Some(warmed) = read.warmed else {
        let why = "the note of what the cache was filled with is missing";
        return vec![list, tier::WARMED.compared("lines of the list", None::<u64>, false, why)];
    };
    let asked = warmed.named.to_string();
    let source = warmed.fault(read.data).map_or_else(|| SOURCE.to_owned(), |why| format!("{SOURCE}; {why}"));
    let mut facts = vec![
        list,
        tier::WARM_NAMED.observed(warmed.named, SOURCE),
        tier::WARMED.compared(asked, Some(warmed.filled), warmed.is_as_asked(), source),
    ];
    facts.extend(warmed.not_filled().map(|(why, lines)| tier::NOT_WARMED.of(why).observed(lines, SOURCE)));
    facts
}
