//! How a drain ended, as text and as JSON. It drains nothing.

use super::units::{bytes, count, counted, time};
use proofload_tier::tier::{DrainStatus, SalvageStatus, SkippedRange};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Ranges that are named in text, at most.
const NAMED: usize = 20;

/// How a drain ended.
pub(super) struct DrainOutcome {
    pub(super) status: DrainStatus,
    pub(super) detached: bool,
    /// More about a pool that nobody served.
    pub(super) salvage: Option<FoundSalvage>,
}

/// What was had of a pool that nobody served.
pub(super) struct FoundSalvage {
    pub(super) status: SalvageStatus,
    /// Names of the volumes in the order of their numbers.
    pub(super) volumes: Vec<&'static str>,
    pub(super) cache: PathBuf,
}

impl FoundSalvage {
    /// Whether more is left than the time was too short for.
    fn has_losses(&self) -> bool {
        !self.status.skipped.is_empty() || !self.status.failed_origins.is_empty()
    }

    fn name(&self, volume: u8) -> &'static str {
        self.volumes.get(usize::from(volume)).copied().unwrap_or("unknown")
    }
}

/// The answer first, then what is left and what to do.
pub(super) fn as_text(drained: &DrainOutcome, within: Duration) -> String {
    let status = &drained.status;
    let torn = drained.salvage.as_ref().map_or(0, |found| found.status.torn_sectors);
    let torn = match torn {
        0 => String::new(),
        some => format!(
            "; {} sectors differed from their checksums after the crash and were written as they are",
            count(some)
        ),
    };
    if status.dirty_lines == 0 {
        let free = if drained.detached { "; the origins are detached from the cache" } else { "" };
        return format!("drained: no line is dirty{free}{torn}");
    }
    if let Some(found) = drained.salvage.as_ref().filter(|found| found.has_losses()) {
        return losses(found, &torn, within);
    }
    let damaged = damaged(status.damaged_lines);
    if status.damaged_lines >= status.dirty_lines {
        return format!("NOT drained: {damaged}; everything else is on the origins{torn}");
    }
    let damaged = if status.damaged_lines == 0 { String::new() } else { format!("; {damaged}") };
    let rate = bytes(status.bytes_per_second as u64);
    let left = match status.left {
        Some(left) => format!("about {} more at {rate}/s", time(left)),
        None => "nothing was cleaned recently, so the remaining time is unknown".to_owned(),
    };
    let (dirty, are) = (counted(status.dirty_lines, "line"), if status.dirty_lines == 1 { "is" } else { "are" });
    format!("not drained within {}: {dirty} {are} dirty; {left}{damaged}{torn}", time(within))
}

/// What is said of lines that no drain cleans, and where they are listed.
fn damaged(lines: u32) -> String {
    format!(
        "{} cannot be drained (`tier check CACHE` lists them once the pool is stopped, and `tier drain \
         --cache CACHE` says what to do)",
        counted(lines, "damaged line")
    )
}

fn losses(found: &FoundSalvage, torn: &str, within: Duration) -> String {
    let status = &found.status;
    let (written, left) = (bytes(status.written_bytes), bytes(status.left_bytes));
    let lines = counted(status.drain.dirty_lines, "line");
    let mut text = format!("NOT drained: {written} written back, {left} in {lines} left in the cache{torn}\n");
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<11} {value}\n"));
    for range in status.skipped.iter().take(NAMED) {
        let (from, to) = (range.bytes.start, range.bytes.end);
        line(range.kind.name(), format!("{}, bytes {from} to {to}", found.name(range.volume)));
    }
    if status.skipped.len() > NAMED {
        line("", format!("and {} more ranges; --json lists all", count((status.skipped.len() - NAMED) as u64)));
    }
    for (volume, error) in &status.failed_origins {
        line("origin", format!("{} was given up: {error}", found.name(*volume)));
    }
    if !status.finished {
        line("time", format!("{} was too short for the rest", time(within)));
    }
    for advice in advice(found) {
        line("to do", advice);
    }
    text
}

fn advice(found: &FoundSalvage) -> Vec<String> {
    let status = &found.status;
    let mut advice = Vec::new();
    if !status.failed_origins.is_empty() {
        advice.push("mend the origin, and drain again".to_owned());
    }
    if !status.finished {
        advice.push("drain again with a longer --within".to_owned());
    }
    if !status.skipped.is_empty() {
        advice.push("drain again: a device may read on a later try".to_owned());
        advice.push(format!(
            "else restore these ranges of the origins from a backup, and format a new cache for them; {} has their only copy",
            found.cache.display()
        ));
    }
    advice
}

