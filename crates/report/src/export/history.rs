//! A drill's writes as a history: invocations and completions in the order of their times, one JSON array with an object a line, as
//! checkers of sets read it. The read at its end has what the database held when the drill was over.
//!
//! Source of the form: histories of Jepsen, `type`, `process`, `f`, `value` and `time`; a process does one thing at a time and does nothing
//! more once the outcome of one is not known.

use super::Selection;
use crate::findings::drills::{pages, report_of};
use proofload_model::drill::Ledger;
use proofload_model::ledger::{ToldWrite, WriteClass, WriteOutcome};
use proofload_record::{Attempt, Record};
use serde_json::{Value as Json, json};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::fmt;
use std::io::{Result, Write};

/// Why a record gives no history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoHistory {
    /// No drill of these runs finished.
    NoDrill,
    /// Several did, and a history is of one: the indices of their runs.
    Several(Vec<u32>),
    /// The record is from before the times of writes were kept.
    NoTimes,
    /// What the database holds was not read; why.
    Unread(String),
}

impl fmt::Display for NoHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDrill => f.write_str("no drill of these runs finished, so there is no history of writes"),
            Self::Several(runs) => {
                // The command line counts from 1.
                let runs: Vec<String> = runs.iter().map(|run| run.saturating_add(1).to_string()).collect();
                write!(f, "a history has one drill: choose one with --run {}", runs.join(", --run "))
            }
            Self::NoTimes => f.write_str("this record was written before the times of the prober's writes were kept"),
            Self::Unread(why) => write!(f, "what the database held after the drill was not read: {why}"),
        }
    }
}

impl std::error::Error for NoHistory {}

/// A drill's writes in the order of their numbers, and the numbers that the database held afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    writes: Vec<ToldWrite>,
    held: Vec<u64>,
}

/// The history of the one drill among these runs.
///
/// # Errors
/// [`NoHistory`].
pub fn history(record: &Record, selection: &Selection) -> std::result::Result<History, NoHistory> {
    let drills: Vec<&Attempt> = selection.finished(record).filter(|attempt| report_of(attempt).is_some()).collect();
    let attempt = match drills[..] {
        [] => return Err(NoHistory::NoDrill),
        [one] => one,
        _ => return Err(NoHistory::Several(drills.iter().map(|attempt| attempt.run.index).collect())),
    };
    let ledger = &report_of(attempt).ok_or(NoHistory::NoDrill)?.prober.ledger;
    if let Some(why) = &ledger.unread {
        return Err(NoHistory::Unread(why.clone()));
    }
    let writes: Vec<ToldWrite> = pages(attempt).flat_map(|page| page.writes(ledger.period_ns)).collect();
    if writes.is_empty() {
        return Err(NoHistory::NoTimes);
    }
    let held = held(&writes, ledger);
    Ok(History { writes, held })
}

/// Numbers that the database held: what was acknowledged, but for what the ledger says otherwise.
fn held(writes: &[ToldWrite], ledger: &Ledger) -> Vec<u64> {
    let acknowledged = |write: &&ToldWrite| matches!(write.outcome, WriteOutcome::Acknowledged | WriteOutcome::Warned);
    let mut held: BTreeSet<u64> = writes.iter().filter(acknowledged).map(|write| write.number).collect();
    for write in ledger.ranges.iter().flat_map(|range| range.writes(ledger.period_ns)) {
        match write.class {
            WriteClass::UnknownPresent | WriteClass::Phantom | WriteClass::Double => held.insert(write.number),
            WriteClass::Lost
            | WriteClass::Hole
            | WriteClass::LostAsWarned
            | WriteClass::UnknownAbsent
            | WriteClass::SeenAndLost => held.remove(&write.number),
        };
    }
    held.into_iter().collect()
}

/// An invocation or a completion of a write, in the order of time; what ends goes before what begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HistoryStep {
    at: i64,
    begins: bool,
    write: usize,
}

impl History {
    /// Writes it as one JSON array, an object a line between the lines of its brackets.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, to: &mut dyn Write) -> Result<()> {
        let mut processes = Processes::default();
        let mut of_write: Vec<usize> = vec![0; self.writes.len()];
        writeln!(to, "[")?;
        let mut lines = Lines { to, index: 0 };
        let steps = self.steps();
        for step in &steps {
            let write = &self.writes[step.write];
            if step.begins {
                of_write[step.write] = processes.take();
                lines.line("invoke", of_write[step.write], ("add", json!(write.number)), step.at)?;
                continue;
            }
            let word = word(write.outcome);
            lines.line(word, of_write[step.write], ("add", json!(write.number)), step.at)?;
            if write.outcome != WriteOutcome::Unknown {
                processes.release(of_write[step.write]);
            }
        }
        let (reader, last) = (processes.take(), steps.last().map_or(0, |step| step.at));
        lines.line("invoke", reader, ("read", Json::Null), last)?;
        lines.line("ok", reader, ("read", json!(self.held)), last)?;
        writeln!(lines.to, "\n]")
    }

    fn steps(&self) -> Vec<HistoryStep> {
        let both = |(write, told): (usize, &ToldWrite)| {
            // One that took no whole microsecond still ends after it begins.
            let ended = told.ended.0.max(told.due.0 + 1);
            [HistoryStep { at: told.due.0, begins: true, write }, HistoryStep { at: ended, begins: false, write }]
        };
        let mut steps: Vec<HistoryStep> = self.writes.iter().enumerate().flat_map(both).collect();
        steps.sort_unstable();
        steps
    }
}

fn word(outcome: WriteOutcome) -> &'static str {
    match outcome {
        WriteOutcome::Acknowledged | WriteOutcome::Warned => "ok",
        WriteOutcome::Failed => "fail",
        WriteOutcome::Unknown => "info",
    }
}

/// Processes that are free, the lowest first.
#[derive(Debug, Default)]
struct Processes {
    free: BinaryHeap<Reverse<usize>>,
    next: usize,
}

impl Processes {
    fn take(&mut self) -> usize {
        self.free.pop().map_or_else(
            || {
                self.next += 1;
                self.next - 1
            },
            |Reverse(process)| process,
        )
    }

    fn release(&mut self, process: usize) {
        self.free.push(Reverse(process));
    }
}

/// Lines as they are written, counted, with a comma between two.
struct Lines<'w> {
    to: &'w mut dyn Write,
    index: u64,
}

impl Lines<'_> {
    fn line(&mut self, kind: &str, process: usize, (function, value): (&str, Json), at: i64) -> Result<()> {
        let index = self.index;
        self.index += 1;
        let comma = if index == 0 { "" } else { ",\n" };
        write!(
            self.to,
            "{comma}{{\"index\":{index},\"type\":\"{kind}\",\"process\":{process},\"f\":\"{function}\",\"value\":{value},\"time\":{at}}}"
        )
    }
}
