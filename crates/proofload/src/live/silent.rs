//! No view, where none is wanted.

use super::second::SecondSeen;
use super::view::{Phase, RunEnd, View};
use crate::run_times::PlannedRun;
use proofload_model::step_count::StepCount;

/// Shows nothing.
pub(crate) struct Silent;

impl View for Silent {
    fn begin_run(&mut self, _run: u32) {}
    fn planned(&mut self, _runs: &[PlannedRun]) {}
    fn phase(&mut self, _phase: Phase) {}
    fn progress(&mut self, _what: &str, _count: Option<StepCount>) {}
    fn second(&mut self, _second: &SecondSeen<'_>) {}
    fn note(&mut self, _text: &str) {}
    fn end_run(&mut self, _run: u32, _ended: &RunEnd) {}
    fn beside(&mut self, _run: u32, _phase: Phase) {}
    fn end_beside(&mut self, _run: u32, _ended: &RunEnd) {}
    fn tick(&mut self) {}
    fn close(&mut self) {}
}
