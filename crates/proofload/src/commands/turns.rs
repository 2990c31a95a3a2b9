//! `compare --run` and `gate --run`: two studies measured in turns or at once, each with its record.

use super::compare::{Failure, is_json};
use super::duet::{expect_duet, short_window_warning, weaknesses};
use super::duet_checks::duet_checks;
use super::duet_part::{DuetPart, side_names};
use super::refused_limits::{StudyCommand, StudyRefusal, study_of};
use super::run::{ShownRuns, begun, continued, destructive_steps_named, exit_of, failed_runs, shown_runs};
use super::server_named::servers_named;
use super::status::has_every_run;
use super::study_file::StudyFile;
use super::verdict::counted;
use crate::cli::PairArguments;
use crate::clock::SystemClock;
use crate::conductor::{
    Assignment, Journal, Outcome, Side, conduct_duet, conduct_in_turns, expect_same_agents, half_done,
};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::run_times::PlannedRun;
use crate::{live, output};
use proofload_model::events::RunEvent;
use proofload_model::setting_words::RestorePolicy;
use proofload_model::settings::setting;
use proofload_model::study::{Study, values_of};
use proofload_model::time::Clock;
use proofload_record::{Record, Recorder};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The records of two studies, baseline and candidate.
pub(super) struct RecordFiles {
    pub(super) baseline: PathBuf,
    pub(super) candidate: PathBuf,
}

/// The files to compare: those that were given, or the records of two studies after they were run in turns.
pub(super) fn record_files(pair: &PairArguments) -> Result<RecordFiles, Failure> {
    let given = RecordFiles { baseline: pair.baseline.clone(), candidate: pair.candidate.clone() };
    if !pair.run {
        return with_newest(given);
    }
    let files = RecordFiles { baseline: record_of(&pair.baseline), candidate: record_of(&pair.candidate) };
    if files.baseline == files.candidate {
        let text = format!("both studies would be recorded in {}; use different file names", files.baseline.display());
        return Err((Exit::Usage, text));
    }
    let studies = [&pair.baseline, &pair.candidate].map(|path| StudyAsked { path, set: pair.set.clone() });
    let interrupt =
        Interrupt::install().map_err(|error| (Exit::Failure, format!("failed to install signal handlers: {error}")))?;
    let part = pair.prove.then_some(DuetPart::Result);
    PairAsked { pair, studies, files: &files, part, interrupt: &interrupt }.measure()?;
    Ok(files)
}

/// A study file with its changes of the command line.
pub(super) struct StudyAsked<'a> {
    pub(super) path: &'a Path,
    pub(super) set: Vec<String>,
}

impl StudyAsked<'_> {
    /// Reads the study as `run` does. Why it is refused is told at once, or for programs is part of the failure.
    fn read(&self, json: bool) -> Result<StudyFile, Failure> {
        let refused = |refusal: StudyRefusal| {
            let text = format!("nothing was measured: the study {} is refused", self.path.display());
            if json {
                let (exit, why) = refusal.failure();
                return (exit, format!("{text}: {why}"));
            }
            (refusal.tell(), text)
        };
        study_of(self.path, &self.set, StudyCommand::Pair).map_err(refused)
    }
}

/// Two studies to measure with each other, and their records.
pub(super) struct PairAsked<'a> {
    pub(super) pair: &'a PairArguments,
    pub(super) studies: [StudyAsked<'a>; 2],
    pub(super) files: &'a RecordFiles,
    /// Which of the duets of `--prove` it is; those with known ratios come before the result.
    pub(super) part: Option<DuetPart>,
    /// The one request to stop, for this pair and those that come first.
    pub(super) interrupt: &'a Interrupt,
}

