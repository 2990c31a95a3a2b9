//! `import`: results of other programs as a file that `report --beside` draws. Opens and writes files; how they are read is
//! decided by `proofload_import`.

use super::bounded_file::named_bytes_of;
use super::target;
use crate::cli::{ImportArguments, ImportForm};
use crate::exit::Exit;
use crate::output;
use proofload_import::{Labels, SOURCE_FILE_MOST, SourceFile, faults_text, import, reference_text, study_text};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Imports results.
pub(crate) fn run(arguments: &ImportArguments) -> Exit {
    if arguments.json && arguments.output.as_os_str() == "-" {
        let text = "--json describes the result on standard output, but -o - writes the result there; use a file";
        return output::failure(true, Exit::Usage, text);
    }
    match made(arguments).and_then(|made| write(arguments, &made.text).map(|()| made)) {
        Ok(made) => {
            if arguments.json {
                return output::conclude(true, &format!("{:#}", made.summary), Exit::Good);
            }
            Exit::Good
        }
        Err(text) => refused(arguments.json, &text),
    }
}

/// Says what is wrong; for programs the faults below the first line are items.
fn refused(json: bool, text: &str) -> Exit {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_end_matches(':');
    let faults: Vec<Json> = lines.map(|line| json!({ "text": line })).collect();
    if json {
        output::json_error(Exit::Failure, first, Some(Json::Array(faults)).filter(|_| text.contains('\n')));
    } else {
        output::error(text);
    }
    Exit::Failure
}

/// What is written, and what is said of it to programs.
struct ImportOutput {
    text: String,
    summary: Json,
}

fn made(arguments: &ImportArguments) -> Result<ImportOutput, String> {
    let to_stdout = arguments.output.as_os_str() == "-";
    if !to_stdout {
        target::expect_free(&arguments.output, arguments.overwrite)?;
    }
    let mut sources = Vec::new();
    let mut faults = Vec::new();
    for file in &arguments.files {
        match named_bytes_of(file, SOURCE_FILE_MOST) {
            Ok(content) => sources.push(SourceFile { name: file.display().to_string(), content }),
            Err(fault) => faults.push(fault),
        }
    }
    let id = arguments.output.file_stem().filter(|_| !to_stdout).map(|stem| stem.to_string_lossy().into_owned());
    if arguments.form == ImportForm::Study && faults.is_empty() {
        let text = study(&sources, &arguments.engine)?;
        let summary = json!({ "form": 1, "file": arguments.output.display().to_string(), "made": "study" });
        return Ok(ImportOutput { text, summary });
    }
    let labels = Labels { id: id.unwrap_or_else(|| "imported".to_owned()), title: arguments.title.clone() };
    let found = if sources.is_empty() { Ok(None) } else { import(&sources, &labels).map(Some) };
    faults.extend(found.as_ref().err().map(|found| faults_text(found)));
    match found {
        Ok(Some(reference)) if faults.is_empty() => {
            let operations: usize = reference.points.iter().map(|point| point.operations.len()).sum();
            let summary = json!({
                "form": 1, "file": arguments.output.display().to_string(), "made": "results",
                "points": reference.points.len(), "operations": operations,
            });
            Ok(ImportOutput { text: reference_text(&reference), summary })
        }
        _ => Err(format!("nothing was imported:\n{}", faults.join("\n"))),
    }
}

/// A study of one property file, named after it.
fn study(sources: &[SourceFile], engine: &str) -> Result<String, String> {
    let [source] = sources else {
        return Err("a study needs exactly one property file; merge them first".to_owned());
    };
    if proofload_engine::engine(engine).is_none() {
        return Err(format!("unknown engine {engine}; `proofload engines` lists the built-in ones"));
    }
    let text = std::str::from_utf8(&source.content).map_err(|_| format!("{}: not a text file", source.name))?;
    let stem =
        Path::new(&source.name).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().to_lowercase());
    let name: String = stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let study = study_text(&source.name, text, &name, engine);
    study.map_err(|faults| format!("nothing was imported:\n{}", faults_text(&faults)))
}

/// Makes the file; one that appeared in the meantime is left alone.
fn write(arguments: &ImportArguments, text: &str) -> Result<(), String> {
    target::write(Some(&arguments.output), arguments.overwrite, text)
}
