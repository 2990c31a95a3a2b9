//! `run` and `resume`: a study from its file, or from its record, to the last point.

use super::ending::{Ending, EndingStyle, has_finished_run};
use super::live_page::LivePage;
use super::next_steps::{way_on, without_partner};
use super::refused_limits::{StudyCommand, study_of};
use super::server_named::{names_for_yes, servers_named};
use super::status::has_every_run;
use super::study_file::StudyFile;
use crate::cli::{
    CheckArguments, PlanArguments, ProgressForm, ResumeArguments, ResumeVoid, RunArguments, ShowArguments, VoidPolicy,
};
use crate::clock::SystemClock;
use crate::conductor::{Assignment, Calibrations, Journal, Outcome, conduct};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::live::{RunEnd, Ticker, ViewPair};
use crate::run_times::{PlannedRun, planned_runs};
use crate::{live, output};
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::plan::{Run, expand, most_runs};
use proofload_model::setting_words::WhenRefused;
use proofload_model::study::{Study, confirmation_of, preconditioning, purged_devices};
use proofload_model::time::Clock;
use proofload_record::{AttemptEvent, Opening, Record, Recorder};
use proofload_report::findings::{Verdict, evaluate, is_mendable, summarise};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The program and its version, as records name it.
pub(crate) const PROGRAM: &str = concat!("proofload ", env!("CARGO_PKG_VERSION"));

/// Runs a study file.
pub(crate) fn run(arguments: &RunArguments) -> Exit {
    let no_folder = arguments.output.as_deref().and_then(missing_folder);
    if arguments.plan {
        let exit = super::plan::run(&planned(arguments));
        return no_folder.filter(|_| exit == Exit::Good).map_or(exit, |text| failed(&text));
    }
    let by = StudyCommand::Run { without_limits: arguments.without_limits };
    let file = match study_of(&arguments.study.study, &arguments.study.set, by) {
        Ok(file) => file,
        Err(refusal) => return refusal.tell(),
    };
    file.tell_advice();
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.proof", file.study.name())));
    let yes = arguments.yes.as_deref();
    if let Err(text) = destructive_steps_named(&file.study, yes).and_then(|()| servers_named(&file.study, yes)) {
        output::error(&text);
        return Exit::Usage;
    }
    if let Some(text) = no_folder {
        return failed(&text);
    }
    let page = match LivePage::of(arguments.show.listen.as_deref()) {
        Ok(page) => page,
        Err(text) => return failed(&text),
    };
    let (recorder, mut assignment) = match begun(file, &path, arguments.yes.clone()) {
        Ok(begun) => begun,
        Err(error) => return failed(&error.to_string()),
    };
    let show = (&arguments.show, arguments.void == VoidPolicy::Ok);
    let shown = shown_runs(&assignment, None);
    let exit = go(recorder, &mut assignment, (&path, shown), show, page);
    if exit == Exit::Failure && remove_if_empty(&path) {
        output::note("nothing was measured, so there is no record; fix the cause and run the study again");
    }
    exit
}

/// Why no record can be made at a path whose folder is not there.
fn missing_folder(record: &Path) -> Option<String> {
    let folder = record.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())?;
    let (record, folder) = (record.display(), folder.display());
    Some(format!(
        "failed to create the record {record}: the folder {folder} does not exist; make it, or choose another -o"
    ))
}

/// The same study for `plan`.
fn planned(arguments: &RunArguments) -> PlanArguments {
    let mut study = arguments.study.clone();
    if arguments.without_limits {
        study.set.push(super::refused_limits::WITHOUT.to_owned());
    }
    PlanArguments { check: CheckArguments { study, json: false }, pilot: None }
}

