//! All runs of a study on one screen: a head with the time that is left, one line a run around the running one, a foot. Pure.

use super::expectation::TimeLeft;
use super::line::{Emphasis, ScreenLine, bar};
use super::numbers::clock_text;
use super::row::{RunRow, Standing};
use super::view::RunEnd;
use std::ops::Range;
use std::time::Duration;

/// Runs shown at most; longer plans show those around the running one.
const SHOWN: usize = 16;

/// Waiting runs that have a line where lines do not count.
const WAITING: usize = 20;

/// Lines of a screen that belong to no run: head, foot, what comes before and after, the prompt.
const OTHERS: usize = 5;

/// Columns of the bar in the head.
const BAR: usize = 20;

/// Size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenSize {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
}

impl ScreenSize {
    /// Size for text that goes nowhere in particular.
    pub(crate) const UNKNOWN: Self = Self { columns: 200, lines: usize::MAX };
}

/// What the head tells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    pub(crate) name: String,
    /// Runs that are done, and all that there can be.
    pub(crate) done: usize,
    pub(crate) of: usize,
    /// Whether `of` is an upper bound.
    pub(crate) at_most: bool,
    /// Time since the session began; `None` while none goes on.
    pub(crate) elapsed: Option<Duration>,
    pub(crate) left: Option<TimeLeft>,
    /// Time of day at which it ends; empty where unknown.
    pub(crate) ends: String,
}

impl Head {
    /// The line.
    pub(crate) fn line(&self) -> ScreenLine {
        let Self { done, of, .. } = self;
        let runs = if *of == 1 { "run" } else { "runs" };
        let at_most = if self.at_most { "at most " } else { "" };
        let total = self.left.map(|left| left.time + self.elapsed.unwrap_or_default());
        let share = match total.filter(|total| !total.is_zero()) {
            Some(total) => self.elapsed.unwrap_or_default().as_secs_f64() / total.as_secs_f64(),
            None => *done as f64 / (*of).max(1) as f64,
        };
        ScreenLine::default()
            .with(self.name.clone(), Emphasis::Strong)
            .with(format!("{done} of {at_most}{of} {runs}"), Emphasis::Plain)
            .ranked(bar(share, BAR), Emphasis::Plain, 2)
            .ranked(self.time(), Emphasis::Plain, 1)
    }

    /// Elapsed and total time: `1:06 of about 2:20, ends 19:25`.
    fn time(&self) -> String {
        let clock = |time: Duration| clock_text(time.as_secs());
        let about = if self.left.is_some_and(|left| left.at_most) { "at most about" } else { "about" };
        match (self.elapsed, self.left) {
            (Some(elapsed), Some(_)) if self.done == self.of => format!("took {}", clock(elapsed)),
            // A run that takes longer than planned, or one that goes on beside the last: it is not known when it ends.
            (Some(elapsed), Some(TimeLeft { time, .. })) if time.is_zero() => format!("{} so far", clock(elapsed)),
            (Some(elapsed), Some(TimeLeft { time, .. })) => {
                let ends = if self.ends.is_empty() { String::new() } else { format!(", ends {}", self.ends) };
                format!("{} of {about} {}{ends}", clock(elapsed), clock(elapsed + time))
            }
            (Some(elapsed), None) => format!("{} so far", clock(elapsed)),
            (None, Some(TimeLeft { time, .. })) if !time.is_zero() => format!("{about} {} left", clock(time)),
            (None, _) => String::new(),
        }
    }
}

/// The lines of a screen, none wider than it and not more than it has.
pub(crate) fn screen(head: &Head, rows: &[RunRow], foot: &str, size: ScreenSize, colours: bool) -> Vec<String> {
    let fitted = |line: ScreenLine| line.fitted(size.columns, colours);
    let shown = shown(rows, size.lines);
    let widest = rows[shown.clone()].iter().map(|row| console::measure_text_width(&row.label)).max().unwrap_or(0);
    let label = widest.min((size.columns / 3).max(8));
    let mut lines = vec![fitted(head.line())];
    lines.extend(others(&rows[..shown.start], "before").map(&fitted));
    lines.extend(rows[shown.clone()].iter().map(|row| fitted(row.line(label, size.columns))));
    lines.extend(others(&rows[shown.end..], "pending").map(&fitted));
    if !foot.is_empty() {
        lines.push(fitted(ScreenLine::default().with(format!("  {foot}"), Emphasis::Faint)));
    }
    lines
}

