//! The contract of a live view. May not decide anything, and may not be needed by anything.

use super::quiet::Quiet;
use super::terminal::Terminal;
use proofload_model::time::Clock;
use std::sync::Arc;

/// Shows what goes on.
pub(crate) trait View {
    /// A run begins.
    fn begin_run(&mut self, run: u32);
    /// A search added these runs to the plan.
    fn planned(&mut self, labels: &[String]);
    /// The run enters a phase.
    fn phase(&mut self, phase: &str);
    /// A long step has come so far; `total` 0 when unknown.
    fn progress(&mut self, what: &str, done: u64, total: u64);
    /// Another second of load: operations per second so far.
    fn interval(&mut self, throughput: &[f64]);
    /// The run ended, with what went wrong if something did.
    fn end_run(&mut self, run: u32, trouble: Option<&str>);
    /// The study ended; the view leaves the terminal.
    fn close(&mut self);
}

/// The view that fits: drawn on a terminal, silent elsewhere. `runs`: a label for each run of the plan, and whether it is done; `most`:
/// how many there can be.
pub(crate) fn for_this_terminal(
    title: &str,
    runs: &[(String, bool)],
    most: usize,
    clock: Arc<dyn Clock>,
) -> Box<dyn View> {
    if crate::output::is_terminal() { Box::new(Terminal::new(title, runs, most, clock)) } else { Box::new(Quiet) }
}
