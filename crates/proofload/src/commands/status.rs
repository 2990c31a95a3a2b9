//! `status`: where a record stands, also while it is written, in the words of the live view.

use super::next_steps::{NextSteps, way_on};
use super::status_json::as_json;
use super::verdict::StudyResult;
use crate::cli::StatusArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::live::{
    Canvas, Expectation, Head, HostNow, LoadNow, Phase, RunEnd, RunRow, RunningRun, ScreenSize, Standing, screen,
};
use crate::local_time::{local_zone, time_of_day_in};
use crate::output;
use crate::run_times::{PlannedRun, RunTimes, planned_runs};
use proofload_analysis::disturbance::HostSecond;
use proofload_model::events::RunEvent;
use proofload_model::facts::{CoreSet, limit};
use proofload_model::plan::{Run, most_runs};
use proofload_model::samples::MarkLabel;
use proofload_model::series::{SeriesName, cores, device, foreign, group, spin, tier};
use proofload_model::settings::setting;
use proofload_model::time::{Clock, Offset, WallTime};
use proofload_record::{Attempt, Follower, Record, RunAttempts, SeriesPoint, State};
use proofload_report::findings::{
    RunSummary, SearchFindings, SearchState, evaluate, searches, summarise, summarise_run,
};
use proofload_report::workloads::workload;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Time between two looks of `--watch`.
const SECOND: Duration = Duration::from_secs(1);

/// Seconds after which `--watch` prints again where it cannot draw.
const EVERY: u32 = 30;

/// Prints it, once or until the study has ended.
pub(crate) fn run(arguments: &StatusArguments) -> Exit {
    match if arguments.watch { watch(arguments) } else { once(arguments) } {
        Ok(exit) => exit,
        Err(error) => output::failure(arguments.json, Exit::Failure, &error),
    }
}

fn once(arguments: &StatusArguments) -> Result<Exit, String> {
    let record = proofload_record::read(&arguments.record).map_err(|error| error.to_string())?;
    let (status, result) = status_and_result(&record, &mut BTreeMap::new(), SystemClock.wall());
    let result = result.filter(|_| status.is_complete() && !record.being_written);
    output::result(&if arguments.json {
        format!("{:#}", as_json(&status, &record, result.as_ref(), &arguments.record))
    } else {
        status.text(&record, result.as_ref(), &arguments.record)
    })?;
    Ok(Exit::Good)
}

/// Shows it each second until the study has ended or somebody has seen enough. Reads no more than that takes, since it may stand beside a
/// measurement.
fn watch(arguments: &StatusArguments) -> Result<Exit, String> {
    let interrupt = Interrupt::install().map_err(|error| format!("failed to install signal handlers: {error}"))?;
    let mut known = BTreeMap::new();
    let mut canvas = (!arguments.json && output::is_terminal()).then(Canvas::new);
    let mut printed = (String::new(), 0);
    let mut follower = Follower::new(&arguments.record);
    loop {
        if follower.is_another_file() {
            known.clear();
        }
        let is_new = |attempt: &Attempt| attempt.state == State::Finished && !known.contains_key(&attempt.id);
        let record = follower.look(&is_new).map_err(|error| error.to_string())?;
        let mut status = Status::of(record, &mut known, SystemClock.wall());
        status.searches = recorded_searches(record);
        if status.is_complete() && !record.being_written {
            break;
        }
        if arguments.json {
            output::result(&as_json(&status, record, None, &arguments.record).to_string())?;
        } else if let Some(canvas) = &mut canvas {
            let (size, colours) = (canvas.size(), canvas.has_colours());
            let foot = format!("{} per second; Ctrl-C ends this view, not the study", status.work);
            canvas.draw(&screen(&status.head, &status.rows, &foot, size, colours));
        } else {
            let phases = status.phases();
            if printed.0 != phases || printed.1 >= EVERY {
                output::result(&status.lines(ScreenSize::UNKNOWN).join("\n"))?;
                printed = (phases, 0);
            }
            printed.1 += 1;
        }
        if interrupt.asked() {
            return Ok(Exit::Good);
        }
        SystemClock.sleep(SECOND);
        if interrupt.asked() {
            return Ok(Exit::Good);
        }
    }
    if let Some(canvas) = &mut canvas {
        canvas.draw(&[]);
    }
    let record = proofload_record::read(&arguments.record).map_err(|error| error.to_string())?;
    let (status, result) = status_and_result(&record, &mut known, SystemClock.wall());
    let result = result.unwrap_or_else(|| StudyResult::of_record(&record));
    output::result(&if arguments.json {
        as_json(&status, &record, Some(&result), &arguments.record).to_string()
    } else {
        status.text(&record, Some(&result), &arguments.record)
    })?;
    Ok(Exit::Good)
}

