//! `agents`: whether every agent of a study answers, and what its machine is and allows. Changes nothing there.

use super::verdict::counted;
use super::{refused_limits, study_file};
use crate::cli_agents::AgentsArguments;
use crate::conductor::{AgentRole, CheckedAgent, FoundAgent, check_agents};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::output;
use proofload_model::error::Error;
use proofload_model::facts::{FactName, host};
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use proofload_model::study::Study;
use proofload_model::units::duration_words;
use serde_json::{Value as Json, json};

/// Looks and tells.
pub(crate) fn run(arguments: &AgentsArguments) -> Exit {
    let study = match study_file::read_with(arguments.study(), &arguments.set) {
        Ok(file) => file.study,
        Err(refusal) => return refusal.tell(arguments.json),
    };
    let interrupt = match Interrupt::install() {
        Ok(interrupt) => interrupt,
        Err(error) => {
            let text = format!("failed to install signal handlers: {error}");
            return output::failure(arguments.json, Exit::Failure, &text);
        }
    };
    let waiting = |names: &[&str]| {
        if !arguments.json {
            output::note(&format!("waiting for {} …", names.join(", ")));
        }
    };
    let checked = match check_agents(&study, &refused_limits::asked_limits(&study), &interrupt, waiting) {
        Ok(checked) => checked,
        Err(error) if error.is_interrupted() => {
            return output::failure(arguments.json, Exit::InterruptedEarly, "interrupted: the agents are ended");
        }
        Err(error) => return output::failure(arguments.json, Exit::Failure, &error.to_string()),
    };
    let told = if arguments.json { format!("{:#}", as_json(&checked)) } else { text(&checked) + &unasked(&study) };
    let exit = if checked.iter().all(is_ready) { Exit::Good } else { Exit::Failure };
    output::conclude(arguments.json, &told, exit)
}

/// Whether it answers and allows every limit.
fn is_ready(agent: &CheckedAgent) -> bool {
    agent.found.as_ref().is_ok_and(|found| found.limits.iter().all(|(_, why)| why.is_none()))
}

fn text(checked: &[CheckedAgent]) -> String {
    let ready = checked.iter().filter(|agent| is_ready(agent)).count();
    let mut text = if ready == checked.len() {
        let all = if ready == 1 { "the agent is".to_owned() } else { format!("all {ready} agents are") };
        format!("{all} ready: proofload {}\n", env!("CARGO_PKG_VERSION"))
    } else {
        let missing = checked.len() - ready;
        let verb = if missing == 1 { "is" } else { "are" };
        format!("{missing} of {} {verb} not ready\n", counted(checked.len(), "agent"))
    };
    let width = checked.iter().map(|agent| agent.name.chars().count()).max().unwrap_or(0);
    for agent in checked {
        let mark = if is_ready(agent) { '✓' } else { '✗' };
        let head = format!("  {mark} {:<4}  {:<width$}  ", role(agent.role), agent.name);
        let indent = " ".repeat(head.chars().count());
        let lines = match &agent.found {
            Ok(found) => found_lines(found),
            Err(error) => {
                vec![error.to_string(), "start its command by hand, as the study has it, to see more".to_owned()]
            }
        };
        text.push_str(&format!("{head}{}\n", lines.join(&format!("\n{indent}"))));
    }
    text
}

/// What was not looked at; empty where the study names no server that runs already.
fn unasked(study: &Study) -> String {
    match study.settings.get(setting::ENGINE_URL) {
        Some(_) => "the server of engine.url was not asked; proofload doctor STUDY logs in to it\n".to_owned(),
        None => String::new(),
    }
}

fn found_lines(found: &FoundAgent) -> Vec<String> {
    let mut machine: Vec<String> = Vec::new();
    machine.extend(
        told(&found.facts, &host::CORES)
            .map(|cores| format!("{cores} {}", if cores == "1" { "core" } else { "cores" })),
    );
    machine.extend(host::MEMORY.number(&found.facts).map(in_gib));
    machine.extend(told(&found.facts, &host::SYSTEM).map(str::to_owned));
    machine.extend(told(&found.facts, &host::KERNEL).map(|kernel| format!("kernel {kernel}")));
    let (_, within) = found.clock;
    let way = format!("round trip {}, clock known to ±{}", duration_words(found.round_trip), duration_words(within));
    let mut lines = vec![machine.join(", "), way];
    let tried = tried(found);
    let names: Vec<&str> = tried.iter().filter(|(_, why)| why.is_none()).map(|(setting, _)| *setting).collect();
    if !names.is_empty() {
        lines.push(format!("can be set and read back: {}", names.join(", ")));
    }
    lines.extend(tried.iter().filter_map(|(setting, why)| Some(format!("{setting}: {}", (*why)?))));
    lines
}

