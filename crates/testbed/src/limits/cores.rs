//! `limits.cores`: affinity of every thread to the first cores that this agent may use, or to those behind another study's.

use super::counters;
use super::hierarchy::Controller;
use super::limit::{Limit, LimitState, LiveLimit, verified};
use super::members::{each_thread, trees};
use crate::sys;
use proofload_model::error::Error;
use proofload_model::facts::{CoreSet, FactValue, limit};
use proofload_model::intervention::ResourceClass;
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use proofload_model::wire::LimitsAsked;
use std::collections::BTreeSet;
use std::time::Duration;

/// The limit of cores.
pub(super) struct Cores;

impl Limit for Cores {
    fn setting(&self) -> &'static str {
        setting::LIMITS_CORES
    }

    fn needs(&self, _asked: &LimitsAsked) -> Option<Controller> {
        None
    }

    fn apply(&self, state: &mut LimitState) -> Result<(), Error> {
        state.all_cores = sys::allowed_cores(None)?;
        let Some(count) = state.asked.cores else { return Ok(()) };
        let (before, there) = (state.asked.cores_before, state.all_cores.len());
        let Some(cores) = chosen(&state.all_cores, count, before) else {
            let others =
                if before > 0 { format!(", {before} of them for the instances before it") } else { String::new() };
            return Err(Error::new(format!(
                "failed to limit cores to {count}: this agent may use only {there}{others}; change limits.cores or start the agent with more"
            )));
        };
        state.cores = Some(cores.to_vec());
        Ok(())
    }

    fn join(&self, state: &LimitState, process: u32) -> Result<(), Error> {
        state.cores.as_ref().map_or(Ok(()), |cores| restrict_all(process, cores))
    }

    fn verify(&self, state: &LimitState) -> Vec<Fact> {
        let Some(count) = state.asked.cores else { return Vec::new() };
        let found = cores_of_members(state).map(|found| {
            let asked: BTreeSet<usize> = state.cores.iter().flatten().copied().collect();
            let holds = found == asked;
            (FactValue::from(&CoreSet(found)), holds)
        });
        let source = "sched_getaffinity of every thread".to_owned();
        vec![verified(&limit::CORES, count.to_string(), found, source)]
    }

    fn live(&self) -> Option<&dyn LiveLimit> {
        Some(self)
    }

    fn lift(&self, state: &LimitState) -> Result<(), Error> {
        state.core_spin.take(&[], 0.0)?;
        if state.cores.is_none() {
            return Ok(());
        }
        for process in trees(state) {
            restrict_all(process, &state.all_cores)?;
        }
        Ok(())
    }
}

impl LiveLimit for Cores {
    /// A core that is slower makes every operation slower, also where it is not full.
    fn class(&self) -> ResourceClass {
        ResourceClass::Speed
    }

    fn settles(&self, _state: &LimitState) -> Duration {
        Duration::from_millis(100)
    }

    fn asked_rate(&self, state: &LimitState) -> Option<f64> {
        state.cores.as_ref().map(|cores| cores.len() as f64)
    }

    /// Whole cores stay: of each a share is taken.
    fn set_rate(&self, state: &LimitState, rate: f64) -> Result<f64, Error> {
        let cores = state.cores.as_deref().unwrap_or_default();
        let share = 1.0 - rate / cores.len().max(1) as f64;
        state.core_spin.take(cores, if share > 1e-9 { share } else { 0.0 })?;
        Ok(rate)
    }

    fn rate_in_force(&self, state: &LimitState) -> Result<Option<f64>, Error> {
        let (found, asked) = (cores_of_members(state)?, state.cores.as_deref().unwrap_or_default());
        if let Some(other) = found.iter().find(|core| !asked.contains(core)) {
            return Err(Error::new(format!(
                "a thread of the database may run on core {other}, which is none of its own"
            )));
        }
        Ok(Some(found.len() as f64 * (1.0 - state.core_spin.share())))
    }

    fn used(&self, state: &LimitState) -> Vec<f64> {
        let dir = state.group.dir(Controller::CpuAccounting).ok();
        dir.and_then(|dir| counters::cpu_time(dir).ok()).map(|time| time.total.as_secs_f64()).into_iter().collect()
    }
}

/// The cores that the limit takes of those that an agent may use, behind a number of others; `None` where there are too few.
pub(crate) fn chosen(all: &[usize], count: u32, before: u32) -> Option<&[usize]> {
    let before = before as usize;
    all.get(before..before.saturating_add(count as usize)).filter(|cores| !cores.is_empty())
}

/// All cores on which any thread of a member may run; before anyone has joined, those chosen.
fn cores_of_members(state: &LimitState) -> Result<BTreeSet<usize>, Error> {
    if state.members.is_empty() {
        return Ok(state.cores.iter().flatten().copied().collect());
    }
    let mut found = BTreeSet::new();
    for thread in trees(state).into_iter().flat_map(sys::threads) {
        match sys::allowed_cores(Some(thread)) {
            Ok(cores) => found.extend(cores),
            // A thread may end between being listed and being asked.
            Err(error) if sys::start_time(thread).is_some() => return Err(error),
            Err(_) => {}
        }
    }
    if found.is_empty() { Err(Error::new("no process under the limit is alive")) } else { Ok(found) }
}

fn restrict_all(process: u32, cores: &[usize]) -> Result<(), Error> {
    each_thread(process, |thread| sys::restrict(thread, cores)).map_err(|error| error.context("failed to limit cores"))
}
