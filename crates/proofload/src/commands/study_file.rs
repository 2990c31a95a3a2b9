//! Reading a study file with its `--set` changes. Shared by the commands that take one.

use super::bounded_file::bytes_of;
use super::logo;
use crate::catalogue::catalogue;
use crate::conductor::refused_by_study;
use crate::exit::Exit;
use crate::output;
use crate::studies;
use proofload_model::settings::{Value, setting};
use proofload_model::study::{
    Fault, MOST_FAULTS_TOLD, Study, advice, factors_left_out, faults_text, parse_assignment, validate,
};
use proofload_record::is_record;
use serde_json::{Value as Json, json};
use std::path::Path;

/// The setting that names the file of a logo.
const LOGO: &str = setting::PAPER_LOGO;

/// Largest study file, bytes: the largest of this repository has some kilobytes.
const STUDY_FILE_MOST: u64 = 8 << 20;

/// A study and its text.
pub(crate) struct StudyFile {
    pub(crate) text: String,
    pub(crate) study: Study,
    /// Settings that would vary, had `--set` not given them one value.
    left_out: Vec<String>,
    /// Settings of the limits that this machine does not allow and that the study is carried out without.
    pub(crate) limits_left_out: Vec<&'static str>,
}

impl StudyFile {
    /// Says on stderr what the study had better not do.
    pub(crate) fn tell_advice(&self) {
        for remark in advice(&self.study) {
            output::note(&format!("note: {remark}"));
        }
        for setting in &self.left_out {
            output::note(&format!("note: --set {setting}=… takes the place of its factor: it no longer varies"));
        }
    }
}

/// Why a study is not carried out.
pub(crate) enum Refusal {
    /// The file cannot be read.
    File(String),
    /// A change of the command line cannot be read.
    Usage(String),
    /// The study has faults.
    Faults {
        /// One sentence.
        text: String,
        /// All of them.
        faults: Vec<Fault>,
    },
}

impl Refusal {
    /// The exit code of a command that takes such a study.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::File(_) => Exit::Failure,
            Self::Usage(_) => Exit::Usage,
            Self::Faults { .. } => Exit::StudyInvalid,
        }
    }

    /// All that is wrong, as one text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::File(text) | Self::Usage(text) => text.clone(),
            Self::Faults { text, faults } => format!("{text}\n{}", faults_text(faults).trim_end()),
        }
    }

    /// Says so on stderr, for people or for programs.
    pub(crate) fn tell(&self, json: bool) -> Exit {
        match self {
            Self::File(text) | Self::Usage(text) => output::failure(json, self.exit(), text),
            Self::Faults { text, faults } => {
                if json {
                    output::json_error(self.exit(), text, Some(faults_json(faults)));
                } else {
                    output::error(text);
                    output::note(faults_text(faults).trim_end());
                }
                self.exit()
            }
        }
    }
}

/// The faults that are told, for programs.
pub(crate) fn faults_json(faults: &[Fault]) -> Json {
    let fault = |fault: &Fault| {
        json!({
            "line": fault.line, "key": fault.key, "reason": fault.reason, "suggestion": fault.suggestion, "text": fault.to_string()
        })
    };
    Json::Array(faults.iter().take(MOST_FAULTS_TOLD).map(fault).collect())
}