/// One object; what only a pool that nobody served tells is null for others.
pub(super) fn as_json(drained: &DrainOutcome) -> String {
    let status = &drained.status;
    let found = drained.salvage.as_ref().map(|found| &found.status);
    let document = json!({
        "form": 1,
        "drained": status.dirty_lines == 0,
        "detached": drained.detached,
        "dirty_lines": status.dirty_lines,
        "damaged_lines": status.damaged_lines,
        "bytes_per_second": status.bytes_per_second,
        "left_ns": status.left.map(|left| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX)),
        "written_bytes": found.map(|found| found.written_bytes),
        "left_bytes": found.map(|found| found.left_bytes),
        "finished": found.map(|found| found.finished),
        "torn_sectors": found.map(|found| found.torn_sectors),
        "skipped": found.map(|found| found.skipped.iter().map(range_as_json).collect::<Vec<_>>()),
        "failed_origins": found.map(|found| found.failed_origins.iter().map(origin_as_json).collect::<Vec<_>>()),
    });
    format!("{document:#}")
}

fn range_as_json(range: &SkippedRange) -> Value {
    let length = range.bytes.end - range.bytes.start;
    json!({ "volume": range.volume, "at": range.bytes.start, "bytes": length, "kind": range.kind.name() })
}

fn origin_as_json((volume, error): &(u8, String)) -> Value {
    json!({ "volume": volume, "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_tier::tier::FaultKind;

    fn outcome() -> DrainOutcome {
        let drain = DrainStatus { dirty_lines: 2, bytes_per_second: 1e6, left: None, damaged_lines: 0 };
        let skipped = vec![SkippedRange { volume: 1, bytes: 4096..12288, kind: FaultKind::Unreadable }];
        let status = SalvageStatus {
            drain,
            written_bytes: 2 << 20,
            left_bytes: 8192,
            finished: true,
            skipped,
            failed_origins: Vec::new(),
            torn_sectors: 0,
        };
        let salvage = FoundSalvage { status, volumes: vec!["data", "log"], cache: "cache.img".into() };
        DrainOutcome { status: drain, detached: false, salvage: Some(salvage) }
    }

    #[test]
    fn what_is_left_comes_first_and_what_to_do_last() {
        let mut drained = outcome();
        let text = as_text(&drained, Duration::from_secs(60));
        assert!(text.starts_with("NOT drained: 2 MiB written back, 8 KiB in 2 lines left in the cache\n"), "{text}");
        assert!(text.contains("  unreadable  log, bytes 4096 to 12288\n") && text.contains("cache.img"), "{text}");
        let document: Value = serde_json::from_str(&as_json(&drained)).unwrap();
        assert_eq!((&document["drained"], &document["skipped"][0]["at"]), (&json!(false), &json!(4096)));
        if let Some(found) = &mut drained.salvage {
            found.status.failed_origins = vec![(0, "wrote it: no".to_owned())];
            found.status.finished = false;
        }
        let text = as_text(&drained, Duration::from_secs(60));
        assert!(text.contains("  origin      data was given up: wrote it: no\n"), "{text}");
        assert!(text.contains("mend the origin") && text.contains("longer --within"), "{text}");
        drained.salvage = None;
        assert!(as_text(&drained, Duration::from_secs(60)).starts_with("not drained within 60.0 s: 2 lines are dirty"));
    }

    #[test]
    fn lines_that_no_drain_cleans_are_told_apart_from_a_time_that_was_too_short() {
        let text = |dirty_lines, damaged_lines| {
            let status = DrainStatus { dirty_lines, bytes_per_second: 0.0, left: None, damaged_lines };
            as_text(&DrainOutcome { status, detached: false, salvage: None }, Duration::from_secs(60))
        };
        let damaged = text(3, 3);
        assert!(damaged.starts_with("NOT drained: 3 damaged lines cannot be drained "), "{damaged}");
        assert!(damaged.contains("tier check") && !damaged.contains("within"), "{damaged}");
        assert!(text(1, 1).starts_with("NOT drained: 1 damaged line cannot be drained "), "{}", text(1, 1));
        assert!(text(1, 0).starts_with("not drained within 60.0 s: 1 line is dirty; "), "{}", text(1, 0));
        let both = text(5, 3);
        assert!(both.starts_with("not drained within 60.0 s: 5 lines are dirty; "), "{both}");
        assert!(both.contains("3 damaged lines cannot be drained") && !text(5, 0).contains("damaged"), "{both}");
    }
}
