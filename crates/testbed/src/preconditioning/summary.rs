//! What preconditioning did, as facts. What was asked and did not come out as asked says so; nothing is left out.

use super::access::{Access, WANTED_DEPTH, WANTED_ENGINE};
use super::guard::discards;
use super::program::Fio;
use super::run::Kept;
use super::steady::{RANGE_PERCENT, RISE_PERCENT, WINDOW, judge};
use super::target::Target;
use proofload_model::samples::Fact;
use proofload_model::units::{Bytes, PerSecond, duration_text};
use proofload_model::wire::Preconditioning;

/// All that was done.
pub(super) struct Done<'a> {
    pub(super) fio: &'a Fio,
    pub(super) target: &'a Target,
    pub(super) access: &'a Access,
    pub(super) how: &'a Preconditioning,
    pub(super) fills: &'a [Kept],
    pub(super) passes: &'a [Kept],
    pub(super) rounds: &'a [PerSecond],
}

/// The facts, the verdict first.
pub(super) fn facts(done: &Done<'_>) -> Vec<Fact> {
    let mut facts = vec![verdict(done), observed("target", target(done), "the study")];
    facts.push(observed("fio", done.fio.version.clone(), &format!("{} --version", done.fio.path.display())));
    facts.push(observed("purge", "none: purging the drive is left to the operator", "not done by Proofload"));
    facts.extend(access_facts(done.access));
    facts.extend(step_facts("sequential_fill", done.fills, done.target.size()));
    facts.extend(step_facts("random_pass", done.passes, done.target.size()));
    facts.extend(round_facts(done));
    if done.how.device.is_none() {
        facts.push(kept_fact(done.target));
    }
    facts
}

/// A plain observation about preconditioning.
fn observed(name: &str, value: impl Into<String>, source: &str) -> Fact {
    Fact::observed("storage", &format!("precondition.{name}"), value, source)
}

/// Something that was asked, and whether it came out so.
fn asked(name: &str, requested: &str, effective: impl Into<String>, source: &str, holds: bool) -> Fact {
    let observed = observed(name, effective, source);
    Fact { requested: Some(requested.to_owned()), holds: Some(holds), ..observed }
}

fn target(done: &Done<'_>) -> String {
    let kind = if done.how.device.is_some() { "device" } else { "file, removed afterwards," };
    format!("{kind} {} of {}", done.target.path().display(), done.target.size())
}

fn verdict(done: &Done<'_>) -> Fact {
    let count = done.rounds.len();
    let judgement = judge(done.rounds);
    let text = match judgement {
        _ if count == 0 => "not tested".to_owned(),
        Some(judgement) if judgement.steady => format!("steady after {count} rounds"),
        _ if count < WINDOW => format!("not steady after {count} rounds ({WINDOW} are needed to tell)"),
        _ => format!("not steady after {count} rounds"),
    };
    let rule =
        format!("SNIA PTS over {WINDOW} rounds: range {RANGE_PERCENT} %, rise {RISE_PERCENT} % of the mean at most");
    observed("verdict", text, &rule)
}

fn access_facts(access: &Access) -> [Fact; 3] {
    let source = if access.refused.is_empty() {
        "one block was written so".to_owned()
    } else {
        format!("one block was written so, after {}", access.refused.join("; "))
    };
    let direct = match access.direct {
        true if access.buffered_all_the_same => "no: accepted, but the file system buffers all the same (statx)",
        true => "yes",
        false => "no: through the page cache",
    };
    let holds = access.direct && !access.buffered_all_the_same;
    let (depth, wanted) = (access.depth().to_string(), WANTED_DEPTH.to_string());
    let same = depth == wanted;
    [
        asked("direct", "yes", direct, &source, holds),
        asked("io_engine", WANTED_ENGINE, access.engine, &source, access.engine == WANTED_ENGINE),
        asked("queue_depth", &wanted, depth, "of the engine", same),
    ]
}

/// What each pass over the whole size wrote, and how fast.
fn step_facts(name: &str, steps: &[Kept], size: Bytes) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let (name, written) = (format!("{name}.{}", index + 1), step.moved);
        let holds = written.bytes == size;
        facts.push(asked(&format!("{name}.bytes"), &size.to_string(), written.bytes.to_string(), &step.name, holds));
        let speed = format!("{:.1} MB/s, {:.0} writes/s", written.bandwidth.0 / 1e6, written.iops.0);
        facts.push(observed(&format!("{name}.speed"), speed, &step.name));
    }
    facts
}

fn round_facts(done: &Done<'_>) -> Vec<Fact> {
    if done.rounds.is_empty() {
        return Vec::new();
    }
    let source = "fio, random writes of 4 KiB";
    let rates: Vec<String> = done.rounds.iter().map(|rate| format!("{:.1}", rate.0)).collect();
    let mut facts = vec![
        observed("rounds", format!("{} of {}", rates.len(), duration_text(done.how.round)), source),
        observed("rounds.iops", rates.join(", "), source),
    ];
    if let Some(judgement) = judge(done.rounds) {
        let window = format!(
            "mean {:.1} writes/s, range {:.1} %, rise {:+.1} % of the mean",
            judgement.mean.0,
            judgement.range.0 * 100.0,
            judgement.rise.0 * 100.0
        );
        facts.push(observed("window", window, &format!("the last {WINDOW} rounds")));
    }
    facts
}

/// Do the blocks stay written when the file goes? Not where the file system tells the drive to forget them at once.
fn kept_fact(target: &Target) -> Fact {
    let source = "mount options in /proc/self/mountinfo";
    match discards(target.folder()) {
        Ok(true) => asked(
            "blocks_stay_written",
            "yes",
            "no: mounted with discard, so the drive hears that the file's blocks are free; the drive's state is better than \
             that of one in use",
            source,
            false,
        ),
        Ok(false) => asked("blocks_stay_written", "yes", "yes", source, true),
        Err(error) => Fact { effective: None, ..observed("blocks_stay_written", "", &error.to_string()) },
    }
}
