//! The list of faults, and how one is made and undone: until that is found, or it is no fault.

use super::congestion::Congestion;
use super::crash::Crash;
use super::disk::Disk;
use super::fault::{FaultMaker, FaultSite};
use super::freeze::Freeze;
use super::full_disk::{FullDisk, ballast};
use super::kill::Kill;
use super::partition::Partition;
use super::replay_pause::ReplayPause;
use super::reset::Reset;
use super::stop::Stop;
use super::switchover::Switchover;
use super::synced_writes;
use proofload_model::drill::{FaultInForce, FaultKind};
use proofload_model::error::Error;
use proofload_model::time::Moment;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every fault.
pub(super) const FAULTS: &[&dyn FaultMaker] = &[
    &Crash,
    &Kill,
    &Stop,
    &Freeze,
    &Partition::Whole,
    &Partition::ToStandby,
    &Partition::ToPrimary,
    &Reset,
    &Congestion::Latency,
    &Congestion::Bandwidth,
    &ReplayPause,
    &Disk::Slow,
    &Disk::Stalled,
    &FullDisk,
    &Switchover,
];

/// How often is looked.
const LOOK: Duration = Duration::from_millis(1);

fn of(kind: FaultKind) -> Result<&'static dyn FaultMaker, Error> {
    let fault = FAULTS.iter().find(|fault| fault.kind() == kind);
    fault.copied().ok_or_else(|| Error::refused(format!("failed to inject the fault: unknown kind {kind:?}")))
}

/// Makes a fault; answers once it is in force. One that cannot be found so is undone.
///
/// # Errors
/// It cannot be made here, or it did nothing.
pub(crate) fn make(kind: FaultKind, site: &FaultSite<'_>) -> Result<FaultInForce, Error> {
    let fault = of(kind)?;
    make_within(fault, site, fault.patience())
}

/// Undoes a fault; answers with the moment at which it was found undone.
///
/// # Errors
/// It cannot be undone, or goes on.
pub(crate) fn undo(kind: FaultKind, site: &FaultSite<'_>) -> Result<Moment, Error> {
    let fault = of(kind)?;
    undo_within(fault, site, fault.patience())
}

/// Ends what halts processes and stalls devices, whoever waits for it; files that faults have left go as well.
pub(crate) fn clear(kind: FaultKind, site: &FaultSite<'_>) {
    if let Ok(fault) = of(kind) {
        let _as_far_as_it_goes = fault.undo(site);
    }
    let _left = left_files(site.data).into_iter().map(std::fs::remove_file).count();
}

/// Files of faults beside data in a folder.
pub(crate) fn left_files(data: &Path) -> Vec<PathBuf> {
    [ballast(data), synced_writes::file(data)].into_iter().filter(|file| file.exists()).collect()
}

pub(super) fn make_within(
    fault: &dyn FaultMaker,
    site: &FaultSite<'_>,
    within: Duration,
) -> Result<FaultInForce, Error> {
    let before = site.clock.now();
    fault.make(site)?;
    match until(|| fault.expect_in_force(site), site, (before, within)) {
        Ok((after, at)) => Ok(FaultInForce { begun: before, after, at }),
        Err(why) => {
            let _undone = fault.undo(site);
            Err(Error::verification(format!(
                "failed to inject the fault: {:?} did not take effect within {within:?}: {why}; the drill is void",
                fault.kind()
            )))
        }
    }
}

pub(super) fn undo_within(fault: &dyn FaultMaker, site: &FaultSite<'_>, within: Duration) -> Result<Moment, Error> {
    let before = site.clock.now();
    fault.undo(site)?;
    let undone = until(|| fault.expect_undone(site), site, (before, within));
    undone.map(|(_, at)| at).map_err(|why| {
        Error::verification(format!(
            "failed to undo the fault: {:?} is still in force after {within:?}: {why}",
            fault.kind()
        ))
    })
}

/// Looks until a check holds; the last moment at which it did not, and the first at which it did.
fn until(
    check: impl Fn() -> Result<(), Error>,
    site: &FaultSite<'_>,
    (begun, within): (Moment, Duration),
) -> Result<(Moment, Moment), Error> {
    let mut after = begun;
    loop {
        let looked = site.clock.now();
        match check() {
            Ok(()) => return Ok((after, site.clock.now())),
            Err(error) if looked.since(begun) > within => return Err(error),
            Err(_) => after = looked,
        }
        site.clock.sleep(LOOK);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
