//! Limits of the load generator and of the network between users and database: put in force before the load begins, changed in experiments.
//! May not know why.

use super::link_check;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::intervention::{CLIENTS_CPU, LimitMeter, clients_elsewhere};
use proofload_model::replication::{LinkAsked, clients_link};
use proofload_model::study::clients_cpu;
use proofload_model::units::CpuRate;
use proofload_model::wire::{LimitsAsked, host};
use std::collections::BTreeMap;
use std::time::Duration;

/// Limit of an instance that holds for the load generator, too.
const CPU: &str = "limits.cpu";

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
/// for the experiment alone and cannot be, the experiment goes on and says so.
pub(super) fn limit(context: &mut RunContext<'_>, prepared: &PreparedRun, process: u32) -> Result<(), Error> {
    context.clients_limited = false;
    let asked = clients_cpu(&prepared.settings);
    let is_ours = !prepared.is_embedded() && clients_elsewhere(&prepared.settings).is_none();
    let Some(cpu) = asked.or_else(|| prepared.experiment.map(|_| whole(prepared))).filter(|_| is_ours) else {
        return Ok(());
    };
    let limits = LimitsAsked { cpu: Some(cpu), without_precedence: true, ..LimitsAsked::default() };
    let mut testbed = context.testbed(prepared);
    let ask = host::LimitProcess { instance: InstanceName::clients(), pid: process, limits };
    let limited = testbed.ask(testbed.primary(), ask);
    context.clients_limited = limited.is_ok();
    match (limited, asked) {
        (Ok(facts), Some(_)) => context.heard.journal.facts(&facts),
        (Ok(_), None) => Ok(()),
        (Err(error), Some(_)) => Err(error.context(format!("failed to apply {CLIENTS_CPU}"))),
        (Err(error), None) => context.heard.journal.log("warning", "conductor", &error.to_string()),
    }
}

/// CPU time that client threads could use at most.
fn whole(prepared: &PreparedRun) -> CpuRate {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
    let threads = prepared.settings.count("workload.client_threads").map_or(cores, f64::from);
    CpuRate::from_seconds(cores.min(threads))
}

/// Lifts the limits of the load generator.
pub(super) fn lift(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    if !std::mem::take(&mut context.clients_limited) {
        return Ok(());
    }
    let mut testbed = context.testbed(prepared);
    testbed.ask(testbed.primary(), host::Release { instance: InstanceName::clients() })
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