impl PairAsked<'_> {
    /// Measures what is missing of both records, or both from the beginning; nothing after an interrupt.
    pub(super) fn measure(&self) -> Result<(), Failure> {
        self.expect_no_interrupt()?;
        let files = self.files;
        let OpenPair { mut sides, shown, at_once } = match (files.baseline.exists(), files.candidate.exists()) {
            (false, false) => {
                let sides = new_sides(self)?;
                let shown = sides.each_ref().map(|side| shown_runs(&side.assignment, None));
                OpenPair { sides, shown, at_once: self.pair.duet }
            }
            (true, true) => match old_sides(self)? {
                Some(found) => found,
                // Nothing is missing: the records stay as they are, with their signatures.
                None => return Ok(()),
            },
            (true, false) => return Err(alone(&files.baseline, &files.candidate)),
            (false, true) => return Err(alone(&files.candidate, &files.baseline)),
        };
        let ran = run(&mut sides, at_once, self, shown);
        let closed = sides.map(|side| side.journal.close().map_err(|error| (Exit::Failure, error.to_string())));
        ran?;
        closed.into_iter().collect::<Result<Vec<()>, Failure>>()?;
        Ok(())
    }

    /// Whether duets with known ratios come first.
    fn checks(&self) -> bool {
        self.part == Some(DuetPart::Result)
    }

    /// Nobody has asked to stop.
    fn expect_no_interrupt(&self) -> Result<(), Failure> {
        if self.interrupt.asked() { Err(interrupted()) } else { Ok(()) }
    }
}

/// An end before both records are complete.
fn interrupted() -> Failure {
    output::note("interrupted; the same command runs what is missing");
    (Exit::Interrupted, "the two studies are not complete".to_owned())
}

/// The same with the newest record of the candidate's study where the baseline is a folder.
fn with_newest(given: RecordFiles) -> Result<RecordFiles, Failure> {
    if !given.baseline.is_dir() {
        return Ok(given);
    }
    let baseline = super::history_files::newest(&given.baseline, &given.candidate)
        .map_err(|text| (Exit::Failure, format!("failed to choose a baseline: {text}")))?;
    output::note(&format!("baseline: {}", baseline.display()));
    Ok(RecordFiles { baseline, ..given })
}

/// The record of a study: the name of its file, in this folder.
pub(super) fn record_of(study: &Path) -> PathBuf {
    PathBuf::from(study.with_extension("proof").file_name().unwrap_or_default())
}

fn alone(there: &Path, missing: &Path) -> Failure {
    let text = format!(
        "{} exists but {} does not, so they were not measured in turns; move the record away to run both",
        there.display(),
        missing.display()
    );
    (Exit::Failure, text)
}

fn new_sides(asked: &PairAsked<'_>) -> Result<[Side; 2], Failure> {
    let PairAsked { pair, studies: [first, second], files, part, .. } = asked;
    let (first, second) = (first.read(is_json(pair))?, second.read(is_json(pair))?);
    let yes = pair.yes.as_deref();
    let both = [&first.study, &second.study];
    both.into_iter().try_for_each(|study| expect_turns(study, yes))?;
    // Before there are records, which a study that is changed for it would not go on with.
    let same = expect_same_agents(both, pair.duet);
    same.map_err(|error| (Exit::StudyInvalid, format!("nothing was measured: {error}")))?;
    expect_data_apart(&first.study, &second.study)?;
    if pair.duet {
        expect_duet(&first.study, &second.study)?;
        // Once for all duets of a proof.
        if part.is_none() || asked.checks() {
            weaknesses(&first.study, &second.study).iter().for_each(|text| output::note(text));
        }
    } else {
        both.into_iter().filter_map(short_window_warning).for_each(|text| output::note(&text));
    }
    let checks = if asked.checks() { Some(RunEvent::DuetChecked(duet_checks(asked, both)?)) } else { None };
    asked.expect_no_interrupt()?;
    let names = [first.study.name().to_owned(), second.study.name().to_owned()];
    let token = format!("{}-{}", SystemClock.wall().0, std::process::id());
    let [name, other] = names;
    let events = |with: String| {
        let in_turns = RunEvent::InTurns { with, token: token.clone(), at_once: pair.duet };
        [in_turns].into_iter().chain(checks.clone()).collect::<Vec<_>>()
    };
    Ok([new_side(first, &files.baseline, events(other))?, new_side(second, &files.candidate, events(name))?])
}

