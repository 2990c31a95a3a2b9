//! The contract of a live view. May not decide anything, and may not be needed by anything.

use super::lines::{LineForm, Lines};
use super::second::SecondSeen;
use super::silent::Silent;
use super::terminal::Terminal;
use super::ticker::Ticker;
use crate::cli::ProgressForm;
use crate::run_times::PlannedRun;
use proofload_model::step_count::StepCount;
use proofload_model::time::Clock;
use proofload_report::findings::RunSummary;
use std::sync::Arc;

/// Shows what goes on.
pub(crate) trait View: Send {
    /// A run begins.
    fn begin_run(&mut self, run: u32);
    /// A search added these runs to the plan.
    fn planned(&mut self, runs: &[PlannedRun]);
    /// The run enters a phase.
    fn phase(&mut self, phase: Phase);
    /// A long step has come so far; `None` where nothing is counted.
    fn progress(&mut self, what: &str, count: Option<StepCount>);
    /// Another second of load.
    fn second(&mut self, second: &SecondSeen<'_>);
    /// Something that a reader wants to know while it goes on.
    fn note(&mut self, text: &str);
    /// The run ended.
    fn end_run(&mut self, run: u32, ended: &RunEnd);
    /// A run enters a phase while another one goes on: that of the second of two studies at once.
    fn beside(&mut self, run: u32, phase: Phase);
    /// End of that run.
    fn end_beside(&mut self, run: u32, ended: &RunEnd);
    /// A second has gone by.
    fn tick(&mut self);
    /// The study ended; the view leaves the terminal.
    fn close(&mut self);
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunEnd {
    /// It went through, and this is the verdict.
    Judged(RunSummary),
    /// It went wrong.
    Failed(String),
    /// Somebody asked to stop.
    Interrupted,
}

/// Phase of a run, or of what a study does before its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Starting,
    Preconditioning,
    WaitingForQuiet,
    Building,
    Preparing,
    Restoring,
    CalibratingDevice,
    CalibratingConsumption,
    CalibratingQueries,
    CalibratingCommits,
    WarmingUp,
    Measuring,
    Drilling,
    Experimenting,
    Stopping,
    Verifying,
}

impl Phase {
    /// Words on a line of the view.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Preconditioning => "preconditioning storage",
            Self::WaitingForQuiet => "checking whether the host is quiet",
            Self::Building => "building",
            Self::Preparing => "preparing",
            Self::Restoring => "restoring",
            Self::CalibratingDevice => "calibrating the device",
            Self::CalibratingConsumption => "calibrating consumption",
            Self::CalibratingQueries => "calibrating queries",
            Self::CalibratingCommits => "calibrating commits",
            Self::WarmingUp => "warming up",
            Self::Measuring => "measuring",
            Self::Drilling => "drilling",
            Self::Experimenting => "lowering resources in turn",
            Self::Stopping => "stopping",
            Self::Verifying => "verifying",
        }
    }

    /// Whether load is running in it.
    pub(crate) const fn is_under_load(self) -> bool {
        matches!(self, Self::WarmingUp | Self::Measuring | Self::Drilling | Self::Experimenting)
    }
}

/// What there is to show before anything runs.
pub(crate) struct Program<'a> {
    /// The study's name.
    pub(crate) name: &'a str,
    /// Units of work in the plural, such as `transactions`.
    pub(crate) work: &'static str,
    /// Each run of the plan, and how it ended in an earlier session.
    pub(crate) runs: Vec<(PlannedRun, Option<RunEnd>)>,
    /// How many runs there can be.
    pub(crate) most: usize,
    /// What all of it is in words, after "left in": `total`, or a part of what a command does.
    pub(crate) whole: &'static str,
    /// Command that continues it after a stop, in words.
    pub(crate) continued_by: &'static str,
}

/// The view that was asked for; without a wish, one drawn on a terminal and lines elsewhere.
pub(crate) fn show(form: Option<ProgressForm>, program: Program<'_>, clock: Arc<dyn Clock>) -> Box<dyn View> {
    let fitting = || if crate::output::is_terminal() { ProgressForm::Live } else { ProgressForm::Plain };
    match form.unwrap_or_else(fitting) {
        ProgressForm::Live => Box::new(Ticker::of(Box::new(Terminal::new(program, clock)))),
        ProgressForm::Plain => Box::new(Ticker::of(Box::new(Lines::new(LineForm::Plain, program, clock)))),
        ProgressForm::Json => Box::new(Ticker::of(Box::new(Lines::new(LineForm::Json, program, clock)))),
        ProgressForm::None => Box::new(Silent),
    }
}