/// Where a record stands, and what its study came to where every run of the plan has ended: each run is evaluated once for both.
fn status_and_result(
    record: &Record,
    known: &mut BTreeMap<i64, RunSummary>,
    now: WallTime,
) -> (Status, Option<StudyResult>) {
    let has_ended = has_every_run(record);
    let findings = has_ended.then(|| evaluate(record));
    for point in findings.iter().flat_map(|findings| &findings.points) {
        let settings = record.plan.settings(&record.study, point.id);
        known.extend(point.runs.iter().map(|run| (run.attempt, summarise_run(run, &settings))));
    }
    let mut status = Status::of(record, known, now);
    status.searches = findings.as_ref().map_or_else(|| told(&searches(record)), |findings| told(&findings.searches));
    status.next = findings.as_ref().map(|findings| NextSteps::of(record, findings)).unwrap_or_default();
    (status, findings.as_ref().map(StudyResult::of))
}

/// Tells whether every run of the plan has finished.
pub(super) fn has_every_run(record: &Record) -> bool {
    let attempts = record.by_run();
    record.plan.runs.iter().all(|run| attempts.finished(run.index).is_some())
}

/// When a reading was taken, the time that it covers, ns, and its value.
type SeriesSample = (Offset, u64, f64);

/// Where a record stands.
pub(super) struct Status {
    pub(super) head: Head,
    pub(super) rows: Vec<RunRow>,
    /// Units of work in the plural.
    pub(super) work: &'static str,
    /// Every search of the study: of which levels, how it stands, and whether it has ended.
    pub(super) searches: Vec<(String, String, bool)>,
    /// What to do with void points, once every run has ended.
    pub(super) next: NextSteps,
}

impl Status {
    /// Makes it of a record; verdicts on attempts that are `known` already are not formed again.
    pub(super) fn of(record: &Record, known: &mut BTreeMap<i64, RunSummary>, now: WallTime) -> Self {
        let planned = planned_runs(&record.study, &record.plan);
        let since = |at: WallTime| Duration::from_micros(u64::try_from(now.0 - at.0).unwrap_or(0));
        let attempts = record.by_run();
        let runs = planned.iter().zip(&record.plan.runs);
        let rows: Vec<RunRow> = runs.map(|(planned, run)| row((record, &attempts), planned, run, known, now)).collect();
        let is_done = |row: &RunRow| matches!(row.standing, Standing::Ended(RunEnd::Judged(_)));
        let most = if is_open_search(record) { most_runs(&record.study) } else { planned.len() };
        let mut expectation = Expectation::of(planned.iter().zip(rows.iter().map(is_done)), most);
        for (index, attempt) in of_this_session(record) {
            expectation.end(index, ended_at(attempt).map_or(Duration::ZERO, |at| between(attempt.started, at)));
        }
        let running = rows.iter().position(|row| matches!(row.standing, Standing::Running(_)));
        let begun = running.and_then(|run| Some((run, since(attempts.last(run as u32)?.started))));
        let ((done, of), left) = (expectation.count(), expectation.left(begun));
        let ends = left.filter(|_| record.being_written);
        let ends = ends.map(|left| time_of_day_in(now, left.time, &local_zone())).unwrap_or_default();
        // Once every run has ended, what goes on is an experiment: its session says nothing of the time that the study took.
        let goes_on = record.being_written && (is_open_search(record) || !rows.iter().all(is_done));
        let elapsed = record.sessions.last().filter(|_| goes_on).map(|session| since(session.at));
        let name = record.study.name().to_owned();
        Self {
            head: Head { name, done, of, at_most: of > rows.len(), elapsed, left, ends },
            rows,
            work: workload(&record.study.settings).work.many,
            searches: Vec::new(),
            next: NextSteps::default(),
        }
    }

    /// Whether nothing is left to run.
    pub(super) fn is_complete(&self) -> bool {
        let is_done = |row: &RunRow| matches!(row.standing, Standing::Ended(RunEnd::Judged(_)));
        self.rows.iter().all(is_done) && self.searches.iter().all(|(.., ended)| *ended)
    }

    fn lines(&self, size: ScreenSize) -> Vec<String> {
        screen(&self.head, &self.rows, "", size, false)
    }

