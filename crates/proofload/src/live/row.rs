//! One run of the plan in one line: mark, levels, verdict or phase, figures. The same for the live view and for `status`. Pure.

use super::line::{Emphasis, ScreenLine, bar, column};
use super::numbers::{clock_text, percent, rate_text, response_text};
use super::second::LoadNow;
use super::sparkline::sparkline;
use super::view::{Phase, RunEnd};
use crate::run_times::{RunTimes, Span};
use proofload_report::findings::RunSummary;
use std::time::Duration;

/// Columns of the word behind the levels: the longest verdict.
const WORD: usize = 11;

/// Widest sparkline, columns.
const SPARK: usize = 30;

/// Where two columns more make no line unreadable.
const ROOMY: usize = 100;

/// How one run stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// Its turn has not come.
    Waiting,
    /// It runs.
    Running(Box<RunningRun>),
    /// It ended.
    Ended(RunEnd),
    /// Its conductor ended before it did.
    Unfinished,
}

/// A run that goes on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunningRun {
    pub(crate) phase: Phase,
    /// Time since the phase began.
    pub(crate) in_phase: Duration,
    /// A long step, in words; empty without one.
    pub(crate) step: String,
    /// Its load; empty before it begins.
    pub(crate) load: LoadNow,
    /// Number of the attempt, from 1.
    pub(crate) attempt: u32,
}

/// One run of the plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunRow {
    pub(crate) label: String,
    pub(crate) times: RunTimes,
    pub(crate) standing: Standing,
}

impl RunRow {
    /// The line, with a label of so many columns and figures for a screen of so many.
    pub(crate) fn line(&self, label_columns: usize, columns: usize) -> ScreenLine {
        let label = column(&self.label, label_columns);
        let head = |mark: char, emphasis| ScreenLine::default().with(format!("  {mark} {label}"), emphasis);
        match &self.standing {
            Standing::Waiting => head('·', Emphasis::Faint),
            Standing::Unfinished => {
                let line = head('·', Emphasis::Plain).with(column("unfinished", WORD), Emphasis::Plain);
                line.with("its conductor ended; it will be run again", Emphasis::Plain)
            }
            Standing::Ended(RunEnd::Failed(trouble)) => {
                head('✗', Emphasis::Bad).with(column("failed", WORD), Emphasis::Bad).with(trouble, Emphasis::Plain)
            }
            Standing::Ended(RunEnd::Judged(summary)) => judged(head, summary),
            Standing::Ended(RunEnd::Interrupted) => {
                head('·', Emphasis::Plain).with(column("interrupted", WORD), Emphasis::Plain)
            }
            Standing::Running(running) => running.line(head('▶', Emphasis::Strong), &self.times, columns),
        }
    }
}

/// A finished run: what it came to, or why it is void.
fn judged(head: impl Fn(char, Emphasis) -> ScreenLine, summary: &RunSummary) -> ScreenLine {
    let word = column(summary.verdict(), WORD);
    if !summary.voids.is_empty() {
        let figures = rate_text(summary.throughput.value());
        return head('✗', Emphasis::Bad).with(word, Emphasis::Bad).with(reasons(summary), Emphasis::Plain).ranked(
            figures,
            Emphasis::Faint,
            1,
        );
    }
    let emphasis = if summary.is_wide { Emphasis::Warning } else { Emphasis::Good };
    let width = summary.relative_half_width().map(|share| format!(" ±{}", percent(share))).unwrap_or_default();
    let rate = format!("{}{width}", rate_text(summary.throughput.value()));
    let line = head('✓', emphasis).with(word, emphasis).with(column(&rate, 14), Emphasis::Plain);
    let line = match summary.response_ns_p99 {
        Some(p99) => line.ranked(format!("p99 {}", response_text(p99)), Emphasis::Plain, 1),
        None => line,
    };
    failures(line, summary.failed, 2)
}

/// Why a run is void, the class of each reason before it.
pub(crate) fn reasons(summary: &RunSummary) -> String {
    let told: Vec<String> = summary.voids.iter().map(|void| format!("{}: {void}", void.class.word())).collect();
    told.join("; ")
}

