//! Limits and precedence of the load generator, and limits of the network between users and database: put in force before the load begins,
//! changed in experiments. May not know why.

use super::link_check;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::facts::{FactName, limit as limit_facts};
use proofload_model::intervention::{CLIENTS_CPU, LimitMeter, clients_elsewhere};
use proofload_model::log_level::LogLevel;
use proofload_model::replication::{LinkAsked, clients_link};
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use proofload_model::study::clients_cpu;
use proofload_model::units::CpuRate;
use proofload_model::wire::{LimitsAsked, host};
use std::collections::BTreeMap;
use std::time::Duration;

/// Limit of an instance that holds for the load generator, too.
const CPU: &str = setting::LIMITS_CPU;

/// Facts of precedence as a host tells them of whoever has it, and as those of the load generator are kept beside those of the database.
static PRECEDENCE: &[(FactName, FactName)] =
    &[(limit_facts::WEIGHT, limit_facts::CLIENTS_WEIGHT), (limit_facts::SLICE, limit_facts::CLIENTS_SLICE)];

/// The network between users and database, where a relay is to be in it: always where a drill parts them.
pub(super) fn network(prepared: &PreparedRun, parts_clients: bool) -> Option<LinkAsked> {
    let nothing = LinkAsked { rtt: Duration::ZERO, bandwidth: None };
    clients_link(&prepared.settings).or_else(|| parts_clients.then_some(nothing))
}

/// Measures the network between users and database, where the study asks for one, as those of standbys are.
pub(super) fn measure_network(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let Some(link) = clients_link(&prepared.settings) else { return Ok(()) };
    let facts = link_check::checked(link, "the relay of the users", |count| {
        let mut testbed = context.testbed(prepared);
        let ask = host::MeasureLink { instance: testbed.primary().name.clone(), count };
        let found = testbed.ask(testbed.primary(), ask)?;
        Ok(vec![(InstanceName::clients(), found)])
    })?;
    context.heard.journal.facts(&facts)
}

/// Limits the load generator: as the study asks, and in an experiment at least by all cores, so that it can be lowered. Where it is limited
/// for the experiment alone and cannot be, the experiment goes on and says so. Beside a database that has precedence it has the same, in the
/// same control group and without a limit as well; where it cannot be had, a fact says why.
pub(super) fn limit(context: &mut RunContext<'_>, prepared: &PreparedRun, process: u32) -> Result<(), Error> {
    context.clients_limited = false;
    let asked = clients_cpu(&prepared.settings);
    let cpu = asked.or_else(|| prepared.experiment.map(|_| whole(prepared)));
    let (is_ours, goes_before) = (is_beside(prepared), has_precedence(prepared));
    if !is_ours || (cpu.is_none() && !goes_before) {
        return Ok(());
    }
    let limits = LimitsAsked { cpu, without_precedence: !goes_before, ..LimitsAsked::default() };
    let mut testbed = context.testbed(prepared);
    let ask = host::LimitProcess { instance: InstanceName::clients(), pid: process, limits };
    let limited = testbed.ask(testbed.primary(), ask);
    let has_group = |facts: &Vec<Fact>| cpu.is_some() || limit_facts::WEIGHT.text(facts).is_some();
    context.clients_limited = limited.as_ref().is_ok_and(has_group);
    match (limited, asked) {
        (Ok(facts), _) => context.heard.journal.facts(&kept(facts, asked.is_some())),
        (Err(error), Some(_)) => Err(error.context(format!("failed to apply {CLIENTS_CPU}"))),
        (Err(error), None) => context.heard.journal.log(LogLevel::Warning, "conductor", &error.to_string()),
    }
}

/// Whether the load generator is a process of its own on the host of the database.
fn is_beside(prepared: &PreparedRun) -> bool {
    !prepared.is_embedded() && clients_elsewhere(&prepared.settings).is_none()
}

/// Whether the load generator goes before other processes of the host: beside a primary that does, which it would otherwise not be able to
/// load. An allowance of standbys alone does not count, since the primary then has no precedence either.
fn has_precedence(prepared: &PreparedRun) -> bool {
    is_beside(prepared) && prepared.starts_instance() && prepared.primary().limits.cpu.is_some()
}

/// Facts of the load generator's group to keep: its precedence under names of its own, and, where the study asks for its limit, all others.
fn kept(facts: Vec<Fact>, is_limit_asked: bool) -> Vec<Fact> {
    let keep = |fact: Fact| match PRECEDENCE.iter().find(|(told, _)| told.is_of(&fact)) {
        Some((_, own)) => Some(Fact { name: own.name.clone().into_owned(), ..fact }),
        None => is_limit_asked.then_some(fact),
    };
    facts.into_iter().filter_map(keep).collect()
}

