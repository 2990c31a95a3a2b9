//! `selftest`: asks leave, shows each step, keeps and signs the result; checks a result that was sent.

use super::selftest_result::{self, ResultFault};
use super::{ssh_keygen, target, verify};
use crate::cli_selftest::{LeaveWord, SelftestArguments};
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::output;
use crate::selftest::{Refusal, SelftestOrder, check, is_passed};
use proofload_engine::{Engine, ScratchState, Target, engine};
use proofload_load::selftest::{SelftestStep, ServerLeave, StepOutcome};
use proofload_load::workloads::tprocc::build_apart;
use proofload_model::wire::DataLocation;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;

/// Longest name of a database that every server takes.
const LONGEST_NAME: usize = 63;

/// Runs the self-test, or checks a result.
pub(crate) fn run(arguments: &SelftestArguments) -> Exit {
    if let Some(file) = &arguments.check {
        return check_result(arguments, file);
    }
    let name = arguments.engine.as_deref().unwrap_or_default();
    let Some(of_name) = engine(name) else {
        let names: Vec<&str> = proofload_engine::ENGINES.iter().map(|engine| engine.about().name).collect();
        let text = format!("there is no engine {name:?}; built in: {}", names.join(", "));
        return output::failure(arguments.json, Exit::Usage, &text);
    };
    if arguments.build_only {
        return build(of_name, arguments);
    }
    match refused(of_name, arguments).map_or_else(|| test(of_name, arguments), |text| Err((Exit::Usage, text))) {
        Ok(exit) => exit,
        Err((exit, text)) => output::failure(arguments.json, exit, &text),
    }
}

/// Why the command line asks for what cannot be done.
fn refused(engine: &dyn Engine, arguments: &SelftestArguments) -> Option<String> {
    let about = engine.about();
    let letters = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    if !about.keeps_data {
        return Some(format!("{} keeps no data: there is nothing to test", about.name));
    }
    if arguments.url.is_none() && arguments.changes == LeaveWord::Allowed {
        return Some("--changes allowed is about a server of yours; give its --url".to_owned());
    }
    if arguments.url.is_some() && engine.scratch_databases().is_none() {
        return Some(format!("{} makes no databases at a server; leave out --url", about.name));
    }
    if arguments.url.is_none() && engine.server().is_none() && engine.existing().is_some() {
        return Some(format!("{} cannot be started here; give the --url of a server", about.name));
    }
    if arguments.record.is_some() && engine.recorder().is_none() {
        return Some(format!(
            "sessions of {} are not recorded, only those of sqlserver are; leave out --record",
            about.name
        ));
    }
    if arguments.database.len() > LONGEST_NAME
        || arguments.database.is_empty()
        || !arguments.database.chars().all(letters)
    {
        let name = &arguments.database;
        return Some(format!("--database {name:?}: use small letters, digits and _, at most {LONGEST_NAME}"));
    }
    None
}

fn test(engine: &'static dyn Engine, arguments: &SelftestArguments) -> Result<Exit, (Exit, String)> {
    let failure = |text: String| (Exit::Failure, text);
    target::expect_free(&arguments.output, arguments.overwrite).map_err(failure)?;
    let signature = verify::signature_of(&arguments.output);
    if let Some(key) = &arguments.key {
        target::expect_free(&signature, arguments.overwrite).map_err(failure)?;
        ssh_keygen::expect_key(key).map_err(failure)?;
    }
    let recorder = arguments.record.as_deref().zip(engine.recorder());
    if let Some((file, recorder)) = recorder {
        target::expect_free(file, arguments.overwrite).map_err(failure)?;
        recorder.begin(Arc::new(SystemClock));
    }
    let interrupt = Interrupt::default();
    let consent = |state| consent(engine, arguments, state);
    let told = |step: &SelftestStep| {
        if !arguments.json {
            output::note(&line(step));
        }
    };
    let noted = |text: &str| {
        if !arguments.json {
            output::note(text);
        }
    };
    let asked = SelftestOrder {
        engine,
        url: arguments.url.as_deref(),
        database: &arguments.database,
        leave: leave(arguments),
        consent: &consent,
        told: &told,
        noted: &noted,
        interrupt: &interrupt,
    };
    let document = crate::selftest::run(&asked).map_err(|refusal| match refusal {
        Refusal::Consent(text) => (Exit::Usage, text),
        Refusal::Failure(error) => failure(error.to_string()),
        Refusal::Interrupted => (Exit::InterruptedEarly, "interrupted: the database is removed".to_owned()),
    })?;
    if let Some((file, recorder)) = recorder {
        let text = format!("{}version {}\n", recorder.end(), document["version"].as_str().unwrap_or("unknown"));
        target::write_file(file, arguments.overwrite, text.as_bytes()).map_err(failure)?;
    }
    target::write_file(&arguments.output, arguments.overwrite, format!("{document:#}\n").as_bytes())
        .map_err(failure)?;
    if let Some(key) = &arguments.key {
        let signed = ssh_keygen::sign(&arguments.output, key).map_err(failure)?;
        target::write_file(&signature, arguments.overwrite, &signed).map_err(failure)?;
    }
    let told = if arguments.json { format!("{document:#}") } else { verdict(&document) };
    output::result(&told).map_err(failure)?;
    Ok(if is_passed(&document) { Exit::Good } else { Exit::VerificationFailed })
}

