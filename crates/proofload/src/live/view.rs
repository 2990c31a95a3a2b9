//! The contract of a live view. May not decide anything, and may not be needed by anything.

use super::lines::{LineForm, Lines};
use super::silent::Silent;
use super::terminal::Terminal;
use crate::cli::ProgressForm;
use proofload_model::time::Clock;
use std::sync::Arc;

/// Shows what goes on.
pub(crate) trait View: Send {
    /// A run begins.
    fn begin_run(&mut self, run: u32);
    /// A search added these runs to the plan.
    fn planned(&mut self, labels: &[String]);
    /// The run enters a phase.
    fn phase(&mut self, phase: Phase);
    /// A long step has come so far; `total` 0 when unknown.
    fn progress(&mut self, what: &str, done: u64, total: u64);
    /// Another second of load: units of work in each second so far.
    fn interval(&mut self, throughput: &[f64]);
    /// The run ended, with what went wrong if something did.
    fn end_run(&mut self, run: u32, trouble: Option<&str>);
    /// The study ended; the view leaves the terminal.
    fn close(&mut self);
}

/// Phase of a run, or of what a study does before its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Starting,
    Preconditioning,
    WaitingForQuiet,
    Preparing,
    Restoring,
    CalibratingDevice,
    CalibratingConsumption,
    CalibratingQueries,
    CalibratingCommits,
    WarmingUp,
    Measuring,
    Drilling,
    Stopping,
    Verifying,
}

impl Phase {
    /// Words on a line of the view.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Preconditioning => "preconditioning storage",
            Self::WaitingForQuiet => "looking whether the host is quiet",
            Self::Preparing => "preparing",
            Self::Restoring => "restoring",
            Self::CalibratingDevice => "calibrating the device",
            Self::CalibratingConsumption => "calibrating consumption",
            Self::CalibratingQueries => "calibrating queries",
            Self::CalibratingCommits => "calibrating commits",
            Self::WarmingUp => "warming up",
            Self::Measuring => "measuring",
            Self::Drilling => "drilling",
            Self::Stopping => "stopping",
            Self::Verifying => "verifying",
        }
    }
}

/// What there is to show before anything runs.
pub(crate) struct Program<'a> {
    /// The study's name and title.
    pub(crate) title: &'a str,
    /// Units of work in the plural, such as `transactions`.
    pub(crate) work: &'static str,
    /// A label for each run of the plan, and whether it is done.
    pub(crate) runs: &'a [(String, bool)],
    /// How many runs there can be.
    pub(crate) most: usize,
}

/// The view that was asked for; without a wish, one drawn on a terminal and lines elsewhere.
pub(crate) fn show(form: Option<ProgressForm>, program: &Program<'_>, clock: Arc<dyn Clock>) -> Box<dyn View> {
    let fitting = || if crate::output::is_terminal() { ProgressForm::Live } else { ProgressForm::Plain };
    match form.unwrap_or_else(fitting) {
        ProgressForm::Live => Box::new(Terminal::new(program, clock)),
        ProgressForm::Plain => Box::new(Lines::new(LineForm::Plain, program, clock)),
        ProgressForm::Json => Box::new(Lines::new(LineForm::Json, program, clock)),
        ProgressForm::None => Box::new(Silent),
    }
}
