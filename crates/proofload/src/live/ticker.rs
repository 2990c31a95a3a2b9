//! A view that is told of each second that goes by, so that its times go on while nothing is heard. Its thread sleeps in between.

use super::second::SecondSeen;
use super::view::{Phase, RunEnd, View};
use crate::run_times::PlannedRun;
use proofload_model::step_count::StepCount;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two ticks.
const SECOND: Duration = Duration::from_secs(1);

/// A view with its thread.
pub(crate) struct Ticker {
    view: Arc<Mutex<Box<dyn View>>>,
    ticking: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Ticker {
    /// Begins to tick, at once.
    pub(crate) fn of(view: Box<dyn View>) -> Self {
        let view = Arc::new(Mutex::new(view));
        let (stop, stopped) = channel::<()>();
        let ticked = Arc::clone(&view);
        let tick = move || {
            loop {
                ticked.lock().unwrap_or_else(PoisonError::into_inner).tick();
                if stopped.recv_timeout(SECOND) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        // Without a thread the view shows what it is told, and its times stand still in between.
        let thread = std::thread::Builder::new().name("view".to_owned()).spawn(tick).ok();
        Self { view, ticking: thread.map(|thread| (stop, thread)) }
    }

    fn with(&self, show: impl FnOnce(&mut dyn View)) {
        show(self.view.lock().unwrap_or_else(PoisonError::into_inner).as_mut());
    }

    fn stop(&mut self) {
        if let Some((stop, thread)) = self.ticking.take() {
            drop(stop);
            let _ended = thread.join();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop();
    }
}

impl View for Ticker {
    fn begin_run(&mut self, run: u32) {
        self.with(|view| view.begin_run(run));
    }
    fn planned(&mut self, runs: &[PlannedRun]) {
        self.with(|view| view.planned(runs));
    }
    fn phase(&mut self, phase: Phase) {
        self.with(|view| view.phase(phase));
    }
    fn progress(&mut self, what: &str, count: Option<StepCount>) {
        self.with(|view| view.progress(what, count));
    }
    fn second(&mut self, second: &SecondSeen<'_>) {
        self.with(|view| view.second(second));
    }
    fn note(&mut self, text: &str) {
        self.with(|view| view.note(text));
    }
    fn end_run(&mut self, run: u32, ended: &RunEnd) {
        self.with(|view| view.end_run(run, ended));
    }
    fn beside(&mut self, run: u32, phase: Phase) {
        self.with(|view| view.beside(run, phase));
    }
    fn end_beside(&mut self, run: u32, ended: &RunEnd) {
        self.with(|view| view.end_beside(run, ended));
    }
    fn tick(&mut self) {
        self.with(|view| view.tick());
    }
    fn close(&mut self) {
        self.stop();
        self.with(|view| view.close());
    }
}
