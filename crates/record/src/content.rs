//! What a record holds, as plain data. May not know how it is stored.

use crate::agents::AgentRows;
use crate::events;
use proofload_model::deployment::InstanceName;
use proofload_model::error::ErrorKind;
use proofload_model::events::RunEvent;
use proofload_model::intervention::Experiment;
use proofload_model::log_level::LogLevel;
use proofload_model::plan::{Plan, Run};
use proofload_model::samples::{Check, Fact, IntervalSample, Mark, MarkLabel};
use proofload_model::study::Study;
use proofload_model::time::{Offset, WallTime};
use std::collections::BTreeMap;

/// Everything in a record.
#[derive(Debug, Clone)]
pub struct Record {
    /// When it was created.
    pub created: WallTime,
    /// Documents by name; the latest of each.
    pub documents: BTreeMap<String, String>,
    /// The study as resolved.
    pub study: Study,
    /// The plan; of a study that searches, as far as it has grown.
    pub plan: Plan,
    /// Every `run` and `resume`.
    pub sessions: Vec<SessionLine>,
    /// Facts of the study as a whole.
    pub facts: Vec<Fact>,
    /// Events of the study as a whole.
    pub events: Vec<AttemptEvent>,
    /// Attempts in order.
    pub attempts: Vec<Attempt>,
    /// Experiments with points, in order: attempts at their runs that are no results.
    pub experiments: Vec<Attempt>,
    /// Log lines.
    pub logs: Vec<LogLine>,
    /// Whether a process is writing it now.
    pub being_written: bool,
    /// What is not as it was written, in words; empty when all is.
    pub faults: Vec<String>,
    /// Whether its windows are judged by a rule that is younger than the record.
    pub judged_again: bool,
}

impl Record {
    /// The last attempt that finished a run of the plan; a void one may have been measured again.
    pub fn finished(&self, run_index: u32) -> Option<&Attempt> {
        self.attempts.iter().rev().find(|attempt| attempt.run.index == run_index && attempt.state == State::Finished)
    }
}

/// One `run` or `resume`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// When it began.
    pub at: WallTime,
    /// Program and version.
    pub program: String,
    /// Kernel of the conductor's machine.
    pub machine: String,
}

/// How an attempt stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Went through; its rows are sealed, or its point is void.
    Finished,
    /// Ended with an error.
    Failed {
        /// Why.
        reason: String,
    },
    /// Running, or abandoned by its conductor.
    Open,
}

/// Seconds that may be missing among those of a load, in each of which nobody counted: a host that stood still for an hour.
const MOST_MISSING: u64 = 3_600;

/// One try at a run of the plan.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Number in the record.
    pub id: i64,
    /// Which run.
    pub run: Run,
    /// How it stands.
    pub state: State,
    /// When it began.
    pub started: WallTime,
    /// What happened.
    pub events: Vec<AttemptEvent>,
    /// Facts, requested and effective.
    pub facts: Vec<Fact>,
    /// Seconds of load, in order.
    pub intervals: Vec<IntervalSample>,
    /// What each of several load agents did of it.
    pub agents: AgentRows,
    /// Telemetry: one entry per series.
    pub series: Vec<SeriesPoint>,
    /// Counters of the database by label.
    pub marks: Vec<(String, Mark)>,
    /// Verification.
    pub checks: Vec<Check>,
    /// Whether the seal of a finished attempt, and what it shares with others, still fits; `None` while it has no seal.
    pub seal_holds: Option<bool>,
}

impl Attempt {
    /// Makes an attempt of which nothing but its begin is known.
    pub fn begun(id: i64, run: Run, started: WallTime) -> Self {
        Self {
            id,
            run,
            state: State::Open,
            started,
            events: Vec::new(),
            facts: Vec::new(),
            intervals: Vec::new(),
            agents: AgentRows::default(),
            series: Vec::new(),
            marks: Vec::new(),
            checks: Vec::new(),
            seal_holds: None,
        }
    }

    /// The last reading of the database's counters with this label; `None` where there is none.
    pub fn mark(&self, label: MarkLabel) -> Option<&Mark> {
        self.marks.iter().rev().find(|(word, _)| word == label.word()).map(|(_, mark)| mark)
    }