fn failures(line: ScreenLine, failed: u64, rank: u8) -> ScreenLine {
    if failed == 0 { line } else { line.ranked(format!("{failed} failed"), Emphasis::Bad, rank) }
}

impl RunningRun {
    fn line(&self, head: ScreenLine, times: &RunTimes, columns: usize) -> ScreenLine {
        let mut line = head.with(column(self.phase.words(), WORD), Emphasis::Plain);
        if self.attempt > 1 {
            line = line.ranked(format!("attempt {}", self.attempt), Emphasis::Plain, 7);
        }
        if !self.phase.is_under_load() {
            let step = if self.step.is_empty() { clock_text(self.in_phase.as_secs()) } else { self.step.clone() };
            return line.with(step, Emphasis::Plain);
        }
        line = self.phase_parts(line, phase_span(self.phase, times), columns);
        let Some(rate) = self.load.rate() else { return line };
        line = line.with(rate_text(rate), Emphasis::Strong);
        let with_spark =
            |line: ScreenLine, width: usize| line.ranked(sparkline(&self.load.throughput, width), Emphasis::Plain, 4);
        let figures = |mut line: ScreenLine| {
            if let Some(p99) = self.load.response_ns_p99 {
                line = line.ranked(format!("p99 {}", response_text(p99)), Emphasis::Plain, 3);
            }
            line = failures(line, self.load.failed, 1);
            let share = |what: &str, share: Option<f64>| share.map(|share| format!("{what} {}", percent(share)));
            let host = self.load.host.unwrap_or_default();
            // Without steal and other processes the spin probe stands in their place.
            let told = [
                (share("steal", host.stolen), 5),
                (share("others", host.foreign), 6),
                (share("kept off core", host.spin), 6),
                (share("reads: others", host.reads), 9),
                (share("modelled disk busy", self.load.modelled_busy), 7),
            ];
            told.into_iter()
                .fold(line, |line, (text, rank)| line.ranked(text.unwrap_or_default(), Emphasis::Plain, rank))
        };
        // The sparkline has what the figures leave, within reason.
        let room = columns.saturating_sub(figures(with_spark(line.clone(), 1)).width() - 1);
        figures(with_spark(line, room.clamp(6, SPARK)))
    }

    /// Bar and time of a phase, as far as its length is known.
    fn phase_parts(&self, line: ScreenLine, span: Option<Span>, columns: usize) -> ScreenLine {
        let gone = self.in_phase.as_secs();
        let Some(Span { at_least, at_most: Some(at_most) }) = span.filter(|span| span.at_most != Some(Duration::ZERO))
        else {
            return line.with(clock_text(gone), Emphasis::Plain);
        };
        let (least, most) = (at_least.as_secs(), at_most.as_secs());
        if self.phase == Phase::WarmingUp && least < most {
            let until = |seconds: u64| clock_text(seconds.saturating_sub(gone));
            let text = match (gone < least, columns >= ROOMY) {
                (true, true) => format!("settled in {} at the earliest, {} at the latest", until(least), until(most)),
                (true, false) => format!("settled in {} to {}", until(least), until(most)),
                (false, _) => format!("settled in {} at the latest", until(most)),
            };
            return line.with(text, Emphasis::Plain);
        }
        let whole = if gone > least { most } else { least };
        let width = if columns >= ROOMY { 10 } else { 4 };
        let told = if whole < 120 {
            format!("{:>2} of {whole} s", gone.min(whole))
        } else {
            format!("{} of {}", clock_text(gone.min(whole)), clock_text(whole))
        };
        let share = gone.min(whole) as f64 / whole.max(1) as f64;
        line.ranked(bar(share, width), Emphasis::Plain, 8).with(told, Emphasis::Plain)
    }
}

/// How long a phase lasts; `None` where nothing bounds it.
pub(crate) fn phase_span(phase: Phase, times: &RunTimes) -> Option<Span> {
    let phases = times.phases?;
    match phase {
        Phase::WarmingUp => Some(phases.warm_up),
        Phase::Measuring => Some(phases.measure),
        Phase::Drilling => Some(phases.drill),
        _ => None,
    }
}
