//! Where a running study stands, as every view with rows shows it: told of events, asked for rows. Draws nothing.

use super::beside::RunBeside;
use super::expectation::Expectation;
use super::pace::Pace;
use super::row::{RunRow, RunningRun, Standing};
use super::screen::Head;
use super::second::{LoadNow, SecondSeen};
use super::view::{Phase, Program, RunEnd};
use crate::local_time::{local_zone, time_of_day_in};
use crate::run_times::PlannedRun;
use jiff::tz::TimeZone;
use proofload_model::step_count::StepCount;
use proofload_model::time::{Clock, Moment};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Rows of all runs, and the times that go with them.
pub(crate) struct Board {
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
    beside: Option<RunBeside>,
    /// Attempts at each run that were begun in this session.
    attempts: BTreeMap<usize, u32>,
    pace: Pace,
    /// Phase before the first run.
    before: Phase,
}

impl Board {
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
            beside: None,
            attempts: BTreeMap::new(),
            pace: Pace::default(),
            before: Phase::Starting,
        }
    }

    /// Units of work in the plural.
    pub(crate) fn work(&self) -> &'static str {
        self.work
    }

    pub(crate) fn rows(&self) -> &[RunRow] {
        &self.rows
    }

    /// What is done while no run goes on; `None` where there is nothing to say.
    pub(crate) fn before_runs(&self) -> Option<Phase> {
        (self.running.is_none() && self.before != Phase::Starting).then_some(self.before)
    }

    fn now_running(&mut self) -> Option<&mut RunningRun> {
        let row = self.running.and_then(|run| self.rows.get_mut(run))?;
        match &mut row.standing {
            Standing::Running(running) => Some(running),
            _ => None,
        }
    }

    pub(crate) fn head(&self) -> Head {
        let now = self.clock.now();
        let running = self.running.map(|run| (run, now.since(self.run_began)));
        let ((done, of), left) = (self.expectation.count(), self.expectation.left(running));
        let ends = left.map(|left| time_of_day_in(self.clock.wall(), left.time, &self.zone)).unwrap_or_default();
        let elapsed = Some(now.since(self.began));
        Head { name: self.name.clone(), done, of, at_most: of > self.rows.len(), elapsed, left, ends }
    }

    /// Brings the time in the phase up to now.
    pub(crate) fn go_on(&mut self) {
        let gone = self.clock.now().since(self.phase_began);
        if let Some(running) = self.now_running() {
            running.in_phase = gone;
        }
        let Some(beside) = self.beside else { return };
        let gone = self.clock.now().since(beside.phase_began);
        if let Some(Standing::Running(running)) = self.rows.get_mut(beside.run).map(|row| &mut row.standing) {
            running.in_phase = gone;
        }
    }

    pub(crate) fn begin_run(&mut self, run: u32) {
        let run = run as usize;
        self.running = Some(run);
        self.run_began = self.clock.now();
        self.phase_began = self.run_began;
        self.expectation.begin(run);
        self.begin_row(run, Phase::Starting);
    }

    /// Shows that another attempt at a run begins.
    fn begin_row(&mut self, run: usize, phase: Phase) {
        let attempt = self.attempts.entry(run).or_insert(0);
        *attempt += 1;
        if let Some(row) = self.rows.get_mut(run) {
            let (load, step) = (LoadNow::default(), String::new());
            let running = RunningRun { phase, in_phase: Duration::ZERO, step, load, attempt: *attempt };
            row.standing = Standing::Running(Box::new(running));
        }
    }

    /// Shows a phase of a run that goes on beside the one that was begun last.
    pub(crate) fn beside(&mut self, run: u32, phase: Phase) {
        let beside = RunBeside::entered(self.beside, run, phase, self.clock.now());
        self.beside = Some(beside);
        if beside.is_new {
            self.expectation.begin(beside.run);
            self.begin_row(beside.run, phase);
        } else if let Some(Standing::Running(running)) = self.rows.get_mut(beside.run).map(|row| &mut row.standing) {
            running.phase = phase;
        }
    }

    pub(crate) fn end_beside(&mut self, run: u32, ended: &RunEnd) {
        let run = run as usize;
        let beside = self.beside.take().filter(|beside| beside.run == run);
        if let (Some(beside), RunEnd::Judged(_)) = (beside, ended) {
            self.expectation.end(run, self.clock.now().since(beside.began));
        }
        if let Some(row) = self.rows.get_mut(run) {
            row.standing = Standing::Ended(ended.clone());
        }
    }

    pub(crate) fn planned(&mut self, runs: &[PlannedRun]) {
        self.expectation.extend(runs.iter().map(|run| (run, false)));
        let row = |run: &PlannedRun| RunRow { label: run.label.clone(), times: run.times, standing: Standing::Waiting };
        self.rows.extend(runs.iter().map(row));
    }

    pub(crate) fn phase(&mut self, phase: Phase) {
        self.phase_began = self.clock.now();
        self.before = phase;
        if let Some(running) = self.now_running() {
            running.phase = phase;
            running.step.clear();
        }
    }

    pub(crate) fn progress(&mut self, what: &str, count: Option<StepCount>) {
        let step = self.pace.say(self.clock.now(), what, count);
        if let Some(running) = self.now_running() {
            running.step = step;
        }
    }

    pub(crate) fn second(&mut self, second: &SecondSeen<'_>) {
        if let Some(running) = self.now_running() {
            running.step.clear();
            running.load.add(second);
        }
    }

    pub(crate) fn end_run(&mut self, run: u32, ended: &RunEnd) {
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

    pub(crate) fn end_study(&mut self) {
        self.expectation.end_study();
    }
}
