//! The last lines of `run` and `resume`: the verdict, what was written, what to do next. As text for people, or one JSON object for programs.

use super::next_steps::NextSteps;
use super::verdict::StudyResult;
use crate::clock::SystemClock;
use crate::conductor::refused_experiments;
use crate::exit::Exit;
use crate::output;
use proofload_model::time::Clock;
use proofload_record::{Record, State};
use proofload_report::findings::evaluate;
use proofload_report::{Format, ReportOptions, render_with};
use serde_json::json;
use std::path::Path;

/// Bytes at the beginning of a page that `report` wrote.
const OURS: &str = "<meta name=\"generator\" content=\"Proofload\">";

/// How a study is told at its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndingStyle {
    /// Whether for programs.
    pub(crate) as_json: bool,
    /// Whether the report is written beside the record.
    pub(crate) with_report: bool,
    /// Whether a study without a result ends with 0.
    pub(crate) accepts_void: bool,
}

/// All that is said at the end.
#[derive(Debug)]
pub(crate) struct Ending<'a> {
    record: &'a Path,
    exit: Exit,
    /// What stopped the study; `None` when it came to its end.
    error: Option<String>,
    result: Option<StudyResult>,
    table: Option<String>,
    /// The file, or why there is none; `None` when nobody wants one.
    report: Option<Result<String, String>>,
    /// Experiments that the study asks for and that cannot be made, with the reasons.
    refused: Vec<String>,
    next: Vec<String>,
}

impl<'a> Ending<'a> {
    /// A study that came to its end; writes its report.
    pub(crate) fn complete(record: &Record, path: &'a Path, style: EndingStyle) -> Self {
        let findings = evaluate(record);
        let result = StudyResult::of(&findings);
        let exit = match result.exit() {
            Exit::NoResult if style.accepts_void => Exit::Good,
            exit => exit,
        };
        Self {
            record: path,
            exit,
            error: None,
            table: table(record, path),
            report: style.with_report.then(|| write_report(record, path)),
            refused: refused_experiments(&findings),
            next: NextSteps::of(record, &findings).lines(path),
            result: Some(result),
        }
    }

    /// A study that was stopped; what is in its record is told, and what to do.
    pub(crate) fn stopped(
        record: Option<&Record>,
        path: &'a Path,
        exit: Exit,
        error: String,
        next: Vec<String>,
    ) -> Self {
        let result = record.map(StudyResult::of_record);
        // A verification that failed is told even if something else failed as well.
        let exit = match &result {
            Some(result) if exit == Exit::Failure && result.exit() == Exit::VerificationFailed => result.exit(),
            _ => exit,
        };
        // Without a finished run a table would tell the same error again for each point.
        let table = record.filter(|record| exit != Exit::Failure || has_finished_run(record));
        let table = table.and_then(|record| self::table(record, path));
        Self { record: path, exit, error: Some(error), table, report: None, refused: Vec::new(), next, result }
    }

    /// Says it, and gives the exit code.
    pub(crate) fn tell(&self, style: EndingStyle) -> Exit {
        if style.as_json {
            output::note(&self.json().to_string());
            return self.exit;
        }
        if let Some(table) = &self.table {
            output::note(table);
        }
        match &self.error {
            Some(error) => {
                match self.exit {
                    Exit::Interrupted | Exit::InterruptedEarly => output::note(error),
                    _ => output::error(error),
                }
                self.next.iter().for_each(|line| output::note(line));
            }
            None => self.tell_completed(),
        }
        if self.exit != Exit::Good && self.result.is_some() {
            output::note(&format!("exit     {}: {}", self.exit.number(), self.why()));
        }
        self.exit
    }

    fn tell_completed(&self) {
        output::note("");
        if let Some(result) = &self.result {
            output::note(&format!("verdict  {}", result.text()));
        }
        output::note(&format!("record   {}", self.record.display()));
        match &self.report {
            Some(Ok(file)) => output::note(&format!("report   {file}")),
            Some(Err(text)) => output::note(&format!("report   not written: {text}")),
            None => {}
        }
        self.refused.iter().for_each(|line| output::note(&format!("refused  {line}")));
        self.next.iter().for_each(|line| output::note(&format!("next     {line}")));
    }

