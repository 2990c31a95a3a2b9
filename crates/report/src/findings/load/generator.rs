//! Whether the load generator was the limit of a run.

use super::agents::AgentFindings;
use super::{asked_rate, send_lag_p99};
use crate::findings::metrics::latencies::ByKind;
use proofload_analysis::generator::{
    ClosedLoop, Doubt, GeneratorCheck, GeneratorObservations, GeneratorReading, LittleAudit, check_generator, little,
};
use proofload_analysis::latency::Sparse;
use proofload_model::engines::named_engine;
use proofload_model::facts::client;
use proofload_model::samples::IntervalSample;
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::{Settings, setting};
use proofload_record::Attempt;
use std::time::Duration;

/// True where the engine runs inside the load agent, whose threads' CPU is then the engine's own and says nothing of the generator.
pub(crate) fn is_in_process(attempt: &Attempt, settings: &Settings) -> bool {
    let said = client::ENGINE_IN_PROCESS.answer(&attempt.facts);
    // Older records do not have the fact.
    let engine =
        || settings.text(setting::ENGINE_KIND).ok().and_then(named_engine).is_some_and(|engine| engine.in_process);
    said.unwrap_or_else(engine)
}

/// What the generator's own state says of it; the load generator was the limit if any of its agents was.
pub(crate) fn generator(
    attempt: &Attempt,
    inside: &[&IntervalSample],
    agents: &[AgentFindings],
    embedded: bool,
    measured: &[f64],
) -> GeneratorCheck {
    let threads = inside.iter().map(|interval| interval.client.thread_cpu_ns.len()).max().unwrap_or(0);
    let share = |thread: usize| {
        let spent: u64 = inside.iter().filter_map(|interval| interval.client.thread_cpu_ns.get(thread)).sum();
        spent as f64 / 1e9 / inside.len() as f64
    };
    let observed = GeneratorObservations {
        client_threads: if embedded { Vec::new() } else { (0..threads).map(share).collect() },
        send_lag_p99: send_lag_p99(inside).map(|lag| Duration::from_nanos(lag as u64)),
        throughput: proofload_analysis::distribution::mean(measured),
        null_ceiling: client::NULL_CEILING.number(&attempt.facts),
    };
    let mut check = check_generator(&observed);
    if embedded {
        check.not_observed.retain(|what| *what != GeneratorReading::ClientCpu);
        check.not_observed.push(GeneratorReading::ClientCpuWithoutEngine);
    }
    if !agents.is_empty() {
        check.bound = bound_by_agents(agents);
    }
    check
}

fn bound_by_agents(agents: &[AgentFindings]) -> Vec<Doubt> {
    let of_agent = |agent: &AgentFindings| {
        let name = agent.name.clone();
        agent.bound.clone().into_iter().map(move |doubt| Doubt::OfAgent { agent: name.clone(), doubt: Box::new(doubt) })
    };
    agents.iter().flat_map(of_agent).collect()
}

/// Whether each user sends its next operation as soon as the last one has ended.
pub(crate) fn is_saturated(settings: &Settings) -> bool {
    LoadPacing::of_settings(settings).is_none_or(|pacing| pacing == LoadPacing::Saturated)
        && asked_rate(settings).is_none()
}

/// Little's law where users never wait: over a saturated load that has a window.
pub(crate) fn little_of(latencies: &ByKind, seconds: usize, settings: &Settings) -> Option<LittleAudit> {
    let saturated = is_saturated(settings);
    let users = settings.number(setting::WORKLOAD_VIRTUAL_USERS).ok().filter(|users| *users > 0.0)?;
    let total = Sparse::merged(latencies.values().flatten());
    (saturated && total.count() > 0 && seconds > 0).then(|| {
        little(&ClosedLoop {
            users,
            throughput: total.count() as f64 / seconds as f64,
            mean_response: total.mean() / 1e9,
            mean_wait: 0.0,
        })
    })
}
