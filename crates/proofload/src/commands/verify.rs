//! `verify`: whether a record, or the result of a self-test, is as it was written, and who signed it. The answer is the first line.

use super::selftest_result::{self, ResultFault};
use super::{selftest, ssh_keygen};
use crate::cli::VerifyArguments;
use crate::exit::Exit;
use crate::output;
use crate::selftest::check;
use proofload_record::{Error, Record, State};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// What was found.
struct Answer {
    /// What is not as it should be; empty when the record holds.
    faults: Vec<String>,
    /// Name and value of what else is told.
    lines: Vec<(&'static str, String)>,
    /// Whether rows are still added: what holds now is not the whole.
    is_being_written: bool,
}

/// Checks a record, or the result of a self-test.
pub(crate) fn run(arguments: &VerifyArguments) -> Exit {
    let found = match selftest_result::found(&arguments.record) {
        Some(Ok(result)) => of_result(arguments, &result),
        Some(Err(ResultFault::Content(fault))) => of_broken_result(arguments, fault),
        Some(Err(fault)) => return output::failure(arguments.json, fault.exit(), &fault.text(&arguments.record)),
        None => answer(arguments),
    };
    let answer = match found {
        Ok(answer) => answer,
        Err(error) if error.is_damaged() => {
            Answer { faults: vec![error.to_string()], lines: Vec::new(), is_being_written: false }
        }
        Err(error) => return output::failure(arguments.json, Exit::Failure, &error.to_string()),
    };
    let text = if arguments.json { as_json(&answer) } else { as_text(&answer, &arguments.record) };
    let exit = if answer.faults.is_empty() { Exit::Good } else { Exit::NotProved };
    output::conclude(arguments.json, &text, exit)
}

fn answer(arguments: &VerifyArguments) -> Result<Answer, Error> {
    let file = &arguments.record;
    let (content, proof) = match proofload_record::read_proved(file) {
        Ok((record, proof)) => (Ok(record), proof),
        Err(error) => (Err(error), proofload_record::prove(file)?),
    };
    let mut lines = vec![("file", format!("SHA-256 {}", proofload_record::file_sha256(file)?))];
    lines.extend(unhashed(file).map(|text| ("not in hash", text)));
    lines.push(("format", proof.format.to_string()));
    lines.push(("chain", chain_text(&proof)));
    let mut faults = proof.faults.clone();
    let is_being_written = content.as_ref().is_ok_and(|record| record.being_written);
    match content {
        Ok(record) => {
            // What reading adds to the faults of the chain, such as a finished run without a seal.
            faults.extend(record.faults.iter().filter(|fault| !proof.faults.contains(fault)).cloned());
            lines.extend(content_lines(&record));
        }
        Err(error) => faults.push(error.to_string()),
    }
    match signature(arguments) {
        Ok(text) => lines.push(("signature", text)),
        Err(text) => faults.push(text),
    }
    Ok(Answer { faults, lines, is_being_written })
}

/// What is found of the result of a self-test.
fn of_result(arguments: &VerifyArguments, result: &Json) -> Result<Answer, Error> {
    let mut faults: Vec<String> = check(result).into_iter().collect();
    let text = |name: &str| result[name].as_str().unwrap_or("not told").to_owned();
    let signature = signature(arguments);
    faults.extend(signature.as_ref().err().cloned());
    let mut lines = vec![("file", format!("SHA-256 {}", proofload_record::file_sha256(&arguments.record)?))];
    lines.push(("self-test", if faults.is_empty() { selftest::answer(result) } else { selftest::claim(result) }));
    lines.extend([("begun", text("begun")), ("written by", text("program"))]);
    lines.extend(signature.ok().map(|text| ("signature", text)));
    Ok(Answer { faults, lines, is_being_written: false })
}

/// What is found of a result that cannot be read whole: nothing that it says is told.
fn of_broken_result(arguments: &VerifyArguments, fault: String) -> Result<Answer, Error> {
    let lines = vec![("file", format!("SHA-256 {}", proofload_record::file_sha256(&arguments.record)?))];
    Ok(Answer { faults: vec![fault], lines, is_being_written: false })
}

/// The rows that are not in the file itself yet; `None` once all are.
fn unhashed(record: &Path) -> Option<String> {
    let mut name = record.as_os_str().to_owned();
    name.push("-wal");
    let wal = PathBuf::from(name);
    let has_rows = std::fs::metadata(&wal).is_ok_and(|about| about.len() > 0);
    has_rows.then(|| format!("{}, which has the newest rows until the record is closed", wal.display()))
}

fn chain_text(proof: &proofload_record::Proof) -> String {
    match &proof.head {
        Some(head) => {
            let end =
                if proof.closed { "closed" } else { "not closed: it is being written, or its conductor was killed" };
            format!("{} links, the last {head}, {end}", proof.links)
        }
        None => "none before format 4: seals cover the rows of finished runs, but not study, plan, events and logs"
            .to_owned(),
    }
}

fn content_lines(record: &Record) -> Vec<(&'static str, String)> {
    let finished = record.attempts.iter().filter(|attempt| attempt.state == State::Finished);
    let sealed = finished.clone().filter(|attempt| attempt.seal_holds == Some(true)).count();
    let runs = format!("{sealed} of {} sealed; {} planned", finished.count(), record.plan.runs.len());
    let mut programs: Vec<&str> = record.sessions.iter().map(|session| session.program.as_str()).collect();
    programs.dedup();
    vec![("study", record.study.name().to_owned()), ("finished runs", runs), ("written by", programs.join(", "))]
}

/// Where a record's signature stands unless the command line says otherwise.
pub(super) fn signature_of(record: &Path) -> PathBuf {
    let mut name = record.as_os_str().to_owned();
    name.push(".sig");
    PathBuf::from(name)
}

/// The signer, or the word "none" without a signature. Errors: it does not fit, or is missing although asked for.
fn signature(arguments: &VerifyArguments) -> Result<String, String> {
    let signers = (arguments.allowed_signers.as_deref(), arguments.identity.as_deref());
    signer_of(&arguments.record, arguments.signature.as_deref(), signers)
}

/// The signer of a file, or the word "none" without a signature, which stands beside it unless another place is named. Allowed signers come with
/// the one who has to be it, if any. Errors: it does not fit, or is missing although asked for.
pub(super) fn signer_of(
    signed: &Path,
    signature: Option<&Path>,
    (allowed, identity): (Option<&Path>, Option<&str>),
) -> Result<String, String> {
    let is_asked = signature.is_some() || allowed.is_some();
    let file = signature.map_or_else(|| signature_of(signed), Path::to_path_buf);
    if !file.exists() {
        return if is_asked { Err(format!("no such signature: {}", file.display())) } else { Ok("none".to_owned()) };
    }
    ssh_keygen::signer(signed, &file, allowed, identity)
}

fn as_text(answer: &Answer, record: &Path) -> String {
    let mut text = match answer.faults.as_slice() {
        [] if answer.is_being_written => format!("intact so far: {} is being written\n", record.display()),
        [] => format!("intact: {}\n", record.display()),
        [first, ..] if first.starts_with(&format!("{}: ", record.display())) => format!("broken: {first}\n"),
        [first, ..] => format!("broken: {}: {first}\n", record.display()),
    };
    text.extend(answer.faults.iter().skip(1).map(|fault| format!("  also: {fault}\n")));
    text.extend(answer.lines.iter().map(|(name, value)| format!("  {name:<13} {value}\n")));
    text
}

fn as_json(answer: &Answer) -> String {
    let mut object = json!({
        "form": 1, "holds": answer.faults.is_empty(), "faults": answer.faults, "being_written": answer.is_being_written
    });
    for (name, value) in &answer.lines {
        object[name.replace([' ', '-'], "_")] = json!(value);
    }
    format!("{object:#}")
}
