//! The chore: builds what runs inside, makes the machine, boots it for each group, and tells how each case ended.

use super::case::{CaseGroup, CaseResult};
use super::groups::{self, GROUPS};
use super::image::{Image, MachineKernel, OwnProgram};
use super::machine::{Boot, BootEnd};
use super::{inside, limits, log_writes, policies, programs};
use crate::program::{cargo, text};
use crate::work_folder::WorkFolder;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

/// Groups that run tests of the testbed.
const TESTED_GROUPS: [&str; 2] = ["limits", "snapshots"];

/// How names of folders of machines begin; the number of their process follows.
const FOLDER: &str = "kernel-machine-";

/// Runs all groups, or those that are named. `--json` writes one object for each case to standard output.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some((first, rest)) = arguments.split_first()
        && first == "--inside"
    {
        return inside::run(rest);
    }
    let as_json = arguments.iter().any(|argument| argument == "--json");
    let mut words = arguments.iter().filter(|argument| *argument != "--json").peekable();
    let wanted: Vec<&CaseGroup> = match words.peek() {
        None => GROUPS.iter().collect(),
        Some(_) => words.map(|name| groups::named(name)).collect::<Result<_, _>>()?,
    };
    let begun = Instant::now();
    let target = std::path::absolute(std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned()));
    let target = target.map_err(|error| format!("finding the target folder: {error}"))?;
    sweep(&target);
    let folder = WorkFolder::below(&target, FOLDER)?;
    let own = own_programs(&wanted, folder.here())?;
    let mut faults = Vec::new();
    let mut cases = 0;
    for kernel in [MachineKernel::Own, MachineKernel::Newer] {
        let groups: Vec<_> = wanted.iter().filter(|group| groups::kernel(group) == kernel).collect();
        if groups.is_empty() {
            continue;
        }
        tell("kernel: making the machine")?;
        let image = Image::make(&folder.path(kernel.package()), &target, kernel, &own)?;
        for group in groups {
            faults.extend(run_group(group, &image, as_json)?);
            cases += group.cases.len();
        }
    }
    let took = begun.elapsed().as_secs();
    let summary =
        format!("kernel: {} of {cases} cases passed in {} min {} s", cases - faults.len(), took / 60, took % 60);
    tell(&summary)?;
    if faults.is_empty() { Ok(()) } else { Err(format!("failed: {}", faults.join(", "))) }
}

/// Builds what runs inside: this program, ours, the tests that a group runs, and the references that it replays.
fn own_programs(wanted: &[&CaseGroup], folder: &Path) -> Result<Vec<OwnProgram<'static>>, String> {
    let this = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let mut own = vec![
        OwnProgram { inside: "/xtask", here: this },
        OwnProgram {
            inside: programs::PROOFLOAD,
            here: built(&["build", "-p", "proofload", "--features", programs::FEATURES], "proofload")?,
        },
    ];
    if wanted.iter().any(|group| TESTED_GROUPS.contains(&group.name)) {
        let here = built(&["test", "-p", "proofload-testbed", "--lib", "--no-run"], "proofload_testbed")?;
        own.push(OwnProgram { inside: limits::TESTS, here });
    }
    if wanted.iter().any(|group| group.name == log_writes::GROUP) {
        let words = ["test", "--release", "-p", "proofload-tier", "--test", "log_writes", "--no-run"];
        own.push(OwnProgram { inside: log_writes::TESTS, here: built(&words, "log_writes")? });
    }
    if wanted.iter().any(|group| group.name == policies::GROUP) {
        tell("kernel: taking the references of a load")?;
        own.extend(policies::take(&folder.join("references"))?);
    }
    Ok(own)
}

/// Boots a machine of its own for a group; names of the cases that did not pass.
fn run_group(group: &CaseGroup, image: &Image, as_json: bool) -> Result<Vec<String>, String> {
    let disks = image.disks()?;
    let mut faults = Vec::new();
    let mut went_wrong = None;
    for number in 1..=group.boots() {
        let mut open: Vec<&str> = group.of_boot(number).map(|case| case.name).collect();
        let boot = Boot { image, disks: &disks, group: group.name, number, within: groups::longest_boot(group) };
        let begun = Instant::now();
        let mut results = Vec::new();
        let end = match went_wrong {
            None => boot.run(|result| results.push(show(group, number, result, as_json)))?,
            Some(_) => BootEnd::Broken,
        };
        for result in results {
            let result = result?;
            open.retain(|name| *name != result.case);
            faults.extend(result.fault.map(|_| format!("{}: {}", group.name, result.case)));
        }
        let expected = if number < group.boots() { BootEnd::Killed } else { BootEnd::PoweredOff };
        if end != expected && went_wrong.is_none() {
            went_wrong = Some(format!("the machine ended as {end:?} after {} s", begun.elapsed().as_secs()));
            tell(&last_words(&boot.log()))?;
        }
        let why = went_wrong.clone().unwrap_or_else(|| "it said nothing".to_owned());
        for case in open {
            let result = CaseResult {
                case: case.to_owned(),
                fault: Some(why.clone()),
                seconds: 0.0,
                figures: serde_json::Map::new(),
            };
            show(group, number, result, as_json)?;
            faults.push(format!("{}: {case}", group.name));
        }
    }
    Ok(faults)
}

/// Tells how a case ended.
fn show(group: &CaseGroup, boot: u32, result: CaseResult, as_json: bool) -> Result<CaseResult, String> {
    let CaseResult { case, fault, seconds, figures } = &result;
    if as_json {
        let object = json!({
            "group": group.name, "boot": boot, "case": case, "passed": fault.is_none(), "fault": fault, "seconds": seconds, "figures": figures,
        });
        tell(&object.to_string())?;
        return Ok(result);
    }
    let figures: Vec<String> = figures.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let word = if fault.is_none() { "ok    " } else { "FAILED" };
    tell(&format!("{word} {:<15} {case:<28} {seconds:>6.1} s  {}", group.name, figures.join(", ")))?;
    if let Some(fault) = fault {
        tell(&format!("       {fault}"))?;
    }
    Ok(result)
}

/// The end of the kernel's log.
fn last_words(log: &Path) -> String {
    let text = std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(40)..];
    format!("kernel: the machine's last words:\n{}", last.join("\n"))
}

/// Builds with cargo; the program of a target.
fn built(words: &[&str], target: &str) -> Result<PathBuf, String> {
    tell(&format!("kernel: cargo {}", words.join(" ")))?;
    let mut building = cargo();
    building.args(words).args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    program_in(&text(&mut building)?, target).ok_or_else(|| format!("cargo {} built no {target}", words.join(" ")))
}

/// The last program of a target in cargo's messages.
fn program_in(messages: &str, target: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let programs = messages.filter(|message| message["target"]["name"] == target);
    programs.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back()
}

fn tell(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| format!("writing: {error}"))
}

/// Removes folders of chores that were killed.
fn sweep(target: &Path) {
    for entry in std::fs::read_dir(target).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(FOLDER).filter(|owner| !Path::new("/proc").join(owner).exists());
        if owner.is_some() {
            let _as_far_as_it_goes = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_target_is_taken_from_cargos_messages() {
        let messages = "{\"target\":{\"name\":\"proofload\"},\"executable\":null}\nnonsense\n\
                        {\"target\":{\"name\":\"proofload\"},\"executable\":\"/target/debug/proofload\"}\n\
                        {\"target\":{\"name\":\"other\"},\"executable\":\"/target/debug/other\"}\n";
        assert_eq!(program_in(messages, "proofload"), Some("/target/debug/proofload".into()));
        assert_eq!(program_in(messages, "none"), None);
    }
}
