//! Two views of one study.

use super::second::SecondSeen;
use super::view::{Phase, RunEnd, View};
use crate::run_times::PlannedRun;
use proofload_model::step_count::StepCount;

/// Tells both of everything, in order.
pub(crate) struct ViewPair(pub(crate) Box<dyn View>, pub(crate) Box<dyn View>);

impl ViewPair {
    fn both(&mut self, tell: impl Fn(&mut dyn View)) {
        tell(self.0.as_mut());
        tell(self.1.as_mut());
    }
}

impl View for ViewPair {
    fn begin_run(&mut self, run: u32) {
        self.both(|view| view.begin_run(run));
    }
    fn planned(&mut self, runs: &[PlannedRun]) {
        self.both(|view| view.planned(runs));
    }
    fn phase(&mut self, phase: Phase) {
        self.both(|view| view.phase(phase));
    }
    fn progress(&mut self, what: &str, count: Option<StepCount>) {
        self.both(|view| view.progress(what, count));
    }
    fn second(&mut self, second: &SecondSeen<'_>) {
        self.both(|view| view.second(second));
    }
    fn note(&mut self, text: &str) {
        self.both(|view| view.note(text));
    }
    fn end_run(&mut self, run: u32, ended: &RunEnd) {
        self.both(|view| view.end_run(run, ended));
    }
    fn beside(&mut self, run: u32, phase: Phase) {
        self.both(|view| view.beside(run, phase));
    }
    fn end_beside(&mut self, run: u32, ended: &RunEnd) {
        self.both(|view| view.end_beside(run, ended));
    }
    fn tick(&mut self) {
        self.both(|view| view.tick());
    }
    fn close(&mut self) {
        self.both(|view| view.close());
    }
}
