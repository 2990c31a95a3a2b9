//! The live page as a view: what happens goes to the page, nothing comes back.

use super::second::PageSecond;
use super::share::PageShare;
use crate::live::{Board, Phase, Program, RunEnd, SecondSeen, View};
use crate::run_times::PlannedRun;
use proofload_model::step_count::StepCount;
use proofload_model::time::Clock;
use proofload_report::findings::response_ns_p99_of;
use std::sync::Arc;

/// Shows a running study on the page.
pub(crate) struct PageView {
    board: Board,
    share: Arc<PageShare>,
}

impl PageView {
    pub(crate) fn new(program: Program<'_>, clock: Arc<dyn Clock>, share: Arc<PageShare>) -> Self {
        Self { board: Board::new(program, clock), share }
    }

    fn publish(&mut self, has_ended: bool) {
        self.board.go_on();
        let doing = self.board.before_runs().map(Phase::words).unwrap_or_default();
        self.share.show(&self.board.head(), self.board.rows(), self.board.work(), (doing, has_ended));
    }
}

impl View for PageView {
    fn begin_run(&mut self, run: u32) {
        self.board.begin_run(run);
        self.share.begin_run();
    }

    fn planned(&mut self, runs: &[PlannedRun]) {
        self.board.planned(runs);
    }

    fn phase(&mut self, phase: Phase) {
        self.board.phase(phase);
    }

    fn progress(&mut self, what: &str, count: Option<StepCount>) {
        self.board.progress(what, count);
    }

    fn second(&mut self, second: &SecondSeen<'_>) {
        self.board.second(second);
        self.share.add(PageSecond {
            index: second.sample.index,
            rate: second.throughput.last().copied().filter(|rate| rate.is_finite()),
            response_ns_p99: response_ns_p99_of(second.sample),
            device: second.device,
            host: second.host,
        });
    }

    fn note(&mut self, _text: &str) {}

    fn end_run(&mut self, run: u32, ended: &RunEnd) {
        self.board.end_run(run, ended);
        self.publish(false);
    }

    fn beside(&mut self, run: u32, phase: Phase) {
        self.board.beside(run, phase);
    }

    fn end_beside(&mut self, run: u32, ended: &RunEnd) {
        self.board.end_beside(run, ended);
    }

    fn tick(&mut self) {
        self.publish(false);
    }

    fn close(&mut self) {
        self.board.end_study();
        self.publish(true);
    }
}