    /// The meaning of the code, with its causes where they are known.
    fn why(&self) -> String {
        let causes = self.result.as_ref().map(StudyResult::causes).unwrap_or_default();
        match self.exit {
            Exit::NoResult if !causes.is_empty() => format!("no result: {causes}"),
            Exit::VerificationFailed if !causes.is_empty() => format!("verification failed: {causes}"),
            Exit::Failure if !causes.is_empty() => format!("the study is not finished: {causes}"),
            exit => exit.meaning().to_owned(),
        }
    }

    fn json(&self) -> serde_json::Value {
        let (file, missing) = match &self.report {
            Some(Ok(file)) => (Some(file), None),
            Some(Err(text)) => (None, Some(text)),
            None => (None, None),
        };
        json!({
            "at_us": SystemClock.wall().0, "event": "end", "exit": self.exit.number(), "meaning": self.exit.meaning(),
            "error": self.error, "result": self.result.as_ref().map(StudyResult::json), "record": self.record.display().to_string(),
            "report": file, "report_missing": missing, "refused": self.refused, "next": self.next,
        })
    }
}

/// Whether there is a result of any run.
pub(super) fn has_finished_run(record: &Record) -> bool {
    record.attempts.iter().any(|attempt| attempt.state == State::Finished)
}

fn table(record: &Record, path: &Path) -> Option<String> {
    let file = path.display().to_string();
    let options = ReportOptions { file: &file, ..ReportOptions::default() };
    render_with(record, Format::Text, options).ok().map(|table| table.trim_end().to_owned())
}

/// Writes the page beside the record, over an earlier page of ours only.
fn write_report(record: &Record, path: &Path) -> Result<String, String> {
    let file = path.with_extension("html");
    if file == path {
        return Err(format!("{} is the record itself", path.display()));
    }
    let shown = file.display();
    if file.exists() && !is_ours(&file) {
        let named = format!("proofload report {} -o FILE", path.display());
        return Err(format!("{shown} exists and is not a Proofload report; choose another name: {named}"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let options = ReportOptions { file: &name, ..ReportOptions::default() };
    let page = render_with(record, Format::Html, options).map_err(|error| error.to_string())?;
    std::fs::write(&file, page).map_err(|error| format!("failed to write {shown}: {error}"))?;
    Ok(shown.to_string())
}

/// Whether a file is a page that Proofload made.
pub(super) fn is_ours(file: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(1_024).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(OURS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Value;

    #[test]
    fn only_our_own_page_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        std::fs::write(&file, format!("<!DOCTYPE html>\n{OURS}\n")).unwrap();
        assert!(is_ours(&file));
        std::fs::write(&file, "<!DOCTYPE html>\nmy own notes\n").unwrap();
        assert!(!is_ours(&file));
        assert!(!is_ours(&folder.path().join("missing.html")));
    }

    #[test]
    fn experiments_that_cannot_be_made_are_told_at_the_end() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-4-memory.proof");
        let mut record = proofload_record::read(Path::new(stored)).expect("the record is read");
        let style = EndingStyle { as_json: true, with_report: false, accepts_void: false };
        let refused = |record: &Record| Ending::complete(record, Path::new("x.proof"), style).json()["refused"].clone();
        assert_eq!(refused(&record), json!([]), "the study asks for none");
        let settings = &mut record.study.settings.0;
        settings.insert("confirm.points".to_owned(), Value::Text("largest".to_owned()));
        settings.insert("engine.url".to_owned(), Value::Text("postgresql://there".to_owned()));
        let told = refused(&record);
        let told = told[0].as_str().expect("one is refused");
        assert!(told.starts_with("no experiment (confirm.points = \"largest\") with point "), "{told}");
        assert!(told.ends_with("limits of an existing server (engine.url) are not ours to change"), "{told}");
    }
}