/// A study that can be measured in turns.
fn expect_turns(study: &Study, yes: Option<&str>) -> Result<(), Failure> {
    let named = destructive_steps_named(study, None).and_then(|()| servers_named(study, yes));
    named.map_err(|text| (Exit::Usage, text))?;
    if study.settings.get(setting::SEARCH_SETTING).is_some() {
        let text = format!(
            "{} is a search, which cannot be measured in turns because its loads are not known in advance",
            study.name()
        );
        return Err((Exit::Usage, text));
    }
    Ok(())
}

fn new_side(file: StudyFile, path: &Path, events: Vec<RunEvent>) -> Result<Side, Failure> {
    let failed = |text: String| (Exit::Failure, text);
    let (recorder, assignment) = begun(file, path, None).map_err(|error| failed(error.to_string()))?;
    let mut journal = Journal::new(recorder, Arc::new(SystemClock));
    for event in events {
        journal.study_event(event).map_err(|error| failed(error.to_string()))?;
    }
    Ok(Side { assignment, journal })
}

/// Two studies with their records, open to be written.
struct OpenPair {
    sides: [Side; 2],
    /// Runs of both with the verdicts of earlier sessions.
    shown: [ShownRuns; 2],
    at_once: bool,
}

/// What is missing of two records that were measured with each other; `None` when nothing is.
fn old_sides(asked: &PairAsked<'_>) -> Result<Option<OpenPair>, Failure> {
    let (files, yes) = (asked.files, asked.pair.yes.as_deref());
    let failed = |text: String| (Exit::Failure, text);
    // No sample decides what follows; both records are proved when they are opened to be written.
    let read =
        |path: &Path| proofload_record::read_progress(path, &|_| false).map_err(|error| failed(error.to_string()));
    let records = [read(&files.baseline)?, read(&files.candidate)?];
    let together = token(&records[0]);
    if together.is_none() || together != token(&records[1]) {
        let (one, other) = (files.baseline.display(), files.candidate.display());
        return Err(failed(format!(
            "{one} and {other} exist but were not measured in turns; move them away to run both"
        )));
    }
    let expect_same = || {
        let ([first, second], json) = (&asked.studies, is_json(asked.pair));
        expect_studies([&first.read(json)?.study, &second.read(json)?.study], records.each_ref(), files)
    };
    if asked.checks() && !records.iter().all(is_checked) {
        let (one, other) = (files.baseline.display(), files.candidate.display());
        return Err(failed(format!(
            "{one} and {other} were begun without --prove, which measures before them; move them away to begin anew"
        )));
    }
    let is_whole = |(record, path): (&Record, &Path)| {
        has_every_run(record) && !record.being_written && super::sign::closed(path).is_ok()
    };
    let has_pairs = half_done(records.each_ref()).iter().all(Vec::is_empty);
    if has_pairs && records.iter().zip([files.baseline.as_path(), files.candidate.as_path()]).all(is_whole) {
        return expect_same().map(|()| None);
    }
    // Before the records get a session: what is refused leaves them as they are.
    for record in &records {
        servers_named(&record.study, yes).map_err(|text| (Exit::Usage, text))?;
    }
    expect_same()?;
    let open = |path: &Path| continued(path, None).map_err(|error| (exit_of(&error), error.to_string()));
    let side = |(recorder, record, assignment): (Recorder, Record, Assignment)| {
        (Side { assignment, journal: Journal::new(recorder, Arc::new(SystemClock)) }, record)
    };
    let ((one, its_record), (other, other_record)) = (side(open(&files.baseline)?), side(open(&files.candidate)?));
    let (mut sides, records) = ([one, other], [its_record, other_record]);
    let again = half_done(records.each_ref());
    if !again[0].is_empty() {
        let pairs = counted(again[0].len(), "pair");
        output::note(&format!("measuring {pairs} again whose runs were not both measured with each other"));
    }
    for (side, again) in sides.iter_mut().zip(again) {
        side.assignment.finished.retain(|run| !again.contains(run));
    }
    let shown = [0, 1].map(|side| shown_runs(&sides[side].assignment, Some(&records[side])));
    let at_once = together.is_some_and(|(_, at_once)| at_once);
    Ok(Some(OpenPair { sides, shown, at_once }))
}

