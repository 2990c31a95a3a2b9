//! Progress in lines, for pipes and logs: one at each change of phase and one at least every 30 s. As text for people, or one JSON
//! object a line for programs. May not decide anything.

use super::view::{Phase, Program, View};
use crate::output;
use proofload_model::time::{Clock, Moment, WallTime};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Longest time without a line while something goes on.
const EVERY: Duration = Duration::from_secs(30);

/// Form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineForm {
    /// Text.
    Plain,
    /// One JSON object a line.
    Json,
}

/// Prints lines on stderr.
pub(crate) struct Lines {
    form: LineForm,
    clock: Arc<dyn Clock>,
    work: &'static str,
    labels: Vec<String>,
    run: Option<u32>,
    phase: Phase,
    phase_began: Moment,
    last_line: Moment,
}

/// One line.
#[derive(Debug, Serialize)]
struct ProgressLine<'a> {
    /// Microseconds since 1970.
    at_us: i64,
    /// Number of the run from 1, and of how many.
    run: Option<u32>,
    of: usize,
    /// Levels of its point in words.
    point: &'a str,
    #[serde(flatten)]
    progress: Progress<'a>,
}

/// What a line tells.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Progress<'a> {
    /// The run entered a phase.
    Phase { phase: &'a str },
    /// A long step goes on; a total of 0 is an unknown one.
    Step { phase: &'a str, what: &'a str, done: u64, total: u64 },
    /// The load goes on: units of work in the last second.
    Load { phase: &'a str, phase_seconds: u64, rate: f64, unit: &'a str },
    /// The run ended; with what went wrong, if something did.
    Ended { trouble: Option<&'a str> },
}

impl Lines {
    pub(crate) fn new(form: LineForm, program: &Program<'_>, clock: Arc<dyn Clock>) -> Self {
        let now = clock.now();
        let labels = program.runs.iter().map(|(label, _)| label.clone()).collect();
        let work = program.work;
        Self { form, clock, work, labels, run: None, phase: Phase::Starting, phase_began: now, last_line: now }
    }

    fn print(&mut self, progress: Progress<'_>) {
        self.last_line = self.clock.now();
        let point = self.run.and_then(|run| self.labels.get(run as usize)).map_or("", String::as_str);
        let at = self.clock.wall();
        let run = self.run.map(|run| run + 1);
        let line = ProgressLine { at_us: at.0, run, of: self.labels.len(), point, progress };
        match self.form {
            LineForm::Plain => output::note(&plain(at, &line)),
            // A line of plain values always has a JSON form.
            LineForm::Json => output::note(&serde_json::to_string(&line).unwrap_or_default()),
        }
    }

    fn is_due(&self) -> bool {
        self.clock.now().since(self.last_line) >= EVERY
    }
}

impl View for Lines {
    fn begin_run(&mut self, run: u32) {
        self.run = Some(run);
        self.phase(Phase::Starting);
    }

    fn planned(&mut self, labels: &[String]) {
        self.labels.extend_from_slice(labels);
    }

    fn phase(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_began = self.clock.now();
        self.print(Progress::Phase { phase: phase.words() });
    }

    fn progress(&mut self, what: &str, done: u64, total: u64) {
        if self.is_due() {
            self.print(Progress::Step { phase: self.phase.words(), what, done, total });
        }
    }

    fn interval(&mut self, throughput: &[f64]) {
        if self.is_due() {
            let phase_seconds = self.clock.now().since(self.phase_began).as_secs();
            let rate = throughput.last().copied().unwrap_or(0.0);
            self.print(Progress::Load { phase: self.phase.words(), phase_seconds, rate, unit: self.work });
        }
    }

    fn end_run(&mut self, _run: u32, trouble: Option<&str>) {
        self.print(Progress::Ended { trouble });
        self.run = None;
    }

    fn close(&mut self) {}
}

/// A line for people: `12:03:10 run 3 of 8, 64 MiB: measuring, 12 s, 569 transactions/s`. The time is UTC.
fn plain(at: WallTime, line: &ProgressLine<'_>) -> String {
    let second = at.0.div_euclid(1_000_000).rem_euclid(86_400);
    let time = format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
    let what = match &line.progress {
        Progress::Phase { phase } => (*phase).to_owned(),
        Progress::Step { phase, what, total: 0, .. } => format!("{phase}, {what}"),
        Progress::Step { phase, what, done, total } => {
            format!("{phase}, {what} {} %", u128::from(*done) * 100 / u128::from(*total))
        }
        Progress::Load { phase, phase_seconds, rate, unit } => {
            format!("{phase}, {phase_seconds} s, {rate:.0} {unit}/s")
        }
        Progress::Ended { trouble: None } => "done".to_owned(),
        Progress::Ended { trouble: Some(trouble) } => format!("failed: {trouble}"),
    };
    match line.run {
        Some(run) => format!("{time} run {run} of {}, {}: {what}", line.of, line.point),
        None => format!("{time} {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(run: Option<u32>, progress: Progress<'_>) -> ProgressLine<'_> {
        ProgressLine { at_us: 0, run, of: 8, point: "64 MiB", progress }
    }

    #[test]
    fn a_line_says_when_which_run_and_what() {
        let at = WallTime((12 * 3_600 + 3 * 60 + 10) * 1_000_000);
        let load = Progress::Load { phase: "measuring", phase_seconds: 12, rate: 568.6, unit: "transactions" };
        let text = plain(at, &line(Some(3), load));
        assert_eq!(text, "12:03:10 run 3 of 8, 64 MiB: measuring, 12 s, 569 transactions/s");
        let step = Progress::Step { phase: "restoring", what: "loading rows", done: 43, total: 100 };
        assert_eq!(plain(at, &line(None, step)), "12:03:10 restoring, loading rows 43 %");
        let failed = Progress::Ended { trouble: Some("no server") };
        assert_eq!(plain(at, &line(Some(1), failed)), "12:03:10 run 1 of 8, 64 MiB: failed: no server");
    }

    #[test]
    fn a_line_for_programs_is_one_flat_object() {
        let text = serde_json::to_string(&line(Some(3), Progress::Phase { phase: "warming up" })).unwrap();
        let expected = r#"{"at_us":0,"run":3,"of":8,"point":"64 MiB","event":"phase","phase":"warming up"}"#;
        assert_eq!(text, expected);
    }
}
