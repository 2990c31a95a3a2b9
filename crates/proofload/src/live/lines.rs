//! Progress in lines, for pipes and logs: one at each change of phase and one every 30 s while nothing changes. As text for people, or one
//! JSON object a line for programs. May not decide anything.

use super::beside::RunBeside;
use super::expectation::Expectation;
use super::numbers::{clock_text, percent, rate_number, response_text};
use super::row::{phase_span, reasons};
use super::second::{LoadNow, SecondSeen};
use super::view::{Phase, Program, RunEnd, View};
use crate::local_time::{local_zone, time_of_day};
use crate::output;
use crate::run_times::{PlannedRun, RunTimes, Span};
use jiff::tz::TimeZone;
use proofload_model::step_count::StepCount;
use proofload_model::time::{Clock, Moment};
use proofload_report::findings::RunSummary;
use serde_json::{Map, Value as Json, json};
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
    zone: TimeZone,
    work: &'static str,
    whole: &'static str,
    runs: Vec<(String, RunTimes)>,
    expectation: Expectation,
    run: Option<usize>,
    beside: Option<RunBeside>,
    /// The run that was begun last and when, while a line is of one beside it: it is the one that takes time.
    lead: Option<(usize, Moment)>,
    phase: Phase,
    /// What is done in a long step, and how much of it.
    step: Option<(String, Option<StepCount>)>,
    load: LoadNow,
    began: Moment,
    run_began: Moment,
    phase_began: Moment,
    last_line: Moment,
}

/// What a line tells.
#[derive(Debug, Clone, Copy)]
enum LineEvent<'a> {
    /// The run entered a phase.
    Phase,
    /// A phase goes on.
    Goes,
    /// The run ended.
    Ended(&'a RunEnd),
}

impl Lines {
    pub(crate) fn new(form: LineForm, program: Program<'_>, clock: Arc<dyn Clock>) -> Self {
        let now = clock.now();
        let planned = program.runs.iter().map(|(run, ended)| (run, matches!(ended, Some(RunEnd::Judged(_)))));
        Self {
            form,
            clock,
            zone: local_zone(),
            work: program.work,
            whole: program.whole,
            expectation: Expectation::of(planned, program.most),
            runs: program.runs.into_iter().map(|(run, _)| (run.label, run.times)).collect(),
            run: None,
            beside: None,
            lead: None,
            phase: Phase::Starting,
            step: None,
            load: LoadNow::default(),
            began: now,
            run_began: now,
            phase_began: now,
            last_line: now,
        }
    }

    fn print(&mut self, told: LineEvent<'_>) {
        self.last_line = self.clock.now();
        output::note(&self.line(told));
    }

    /// Prints what is told of a run that goes on beside the one that was begun last.
    fn print_beside(&mut self, beside: RunBeside, told: LineEvent<'_>) {
        self.last_line = self.clock.now();
        output::note(&self.line_beside(beside, told));
    }

    fn line(&self, told: LineEvent<'_>) -> String {
        match self.form {
            LineForm::Plain => self.plain(told),
            LineForm::Json => self.json(told).to_string(),
        }
    }

    /// A line of a run that goes on beside the one that was begun last.
    fn line_beside(&mut self, beside: RunBeside, told: LineEvent<'_>) -> String {
        self.lead = self.run.map(|run| (run, self.run_began));
        let of_other = (self.run, self.phase, self.run_began, self.phase_began);
        let (step, load) = (self.step.take(), std::mem::take(&mut self.load));
        (self.run, self.phase) = (Some(beside.run), beside.phase);
        (self.run_began, self.phase_began) = (beside.began, beside.phase_began);
        let line = self.line(told);
        (self.run, self.phase, self.run_began, self.phase_began) = of_other;
        (self.step, self.load, self.lead) = (step, load, None);
        line
    }

    /// `12:03:10 run 3 of 8, 64 MiB: measuring, 12 s of 20 s, 569 transactions/s, steal 21 %`.
    fn plain(&self, told: LineEvent<'_>) -> String {
        let time = time_of_day(self.clock.wall(), &self.zone);
        let what = match told {
            LineEvent::Phase => self.begun(),
            LineEvent::Goes => self.goes(),
            LineEvent::Ended(RunEnd::Failed(trouble)) => format!("failed: {trouble}"),
            LineEvent::Ended(RunEnd::Interrupted) => "interrupted".to_owned(),
            LineEvent::Ended(RunEnd::Judged(summary)) => self.verdict(summary),
        };
        let run = self.run.and_then(|run| Some((run, self.runs.get(run)?)));
        match run {
            Some((run, (label, _))) => {
                format!("{time} run {} of {}, {label}: {what}", run + 1, self.expectation.count().1)
            }
            None => format!("{time} {what}"),
        }
    }