/// Each setting once, with the first reason against one of its levels.
fn tried(found: &FoundAgent) -> Vec<(&'static str, Option<&Error>)> {
    let mut tried: Vec<(&'static str, Option<&Error>)> = Vec::new();
    for (setting, why) in &found.limits {
        match tried.iter_mut().find(|(known, _)| known == setting) {
            Some((_, first)) => *first = first.or(why.as_ref()),
            None => tried.push((*setting, why.as_ref())),
        }
    }
    tried
}

fn in_gib(bytes: f64) -> String {
    format!("{:.1} GiB", bytes / 1_073_741_824.0)
}

fn told<'f>(facts: &'f [Fact], name: &FactName) -> Option<&'f str> {
    let is_it = |fact: &&Fact| fact.subject == name.subject && fact.name == name.name;
    facts.iter().find(is_it).and_then(|fact| fact.effective.as_deref())
}

fn role(role: AgentRole) -> &'static str {
    match role {
        AgentRole::Host => "host",
        AgentRole::Load => "load",
    }
}

fn as_json(checked: &[CheckedAgent]) -> Json {
    let agents: Vec<Json> = checked.iter().map(agent_json).collect();
    json!({ "form": 2, "ready": checked.iter().all(is_ready), "version": env!("CARGO_PKG_VERSION"), "agents": agents })
}

fn limit_json((setting, why): &(&'static str, Option<&Error>)) -> Json {
    json!({ "setting": setting, "allowed": why.is_none(), "why": why.map(ToString::to_string) })
}

fn agent_json(agent: &CheckedAgent) -> Json {
    let head = json!({ "name": agent.name, "role": role(agent.role), "ready": is_ready(agent) });
    let rest = match &agent.found {
        Err(error) => json!({ "error": error.to_string() }),
        Ok(found) => {
            let count = |name: &FactName| name.number(&found.facts).map(|number| number as u64);
            json!({
                "round_trip_ns": found.round_trip.as_nanos() as u64,
                "clock_ahead_ns": found.clock.0,
                "clock_within_ns": found.clock.1.as_nanos() as u64,
                "cores": count(&host::CORES),
                "memory_bytes": count(&host::MEMORY),
                "system": told(&found.facts, &host::SYSTEM),
                "kernel": told(&found.facts, &host::KERNEL),
                "limits": tried(found).iter().map(limit_json).collect::<Vec<_>>(),
            })
        }
    };
    match (head, rest) {
        (Json::Object(mut head), Json::Object(rest)) => {
            head.extend(rest);
            Json::Object(head)
        }
        (head, _) => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::units::Bytes;
    use std::time::Duration;

    #[test]
    fn a_machine_is_told_by_the_numbers_of_its_facts() {
        let facts = vec![host::CORES.observed(4_u32, "a test"), host::MEMORY.observed(Bytes(3 << 29), "a test")];
        let (round_trip, clock) = (Duration::from_micros(1), (0, Duration::ZERO));
        let found = FoundAgent { round_trip, clock, facts, limits: Vec::new() };
        assert_eq!(found_lines(&found)[0], "4 cores, 1.5 GiB");
        let agent = CheckedAgent { name: "db1".to_owned(), role: AgentRole::Host, found: Ok(found) };
        let told = agent_json(&agent);
        assert_eq!((&told["cores"], &told["memory_bytes"]), (&json!(4), &json!(1_610_612_736_u64)));
    }

    #[test]
    fn one_agent_is_and_several_are_not_ready() {
        let agent = |name: &str| CheckedAgent {
            name: name.to_owned(),
            role: AgentRole::Load,
            found: Err(Error::new("its command said nothing for 60 s")),
        };
        assert!(text(&[agent("a")]).starts_with("1 of 1 agent is not ready\n"));
        let (round_trip, clock) = (Duration::from_micros(1), (0, Duration::ZERO));
        let facts = vec![host::CORES.observed(1_u32, "a test")];
        let ready =
            CheckedAgent { found: Ok(FoundAgent { round_trip, clock, facts, limits: Vec::new() }), ..agent("a") };
        let told = text(&[ready]);
        assert!(told.starts_with("the agent is ready: proofload ") && told.contains("  1 core\n"), "{told}");
        assert!(text(&[agent("a"), agent("b")]).starts_with("2 of 2 agents are not ready\n"));
    }

    #[test]
    fn each_setting_is_told_once_with_what_stands_against_a_level() {
        let refused = || Some(Error::new("it is too small"));
        let limits =
            vec![("limits.memory", None), ("limits.cpu", None), ("limits.memory", refused()), ("limits.memory", None)];
        let (round_trip, clock) = (Duration::from_micros(1), (0, Duration::ZERO));
        let found = FoundAgent { round_trip, clock, facts: Vec::new(), limits };
        let told: Vec<_> = tried(&found).iter().map(limit_json).collect();
        let expected = json!([
            { "setting": "limits.memory", "allowed": false, "why": "it is too small" },
            { "setting": "limits.cpu", "allowed": true, "why": null },
        ]);
        assert_eq!(Json::Array(told), expected);
        let lines = found_lines(&found);
        assert_eq!(lines[2..], ["can be set and read back: limits.cpu", "limits.memory: it is too small"]);
    }
}
