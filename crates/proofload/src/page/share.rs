//! What the live page shows, shared by who writes it and by its server: the head, the runs, and the last seconds of the running load. Keeps no
//! more than a page draws, however long a study is.

use super::second::PageSecond;
use crate::live::{Head, RunEnd, RunRow, Standing, ended_json, load_json, phase_span};
use serde_json::{Value as Json, json};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Seconds that are kept.
const SECONDS: usize = 900;

/// The state and its version.
#[derive(Debug)]
pub(crate) struct PageShare {
    state: Mutex<PageState>,
    changed: watch::Sender<u64>,
}

/// What the page shows.
#[derive(Debug, Default)]
struct PageState {
    head: Json,
    runs: Json,
    /// Number of the last change of the runs.
    runs_changed: u64,
    seconds: VecDeque<(u64, PageSecond)>,
    /// Number of the next second, over all runs.
    next_second: u64,
    /// Number of the run whose seconds these are.
    run: u64,
}

/// What a reader of the page has seen already.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SeenState {
    runs: u64,
    seconds: u64,
    /// The run whose seconds it has; `None` before the first news.
    run: Option<u64>,
}

impl PageShare {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), changed: watch::Sender::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, PageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of each change.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Shows where the study stands; `doing` is what goes on, and `has_ended` whether nothing more comes.
    pub(crate) fn show(&self, head: &Head, rows: &[RunRow], work: &str, (doing, has_ended): (&str, bool)) {
        let runs = Json::Array(rows.iter().map(|row| row_json(row, work)).collect());
        let mut state = self.lock();
        state.head = json!({
            "study": head.name, "done": head.done, "of": head.of, "at_most": head.at_most, "doing": doing, "ended": has_ended,
            "elapsed_s": head.elapsed.map(|time| time.as_secs()), "left_s": head.left.map(|left| left.time.as_secs()),
            "ends": head.ends, "unit": format!("{work}/s"),
            "running": rows.iter().position(|row| matches!(row.standing, Standing::Running(_))),
        });
        if state.runs != runs {
            state.runs = runs;
            state.runs_changed += 1;
        }
        drop(state);
        self.changed.send_modify(|version| *version += 1);
    }

    /// Begins the seconds of another run.
    pub(crate) fn begin_run(&self) {
        let mut state = self.lock();
        state.seconds.clear();
        state.run += 1;
    }

    /// Adds a second of load.
    pub(crate) fn add(&self, second: PageSecond) {
        let mut state = self.lock();
        if state.seconds.len() == SECONDS {
            state.seconds.pop_front();
        }
        let number = state.next_second;
        state.seconds.push_back((number, second));
        state.next_second += 1;
    }

    /// What is new for a reader, as JSON, and what it has seen then.
    pub(crate) fn news(&self, seen: SeenState) -> (Json, SeenState) {
        let state = self.lock();
        let new = |(number, _): &&(u64, PageSecond)| *number >= seen.seconds;
        let seconds: Vec<Json> = state.seconds.iter().filter(new).map(|(_, second)| second.json()).collect();
        let runs = if seen.runs == state.runs_changed { Json::Null } else { state.runs.clone() };
        let anew = seen.run != Some(state.run);
        let news = json!({ "head": state.head, "runs": runs, "anew": anew, "seconds": seconds });
        (news, SeenState { runs: state.runs_changed, seconds: state.next_second, run: Some(state.run) })
    }

    /// The head, the runs and the last second, for other forms.
    pub(crate) fn last(&self) -> (Json, Json, Option<PageSecond>) {
        let state = self.lock();
        (state.head.clone(), state.runs.clone(), state.seconds.back().map(|(_, second)| second.clone()))
    }
}

/// A run for the page.
fn row_json(row: &RunRow, work: &str) -> Json {
    let mut told = match &row.standing {
        Standing::Waiting => json!({ "state": "waiting" }),
        Standing::Unfinished => json!({ "state": "unfinished" }),
        Standing::Ended(ended) => ended_json(ended, work),
        Standing::Running(running) => {
            let span = phase_span(running.phase, &row.times);
            let mut told = if running.phase.is_under_load() { load_json(&running.load, work) } else { json!({}) };
            told["state"] = "running".into();
            told["phase"] = running.phase.words().into();
            told["phase_s"] = running.in_phase.as_secs().into();
            told["phase_at_most_s"] = json!(span.and_then(|span| span.at_most).map(|most| most.as_secs()));
            told["step"] = running.step.clone().into();
            told
        }
    };
    if let Standing::Ended(ended) = &row.standing {
        told["state"] = match ended {
            RunEnd::Judged(_) => "finished",
            RunEnd::Failed(_) => "failed",
            RunEnd::Interrupted => "interrupted",
        }
        .into();
    }
    told["label"] = row.label.clone().into();
    told
}