/// A new record and all of its runs to do.
pub(super) fn begun(
    file: StudyFile,
    path: &Path,
    confirmed: Option<String>,
) -> Result<(Recorder, Assignment), proofload_record::Error> {
    let plan = expand(&file.study);
    let opening =
        Opening { study_text: &file.text, study: &file.study, plan: &plan, program: PROGRAM, at: SystemClock.wall() };
    let mut recorder = Recorder::create(path, &opening)?;
    if WhenRefused::allows_without(&file.study.settings) {
        let left_out = file.limits_left_out.iter().map(|setting| (*setting).to_owned()).collect();
        recorder.event(None, &AttemptEvent::new(SystemClock.wall(), RunEvent::LimitsLeftOut(left_out)))?;
        recorder.commit()?;
    }
    let assignment = Assignment {
        study: file.study,
        plan,
        finished: BTreeSet::new(),
        calibrations: Calibrations::default(),
        preconditioned: false,
        confirmed,
        wait_for_quiet: None,
        experiments: Vec::new(),
    };
    Ok((recorder, assignment))
}

/// A record that is there, what it holds, and its runs that are missing.
pub(super) fn continued(
    path: &Path,
    confirmed: Option<String>,
) -> Result<(Recorder, Record, Assignment), proofload_record::Error> {
    let (recorder, record) = Recorder::resume_read(path, PROGRAM, SystemClock.wall())?;
    let assignment = Assignment {
        calibrations: Calibrations::of_events(&record.events),
        study: record.study.clone(),
        plan: record.plan.clone(),
        finished: finished_runs(&record),
        preconditioned: is_preconditioned(&record),
        confirmed,
        wait_for_quiet: None,
        experiments: Vec::new(),
    };
    Ok((recorder, record, assignment))
}

/// Runs of the plan that some attempt finished.
fn finished_runs(record: &Record) -> BTreeSet<u32> {
    let attempts = record.by_run();
    record.plan.runs.iter().map(|run| run.index).filter(|run| attempts.finished(*run).is_some()).collect()
}

/// Says why a record is not continued.
pub(super) fn not_continued(error: &proofload_record::Error) -> Exit {
    output::error(&error.to_string());
    exit_of(error)
}

/// The exit code of an error of a record.
pub(super) fn exit_of(error: &proofload_record::Error) -> Exit {
    if error.is_damaged() { Exit::NotProved } else { Exit::Failure }
}

/// Removes a record that holds no attempt; tells whether it did.
fn remove_if_empty(path: &Path) -> bool {
    let is_empty = proofload_record::read(path).is_ok_and(|record| record.attempts.is_empty());
    is_empty && std::fs::remove_file(path).is_ok()
}

/// Finishes a record.
pub(crate) fn resume(arguments: &ResumeArguments) -> Exit {
    let refused = |record: &Record| {
        let text = still_named(record, arguments.yes.as_deref()).err()?;
        output::error(&text);
        Some(Exit::Usage)
    };
    // Before the record gets a session: what is refused leaves it as it is. No sample decides it, so none is read.
    let before = proofload_record::read_progress(&arguments.record, &|_| false);
    if let Some(before) = before.ok().as_ref()
        && let Some(exit) = refused(before)
            .or_else(|| super::nothing_missing::told(arguments, before))
            .or_else(|| missing_to_measure(arguments, before))
    {
        return exit;
    }
    let page = match LivePage::of(arguments.show.listen.as_deref()) {
        Ok(page) => page,
        Err(text) => return failed(&text),
    };
    let (recorder, record, mut assignment) = match continued(&arguments.record, arguments.yes.clone()) {
        Ok(continued) => continued,
        Err(error) => return not_continued(&error),
    };
    // What could not be read before its writer opened it.
    if let Some(exit) = refused(&record) {
        return exit;
    }
    tell_partner(arguments, &record);
    if arguments.void.contains(&ResumeVoid::Again) {
        let again = void_runs(&record);
        output::note(&format!("measuring {} again", super::verdict::counted(again.len(), "void run")));
        assignment.finished.retain(|run| !again.contains(run));
    }
    assignment.wait_for_quiet = arguments.wait;
    let accepts_void = arguments.void.contains(&ResumeVoid::Ok);
    let shown = shown_runs(&assignment, Some(&record));
    drop(record);
    go(recorder, &mut assignment, (&arguments.record, shown), (&arguments.show, accepts_void), page)
}

