//! The live view: one line a run, the running one with its phase, rate and a sparkline, and a line with the time left.

use super::pace::Pace;
use super::sparkline::sparkline;
use super::view::{Phase, Program, View};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use proofload_model::time::{Clock, Moment};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Width of the sparkline in characters.
const SPARK: usize = 30;

/// Runs shown at most; longer plans show a window around the running one.
const SHOWN: usize = 16;

/// Draws on stderr.
pub(crate) struct Terminal {
    /// Its last handle: a bar without one is cleared.
    _head: ProgressBar,
    lines: MultiProgress,
    work: &'static str,
    /// Runs that there can be; more than are known while a search goes on.
    most: usize,
    runs: Vec<RunLine>,
    foot: ProgressBar,
    clock: Arc<dyn Clock>,
    began: Moment,
    run_began: Moment,
    running: Option<usize>,
    phase: Phase,
    rate: String,
    step: String,
    pace: Pace,
    /// Seconds of load so far, and those of them that are measured; the last second of a load is cut short.
    throughput: Vec<f64>,
    measured: Range<usize>,
    durations: Vec<Duration>,
}

/// One run's line.
struct RunLine {
    bar: ProgressBar,
    label: String,
    done: bool,
}

impl Terminal {
    pub(crate) fn new(program: &Program<'_>, clock: Arc<dyn Clock>) -> Self {
        let &Program { title, work, runs, most } = program;
        let lines = MultiProgress::new();
        let plain = style();
        let head = lines.add(ProgressBar::new(0).with_style(plain.clone()));
        head.set_message(crate::output::harmless(title).into_owned());
        let width = runs.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let runs: Vec<RunLine> = runs
            .iter()
            .enumerate()
            .map(|(index, (label, done))| {
                let bar = ProgressBar::new(0).with_style(plain.clone());
                let bar = if index < SHOWN { lines.add(bar) } else { ProgressBar::hidden() };
                let label = format!("{label:<width$}");
                bar.set_message(format!("  {} {label}", if *done { "✓" } else { "·" }));
                RunLine { bar, label, done: *done }
            })
            .collect();
        let foot = lines.add(ProgressBar::new(0).with_style(plain));
        let began = clock.now();
        Self {
            _head: head,
            lines,
            work,
            most,
            runs,
            foot,
            clock,
            began,
            run_began: began,
            running: None,
            phase: Phase::Starting,
            rate: String::new(),
            step: String::new(),
            pace: Pace::default(),
            throughput: Vec::new(),
            measured: 0..0,
            durations: Vec::new(),
        }
    }

    fn draw(&self) {
        let Some(line) = self.running.and_then(|run| self.runs.get(run)) else { return };
        let seconds = self.clock.now().since(self.run_began).as_secs();
        line.bar.set_message(format!(
            "  ▶ {}  {:<12} {:>6}  {}",
            line.label,
            self.phase.words(),
            clock_text(seconds),
            if self.step.is_empty() { &self.rate } else { &self.step }
        ));
        self.foot.set_message(self.foot_text());
    }

    fn foot_text(&self) -> String {
        let done = self.runs.iter().filter(|run| run.done).count();
        let all = self.most.max(self.runs.len());
        let left = all - done;
        let so_far = clock_text(self.clock.now().since(self.began).as_secs());
        let mean = self
            .durations
            .iter()
            .sum::<Duration>()
            .checked_div(u32::try_from(self.durations.len()).unwrap_or(u32::MAX));
        let remaining = mean.map(|mean| {
            let gone = self.clock.now().since(self.run_began);
            mean.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX)).saturating_sub(gone)
        });
        let open = all > self.runs.len();
        let (of, about) = if open { (format!("at most {all}"), "at most about") } else { (all.to_string(), "about") };
        let remaining =
            remaining.map_or_else(String::new, |time| format!(", {about} {} left", clock_text(time.as_secs())));
        format!("  {done} of {of} runs, {so_far} so far{remaining}  (Ctrl-C stops; resume goes on)")
    }
}

impl View for Terminal {
    fn begin_run(&mut self, run: u32) {
        self.running = Some(run as usize);
        self.run_began = self.clock.now();
        self.rate.clear();
        self.throughput.clear();
        self.measured = 0..0;
        self.phase(Phase::Starting);
    }

    fn planned(&mut self, labels: &[String]) {
        for label in labels {
            let bar = ProgressBar::new(0).with_style(style());
            let bar = self.lines.insert_before(&self.foot, bar);
            bar.set_message(format!("  · {label}"));
            self.runs.push(RunLine { bar, label: label.clone(), done: false });
        }
    }

    fn phase(&mut self, phase: Phase) {
        match phase {
            Phase::Measuring => self.measured = self.throughput.len()..usize::MAX,
            _ if self.measured.end == usize::MAX => self.measured.end = self.throughput.len(),
            _ => {}
        }
        self.phase = phase;
        self.step.clear();
        self.draw();
    }

    fn progress(&mut self, what: &str, done: u64, total: u64) {
        self.step = self.pace.say(self.clock.now(), what, done, total);
        self.draw();
    }

    fn interval(&mut self, throughput: &[f64]) {
        let last = throughput.last().copied().unwrap_or(0.0);
        self.step.clear();
        throughput.clone_into(&mut self.throughput);
        self.rate = rate_text(last, self.work, throughput);
        self.draw();
    }

    fn end_run(&mut self, run: u32, trouble: Option<&str>) {
        let window = self.throughput.get(self.measured.clone()).filter(|window| !window.is_empty());
        if let Some(window) = window {
            self.rate = rate_text(window.iter().sum::<f64>() / window.len() as f64, self.work, window);
        }
        let took = self.clock.now().since(self.run_began);
        if let Some(line) = self.runs.get_mut(run as usize) {
            line.done = trouble.is_none();
            let message = match trouble {
                None => format!("  ✓ {}  {:<12} {:>6}  {}", line.label, "done", clock_text(took.as_secs()), self.rate),
                Some(trouble) => format!("  ✗ {}  {trouble}", line.label),
            };
            line.bar.finish_with_message(message);
        }
        self.durations.push(took);
        self.running = None;
        self.foot.set_message(self.foot_text());
    }

    fn close(&mut self) {
        self.foot.finish_and_clear();
        for line in &self.runs {
            line.bar.abandon();
        }
    }
}

/// Units of work a second, and how it was.
fn rate_text(rate: f64, work: &str, throughput: &[f64]) -> String {
    format!("{rate:>8.0} {work}/s  {}", sparkline(throughput, SPARK))
}

/// A line is its message.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{msg}").expect("the template is constant")
}

/// Minutes and seconds.
pub(super) fn clock_text(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
