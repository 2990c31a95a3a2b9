//! The live view on a terminal: drawn in place, once a second. Knows what is shown; the words are those of rows and screen.

use super::board::Board;
use super::screen::{ScreenSize, screen};
use super::second::SecondSeen;
use super::view::{Phase, Program, RunEnd, View};
use crate::run_times::PlannedRun;
use console::{Term, measure_text_width};
use proofload_model::step_count::StepCount;
use proofload_model::time::Clock;
use std::sync::Arc;

/// Draws on stderr.
pub(crate) struct Terminal {
    canvas: Canvas,
    board: Board,
    /// What was noted last of the run that goes on.
    noted: String,
    continued_by: &'static str,
}

impl Terminal {
    pub(crate) fn new(program: Program<'_>, clock: Arc<dyn Clock>) -> Self {
        let continued_by = program.continued_by;
        Self { canvas: Canvas::new(), board: Board::new(program, clock), noted: String::new(), continued_by }
    }

    fn draw(&mut self, foot: &str) {
        self.board.go_on();
        let lines = screen(&self.board.head(), self.board.rows(), foot, self.canvas.size(), self.canvas.colours);
        self.canvas.draw(&lines);
    }

    fn foot(&self) -> String {
        let doing = self.board.before_runs().map(|phase| format!("{}; ", phase.words())).unwrap_or_default();
        let stops = format!("Ctrl-C stops, {} continues", self.continued_by);
        let noted = if self.noted.is_empty() { String::new() } else { format!("{}; ", self.noted) };
        format!("{noted}{doing}{} per second; {stops}", self.board.work())
    }
}

impl View for Terminal {
    fn begin_run(&mut self, run: u32) {
        self.board.begin_run(run);
    }

    fn planned(&mut self, runs: &[PlannedRun]) {
        self.board.planned(runs);
    }

    fn phase(&mut self, phase: Phase) {
        self.board.phase(phase);
        // Some phases are over before the next second.
        self.tick();
    }

    fn progress(&mut self, what: &str, count: Option<StepCount>) {
        self.board.progress(what, count);
    }

    fn second(&mut self, second: &SecondSeen<'_>) {
        self.board.second(second);
    }

    fn note(&mut self, text: &str) {
        text.clone_into(&mut self.noted);
    }

    fn end_run(&mut self, run: u32, ended: &RunEnd) {
        self.noted.clear();
        self.board.end_run(run, ended);
    }

    fn beside(&mut self, run: u32, phase: Phase) {
        self.board.beside(run, phase);
        self.tick();
    }

    fn end_beside(&mut self, run: u32, ended: &RunEnd) {
        self.board.end_beside(run, ended);
    }

    fn tick(&mut self) {
        let foot = self.foot();
        self.draw(&foot);
    }

    fn close(&mut self) {
        self.board.end_study();
        self.draw("");
        self.canvas.leave();
    }
}

/// Lines on a terminal that are drawn over the ones before.
pub(crate) struct Canvas {
    terminal: Term,
    /// Width of each line that stands there.
    drawn: Vec<usize>,
    pub(super) colours: bool,
}

impl Canvas {
    /// A canvas on stderr, whose colours `NO_COLOR` switches off.
    pub(crate) fn new() -> Self {
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { terminal: Term::buffered_stderr(), drawn: Vec::new(), colours }
    }

    /// Whether lines may have colours.
    pub(crate) fn has_colours(&self) -> bool {
        self.colours
    }

    /// The size now; one column stays free, since a full line makes some terminals begin another.
    pub(crate) fn size(&self) -> ScreenSize {
        // Not of `console`, which has no size for a terminal that says its columns and no lines.
        let size = rustix::termios::tcgetwinsize(std::io::stderr());
        let (lines, columns) = size.map_or((24, 80), |size| (size.ws_row, size.ws_col));
        let (lines, columns) = (usize::from(lines), usize::from(columns));
        // A terminal that was made without a size says 0.
        let or = |value: usize, other| if value == 0 { other } else { value };
        ScreenSize { columns: or(columns, 80) - 1, lines: or(lines, 24) }
    }

    /// Draws lines in the place of those before. A terminal that takes nothing more loses the view, never the study.
    pub(crate) fn draw(&mut self, lines: &[String]) {
        let columns = self.size().columns + 1;
        // Lines that a narrower terminal has wrapped since take more than one.
        let before: usize = self.drawn.iter().map(|width| width.div_ceil(columns).max(1)).sum();
        let drawn = || -> std::io::Result<()> {
            if before > 0 {
                self.terminal.move_cursor_up(before)?;
            }
            self.terminal.write_str("\r")?;
            self.terminal.clear_to_end_of_screen()?;
            lines.iter().try_for_each(|line| self.terminal.write_line(line))?;
            self.terminal.flush()
        };
        let _lost = drawn();
        self.drawn = lines.iter().map(|line| measure_text_width(line)).collect();
    }

    /// Leaves what stands there: nothing is drawn over it any more.
    pub(crate) fn leave(&mut self) {
        self.drawn.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    /// Resuming one of two records alone would measure it without its partner.
    #[test]
    fn the_foot_says_what_continues() {
        for continued_by in ["proofload resume", "the same command"] {
            let (runs, whole) = (Vec::new(), "total");
            let program = Program { name: "n", work: "operations", runs, most: 0, whole, continued_by };
            let foot = Terminal::new(program, Arc::new(SystemClock)).foot();
            assert_eq!(foot, format!("operations per second; Ctrl-C stops, {continued_by} continues"));
        }
    }
}