    /// What changes when a phase does.
    fn phases(&self) -> String {
        let word = |row: &RunRow| match &row.standing {
            Standing::Running(running) => running.phase.words().to_owned(),
            standing => format!("{:?}", std::mem::discriminant(standing)),
        };
        self.rows.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn text(&self, record: &Record, result: Option<&StudyResult>, path: &Path) -> String {
        let size = if output::is_terminal() { Canvas::new().size() } else { ScreenSize::UNKNOWN };
        let mut lines = self.lines(ScreenSize { lines: usize::MAX, ..size });
        let doing = match (record.being_written, self.is_complete()) {
            (true, _) => "being written now",
            (false, true) => "finished",
            (false, false) => "not running",
        };
        lines[0] += &format!("  {doing}");
        lines.extend(record.faults.iter().map(|fault| format!("CHANGED AFTER IT WAS WRITTEN: {fault}")));
        lines.extend(self.searches.iter().map(|(label, told, _)| format!("search{label}: {told}")));
        if let Some(result) = result {
            let (text, causes) = (result.text(), result.causes());
            let causes = if causes.is_empty() { String::new() } else { format!("; {causes}") };
            lines.push(format!("verdict  {text}{causes}"));
        }
        if !record.being_written {
            if !self.is_complete() {
                lines.push(way_on(record, path));
            } else {
                lines.extend(self.next.lines(path).iter().map(|line| format!("next     {line}")));
            }
        }
        lines.join("\n")
    }
}

/// How one run of the plan stands.
fn row(
    (record, attempts): (&Record, &RunAttempts<'_>),
    planned: &PlannedRun,
    run: &Run,
    known: &mut BTreeMap<i64, RunSummary>,
    now: WallTime,
) -> RunRow {
    let mut ended = |attempt: &Attempt| {
        let settings = record.plan.settings(&record.study, run.point);
        let summary = known.entry(attempt.id).or_insert_with(|| summarise(attempt, &settings));
        Standing::Ended(RunEnd::Judged(summary.clone()))
    };
    let last = attempts.last(run.index);
    let standing = match last.map(|attempt| (&attempt.state, attempt)) {
        Some((State::Open, attempt)) if record.being_written => {
            Standing::Running(Box::new(running(attempt, &planned.times, attempts.count(run.index), now)))
        }
        _ => match (attempts.finished(run.index), last.map(|attempt| &attempt.state)) {
            (Some(attempt), _) => ended(attempt),
            (None, None) => Standing::Waiting,
            (None, Some(State::Failed { .. })) if last.is_some_and(Attempt::is_interrupted) => {
                Standing::Ended(RunEnd::Interrupted)
            }
            (None, Some(State::Failed { reason })) => Standing::Ended(RunEnd::Failed(reason.clone())),
            (None, Some(_)) => Standing::Unfinished,
        },
    };
    RunRow { label: planned.label.clone(), times: planned.times, standing }
}

/// Runs that finished since the record was opened last.
fn of_this_session(record: &Record) -> impl Iterator<Item = (usize, &Attempt)> {
    let opened = record.sessions.last().map_or(0, |session| session.at.0);
    let finished = move |attempt: &&Attempt| attempt.state == State::Finished && attempt.started.0 >= opened;
    record.attempts.iter().filter(finished).map(|attempt| (attempt.run.index as usize, attempt))
}

fn ended_at(attempt: &Attempt) -> Option<WallTime> {
    attempt.events.last().map(|event| event.at)
}

fn between(from: WallTime, to: WallTime) -> Duration {
    Duration::from_micros(u64::try_from(to.0 - from.0).unwrap_or(0))
}

/// A run that goes on, by what its attempt has so far.
fn running(attempt: &Attempt, times: &RunTimes, number: u32, now: WallTime) -> RunningRun {
    let phase = phase(attempt, times);
    let seconds = attempt.intervals.last().map_or(0, |second| second.index + 1);
    let in_phase = match phase {
        Phase::WarmingUp => Duration::from_secs(seconds),
        Phase::Measuring => {
            let began = window_start(attempt, times).unwrap_or(0);
            Duration::from_secs(seconds.saturating_sub(began))
        }
        _ => between(ended_at(attempt).unwrap_or(attempt.started), now),
    };
    let load =
        LoadNow { modelled_busy: modelled_busy(attempt), ..LoadNow::of_seconds(&attempt.intervals, host_now(attempt)) };
    RunningRun { phase, in_phase, step: String::new(), load, attempt: number }
}

/// Phase of an open attempt, by its last event and by the marks of its load.
fn phase(attempt: &Attempt, times: &RunTimes) -> Phase {
    let is_measured = times.begins_measured || window_start(attempt, times).is_some();
    let has = |is: fn(&RunEvent) -> bool| attempt.events.iter().any(|event| is(&event.event));
    if has(|event| matches!(event, RunEvent::LoadStopped { .. })) {
        Phase::Verifying
    } else if has(|event| matches!(event, RunEvent::LoadStarted(_))) {
        match (attempt.mark(MarkLabel::WindowEnd).is_some(), is_measured) {
            (true, _) if times.phases.is_some_and(|phases| !phases.drill.at_least.is_zero()) => Phase::Drilling,
            (true, _) => Phase::Stopping,
            (false, true) => Phase::Measuring,
            (false, false) => Phase::WarmingUp,
        }
    } else if has(|event| matches!(event, RunEvent::Building(_))) && !has(|event| matches!(event, RunEvent::Built(_))) {
        Phase::Building
    } else if attempt.events.is_empty() {
        Phase::Starting
    } else {
        Phase::Preparing
    }
}

/// Second at which measuring began; `None` before it. Of databases without counters no mark is kept: there the planned warm-up tells.
fn window_start(attempt: &Attempt, times: &RunTimes) -> Option<u64> {
    let marked = attempt.mark(MarkLabel::WindowStart).map(|mark| mark.offset.as_seconds().max(0.0) as u64);
    let planned = times.phases.and_then(|phases| phases.warm_up.at_most).map(|most| most.as_secs() + 1);
    let seconds = attempt.intervals.last().map_or(0, |second| second.index + 1);
    marked.or_else(|| planned.filter(|planned| attempt.marks.is_empty() && seconds >= *planned))
}

/// Share of their time in which the modelled drives of the primary's tier were busy, in the last second that was observed.
fn modelled_busy(attempt: &Attempt) -> Option<f64> {
    let is_told =
        |series: &&SeriesPoint| tier::DISK_BUSY.is_of(&series.probe, &series.name) && !series.instance.is_standby();
    let (.., percent) = attempt.series.iter().find(is_told)?.samples.last()?;
    Some(percent / 100.0)
}

/// What others took of the processor in the last second that was observed.
fn host_now(attempt: &Attempt) -> Option<HostNow> {
    host_of(attempt, |samples| samples.last())
}

/// What others took of the processor in a second since time zero.
pub(super) fn host_at(attempt: &Attempt, second: u64) -> Option<HostNow> {
    host_of(attempt, |samples| {
        let from = samples.partition_point(|(at, ..)| at.as_seconds() < second as f64);
        samples.get(from).filter(|(at, ..)| at.as_seconds() < (second + 1) as f64)
    })
}

fn host_of(attempt: &Attempt, chosen: impl Fn(&[SeriesSample]) -> Option<&SeriesSample>) -> Option<HostNow> {
    let allowed = limit::CORES.text(&attempt.facts).and_then(CoreSet::parse);
    let of = |wanted: SeriesName| {
        let series = attempt.series.iter().filter(move |series| wanted.is_of(&series.probe, &series.name));
        let ours = series.filter(|series| !series.instance.is_standby());
        ours.filter_map(|series| Some((series.component.as_str(), chosen(&series.samples)?.2))).collect::<Vec<_>>()
    };
    let is_there = |(core, _): &&(&str, f64)| {
        allowed.as_ref().is_none_or(|allowed| core.parse::<usize>().is_ok_and(|core| allowed.0.contains(&core)))
    };
    let there = |read: &[(&str, f64)]| read.iter().filter(is_there).map(|(_, percent)| *percent).collect::<Vec<f64>>();
    let value = |wanted: SeriesName| of(wanted).first().map(|(_, value)| *value);
    let all = of(cores::BUSY);
    let (busy, steal) = (there(&all), there(&of(cores::STEAL)));
    // Without a group the processes of the database are counted among Proofload's.
    let is_grouped = attempt.series.iter().any(|series| group::CPU.is_of(&series.probe, &series.name));
    let second = HostSecond {
        used: busy.iter().sum::<f64>() / 100.0,
        stolen: (!steal.is_empty()).then(|| steal.iter().sum::<f64>() / 100.0),
        part: busy.len() as f64 / all.len().max(1) as f64,
        foreign: value(foreign::CPU),
        database: value(group::CPU).or((!is_grouped).then_some(0.0)),
        clients: value(foreign::CLIENT_CPU_THERE).or_else(|| value(foreign::CLIENT_CPU)),
    };
    let sum = |wanted: SeriesName| of(wanted).into_iter().map(|(_, value)| value).reduce(|one, other| one + other);
    // Reads of a standby on the same devices are not told apart from those of others.
    let has_standbys = attempt.series.iter().any(|series| series.instance.is_standby());
    let (reads, own) = (sum(device::READS).filter(|_| !has_standbys), sum(group::READS));
    (!busy.is_empty()).then(|| HostNow::of(second.processor(), busy.len()).with(reads, own, value(spin::RATIO)))
}

fn is_open_search(record: &Record) -> bool {
    record.study.settings.get(setting::SEARCH_SETTING).is_some()
        && !recorded_searches(record).iter().any(|(.., ended)| *ended)
}

/// What the record tells of its searches, without evaluating their runs.
fn recorded_searches(record: &Record) -> Vec<(String, String, bool)> {
    let mut told = record.events.iter().filter_map(|event| match &event.event {
        RunEvent::SearchStep { load, why, .. } => Some((String::new(), format!("{load}: {why}"), false)),
        RunEvent::SearchEnded { text, .. } => Some((String::new(), text.clone(), true)),
        _ => None,
    });
    told.next_back().into_iter().collect()
}

/// Every search of the study.
fn told(searches: &[SearchFindings]) -> Vec<(String, String, bool)> {
    let label = |search: &SearchFindings| {
        if search.label.is_empty() { String::new() } else { format!(" ({})", search.label) }
    };
    let ended = |search: &SearchFindings| matches!(search.state, SearchState::Ended(_));
    searches.iter().map(|search| (label(search), search.text(), ended(search))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_analysis::latency::histograms_read;
    use proofload_model::error::ErrorKind;
    use proofload_record::AttemptEvent;

    #[test]
    fn a_status_decodes_no_stored_histogram_twice() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-3-memory.proof");
        std::fs::copy(stored, &path).expect("the record is copied");
        let record = proofload_record::read(&path).expect("the record is read");
        let seconds = record.attempts.iter().flat_map(|attempt| &attempt.intervals);
        let stored: usize = seconds.map(|second| second.histograms.len()).sum();
        let before = histograms_read();
        let (status, result) = status_and_result(&record, &mut BTreeMap::new(), record.created);
        assert!(status.is_complete() && result.is_some());
        let decoded = histograms_read() - before;
        assert!((1..=stored as u64).contains(&decoded), "{decoded} of {stored}");
    }

    /// An interruption is told by its kind, whatever its words; in a record from before kinds by its words.
    #[test]
    fn an_interruption_is_told_by_its_kind() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-3-memory.proof");
        std::fs::copy(stored, &path).expect("the record is copied");
        let mut record = proofload_record::read(&path).expect("the record is read");
        let attempt = record.attempts[0].clone();
        let mut told = |reason: &str, kind: Option<ErrorKind>| {
            let mut failed = attempt.clone();
            failed.state = State::Failed { reason: reason.to_owned() };
            failed.events.extend(kind.map(|kind| AttemptEvent::new(failed.started, RunEvent::FailedAs(kind))));
            let run = failed.run.index as usize;
            record.attempts = vec![failed];
            match Status::of(&record, &mut BTreeMap::new(), record.created).rows[run].standing {
                Standing::Ended(RunEnd::Interrupted) => "interrupted",
                Standing::Ended(RunEnd::Failed(_)) => "failed",
                _ => "neither",
            }
        };
        assert_eq!(told("run 3: asked to stop", Some(ErrorKind::Interrupted)), "interrupted");
        assert_eq!(told("interrupted", Some(ErrorKind::Lost)), "failed");
        assert_eq!(told("interrupted", None), "interrupted");
        assert_eq!(told("the server died", None), "failed");
    }

    /// Writes say nothing of others: the kernel charges them to nobody, or to others than who asked for them.
    #[test]
    fn reads_alone_tell_what_others_do_with_a_device() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-3-memory.proof");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        std::fs::copy(stored, &path).expect("the record is copied");
        let mut record = proofload_record::read(&path).expect("the record is read");
        let attempt = &mut record.attempts[0];
        let like = attempt.series.iter().find(|series| cores::BUSY.is_of(&series.probe, &series.name));
        let like = like.expect("cores are observed").clone();
        attempt.series.retain(|series| ![device::PROBE, group::PROBE].contains(&series.probe.as_str()));
        for (wanted, value) in [(device::READS, 200.0), (device::WRITES, 1_000.0), (group::READS, 150.0)] {
            let mut added = like.clone();
            (added.probe, added.name) = (wanted.probe.to_owned(), wanted.name.to_owned());
            added.component = "vda".to_owned();
            added.samples.iter_mut().for_each(|sample| sample.2 = value);
            attempt.series.push(added);
        }
        let (last, ..) = like.samples.last().expect("they were read");
        let second = last.as_seconds().floor() as u64;
        assert_eq!(host_at(attempt, second).and_then(|host| host.reads), Some(0.25));
    }
}