/// Runs that have a line: all but many waiting ones, or those around the running one, which has two thirds of them before it.
fn shown(rows: &[RunRow], lines: usize) -> Range<usize> {
    if lines == usize::MAX {
        let begun = rows.iter().rposition(|row| !matches!(row.standing, Standing::Waiting)).map_or(0, |row| row + 1);
        return 0..if rows.len() - begun <= 2 * WAITING { rows.len() } else { begun + WAITING };
    }
    let room = lines.saturating_sub(OTHERS).clamp(1, SHOWN);
    if rows.len() <= room {
        return 0..rows.len();
    }
    // Of two at once the first, in the middle of whose study the view stands.
    let running = rows.iter().position(|row| matches!(row.standing, Standing::Running(_)));
    let last_ended = || rows.iter().rposition(|row| matches!(row.standing, Standing::Ended(_)));
    let place = running.or_else(last_ended).unwrap_or(0);
    let from = place.saturating_sub(room * 2 / 3).min(rows.len() - room);
    from..from + room
}

/// Runs without a line, in one: `… 12 before: 10 valid, 2 void`.
fn others(rows: &[RunRow], where_: &str) -> Option<ScreenLine> {
    let count = |is: fn(&Standing) -> bool| rows.iter().filter(|row| is(&row.standing)).count();
    let valid =
        count(|standing| matches!(standing, Standing::Ended(RunEnd::Judged(summary)) if summary.voids.is_empty()));
    let void =
        count(|standing| matches!(standing, Standing::Ended(RunEnd::Judged(summary)) if !summary.voids.is_empty()));
    let failed = count(|standing| matches!(standing, Standing::Ended(RunEnd::Failed(_))));
    let told: Vec<String> = [(valid, "valid"), (void, "void"), (failed, "failed")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let told = if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) };
    (!rows.is_empty())
        .then(|| ScreenLine::default().with(format!("  … {} {where_}{told}", rows.len()), Emphasis::Faint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{HostNow, LoadNow, Phase, RunningRun};
    use crate::run_times::{Phases, RunTimes, Span};
    use expect_test::{Expect, expect};
    use proofload_analysis::quantity::{Interval, Quantity, Unit};
    use proofload_report::findings::{RunSummary, Void, VoidClass};

    fn times() -> RunTimes {
        let span =
            |least, most| Span { at_least: Duration::from_secs(least), at_most: Some(Duration::from_secs(most)) };
        let phases = Phases { warm_up: span(60, 300), measure: span(20, 20), drill: Span::ZERO };
        RunTimes { span: Span::ZERO, phases: Some(phases), work: None, begins_measured: false }
    }

    fn row(label: &str, standing: Standing) -> RunRow {
        RunRow { label: label.to_owned(), times: times(), standing }
    }

    fn judged(rate: f64, half: f64, is_wide: bool, voids: &[(VoidClass, &str)]) -> Standing {
        let interval = Interval::known(rate * (1.0 - half), rate * (1.0 + half), "test");
        let void = |(class, text): &(VoidClass, &str)| Void { class: *class, text: (*text).to_owned() };
        Standing::Ended(RunEnd::Judged(RunSummary {
            voids: voids.iter().map(void).collect(),
            is_wide,
            throughput: Quantity::new(rate, Unit::PER_SECOND, 20, interval),
            response_ns_p99: Some(38_000_000),
            failed: 0,
        }))
    }

    fn running(phase: Phase, seconds: u64, attempt: u32, failed: u64) -> Standing {
        let throughput: Vec<f64> = (0..40).map(|second| 400.0 + f64::from(second * 37 % 100)).collect();
        let host = Some(HostNow { stolen: Some(0.03), foreign: Some(0.021), ..HostNow::default() });
        let load = LoadNow { throughput, response_ns_p99: Some(41_000_000), failed, host, modelled_busy: None };
        let in_phase = Duration::from_secs(seconds);
        Standing::Running(Box::new(RunningRun { phase, in_phase, step: String::new(), load, attempt }))
    }

    fn head() -> Head {
        let left = Some(TimeLeft { time: Duration::from_secs(74), at_most: false });
        let elapsed = Some(Duration::from_secs(66));
        Head {
            name: "memory-sweep".to_owned(),
            done: 2,
            of: 4,
            at_most: false,
            elapsed,
            left,
            ends: "19:25".to_owned(),
        }
    }

    const FOOT: &str = "transactions per second; Ctrl-C stops, proofload resume continues";

    #[track_caller]
    fn check(rows: &[RunRow], columns: usize, expected: &Expect) {
        let lines = screen(&head(), rows, FOOT, ScreenSize { columns, lines: 24 }, false);
        for line in &lines {
            assert!(console::measure_text_width(line) <= columns, "{line}");
        }
        let coloured = screen(&head(), rows, FOOT, ScreenSize { columns, lines: 24 }, true);
        let bare: Vec<String> = coloured.iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect();
        assert_eq!(bare, lines, "colours change no letter");
        expected.assert_eq(&(lines.join("\n") + "\n"));
    }

    fn rows() -> Vec<RunRow> {
        let moved =
            "throughput was still rising by 12 % [8, 16] over the window while others took 21 % of the processor";
        vec![
            row("256 MiB", judged(568.6, 0.04, false, &[])),
            row("64 MiB", judged(312.0, 0.2, false, &[(VoidClass::Host, moved)])),
            row("1 GiB", judged(601.0, 0.12, true, &[])),
            row("512 MiB", running(Phase::Measuring, 12, 1, 0)),
            row("128 MiB", Standing::Waiting),
        ]
    }

    #[test]
    fn a_screen_of_eighty_columns_and_one_of_two_hundred() {
        check(
            &rows(),
            79,
            &expect![[r#"
            memory-sweep  2 of 4 runs  █████████░░░░░░░░░░░  1:06 of about 2:20, ends 19:25
              ✓ 256 MiB  valid        569/s ±4 %      p99 38 ms
              ✗ 64 MiB   void         host: throughput was still rising by 12 % [8, 16] ov…
              ✓ 1 GiB    valid, wide  601/s ±12 %     p99 38 ms
              ▶ 512 MiB  measuring    12 of 20 s  443/s  ▇█▇█▇▇  p99 41 ms  steal 3 %
              · 128 MiB
              transactions per second; Ctrl-C stops, proofload resume continues
        "#]],
        );
        check(
            &rows(),
            199,
            &expect![[r#"
            memory-sweep  2 of 4 runs  █████████░░░░░░░░░░░  1:06 of about 2:20, ends 19:25
              ✓ 256 MiB  valid        569/s ±4 %      p99 38 ms
              ✗ 64 MiB   void         host: throughput was still rising by 12 % [8, 16] over the window while others took 21 % of the processor  312/s
              ✓ 1 GiB    valid, wide  601/s ±12 %     p99 38 ms
              ▶ 512 MiB  measuring    ██████░░░░  12 of 20 s  443/s  █▇▇█▇▇█▇█▇▇█▇▇█▇▇█▇█▇▇█▇▇█▇█▇▇  p99 41 ms  steal 3 %  others 2 %
              · 128 MiB
              transactions per second; Ctrl-C stops, proofload resume continues
        "#]],
        );
    }

    #[test]
    fn a_study_took_its_time_only_once_all_of_its_runs_are_done() {
        let left = Some(TimeLeft { time: Duration::ZERO, at_most: false });
        let told = |done: usize| Head { done, left, ..head() }.time();
        assert_eq!(told(3), "1:06 so far", "the last run takes longer than planned");
        assert_eq!(told(4), "took 1:06");
    }

    #[test]
    fn a_warm_up_says_when_it_is_settled_and_what_counts_most_stays() {
        let rows = [
            row("512 MiB", running(Phase::WarmingUp, 35, 2, 3)),
            row("512 MiB", running(Phase::WarmingUp, 75, 1, 0)),
            row("512 MiB", Standing::Ended(RunEnd::Failed("run 1: the server did not start\nlog".to_owned()))),
            row("512 MiB", Standing::Unfinished),
        ];
        check(
            &rows,
            79,
            &expect![[r#"
            memory-sweep  2 of 4 runs  █████████░░░░░░░░░░░  1:06 of about 2:20, ends 19:25
              ▶ 512 MiB  warming up   settled in 0:25 to 4:25  443/s  p99 41 ms  3 failed
              ▶ 512 MiB  warming up   settled in 3:45 at the latest  443/s  p99 41 ms
              ✗ 512 MiB  failed       run 1: the server did not start log
              · 512 MiB  unfinished   its conductor ended; it will be run again
              transactions per second; Ctrl-C stops, proofload resume continues
        "#]],
        );
        check(
            &rows,
            140,
            &expect![[r#"
            memory-sweep  2 of 4 runs  █████████░░░░░░░░░░░  1:06 of about 2:20, ends 19:25
              ▶ 512 MiB  warming up   settled in 0:25 at the earliest, 4:25 at the latest  443/s  ▇█▇█▇▇  p99 41 ms  3 failed  steal 3 %  others 2 %
              ▶ 512 MiB  warming up   settled in 3:45 at the latest  443/s  █▇▇█▇▇█▇█▇▇█▇▇█▇▇█▇█▇▇█▇▇█▇█▇▇  p99 41 ms  steal 3 %  others 2 %
              ✗ 512 MiB  failed       run 1: the server did not start log
              · 512 MiB  unfinished   its conductor ended; it will be run again
              transactions per second; Ctrl-C stops, proofload resume continues
        "#]],
        );
        check(
            &rows,
            30,
            &expect![[r#"
            memory-sweep  2 of 4 runs
              ▶ 512 MiB  warming up   set…
              ▶ 512 MiB  warming up   set…
              ✗ 512 MiB  failed       run…
              · 512 MiB  unfinished   its…
              transactions per second; Ct…
        "#]],
        );
    }

    #[test]
    fn the_share_of_its_time_that_a_modelled_disk_is_busy_is_shown() {
        let mut row = row("512 MiB", running(Phase::Measuring, 12, 1, 0));
        let line = |row: &RunRow| {
            screen(&head(), std::slice::from_ref(row), "", ScreenSize { columns: 199, lines: 24 }, false).remove(1)
        };
        assert!(!line(&row).contains("modelled"), "nothing is modelled");
        if let Standing::Running(running) = &mut row.standing {
            running.load.modelled_busy = Some(0.624);
        }
        assert!(line(&row).contains("modelled disk busy 62 %"), "{}", line(&row));
    }

    #[test]
    fn a_long_plan_is_shown_around_the_running_run() {
        let mut rows: Vec<RunRow> =
            (0..40).map(|run| row(&format!("point {run}"), judged(100.0, 0.02, false, &[]))).collect();
        rows[3].standing = judged(1.0, 0.9, false, &[(VoidClass::NotSteady, "it moved")]);
        for (index, row) in rows.iter_mut().enumerate().skip(25) {
            row.standing = if index == 25 { running(Phase::Measuring, 3, 1, 0) } else { Standing::Waiting };
        }
        let lines = screen(&head(), &rows, FOOT, ScreenSize { columns: 79, lines: 12 }, false);
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[1], "  … 21 before: 20 valid, 1 void");
        assert_eq!(lines[9], "  … 12 pending");
        assert!(lines[6].starts_with("  ▶ point 25"), "{lines:#?}");
    }

    #[test]
    fn many_waiting_runs_are_counted_where_all_others_are_shown() {
        let mut rows: Vec<RunRow> =
            (0..400).map(|run| row(&format!("point {run}"), judged(100.0, 0.02, false, &[]))).collect();
        for row in rows.iter_mut().skip(50) {
            row.standing = Standing::Waiting;
        }
        let lines = screen(&head(), &rows, "", ScreenSize::UNKNOWN, false);
        assert_eq!((lines.len(), lines[71].as_str()), (72, "  … 330 pending"));
        assert_eq!(screen(&head(), &rows[..90], "", ScreenSize::UNKNOWN, false).len(), 91);
    }
}