    /// A phase that begins, and how long it lasts.
    fn begun(&self) -> String {
        let lasts = match self.span() {
            Some(Span { at_least, at_most: Some(most) }) if at_least == most && !most.is_zero() => {
                format!(" for {} s", most.as_secs())
            }
            Some(Span { at_least, at_most: Some(most) }) if !most.is_zero() => {
                format!(" for {} to {} s", at_least.as_secs(), most.as_secs())
            }
            _ => String::new(),
        };
        let left = self.left().filter(|_| self.phase == Phase::Starting);
        let about = |left: Duration| format!(", about {} left in {}", clock_text(left.as_secs()), self.whole);
        let left = left.map(about).unwrap_or_default();
        format!("{}{lasts}{left}", self.phase.words())
    }

    fn goes(&self) -> String {
        let words = self.phase.words();
        if let Some((what, count)) = &self.step {
            return match count.and_then(StepCount::percent) {
                None => format!("{words}, {what}"),
                Some(percent) => format!("{words}, {what} {percent} %"),
            };
        }
        let gone = self.clock.now().since(self.phase_began).as_secs();
        let of = self.span().and_then(|span| span.at_most).filter(|most| !most.is_zero());
        let of = of.map(|most| format!(" of {} s", most.as_secs())).unwrap_or_default();
        format!("{words}, {gone} s{of}{}", self.figures())
    }

    fn figures(&self) -> String {
        let Some(rate) = self.load.rate().filter(|_| self.phase.is_under_load()) else { return String::new() };
        let mut text = format!(", {}", self.rate(rate));
        if let Some(p99) = self.load.response_ns_p99 {
            text += &format!(", p99 {}", response_text(p99));
        }
        if self.load.failed > 0 {
            text += &format!(", {} failed", self.load.failed);
        }
        let share = |what: &str, share: Option<f64>| {
            share
                .filter(|share| *share >= 0.005)
                .map(|share| format!(", {what} {}", percent(share)))
                .unwrap_or_default()
        };
        let host = self.load.host.unwrap_or_default();
        let told = [
            ("steal", host.stolen),
            ("others", host.foreign),
            ("kept off core", host.spin),
            ("reads: others", host.reads),
            ("modelled disk busy", self.load.modelled_busy),
        ];
        text + &told.map(|(what, of)| share(what, of)).concat()
    }

    /// `569 transactions/s`.
    fn rate(&self, rate: f64) -> String {
        format!("{} {}/s", rate_number(rate), self.work)
    }

    fn verdict(&self, summary: &RunSummary) -> String {
        let word = summary.verdict();
        if !summary.voids.is_empty() {
            return format!("{word}, {}", reasons(summary));
        }
        let width = summary.relative_half_width().map(|share| format!(" ±{}", percent(share))).unwrap_or_default();
        let p99 = summary.response_ns_p99.map(|p99| format!(", p99 {}", response_text(p99))).unwrap_or_default();
        format!("{word}, {}{width}{p99}", self.rate(summary.throughput.value()))
    }

    fn json(&self, told: LineEvent<'_>) -> Json {
        let now = self.clock.now();
        let label = self.run.and_then(|run| self.runs.get(run)).map(|(label, _)| label);
        let mut line = json!({
            "at_us": self.clock.wall().0, "run": self.run.map(|run| run + 1), "of": self.expectation.count().1, "point": label,
            "elapsed_s": now.since(self.began).as_secs(), "left_s": self.left().map(|left| left.as_secs()),
        });
        let mut add = |more: Json| {
            if let (Json::Object(line), Json::Object(more)) = (&mut line, more) {
                line.extend(more);
            }
        };
        match (told, &self.step) {
            (LineEvent::Ended(ended), _) => add(ended_json(ended, self.work)),
            (LineEvent::Goes, Some((what, count))) => {
                let (done, total) = count.map_or((0, 0), |count| (count.done, count.total));
                let unit = count.map(|count| count.unit.word());
                add(json!({ "event": "step", "what": what, "done": done, "total": total, "unit": unit }));
                add(Json::Object(self.phase_json(now)));
            }
            (told, _) => {
                let is_load = matches!(told, LineEvent::Goes) && self.phase.is_under_load();
                let event = if is_load { "load" } else { "phase" };
                add(json!({ "event": event }));
                add(Json::Object(self.phase_json(now)));
                if is_load {
                    add(load_json(&self.load, self.work));
                }
            }
        }
        line
    }