    /// Whether it is an experiment with its point, and no result of it.
    pub fn is_experiment(&self) -> bool {
        self.events.iter().any(|event| matches!(event.event, RunEvent::ExperimentBegun(_)))
    }

    /// The experiment that it is; `None` for another attempt.
    pub fn experiment(&self) -> Option<&Experiment> {
        self.last_event(|event| match event {
            RunEvent::ExperimentBegun(experiment) => Some(experiment),
            _ => None,
        })
    }

    /// Kind of the error that ended it; `None` of one that has not failed. A record from before kinds tells an interruption by its
    /// words alone.
    pub fn failure_kind(&self) -> Option<ErrorKind> {
        let State::Failed { reason } = &self.state else { return None };
        let told = self.last_event(|event| match event {
            RunEvent::FailedAs(kind) => Some(*kind),
            _ => None,
        });
        let by_words = || {
            let is_interrupted = *reason == proofload_model::error::Error::interrupted().to_string();
            if is_interrupted { ErrorKind::Interrupted } else { ErrorKind::Other }
        };
        Some(told.unwrap_or_else(by_words))
    }

    /// Whether somebody asked it to stop, and it did.
    pub fn is_interrupted(&self) -> bool {
        self.failure_kind() == Some(ErrorKind::Interrupted)
    }

    /// What `pick` takes of the last event that it takes anything of.
    pub fn last_event<'a, T>(&'a self, pick: impl Fn(&'a RunEvent) -> Option<T>) -> Option<T> {
        self.events.iter().rev().find_map(|event| pick(&event.event))
    }

    /// The measured window as interval numbers `[from, to)`; `None` also for one that ends beyond [`Self::most_seconds`].
    pub fn window(&self) -> Option<(u64, u64)> {
        self.told_window().filter(|(_, to)| *to <= self.most_seconds())
    }

    /// Number of seconds that its load can have had at most, by those that were recorded. Readers make room for no more: a record from
    /// elsewhere may name any second.
    pub fn most_seconds(&self) -> u64 {
        self.intervals.len() as u64 + MOST_MISSING
    }

    /// The window as it was written, which may be none that its load can have had.
    pub fn told_window(&self) -> Option<(u64, u64)> {
        self.last_event(|event| match event {
            RunEvent::Window { from, to } => Some((*from, *to)),
            _ => None,
        })
    }
}

/// One telemetry series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesPoint {
    /// Probe, such as `cores`.
    pub probe: String,
    /// Name, such as `busy`.
    pub name: String,
    /// What is observed: a core's number, a device, a thread, or empty.
    pub component: String,
    /// Instance that is observed; empty for a host and for the load.
    pub instance: InstanceName,
    /// Unit.
    pub unit: String,
    /// Offset from time zero (end of the span), span in nanoseconds, value.
    pub samples: Vec<(Offset, u64, f64)>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptEvent {
    /// When.
    pub at: WallTime,
    /// Time from time zero, once there is one.
    pub offset: Option<Offset>,
    /// Instance that it happened to; empty for the run or the study as a whole.
    pub instance: InstanceName,
    /// What happened.
    pub event: RunEvent,
    /// The same as the record's file says it, for listings; no value is read out of it.
    pub listed: String,
}

impl AttemptEvent {
    /// An event of a run or of the study as a whole, without an offset.
    pub fn new(at: WallTime, event: RunEvent) -> Self {
        let listed = events::encode(&event);
        Self { at, offset: None, instance: InstanceName::default(), event, listed }
    }
}

/// Name of the document that is the study file as it was written, with what was laid over it.
pub const STUDY_FILE: &str = "study.toml";

/// Name of the document that is the study as resolved.
pub const STUDY_DOCUMENT: &str = "study.json";

/// Name of the document that is the plan.
pub const PLAN_DOCUMENT: &str = "plan.json";

/// A line for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Attempt it belongs to.
    pub attempt: Option<i64>,
    /// When.
    pub at: WallTime,
    /// How much it matters.
    pub level: LogLevel,
    /// Writer of the line.
    pub source: String,
    /// Instance that the line is about; empty otherwise.
    pub instance: InstanceName,
    /// The text.
    pub text: String,
}