/// Both records are of the studies asked for, baseline first: what was measured of others answers another question.
fn expect_studies(asked: [&Study; 2], records: [&Record; 2], files: &RecordFiles) -> Result<(), Failure> {
    if asked
        .into_iter()
        .zip(records)
        .all(|(study, record)| as_recorded(study).is_some_and(|study| study == record.study))
    {
        return Ok(());
    }
    let (one, other) = (files.baseline.display(), files.candidate.display());
    let text = format!(
        "{one} and {other} are of other studies than those asked for: a study or a --set has changed since; move them away to \
         measure anew, or compare them without --run"
    );
    Err((Exit::Failure, text))
}

/// The study as a record gives it back: JSON may change the last digit of a long number.
fn as_recorded(study: &Study) -> Option<Study> {
    serde_json::from_str(&serde_json::to_string(study).ok()?).ok()
}

/// Tells whether duets with known ratios came before a record.
fn is_checked(record: &Record) -> bool {
    record.events.iter().any(|event| matches!(event.event, RunEvent::DuetChecked(_)))
}

/// What two records have in common that were measured with each other, and whether they were at once.
fn token(record: &Record) -> Option<(&str, bool)> {
    record.events.iter().find_map(|event| match &event.event {
        RunEvent::InTurns { token, at_once, .. } => Some((token.as_str(), *at_once)),
        _ => None,
    })
}

/// Two studies in one folder restore its data before every run, else each would go on with what the other left.
fn expect_data_apart(one: &Study, other: &Study) -> Result<(), Failure> {
    let of = |study: &Study, path: &str| study.settings.text(path).unwrap_or_default().to_owned();
    let shared = of(one, setting::STORAGE_PATH) == of(other, setting::STORAGE_PATH) && one.name() == other.name();
    let restores = |study: &Study| {
        let values = values_of(RestorePolicy::PATH, &study.settings, &study.factors);
        values.iter().all(|value| RestorePolicy::of_value(value) != Some(RestorePolicy::Never))
    };
    let keeps = ![one, other].into_iter().all(restores);
    if shared && keeps {
        let text = "both studies have the same name and storage.path, and procedure.restore = \"never\": each would \
                    continue with the other's data; use different names";
        return Err((Exit::StudyInvalid, text.to_owned()));
    }
    Ok(())
}

