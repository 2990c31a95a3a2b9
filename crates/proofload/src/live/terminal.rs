//! The live view on a terminal: drawn in place, once a second. Knows what is shown; the words are those of rows and screen.

use super::expectation::Expectation;
use super::pace::Pace;
use super::row::{RunRow, RunningRun, Standing};
use super::screen::{Head, ScreenSize, screen};
use super::second::{LoadNow, SecondSeen};
use super::view::{Phase, Program, RunEnd, View};
use crate::local_time::{local_zone, time_of_day_in};
use crate::run_times::PlannedRun;
use console::{Term, measure_text_width};
use jiff::tz::TimeZone;
use proofload_model::time::{Clock, Moment};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Draws on stderr.
pub(crate) struct Terminal {
    canvas: Canvas,
    name: String,
    work: &'static str,
    rows: Vec<RunRow>,
    expectation: Expectation,
    clock: Arc<dyn Clock>,
    zone: TimeZone,
    began: Moment,
    run_began: Moment,
    phase_began: Moment,
    running: Option<usize>,
    /// Attempts at each run that were begun in this session.
    attempts: BTreeMap<usize, u32>,
    pace: Pace,
    /// Phase before the first run.
    before: Phase,
}

impl Terminal {
    pub(crate) fn new(program: Program<'_>, clock: Arc<dyn Clock>) -> Self {
        let planned = program.runs.iter().map(|(run, ended)| (run, matches!(ended, Some(RunEnd::Judged(_)))));
        let expectation = Expectation::of(planned, program.most);
        let row = |(run, ended): &(PlannedRun, Option<RunEnd>)| RunRow {
            label: run.label.clone(),
            times: run.times,
            standing: ended.clone().map_or(Standing::Waiting, Standing::Ended),
        };
        let now = clock.now();
        Self {
            canvas: Canvas::new(),
            name: program.name.to_owned(),
            work: program.work,
            rows: program.runs.iter().map(row).collect(),
            expectation,
            zone: local_zone(),
            began: now,
            run_began: now,
            phase_began: now,
            clock,
            running: None,
            attempts: BTreeMap::new(),
            pace: Pace::default(),
            before: Phase::Starting,
        }
    }

    fn now_running(&mut self) -> Option<&mut RunningRun> {
        let row = self.running.and_then(|run| self.rows.get_mut(run))?;
        match &mut row.standing {
            Standing::Running(running) => Some(running),
            _ => None,
        }
    }

    fn head(&self) -> Head {
        let now = self.clock.now();
        let running = self.running.map(|run| (run, now.since(self.run_began)));
        let ((done, of), left) = (self.expectation.count(), self.expectation.left(running));
        let ends = left.map(|left| time_of_day_in(self.clock.wall(), left.time, &self.zone)).unwrap_or_default();
        let elapsed = Some(now.since(self.began));
        Head { name: self.name.clone(), done, of, at_most: of > self.rows.len(), elapsed, left, ends }
    }

    fn draw(&mut self, foot: &str) {
        let gone = self.clock.now().since(self.phase_began);
        if let Some(running) = self.now_running() {
            running.in_phase = gone;
        }
        let lines = screen(&self.head(), &self.rows, foot, self.canvas.size(), self.canvas.colours);
        self.canvas.draw(&lines);
    }

    fn foot(&self) -> String {
        let doing = match self.running {
            None if self.before != Phase::Starting => format!("{}; ", self.before.words()),
            _ => String::new(),
        };
        let stops = "Ctrl-C stops, proofload resume continues";
        format!("{doing}{} per second; {stops}", self.work)
    }
}

impl View for Terminal {
    fn begin_run(&mut self, run: u32) {
        let run = run as usize;
        self.running = Some(run);
        self.run_began = self.clock.now();
        self.phase_began = self.run_began;
        self.expectation.begin(run);
        let attempt = self.attempts.entry(run).or_insert(0);
        *attempt += 1;
        if let Some(row) = self.rows.get_mut(run) {
            let (load, step) = (LoadNow::default(), String::new());
            let running =
                RunningRun { phase: Phase::Starting, in_phase: Duration::ZERO, step, load, attempt: *attempt };
            row.standing = Standing::Running(Box::new(running));
        }
    }

    fn planned(&mut self, runs: &[PlannedRun]) {
        self.expectation.extend(runs.iter().map(|run| (run, false)));
        let row = |run: &PlannedRun| RunRow { label: run.label.clone(), times: run.times, standing: Standing::Waiting };
        self.rows.extend(runs.iter().map(row));
    }

    fn phase(&mut self, phase: Phase) {
        self.phase_began = self.clock.now();
        self.before = phase;
        if let Some(running) = self.now_running() {
            running.phase = phase;
            running.step.clear();
        }
    }

    fn progress(&mut self, what: &str, done: u64, total: u64) {
        let step = self.pace.say(self.clock.now(), what, done, total);
        if let Some(running) = self.now_running() {
            running.step = step;
        }
    }

    fn second(&mut self, second: &SecondSeen<'_>) {
        if let Some(running) = self.now_running() {
            running.step.clear();
            running.load.add(second);
        }
    }

    fn end_run(&mut self, run: u32, ended: &RunEnd) {
        let run = run as usize;
        if matches!(ended, RunEnd::Judged(_)) {
            self.expectation.end(run, self.clock.now().since(self.run_began));
        }
        if let Some(row) = self.rows.get_mut(run) {
            row.standing = Standing::Ended(ended.clone());
        }
        self.running = None;
        self.before = Phase::Starting;
    }

    fn tick(&mut self) {
        let foot = self.foot();
        self.draw(&foot);
    }

    fn close(&mut self) {
        self.expectation.end_study();
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
        let (lines, columns) = self.terminal.size_checked().unwrap_or((24, 80));
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
