//! What preconditioning did, as facts. What was asked and did not come out as asked says so; nothing is left out.

use super::access::{Access, WANTED_DEPTH, WANTED_ENGINE};
use super::program::Fio;
use super::run::JobOutput;
use super::steady::{RANGE_PERCENT, RISE_PERCENT, WINDOW, judge};
use super::target::Target;
use crate::guard::discards;
use proofload_model::facts::{list, storage};
use proofload_model::samples::Fact;
use proofload_model::units::{Bytes, PerSecond, duration_text};
use proofload_model::wire::Preconditioning;

/// All that was done.
pub(super) struct PreconditioningRun<'a> {
    pub(super) fio: &'a Fio,
    pub(super) target: &'a Target,
    pub(super) access: &'a Access,
    pub(super) how: &'a Preconditioning,
    pub(super) fills: &'a [JobOutput],
    pub(super) passes: &'a [JobOutput],
    pub(super) rounds: &'a [PerSecond],
}

/// The facts, the verdict first.
pub(super) fn facts(done: &PreconditioningRun<'_>) -> Vec<Fact> {
    let mut facts = vec![verdict(done), storage::PRECONDITION_TARGET.observed(target(done), "the study")];
    facts.push(
        storage::PRECONDITION_FIO.observed(done.fio.version.clone(), format!("{} --version", done.fio.path.display())),
    );
    facts.push(
        storage::PRECONDITION_PURGE
            .observed("none: purging the drive is left to the operator", "not done by Proofload"),
    );
    facts.extend(access_facts(done.access));
    facts.extend(step_facts("sequential_fill", done.fills, done.target.size()));
    facts.extend(step_facts("random_pass", done.passes, done.target.size()));
    facts.extend(round_facts(done));
    if done.how.device.is_none() {
        facts.push(kept_fact(done.target));
    }
    facts
}

fn target(done: &PreconditioningRun<'_>) -> String {
    let kind = if done.how.device.is_some() { "device" } else { "file (removed afterwards)" };
    format!("{kind} {} of {}", done.target.path().display(), done.target.size())
}

fn verdict(done: &PreconditioningRun<'_>) -> Fact {
    let count = done.rounds.len();
    let judgement = judge(done.rounds);
    let text = match judgement {
        _ if count == 0 => "not tested".to_owned(),
        Some(judgement) if judgement.steady => format!("steady after {count} rounds"),
        _ if count < WINDOW => format!("not steady after {count} rounds (at least {WINDOW} are needed)"),
        _ => format!("not steady after {count} rounds"),
    };
    let rule =
        format!("SNIA PTS over {WINDOW} rounds: range {RANGE_PERCENT} %, rise {RISE_PERCENT} % of the mean at most");
    storage::PRECONDITION_VERDICT.observed(text, rule)
}

fn access_facts(access: &Access) -> [Fact; 3] {
    let source = if access.refused.is_empty() {
        "one block was written this way".to_owned()
    } else {
        format!("one block was written this way, after {}", access.refused.join("; "))
    };
    let direct = match access.direct {
        true if access.buffered_all_the_same => "no: accepted, but the file system buffers anyway (statx)",
        true => "yes",
        false => "no: through the page cache",
    };
    let holds = access.direct && !access.buffered_all_the_same;
    let (depth, wanted) = (access.depth().to_string(), WANTED_DEPTH.to_string());
    let same = depth == wanted;
    [
        storage::PRECONDITION_DIRECT.compared("yes", Some(direct), holds, source.as_str()),
        storage::PRECONDITION_IO_ENGINE.compared(
            WANTED_ENGINE,
            Some(access.engine),
            access.engine == WANTED_ENGINE,
            source.as_str(),
        ),
        storage::PRECONDITION_QUEUE_DEPTH.compared(wanted, Some(depth), same, "of the engine"),
    ]
}

/// What each pass over the whole size wrote, and how fast.
fn step_facts(name: &str, steps: &[JobOutput], size: Bytes) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let (name, written) = (format!("{name}.{}", index + 1), step.moved);
        let holds = written.bytes == size;
        let bytes = storage::PRECONDITION_STEP_BYTES.of(&name);
        facts.push(bytes.compared(size.to_string(), Some(written.bytes), holds, step.name.as_str()));
        let speed = format!("{:.1} MB/s, {:.0} writes/s", written.bandwidth.0 / 1e6, written.iops.0);
        facts.push(storage::PRECONDITION_STEP_SPEED.of(&name).observed(speed, step.name.as_str()));
    }
    facts
}

fn round_facts(done: &PreconditioningRun<'_>) -> Vec<Fact> {
    if done.rounds.is_empty() {
        return Vec::new();
    }
    let source = "fio, random writes of 4 KiB";
    let rates = done.rounds.iter().map(|rate| format!("{:.1}", rate.0));
    let mut facts = vec![
        storage::PRECONDITION_ROUNDS
            .observed(format!("{} of {}", done.rounds.len(), duration_text(done.how.round)), source),
        storage::PRECONDITION_ROUNDS_IOPS.observed(list(rates), source),
    ];
    if let Some(judgement) = judge(done.rounds) {
        let window = format!(
            "mean {:.1} writes/s, range {:.1} %, rise {:+.1} % of the mean",
            judgement.mean.0,
            judgement.range.0 * 100.0,
            judgement.rise.0 * 100.0
        );
        facts.push(storage::PRECONDITION_WINDOW.observed(window, format!("the last {WINDOW} rounds")));
    }
    facts
}

/// Whether the blocks stay written when the file goes. Not where the file system tells the drive to forget them at
/// once.
fn kept_fact(target: &Target) -> Fact {
    let source = "mount options in /proc/self/mountinfo";
    let stay_written = storage::PRECONDITION_STAY_WRITTEN;
    match discards(target.folder()) {
        Ok(true) => stay_written.compared(
            "yes",
            Some(
                "no: mounted with discard, so the drive learns that the file's blocks are free; its state is better \
                 than that of a drive in use",
            ),
            false,
            source,
        ),
        Ok(false) => stay_written.compared("yes", Some("yes"), true, source),
        Err(error) => stay_written.unknown(error.to_string()),
    }
}