/// CPU time that client threads could use at most.
fn whole(prepared: &PreparedRun) -> CpuRate {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
    let threads = prepared.settings.count(setting::WORKLOAD_CLIENT_THREADS).map_or(cores, f64::from);
    CpuRate::from_seconds(cores.min(threads))
}

/// Lifts the limits of the load generator; its precedence is read back once more before. Where that fails, the log says so, and they are
/// lifted all the same.
pub(super) fn lift(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    if !std::mem::take(&mut context.clients_limited) {
        return Ok(());
    }
    let goes_before = has_precedence(prepared);
    let mut testbed = context.testbed(prepared);
    let read_back =
        goes_before.then(|| testbed.ask(testbed.primary(), host::Verify { instance: InstanceName::clients() }));
    testbed.ask(testbed.primary(), host::Release { instance: InstanceName::clients() })?;
    match read_back {
        // Its limit is not told again: the last fact of that name is the database's.
        Some(Ok(facts)) => context.heard.journal.facts(&kept(facts, false)),
        Some(Err(error)) => {
            let error = error.context("failed to read back the precedence of the load generator at the end of the run");
            context.heard.journal.log(LogLevel::Warning, "conductor", &error.to_string())
        }
        None => Ok(()),
    }
}

/// Sets the CPU time of the load generator to a share of what was asked for.
pub(super) fn change(context: &mut RunContext<'_>, prepared: &PreparedRun, share: f64) -> Result<(), Error> {
    if !context.clients_limited {
        return Ok(());
    }
    let shares = BTreeMap::from([(CPU.to_owned(), share)]);
    let mut testbed = context.testbed(prepared);
    let ask = host::ChangeLimits { instance: InstanceName::clients(), shares, of_engine: Vec::new() };
    testbed.ask(testbed.primary(), ask).map(drop)
}

/// How the CPU time of the load generator stands.
pub(super) fn meters(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<Vec<LimitMeter>, Error> {
    if !context.clients_limited {
        return Ok(Vec::new());
    }
    let mut testbed = context.testbed(prepared);
    let meters = testbed
        .ask(testbed.primary(), host::ReadMeters { instance: InstanceName::clients(), of_engine: Vec::new() })?;
    let of_cpu = meters.into_iter().filter(|meter| meter.setting == CPU);
    Ok(of_cpu.map(|meter| LimitMeter { setting: CLIENTS_CPU.to_owned(), ..meter }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Vec<Fact> {
        let told = [
            limit_facts::CPU.carried_out("0.5 CPU s/s", "a test"),
            limit_facts::WEIGHT.observed("10000 (100 is usual)", "a test"),
            limit_facts::SLICE.observed("100 µs", "a test"),
        ];
        told.into_iter().map(|fact| Fact { instance: InstanceName::clients(), ..fact }).collect()
    }

    #[test]
    fn precedence_of_the_load_generator_is_not_taken_for_that_of_the_database() {
        let of_clients = kept(facts(), false);
        let names: Vec<&str> = of_clients.iter().map(|fact| fact.name.as_str()).collect();
        assert_eq!(names, ["clients.weight", "clients.slice"]);
        let of_database = limit_facts::WEIGHT.observed("262144 (1024 is usual)", "a test");
        let all: Vec<Fact> = std::iter::once(of_database).chain(of_clients).collect();
        assert_eq!(limit_facts::WEIGHT.text(&all), Some("262144 (1024 is usual)"));
        assert_eq!(limit_facts::CLIENTS_WEIGHT.text(&all), Some("10000 (100 is usual)"));
        assert_eq!(limit_facts::CLIENTS_SLICE.text(&all), Some("100 µs"));
    }

    #[test]
    fn a_limit_that_the_study_asks_for_is_kept_beside_its_precedence() {
        let names: Vec<String> = kept(facts(), true).into_iter().map(|fact| fact.name).collect();
        assert_eq!(names, ["cpu", "clients.weight", "clients.slice"]);
    }

    #[test]
    fn precedence_that_cannot_be_had_is_told_with_the_reason() {
        let told = kept(vec![limit_facts::WEIGHT.unknown("no control group for the CPU limit")], false);
        assert!(limit_facts::CLIENTS_WEIGHT.is_of(&told[0]) && told[0].effective.is_none());
        assert_eq!(told[0].source, "no control group for the CPU limit");
    }
}