/// Reads and checks.
pub(crate) fn read_with(path: &Path, set: &[String]) -> Result<StudyFile, Refusal> {
    if path.is_file() && is_record(path).unwrap_or(false) {
        return Err(record_given(path));
    }
    let bytes = bytes_of(path, STUDY_FILE_MOST).map_err(|error| unreadable_file(path, &error))?;
    let text = String::from_utf8(bytes).map_err(|error| not_utf8(path, &error))?;
    let (overrides, unreadable): (Vec<_>, Vec<_>) =
        set.iter().map(|assignment| parse_assignment(assignment)).partition(Result::is_ok);
    let overrides: Vec<_> = overrides.into_iter().flatten().collect();
    let mut unreadable: Vec<String> = unreadable.into_iter().filter_map(|read| Some(read.err()?.to_string())).collect();
    let checked =
        validate(&text, &overrides, &catalogue()).and_then(|study| with_logo(study, path)).and_then(confirmable);
    match checked {
        Ok(study) if unreadable.is_empty() => {
            let left_out = factors_left_out(&text, &overrides);
            Ok(StudyFile { text: with_changes(text, set), study, left_out, limits_left_out: Vec::new() })
        }
        Ok(_) => Err(Refusal::Usage(unreadable.join("\n"))),
        Err(mut faults) => {
            let of_set = |reason| Fault { line: None, key: String::new(), reason, suggestion: None };
            faults.extend(unreadable.drain(..).map(of_set));
            let count = if faults.len() == 1 { "1 fault".to_owned() } else { format!("{} faults", faults.len()) };
            Err(Refusal::Faults { text: format!("the study {} has {count}", path.display()), faults })
        }
    }
}

/// The study with the image of its logo in place of the file's name.
fn with_logo(mut study: Study, path: &Path) -> Result<Study, Vec<Fault>> {
    let Ok(name) = study.settings.text(LOGO).map(str::to_owned) else { return Ok(study) };
    let file = path.parent().unwrap_or(Path::new("")).join(&name);
    let image = logo::embedded(&file).map_err(|reason| {
        vec![Fault {
            line: None,
            key: LOGO.to_owned(),
            reason: format!("{}: {reason}", file.display()),
            suggestion: None,
        }]
    })?;
    study.settings.0.insert(LOGO.to_owned(), Value::Text(image));
    Ok(study)
}

/// The study, unless it asks for experiments that can be made with none of its points.
fn confirmable(study: Study) -> Result<Study, Vec<Fault>> {
    match refused_by_study(&study) {
        None => Ok(study),
        Some(reason) => {
            Err(vec![Fault { line: None, key: setting::CONFIRM_POINTS.to_owned(), reason, suggestion: None }])
        }
    }
}

/// A file that cannot be read. Where it is not there, with the built-in study that may be meant.
fn unreadable_file(path: &Path, error: &str) -> Refusal {
    let built_in = match path.to_str().filter(|_| !path.exists()) {
        Some(name) => match studies::study(name).or_else(|| studies::nearest(name)) {
            Some(study) => format!("; proofload studies --copy {0} writes the built-in study {0}", study.name),
            None => "; proofload studies lists built-in studies, and --copy NAME writes one".to_owned(),
        },
        None => String::new(),
    };
    Refusal::File(format!("failed to read the study {}: {error}{built_in}", path.display()))
}

/// A record in the place of a study.
fn record_given(path: &Path) -> Refusal {
    let shown = path.display();
    let reason = format!(
        "give the study file; proofload report {shown} writes its report, proofload resume {shown} goes on with it"
    );
    let fault = Fault { line: None, key: String::new(), reason, suggestion: None };
    Refusal::Faults { text: format!("{shown} is no study but a record or another database"), faults: vec![fault] }
}

/// A file that is no text, with the first byte that says so.
fn not_utf8(path: &Path, error: &std::string::FromUtf8Error) -> Refusal {
    let (bytes, at) = (error.as_bytes(), error.utf8_error().valid_up_to());
    let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    let reason = format!("not UTF-8: byte {:#04x} at offset {at}; a study must be a text file", bytes[at]);
    let fault = Fault { line: Some(line), key: String::new(), reason, suggestion: None };
    Refusal::Faults { text: format!("the study {} has 1 fault", path.display()), faults: vec![fault] }
}

/// The text as it goes into the record: with the changes of the command line as comments at its end.
fn with_changes(mut text: String, set: &[String]) -> String {
    if !set.is_empty() {
        text.push_str("\n# changed on the command line:\n");
        for change in set {
            text.push_str(&format!("# --set '{change}'\n"));
        }
    }
    text
}
