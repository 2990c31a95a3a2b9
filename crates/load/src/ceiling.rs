//! What this load generator reaches at most: the same users against the null engine, for a moment before the run. May not touch the
//! engine under test.

use crate::drive::{ClientThreads, Patience, SaturatedSchedule, ThreadsSpec};
use crate::workload::{RunRequest, WorkloadRun};
use crate::workloads::workload;
use proofload_engine::{Target, engine};
use proofload_model::error::Error;
use proofload_model::facts::client;
use proofload_model::samples::{Fact, OperationCounts};
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::{Value, setting};
use proofload_model::time::Clock;
use std::sync::Arc;
use std::time::Duration;

/// Long enough for some 10^4 operations of each client thread.
const TIME: Duration = Duration::from_millis(400);

/// The engine that answers at once.
const NULL: &str = "null";

/// Measures the ceiling of a saturated load with so many client threads, as a fact in operations/s. `None` where it would say nothing:
/// the engine lives in the client threads, several agents share the load, users wait by themselves or come in rounds, or the workload
/// does not run on the null engine.
pub(crate) fn ceiling(
    request: &RunRequest,
    run: &dyn WorkloadRun,
    threads: u32,
    clock: &Arc<dyn Clock>,
) -> Option<Fact> {
    let in_process = request.engine.facts().capabilities.embedded;
    let waits = LoadPacing::is_paced(&request.spec.settings);
    if in_process || waits || !request.spec.part.is_whole() || run.round().is_some() {
        return None;
    }
    let per_second = measured(request, threads, clock).ok()?;
    Some(client::NULL_CEILING.observed(per_second.round(), "load agent"))
}

fn measured(request: &RunRequest, threads: u32, clock: &Arc<dyn Clock>) -> Result<f64, Error> {
    let twin = twin(request)?;
    let of_kind = workload(&twin.spec.workload).ok_or_else(|| Error::new("this agent does not have this workload"))?;
    let run = of_kind.open(twin)?;
    let spec = ThreadsSpec {
        threads,
        blocking: false,
        schedule: Arc::new(SaturatedSchedule),
        queue_at_most: Duration::ZERO,
        patience: Patience::reconnecting(Duration::ZERO),
        operations: None,
        part: request.spec.part.clone(),
        sessions: run.session_span(),
        acknowledged: None,
        clock: Arc::clone(clock),
        events: Arc::new(|_| {}),
    };
    let threads = ClientThreads::connect(&run, &spec)?;
    let origin = clock.now();
    threads.start(origin);
    clock.sleep(TIME);
    let seconds = clock.now().since(origin).as_secs_f64();
    let (_, totals) = threads.stop();
    let completed: u64 = totals.iter().map(OperationCounts::completed).sum();
    if completed == 0 {
        return Err(Error::new("the null engine completed no operation"));
    }
    Ok(completed as f64 / seconds)
}

/// The same load on the null engine, without a schedule.
fn twin(request: &RunRequest) -> Result<RunRequest, Error> {
    let engine = engine(NULL).ok_or_else(|| Error::new("this agent does not have the null engine"))?;
    let mut spec = request.spec.clone();
    for schedule in [setting::WORKLOAD_RATE, setting::WORKLOAD_ARRIVALS, setting::WORKLOAD_OPERATIONS] {
        spec.settings.0.remove(schedule);
    }
    spec.settings.0.insert(setting::ENGINE_KIND.to_owned(), Value::Text(NULL.to_owned()));
    NULL.clone_into(&mut spec.place.engine);
    (spec.place.url, spec.place.settings, spec.endpoints) = (None, Vec::new(), Vec::new());
    let target = Target::new(spec.place.clone(), None);
    Ok(RunRequest { spec, engine, target, progress: Arc::new(|_, _| {}) })
}