    fn phase_json(&self, now: Moment) -> Map<String, Json> {
        let mut keys = Map::new();
        keys.insert("phase".to_owned(), json!(self.phase.words()));
        keys.insert("phase_s".to_owned(), json!(now.since(self.phase_began).as_secs()));
        let span = self.span();
        keys.insert("phase_at_least_s".to_owned(), json!(span.map(|span| span.at_least.as_secs_f64())));
        let most = span.and_then(|span| span.at_most).map(|most| most.as_secs_f64());
        keys.insert("phase_at_most_s".to_owned(), json!(most));
        keys
    }

    fn span(&self) -> Option<Span> {
        phase_span(self.phase, &self.run.and_then(|run| self.runs.get(run))?.1)
    }

    fn left(&self) -> Option<Duration> {
        let running = self.lead.or_else(|| self.run.map(|run| (run, self.run_began)));
        let running = running.map(|(run, began)| (run, self.clock.now().since(began)));
        self.expectation.left(running).map(|left| left.time)
    }
}

/// Figures of a running load, for programs.
pub(crate) fn load_json(load: &LoadNow, work: &str) -> Json {
    json!({
        "rate": load.rate(), "unit": format!("{work}/s"), "response_p99_ns": load.response_ns_p99, "failed": load.failed,
        "stolen": load.host.and_then(|host| host.stolen), "foreign": load.host.and_then(|host| host.foreign),
        "foreign_reads": load.host.and_then(|host| host.reads), "spin": load.host.and_then(|host| host.spin),
        "modelled_busy": load.modelled_busy,
    })
}

/// How a run ended, for programs.
pub(crate) fn ended_json(ended: &RunEnd, work: &str) -> Json {
    match ended {
        RunEnd::Failed(trouble) => json!({ "event": "ended", "trouble": trouble, "verdict": null }),
        RunEnd::Interrupted => json!({ "event": "ended", "trouble": "interrupted", "verdict": null }),
        RunEnd::Judged(summary) => {
            let reason =
                |void: &proofload_report::findings::Void| json!({ "cause": void.class.word(), "text": void.text });
            let rate = Some(summary.throughput.value()).filter(|rate| rate.is_finite());
            json!({
                "event": "ended", "trouble": null, "verdict": summary.verdict(),
                "reasons": summary.voids.iter().map(reason).collect::<Vec<_>>(),
                "rate": rate, "rate_half_width": summary.relative_half_width(), "unit": format!("{work}/s"),
                "response_p99_ns": summary.response_ns_p99, "failed": summary.failed,
            })
        }
    }
}

impl View for Lines {
    fn begin_run(&mut self, run: u32) {
        self.run = Some(run as usize);
        self.run_began = self.clock.now();
        self.expectation.begin(run as usize);
        self.load = LoadNow::default();
        self.phase(Phase::Starting);
    }

    fn planned(&mut self, runs: &[PlannedRun]) {
        self.expectation.extend(runs.iter().map(|run| (run, false)));
        self.runs.extend(runs.iter().map(|run| (run.label.clone(), run.times)));
    }

    fn phase(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_began = self.clock.now();
        self.step = None;
        self.print(LineEvent::Phase);
    }

    fn progress(&mut self, what: &str, count: Option<StepCount>) {
        self.step = Some((what.to_owned(), count));
    }

    fn second(&mut self, second: &SecondSeen<'_>) {
        self.step = None;
        self.load.add(second);
    }

    fn note(&mut self, text: &str) {
        self.last_line = self.clock.now();
        match self.form {
            LineForm::Plain => output::note(text),
            LineForm::Json => output::note(&json!({ "event": "note", "text": text }).to_string()),
        }
    }

    fn end_run(&mut self, run: u32, ended: &RunEnd) {
        if matches!(ended, RunEnd::Judged(_)) {
            self.expectation.end(run as usize, self.clock.now().since(self.run_began));
        }
        self.print(LineEvent::Ended(ended));
        (self.run, self.step) = (None, None);
    }

    fn beside(&mut self, run: u32, phase: Phase) {
        let beside = RunBeside::entered(self.beside, run, phase, self.clock.now());
        if beside.is_new {
            self.expectation.begin(beside.run);
        }
        self.beside = Some(beside);
        self.print_beside(beside, LineEvent::Phase);
    }