/// Says that runs are measured without those of the study that the record was measured with.
fn tell_partner(arguments: &ResumeArguments, record: &Record) {
    let measures = !has_every_run(record) || arguments.void.contains(&ResumeVoid::Again);
    let Some(text) = without_partner(record).filter(|_| measures) else { return };
    let as_json = arguments.show.progress == Some(ProgressForm::Json);
    output::note(&if as_json { serde_json::json!({ "event": "note", "text": text }).to_string() } else { text });
}

/// Tells what keeps the runs that are left from being measured here; `None` where nothing does, or no run is left.
fn missing_to_measure(arguments: &ResumeArguments, record: &Record) -> Option<Exit> {
    if has_every_run(record) && !arguments.void.contains(&ResumeVoid::Again) {
        return None;
    }
    super::refused_limits::missing_to_go_on(&record.study).map(|text| failed(&text))
}

/// What the rest of a study destroys or changes is named.
fn still_named(record: &Record, yes: Option<&str>) -> Result<(), String> {
    let named = if is_preconditioned(record) {
        purges_named(&record.study, yes)
    } else {
        destructive_steps_named(&record.study, yes)
    };
    named.and_then(|()| servers_named(&record.study, yes))
}

fn is_preconditioned(record: &Record) -> bool {
    record.events.iter().any(|event| event.event == RunEvent::Preconditioned)
}

/// Runs of points that are void for the host's sake, which another attempt may mend.
pub(super) fn void_runs(record: &Record) -> BTreeSet<u32> {
    let findings = evaluate(record);
    let points = findings.points.iter().filter(|point| match &point.verdict {
        Verdict::Void(reasons) => is_mendable(reasons),
        Verdict::Valid | Verdict::Wide | Verdict::NotRun(_) => false,
    });
    points.flat_map(|point| point.runs.iter().filter(|run| !run.voids.is_empty())).map(|run| run.run.index).collect()
}

/// Destructive steps are carried out only when their device is named twice.
pub(super) fn destructive_steps_named(study: &Study, confirmed: Option<&str>) -> Result<(), String> {
    let asked = preconditioning(&study.settings, confirmed).map_err(|error| error.to_string())?;
    purges_named(study, confirmed)?;
    match asked.and_then(|how| how.device) {
        Some(device) if confirmation_of(&device, confirmed).as_ref() != Some(&device) => Err(format!(
            "this study destroys all data on {device} (storage.precondition.device); to confirm, add --yes {}",
            names_for_yes(study)
        )),
        _ => Ok(()),
    }
}

/// Devices are purged before each run only when all of them are named twice.
pub(super) fn purges_named(study: &Study, confirmed: Option<&str>) -> Result<(), String> {
    let devices = purged_devices(&study.settings);
    let is_named = |device: &String| confirmation_of(device, confirmed).as_ref() == Some(device);
    if devices.iter().all(is_named) {
        return Ok(());
    }
    Err(format!(
        "this study destroys all data on {} before each run (storage.purge); to confirm, add --yes {}",
        devices.join(" and "),
        names_for_yes(study)
    ))
}

