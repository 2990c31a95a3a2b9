//! A load that is run until all its operations are done, through the load role as an agent goes it, and verified.

use crate::LoadRole;
use proofload_model::error::Error;
use proofload_model::samples::{Check, CheckOutcome, ErrorCount, IntervalSample, OperationCounts};
use proofload_model::time::Clock;
use proofload_model::wire::load::{Connect, LoadService as _, Open, Start, Stop, Verify};
use proofload_model::wire::{Event, LoadSpec};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long nothing may be heard of a load.
const PATIENCE: Duration = Duration::from_secs(60);

/// Errors that are told where operations are missing.
const ERRORS_TOLD: usize = 3;

/// What a load left.
#[derive(Debug)]
pub struct WholeLoad {
    /// Checks after it.
    pub checks: Vec<Check>,
    /// Operations by kind.
    pub totals: Vec<OperationCounts>,
    /// Its seconds.
    pub seconds: Vec<IntervalSample>,
    /// Whether it ended because all was done.
    pub ended_by_itself: bool,
}

impl WholeLoad {
    /// Fails unless so many operations were done and no check failed.
    pub(crate) fn must_have_done(&self, operations: u64) -> Result<(), Error> {
        let failed: Vec<&str> = self
            .checks
            .iter()
            .filter(|check| check.outcome == CheckOutcome::Failed)
            .map(|check| check.name.as_str())
            .collect();
        let done: u64 = self.totals.iter().map(|counts| counts.done).sum();
        if failed.is_empty() && done == operations && !self.checks.is_empty() {
            return Ok(());
        }
        let mut told = vec![format!("{done} of {operations} operations were done")];
        if !failed.is_empty() {
            told.push(format!("checks that failed: {}", failed.join(", ")));
        }
        let errors = self.seconds.iter().flat_map(|second| &second.errors);
        told.extend(errors.take(ERRORS_TOLD).map(|error| {
            let ErrorCount { kind, code, text, count } = error;
            format!("{count} of {kind}: {code} {text}")
        }));
        Err(Error::new(told.join("; ")))
    }
}

/// Runs a load on data that are there; after it `meddle` may change what is stored; then verifies.
///
/// # Errors
/// The load failed, or cannot be verified.
pub fn whole_load(spec: LoadSpec, clock: &Arc<dyn Clock>, meddle: impl FnOnce()) -> Result<WholeLoad, Error> {
    let (sender, events) = channel();
    let sender = Mutex::new(sender);
    let hear = move |event| {
        if let Ok(sender) = sender.lock() {
            let _nobody_listens = sender.send(event);
        }
    };
    let mut role = LoadRole::new(Arc::clone(clock), Arc::new(hear));
    role.open(Open { spec: Box::new(spec) })?;
    role.connect(Connect {})?;
    role.start(Start { at: clock.now() + Duration::from_millis(100) })?;
    let (seconds, ended_by_itself) = seconds_of(&events)?;
    let totals = role.stop(Stop {})?.totals;
    meddle();
    let checks = role.verify(Verify { totals: totals.clone() })?;
    Ok(WholeLoad { checks, totals, seconds, ended_by_itself })
}

/// Every second until the load ends, and whether it ended because all was done.
fn seconds_of(events: &Receiver<Event>) -> Result<(Vec<IntervalSample>, bool), Error> {
    let mut seconds = Vec::new();
    loop {
        let silent = |_| Error::new(format!("nothing was heard of the load for {PATIENCE:?}"));
        match events.recv_timeout(PATIENCE).map_err(silent)? {
            Event::Interval(sample) => seconds.push(*sample),
            Event::LoadEnded { first_without_work, .. } => return Ok((seconds, first_without_work.is_some())),
            Event::LoadFailed { error } => return Err(error),
            _ => {}
        }
    }
}