    fn end_beside(&mut self, run: u32, ended: &RunEnd) {
        let now = self.clock.now();
        let known = self.beside.take().filter(|beside| beside.run == run as usize);
        let beside = known.unwrap_or_else(|| RunBeside::entered(None, run, Phase::Starting, now));
        if matches!(ended, RunEnd::Judged(_)) {
            self.expectation.end(beside.run, now.since(beside.began));
        }
        self.print_beside(beside, LineEvent::Ended(ended));
    }

    fn tick(&mut self) {
        if self.clock.now().since(self.last_line) < EVERY {
            return;
        }
        match self.beside.filter(|_| self.run.is_none()) {
            Some(beside) => self.print_beside(beside, LineEvent::Goes),
            None if self.run.is_some() || self.phase != Phase::Starting => self.print(LineEvent::Goes),
            None => {}
        }
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_times::Phases;
    use proofload_model::time::WallTime;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A clock that stands until it is set, in seconds.
    struct SetClock(AtomicU64);

    impl Clock for SetClock {
        fn now(&self) -> Moment {
            Moment(self.0.load(Ordering::Relaxed) * 1_000_000_000)
        }

        fn wall(&self) -> WallTime {
            WallTime(0)
        }

        fn sleep(&self, _time: Duration) {}
    }

    /// Lines of two studies at once, each of so many runs of a minute: those of the first, then those of the second.
    fn lines_of_two(runs_each: usize, clock: &Arc<SetClock>) -> Lines {
        let measured = Span { at_least: Duration::from_secs(60), at_most: Some(Duration::from_secs(60)) };
        let phases = Some(Phases { warm_up: Span::ZERO, measure: measured, drill: Span::ZERO });
        let planned = |is_beside: bool| {
            let times = RunTimes { span: measured, phases, work: None, begins_measured: false };
            let run =
                PlannedRun { label: "run".to_owned(), times, around: Duration::ZERO, build: Duration::ZERO, is_beside };
            (run, None)
        };
        let runs = (0..2 * runs_each).map(|place| planned(place >= runs_each)).collect();
        let (most, whole, continued_by) = (2 * runs_each, "this duet", "nothing");
        let program = Program { name: "two studies", work: "operations", runs, most, whole, continued_by };
        Lines::new(LineForm::Json, program, Arc::<SetClock>::clone(clock))
    }

    /// Time that is left in a line of the first study, where it has a run, and in one of the second.
    fn left_of_both(lines: &mut Lines) -> [Json; 2] {
        let beside = lines.beside.expect("it goes on");
        let left = |line: &str| serde_json::from_str::<Json>(line).expect("JSON")["left_s"].clone();
        [left(&lines.line(LineEvent::Goes)), left(&lines.line_beside(beside, LineEvent::Goes))]
    }

    #[test]
    fn a_line_of_the_second_study_tells_the_time_that_the_run_of_the_first_leaves() {
        let clock = Arc::new(SetClock(AtomicU64::new(0)));
        let mut lines = lines_of_two(1, &clock);
        lines.begin_run(0);
        lines.beside(1, Phase::Starting);
        clock.0.store(45, Ordering::Relaxed);
        assert_eq!(left_of_both(&mut lines), [15, 15].map(Json::from), "not the whole of the run again");
        assert_eq!(lines.run, Some(0), "the first goes on as before");
        lines.form = LineForm::Plain;
        let line = lines.line(LineEvent::Phase);
        assert!(line.ends_with("starting, about 0:15 left in this duet"), "{line}");
    }

    #[test]
    fn lines_of_both_studies_tell_one_time_whichever_begins_its_next_run_first() {
        let clock = Arc::new(SetClock(AtomicU64::new(0)));
        let mut lines = lines_of_two(2, &clock);
        lines.begin_run(0);
        lines.beside(2, Phase::Starting);
        clock.0.store(20, Ordering::Relaxed);
        assert_eq!(left_of_both(&mut lines), [100, 100].map(Json::from));
        clock.0.store(60, Ordering::Relaxed);
        lines.expectation.end(0, Duration::from_secs(60));
        lines.run = None;
        assert_eq!(left_of_both(&mut lines), [60, 60].map(Json::from), "the first has no run");
        lines.beside(3, Phase::Starting);
        assert_eq!(left_of_both(&mut lines), [60, 60].map(Json::from), "the second began before the first");
        clock.0.store(65, Ordering::Relaxed);
        lines.begin_run(1);
        clock.0.store(75, Ordering::Relaxed);
        assert_eq!(left_of_both(&mut lines), [50, 50].map(Json::from));
    }
}