/// Conducts, closes the record, says how it ended. The runs that are shown come with the record's path.
pub(super) fn go(
    recorder: Recorder,
    assignment: &mut Assignment,
    (path, shown): (&Path, ShownRuns),
    (show, accepts_void): (&ShowArguments, bool),
    page: Option<LivePage>,
) -> Exit {
    let as_json = show.progress == Some(ProgressForm::Json);
    let style = EndingStyle { as_json, with_report: !show.no_report, accepts_void };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let interrupt = match Interrupt::install() {
        Ok(interrupt) => interrupt,
        Err(error) => return failed(&format!("failed to install signal handlers: {error}")),
    };
    let mut journal = Journal::new(recorder, Arc::clone(&clock));
    let settings = &assignment.study.settings;
    let program = || live::Program {
        name: assignment.study.name(),
        work: proofload_report::workloads::workload(settings).work.many,
        runs: shown.clone(),
        most: most_runs(&assignment.study),
        whole: "total",
        continued_by: "proofload resume",
    };
    let mut view = live::show(show.progress, program(), Arc::clone(&clock));
    if let Some(page) = &page {
        let shown = page.view(program(), Arc::clone(&clock));
        view = Box::new(ViewPair(view, Box::new(Ticker::of(shown))));
    }
    let outcome = conduct(assignment, &mut journal, view.as_mut(), clock, interrupt);
    view.close();
    drop(view);
    let closed = journal.close();
    let outcome = outcome.and_then(|outcome| closed.map(|()| outcome));
    match ending(outcome, path, style) {
        Ok(ending) => ending.tell(style),
        Err(text) => failed(&text),
    }
}

/// How a study ended, for its last lines.
fn ending<'a>(outcome: Result<Outcome, Error>, path: &'a Path, style: EndingStyle) -> Result<Ending<'a>, String> {
    let record = proofload_record::read(path);
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            let record = record.ok().filter(|record| !record.attempts.is_empty());
            let next = record.map(|record| after_failure(&record, path)).unwrap_or_default();
            return Ok(Ending::stopped(None, path, Exit::Failure, error.to_string(), next));
        }
    };
    let record = record.map_err(|error| error.to_string())?;
    Ok(match outcome {
        Outcome::Complete => Ending::complete(&record, path, style),
        Outcome::Interrupted => {
            let early = record.attempts.is_empty();
            let exit = if early { Exit::InterruptedEarly } else { Exit::Interrupted };
            let again = format!("interrupted; {}", way_on(&record, path));
            let text = if early { "interrupted".to_owned() } else { again };
            Ending::stopped(Some(&record), path, exit, text, Vec::new())
        }
        Outcome::Failed { runs, reason } => {
            let next = after_failure(&record, path);
            Ending::stopped(Some(&record), path, Exit::Failure, format!("{}: {reason}", failed_runs(runs)), next)
        }
    })
}

/// How many runs failed, before the reason of the first.
pub(super) fn failed_runs(runs: usize) -> String {
    if runs == 1 { "1 run failed".to_owned() } else { format!("{runs} runs failed, the first") }
}

/// What to do after a failure, in sentences: which runs are kept, and which study goes on.
fn after_failure(record: &Record, path: &Path) -> Vec<String> {
    let path = path.display();
    let kept = if has_finished_run(record) { "finished runs are kept" } else { "no run has finished" };
    vec![
        format!("{kept}; after fixing the cause: proofload resume {path}"),
        "resume uses the study in the record; after a change of the study file, run it with another -o".to_owned(),
    ]
}

fn failed(text: &str) -> Exit {
    output::error(text);
    Exit::Failure
}

/// Runs of a plan with their verdicts, of those that have one.
pub(super) type ShownRuns = Vec<(PlannedRun, Option<RunEnd>)>;

/// Each run of the plan with the verdict that earlier sessions, whose record is given, came to.
pub(super) fn shown_runs(assignment: &Assignment, record: Option<&Record>) -> ShownRuns {
    let Assignment { study, plan, finished, .. } = assignment;
    let attempts = record.map(Record::by_run).unwrap_or_default();
    let ended = |run: &Run| {
        let attempt = attempts.finished(run.index).filter(|_| finished.contains(&run.index))?;
        Some(RunEnd::Judged(summarise(attempt, &plan.settings(study, run.point))))
    };
    planned_runs(study, plan).into_iter().zip(&plan.runs).map(|(planned, run)| (planned, ended(run))).collect()
}
