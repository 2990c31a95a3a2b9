//! One run of the plan, phase by phase: prepare, warm up, measure, verify, release.

use super::crew::{Crew, Ended, Role, Watch};
use super::data::data_copy;
use super::load_agents::LoadCommand;
use super::preparation::Prepared;
use super::warm_up::{WarmUpState, WarmUpWatch};
use crate::live::Phase;
use proofload_load::Rating;
use proofload_model::deployment::InstancePlan;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::samples::{Fact, OperationCounts};
use proofload_model::study::scraped;
use proofload_model::wire::{host, load};
use std::time::Duration;

impl Crew<'_> {
    /// Carries out one run. On an error the caller cleans up and marks the attempt.
    pub(crate) fn carry_out(&mut self, prepared: &Prepared, load_commands: &[LoadCommand]) -> Result<(), Error> {
        self.watch = Watch::with_patience(prepared.patience());
        self.expect_agents(load_commands.len());
        self.prepare(prepared, load_commands)?;
        match prepared.rating() {
            Rating::Window | Rating::ToItsEnd => {
                self.begin_load(prepared)?;
                let warmed_up = self.warm_up(prepared)?;
                self.measure(prepared, warmed_up)?;
            }
            Rating::WholeRun { warm_up_rounds } => self.measure_whole_run(prepared, warm_up_rounds)?,
        }
        let totals = self.end_load(prepared)?;
        self.verify(prepared, totals)?;
        self.release(prepared)
    }

    /// Restore, limits, start, facts, connections.
    fn prepare(&mut self, prepared: &Prepared, load_commands: &[LoadCommand]) -> Result<(), Error> {
        let primary = prepared.primary();
        if prepared.keeps_data() && primary.place.url.is_none() {
            self.restore(prepared)?;
        }
        self.view.phase(Phase::Preparing);
        if primary.place.url.is_none() {
            let facts = self.attach(prepared)?;
            self.journal.facts(&facts)?;
            let limits = primary.limits.clone();
            let facts = self.host(host::PrepareLimits { instance: primary.name.clone(), limits })?;
            self.journal.facts(&facts)?;
        }
        let address = if prepared.starts_instance() { Some(self.start_instance(prepared)?) } else { None };
        self.start_load_agents(load_commands)?;
        let pid = self.open_load(prepared, address.as_deref())?;
        if prepared.is_embedded() {
            self.host(host::JoinLimits { instance: primary.name.clone(), pid })?;
        }
        if prepared.keeps_data() {
            self.load(load::CheckData {})?.must_fit()?;
        }
        self.connect_load(prepared)?;
        self.keep_limits(prepared)?;
        self.journal.event(RunEvent::Prepared)
    }

    pub(super) fn restore(&mut self, prepared: &Prepared) -> Result<(), Error> {
        let (instance, place) = (prepared.primary().name.clone(), prepared.primary().place.clone());
        if prepared.procedure.restore_every_run {
            self.view.phase(Phase::Restoring);
            let copied = self.host(host::RestoreSnapshot { instance, place: place.clone() })?;
            self.journal.event(RunEvent::Restored(data_copy(copied)))?;
        }
        self.host(host::DropPageCache { place })
    }

    /// Attaches the storage: after the data were restored, before limits and the start.
    pub(super) fn attach(&mut self, prepared: &Prepared) -> Result<Vec<Fact>, Error> {
        let InstancePlan { name, place, storage, .. } = prepared.primary();
        self.host(host::Attach { instance: name.clone(), place: place.clone(), storage: storage.clone() })
    }

    fn start_instance(&mut self, prepared: &Prepared) -> Result<String, Error> {
        let InstancePlan { name, place, .. } = prepared.primary();
        let started = self.host(host::Start { instance: name.clone(), place: place.clone() })?;
        self.journal.facts(&started.facts)?;
        Ok(started.address)
    }

    /// Reads back what should be in force.
    fn keep_limits(&mut self, prepared: &Prepared) -> Result<(), Error> {
        let InstancePlan { name, place, .. } = prepared.primary();
        if place.url.is_some() {
            return Ok(());
        }
        let facts = self.host(host::Verify { instance: name.clone() })?;
        self.journal.facts(&facts)
    }

    pub(super) fn begin_load(&mut self, prepared: &Prepared) -> Result<(), Error> {
        self.mark("before")?;
        self.start_load()?;
        let pid = self.load_pid(prepared);
        let origin = self.watch.origin.map_or(proofload_model::time::Moment(0), |ours| self.in_time_of_host(ours));
        let scraped = scraped(&prepared.settings);
        let InstancePlan { name, place, .. } = prepared.primary();
        self.host(host::StartProbes { instance: name.clone(), origin, place: place.clone(), pid, scraped })?;
        self.journal.time_zero(self.watch.origin);
        self.journal.event(RunEvent::LoadStarted(Some(prepared.run.seed)))
    }

    /// Process to observe when the engine is embedded.
    fn load_pid(&self, prepared: &Prepared) -> Option<u32> {
        if prepared.is_embedded() { self.pid(Role::Load) } else { None }
    }

    /// Rounds until steady, or until the budget or the load ends.
    fn warm_up(&mut self, prepared: &Prepared) -> Result<WarmedUp, Error> {
        self.view.phase(Phase::WarmingUp);
        let mut watch = WarmUpWatch::new(&prepared.procedure);
        loop {
            if !self.next_second()? {
                let reason = "all operations were done before the load was steady".to_owned();
                return Ok(WarmedUp { seconds: self.watch.throughput.len(), doubts: vec![reason] });
            }
            let seconds = self.watch.throughput.len();
            match watch.look(&self.watch.throughput) {
                WarmUpState::Waiting => {}
                WarmUpState::Settled => return Ok(WarmedUp { seconds, doubts: Vec::new() }),
                WarmUpState::NeverSettled { reasons } => return Ok(WarmedUp { seconds, doubts: reasons }),
            }
        }
    }

    /// The fixed window: whole seconds after the one that is running now, in every load agent. A load that ends by itself is measured to its end.
    fn measure(&mut self, prepared: &Prepared, warmed_up: WarmedUp) -> Result<(), Error> {
        let from = (self.watch.throughput.len() + 1).max(self.watch.merger.furthest() as usize);
        let to = if prepared.rating() == Rating::ToItsEnd { usize::MAX } else { from + prepared.seconds() };
        self.view.phase(Phase::Measuring);
        self.watch.merger.set_window(from as u64..to as u64);
        let began = self.wait_for(from)?;
        self.mark("window_start")?;
        let lasted = began && self.wait_for(to)?;
        self.mark("window_end")?;
        if lasted {
            return self.keep_window(&warmed_up, from, to);
        }
        // The last whole second in which every user still had work.
        let end = self.watch.ended.map_or(0.0, |ended| ended.first_without_work.as_seconds());
        let end = (end as usize).min(self.watch.throughput.len());
        if end > from {
            return self.keep_window(&warmed_up, from, end);
        }
        let reason = "all operations were done before a window could be measured".to_owned();
        self.keep_window(&WarmedUp { doubts: vec![reason], ..warmed_up }, 0, end.max(1))
    }

    /// Notes the verdict on the warm-up and the window.
    fn keep_window(&mut self, warmed_up: &WarmedUp, from: usize, to: usize) -> Result<(), Error> {
        let (seconds, verdict) = (Some(warmed_up.seconds as u64), warmed_up.doubts.join("; "));
        let settled = warmed_up.doubts.is_empty();
        self.journal.event(if settled {
            RunEvent::Steady { seconds }
        } else {
            RunEvent::NotSteady { seconds, verdict }
        })?;
        self.journal.event(RunEvent::Window { from: from as u64, to: to as u64 })
    }

    /// Waits until `count` seconds have been reported; false when the load ended before.
    fn wait_for(&mut self, count: usize) -> Result<bool, Error> {
        while self.watch.throughput.len() < count {
            if !self.next_second()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits for the next second of load; false when there is none because all operations are done.
    pub(super) fn next_second(&mut self) -> Result<bool, Error> {
        let (seen, began) = (self.watch.throughput.len(), self.now());
        let glance = Duration::from_millis(100);
        while self.watch.throughput.len() == seen {
            self.hear(glance)?;
            self.troubled()?;
            if self.watch.throughput.len() > seen {
                break;
            }
            if self.watch.ended.is_some_and(|ended| ended.intervals <= seen as u64) {
                return Ok(false);
            }
            if let Some(patience) = self.watch.patience.filter(|patience| self.now().since(began) > *patience) {
                return Err(Error::new(format!(
                    "no second of load was reported for {patience:?}; the load agent or the database hangs"
                )));
            }
        }
        Ok(true)
    }

    fn end_load(&mut self, prepared: &Prepared) -> Result<Vec<OperationCounts>, Error> {
        self.view.phase(Phase::Stopping);
        let (intervals, totals) = self.stop_load()?;
        let instance = || prepared.primary().name.clone();
        self.host(host::StopProbes { instance: instance() })?;
        let usage = self.host(host::ReadUsage { instance: instance() })?;
        self.journal.facts(&usage)?;
        self.mark("after")?;
        if let Some(ended) = self.watch.ended {
            self.journal.event(completed(&ended, &totals))?;
        }
        if !self.watch.lost.is_empty() {
            self.journal.event(RunEvent::SessionsLost(self.watch.lost.clone()))?;
        }
        self.journal.event(RunEvent::LoadStopped { intervals, totals: totals.clone() })?;
        Ok(totals)
    }

    /// Limits are read back once more, then lifted: the checks are not what is measured.
    fn verify(&mut self, prepared: &Prepared, totals: Vec<OperationCounts>) -> Result<(), Error> {
        self.view.phase(Phase::Verifying);
        self.keep_limits(prepared)?;
        self.host(host::Release { instance: prepared.primary().name.clone() })?;
        self.gather_evidence()?;
        let checks = self.load(load::Verify { totals })?;
        self.journal.checks(&checks)
    }

    fn release(&mut self, prepared: &Prepared) -> Result<(), Error> {
        self.release_load()?;
        if prepared.starts_instance() {
            self.host(host::Stop { instance: prepared.primary().name.clone() })?;
        }
        self.host(host::Detach { instance: prepared.primary().name.clone() })?;
        self.journal.event(RunEvent::Released)
    }

    /// Reads the database's counters.
    pub(super) fn mark(&mut self, label: &str) -> Result<(), Error> {
        let mark = self.load(load::ReadMark {})?;
        self.journal.mark(label, &mark)
    }
}

/// How the warm-up ended.
struct WarmedUp {
    /// How long it took, whole seconds.
    seconds: usize,
    /// What stands against its being steady; empty when it is.
    doubts: Vec<String>,
}

/// How a load came to its own end.
fn completed(ended: &Ended, totals: &[OperationCounts]) -> RunEvent {
    let operations: u64 = totals.iter().map(|counts| counts.completed() + counts.failed).sum();
    let (seconds, first) = (ended.ran.as_seconds(), ended.first_without_work.as_seconds());
    RunEvent::Completed { seconds, operations, first_user_ended: Some(first) }
}