fn leave(arguments: &SelftestArguments) -> ServerLeave {
    match arguments.changes {
        LeaveWord::Refused => ServerLeave::Refused,
        LeaveWord::Allowed => ServerLeave::Allowed,
    }
}

/// What is done to the server beside its database, for those who are asked.
fn changes_told(arguments: &SelftestArguments) -> &'static str {
    match arguments.changes {
        LeaveWord::Refused => "",
        LeaveWord::Allowed => {
            "; it also has the server back that database up, into a file that stays, and restore it, and lowers memory and cores of the \
             whole server for a moment"
        }
    }
}

/// Leave to make a database at somebody's server.
fn consent(engine: &dyn Engine, arguments: &SelftestArguments, state: ScratchState) -> Result<(), String> {
    let name = &arguments.database;
    if state == ScratchState::Foreign {
        return Err(format!(
            "there is a database {name} at the server that does not bear the mark of a self-test: it is left as it is; choose another name by --database"
        ));
    }
    if arguments.url.is_none() {
        return Ok(());
    }
    match &arguments.confirm {
        Some(given) if given == name => return Ok(()),
        Some(given) => return Err(format!("--confirm {given} does not repeat the name of the database, {name}")),
        None => {}
    }
    if !output::can_ask() {
        return Err(format!(
            "a self-test creates the database {name} at your server and drops it{}; allow it by --confirm {name}",
            changes_told(arguments)
        ));
    }
    let left = if state == ScratchState::Marked { " One that an earlier self-test left is dropped first." } else { "" };
    output::prompt(&format!(
        "This creates the database {name} at your {} server, loads it for some minutes and drops it{}.{left}\nType {name} to go on: ",
        engine.about().name,
        changes_told(arguments)
    ));
    let mut answer = String::new();
    let heard = std::io::stdin().read_line(&mut answer);
    if heard.is_ok() && answer.trim() == name {
        Ok(())
    } else {
        Err("no leave was given; nothing was created".to_owned())
    }
}

fn line(step: &SelftestStep) -> String {
    match &step.outcome {
        StepOutcome::Passed => format!("passed   {}", step.name),
        StepOutcome::Failed(why) => format!("FAILED   {}: {why}", step.name),
        StepOutcome::Skipped(why) => format!("skipped  {}: {why}", step.name),
    }
}

/// The answer: what was tested, and how it went.
pub(super) fn answer(document: &Json) -> String {
    let word = if is_passed(document) { "passed" } else { "FAILED" };
    format!("{word}: {}", said(document))
}

/// What a result says of itself that is not as it was written: its claim, and no answer.
pub(super) fn claim(document: &Json) -> String {
    format!("not proved, it claims: {}", said(document))
}

/// What was tested, and how many steps ended how.
fn said(document: &Json) -> String {
    let text = |name: &str, unknown: &str| document[name].as_str().unwrap_or(unknown).to_owned();
    let (engine, version) = (text("engine", "an unknown engine"), text("version", "of unknown version"));
    let counts = &document["counts"];
    format!(
        "{engine} {version}: {} steps passed, {} failed, {} skipped",
        counts["passed"], counts["failed"], counts["skipped"]
    )
}

/// The answer first, then what failed and what was not looked at.
fn verdict(document: &Json) -> String {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let mut told = answer(document) + "\n";
    let steps = document["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (outcome, before) in [("failed", ""), ("skipped", "not looked at: ")] {
        for step in steps.iter().filter(|step| step["outcome"] == outcome) {
            told.push_str(&format!("  {before}{}: {}\n", text(&step["name"]), text(&step["why"])));
        }
    }
    told
}