fn run(sides: &mut [Side; 2], at_once: bool, asked: &PairAsked<'_>, shown: [ShownRuns; 2]) -> Result<(), Failure> {
    let PairAsked { part, interrupt, .. } = *asked;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let [one, other] = sides.each_ref().map(|side| &side.assignment);
    let how = if at_once { "at once" } else { "in turns" };
    let names = format!("{} and {} {how}", one.study.name(), other.study.name());
    let title = part.map_or(names, DuetPart::short_words);
    let labelled = |(place, (side, runs)): (usize, (String, ShownRuns))| {
        let is_beside = at_once && place > 0;
        let labelled = |run: PlannedRun| PlannedRun { label: format!("{side} {}", run.label), is_beside, ..run };
        runs.into_iter().map(|(run, ended)| (labelled(run), ended)).collect::<ShownRuns>()
    };
    let runs = side_names(part).into_iter().zip(shown).enumerate().flat_map(labelled).collect::<ShownRuns>();
    let program = live::Program {
        name: &title,
        work: proofload_report::workloads::workload(&one.study.settings).work.many,
        most: runs.len(),
        runs,
        whole: if part.is_some() { "this duet" } else { "total" },
        // One record alone would be measured without its partner.
        continued_by: "the same command",
    };
    let mut view = live::show(asked.pair.progress, program, clock.clone());
    if let Some(part) = part {
        view.note(&part.words());
    }
    let outcome = if at_once {
        conduct_duet(sides, view.as_mut(), &clock, interrupt)
    } else {
        conduct_in_turns(sides, view.as_mut(), clock, interrupt.clone())
    };
    view.close();
    drop(view);
    match outcome {
        Ok(Outcome::Complete) => Ok(()),
        Ok(Outcome::Interrupted) => Err(interrupted()),
        Ok(Outcome::Failed { runs, reason }) => {
            let text = format!("{}: {reason}; the same command runs what is missing", failed_runs(runs));
            Err((Exit::Failure, text))
        }
        Err(error) => Err((Exit::Failure, format!("{error}; the same command runs what is missing"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Command};
    use clap::Parser;

    fn study(limits: &str) -> Study {
        let text = format!(
            "[study]\nname = \"t\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 1\n\
             [engine]\nkind = \"null\"\n{limits}"
        );
        proofload_model::study::validate(&text, &[], &crate::catalogue::catalogue()).expect("a valid study")
    }

    #[test]
    fn records_of_other_studies_are_no_answer() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = RecordFiles { baseline: folder.path().join("a.proof"), candidate: folder.path().join("b.proof") };
        // A number of more digits than JSON is read back with.
        let (own, other) = (study("[limits]\ncpu = 0.123456789012345678\n"), study("[limits]\ncpu = 0.36\n"));
        let records = [(&own, &files.baseline), (&other, &files.candidate)].map(|(study, path)| {
            let plan = proofload_model::plan::expand(study);
            let opening = proofload_record::Opening {
                study_text: "",
                study,
                plan: &plan,
                program: "test",
                at: SystemClock.wall(),
            };
            Recorder::create(path, &opening)
                .expect("an empty folder takes a record")
                .close()
                .expect("the record closes");
            proofload_record::read(path).expect("the record is read")
        });
        assert_eq!(expect_studies([&own, &other], records.each_ref(), &files), Ok(()));
        let another = study("[limits]\ncpu = 0.5\n");
        for studies in [[&another, &other], [&own, &another]] {
            let (exit, text) = expect_studies(studies, records.each_ref(), &files).expect_err("one is another study");
            assert!(
                exit == Exit::Failure && text.contains("b.proof are of other studies than those asked for"),
                "{text}"
            );
        }
    }

    /// Nobody else looks for a signal between two duets of `--prove`.
    #[test]
    fn nothing_is_begun_after_an_interrupt() {
        let words = ["proofload", "compare", "--run", "none.toml", "other.toml"];
        let Command::Compare(arguments) = Arguments::try_parse_from(words).expect("a command line").command else {
            panic!("it compares");
        };
        let pair = &arguments.pair;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = RecordFiles { baseline: folder.path().join("a.proof"), candidate: folder.path().join("b.proof") };
        let interrupt = Interrupt::default();
        let measured = || {
            let studies = [&pair.baseline, &pair.candidate].map(|path| StudyAsked { path, set: Vec::new() });
            let asked = PairAsked { pair, studies, files: &files, part: None, interrupt: &interrupt };
            asked.measure().map_err(|(exit, _)| exit)
        };
        assert_eq!(measured(), Err(Exit::Failure), "there is no such study");
        interrupt.ask();
        assert_eq!(measured(), Err(Exit::Interrupted));
    }
}