/// What the process does that is killed.
fn build(engine: &'static dyn Engine, arguments: &SelftestArguments) -> Exit {
    let folder = arguments.build_in.as_deref().unwrap_or(Path::new("")).display().to_string();
    let (url, kind) = (arguments.url.clone(), engine.about().name.to_owned());
    let place = DataLocation { engine: kind, folder, url, settings: Vec::new(), tier: None };
    match build_apart(engine, &Target::of(engine, place, Vec::new())) {
        Ok(()) => Exit::Good,
        Err(error) => output::failure(false, Exit::Failure, &error.to_string()),
    }
}

fn check_result(arguments: &SelftestArguments, file: &Path) -> Exit {
    let document = match selftest_result::read(file) {
        Ok(document) => document,
        Err(ResultFault::Content(fault)) => return broken_result(arguments, file, &fault),
        Err(fault) => return output::failure(arguments.json, fault.exit(), &fault.text(file)),
    };
    let signers = (arguments.allowed_signers.as_deref(), arguments.identity.as_deref());
    let signer = verify::signer_of(file, None, signers);
    let fault = check(&document).or_else(|| signer.clone().err());
    let holds = fault.is_none();
    let told = if arguments.json {
        let text = json!({ "form": 1, "holds": holds, "fault": fault, "signature": signer.ok(), "result": document });
        format!("{text:#}")
    } else {
        checked(&document, file, fault.as_deref(), &signer.unwrap_or_else(|text| text))
    };
    output::conclude(arguments.json, &told, if holds { Exit::Good } else { Exit::NotProved })
}

/// What is told of a result that was checked: with a fault no more of its content than what it claims.
fn checked(document: &Json, file: &Path, fault: Option<&str>, signer: &str) -> String {
    let file = file.display();
    let content = match fault {
        None => format!("intact: {file}\n{}", verdict(document)),
        Some(fault) if document["steps"].is_array() => format!("broken: {fault}: {file}\n  {}\n", claim(document)),
        Some(fault) => format!("broken: {fault}: {file}\n"),
    };
    format!("{content}  signature: {signer}\n")
}

/// Tells of a result that cannot be read whole: nothing that it says is told.
fn broken_result(arguments: &SelftestArguments, file: &Path, fault: &str) -> Exit {
    let told = if arguments.json {
        format!("{:#}", json!({ "form": 1, "holds": false, "fault": fault, "signature": null, "result": null }))
    } else {
        format!("broken: {fault}: {}\n", file.display())
    };
    output::conclude(arguments.json, &told, Exit::NotProved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_what_failed_and_what_was_not_looked_at() {
        let step = |name: &str, outcome: &str| json!({ "name": name, "outcome": outcome, "why": "because" });
        let document = json!({
            "engine": "x", "version": "1", "counts": { "passed": 1, "failed": 1, "skipped": 1 },
            "steps": [step("meetings", "skipped"), step("kept", "passed"), step("lost", "failed")],
        });
        let expected =
            "FAILED: x 1: 1 steps passed, 1 failed, 1 skipped\n  lost: because\n  not looked at: meetings: because\n";
        assert_eq!(verdict(&document), expected);
    }

    #[test]
    fn a_changed_result_is_told_as_what_it_claims_and_other_json_as_nothing() {
        let counts = json!({ "passed": 24, "failed": 0, "skipped": 0 });
        let document = json!({ "engine": "sqlite", "version": "3", "counts": counts, "steps": [] });
        let told = |document: &Json, fault: Option<&str>| checked(document, Path::new("x.json"), fault, "none");
        let said = "sqlite 3: 24 steps passed, 0 failed, 0 skipped";
        assert_eq!(told(&document, None), format!("intact: x.json\npassed: {said}\n  signature: none\n"));
        let changed = format!("broken: its counts: x.json\n  not proved, it claims: {said}\n  signature: none\n");
        assert_eq!(told(&document, Some("its counts")), changed);
        for other in [json!([]), Json::Null, json!({ "form": 1 })] {
            let fault = check(&other).expect("it is no result");
            assert_eq!(told(&other, Some(&fault)), format!("broken: {fault}: x.json\n  signature: none\n"));
        }
    }
}
